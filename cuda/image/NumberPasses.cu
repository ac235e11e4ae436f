// SPDX-License-Identifier: Apache-2.0
// Between numbers of any type and values of an image, in CUDA: entry points and launches. The formulas are in
// src/kernels/image/NumberTypes.h; the plain version is src/host/image/NumberPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/image/NumberPasses.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int NumberLanes = 256;

template <typename real>
__global__ void
__launch_bounds__(NumberLanes) ReadNumbersKernel(const void * numbers, int form, int isMask, i64 count, real * values)
{
  const i64 n = i64{ blockIdx.x } * NumberLanes + threadIdx.x;
  if (n < count)
  {
    NumberToReal(numbers, form, isMask, n, values);
  }
}

template <typename real>
__global__ void
__launch_bounds__(NumberLanes) WriteNumbersKernel(const real * values, int form, i64 count, void * numbers)
{
  const i64 n = i64{ blockIdx.x } * NumberLanes + threadIdx.x;
  if (n < count)
  {
    WriteNumber(numbers, form, n, values[n]);
  }
}

class CudaNumberPasses : public NumberPasses
{
public:
  explicit CudaNumberPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Read(std::int64_t count, NumberType type, bool isMask, Precision precision, const Memory & numbers, Memory & values)
    override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      m_Queue.LaunchFor("reading an array's numbers",
                        ReadNumbersKernel<Real>,
                        count,
                        NumberLanes,
                        AddressIn<const void>(numbers),
                        FormOf(type),
                        int{ isMask },
                        i64{ count },
                        AddressIn<Real>(values));
    });
  }

  void
  Write(std::int64_t count, NumberType type, Precision precision, const Memory & values, Memory & numbers) override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      m_Queue.LaunchFor("writing an array's numbers",
                        WriteNumbersKernel<Real>,
                        count,
                        NumberLanes,
                        AddressIn<const Real>(values),
                        FormOf(type),
                        i64{ count },
                        AddressIn<void>(numbers));
    });
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<NumberPasses>
MakePassesOn<DeviceKind::Cuda, NumberPasses>(Queue & queue)
{
  return std::make_unique<CudaNumberPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
