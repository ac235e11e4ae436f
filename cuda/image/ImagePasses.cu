// SPDX-License-Identifier: Apache-2.0
// Computes with the values of a loaded image in CUDA: entry points and launches. The formulas are in
// src/kernels/image/ImageValues.h; the plain version is src/host/image/ImagePasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/image/ImagePasses.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int ImageLanes = 256;
// One warp: a head has some 1800 lanes to hash, which are to be spread over all multiprocessors.
constexpr int HashGroupLanes = 32;

template <typename real>
__global__ void
__launch_bounds__(ImageLanes)
  SummarizeKernel(const real * values, i64 count, int strips, double factor, double * summaries)
{
  const int strip = static_cast<int>(blockIdx.x) * ImageLanes + static_cast<int>(threadIdx.x);
  if (strip < strips)
  {
    SummarizeStrip(values, i64{ strip }, i64{ strips }, count, factor, summaries + SummaryNumbers * strip);
  }
}

template <typename real>
__global__ void
__launch_bounds__(ImageLanes) PickKernel(const real * values, i64 count, i64 parts, real * picked)
{
  const i64 number = i64{ blockIdx.x } * ImageLanes + threadIdx.x;
  if (number < parts)
  {
    picked[number] = PickValue(values, count, parts, number);
  }
}

template <typename real>
__global__ void
__launch_bounds__(ImageLanes)
  ClampKernel(const __grid_constant__ ClampArguments a, const real * values, int strips, real * clamped, i64 * numbers)
{
  const int strip = static_cast<int>(blockIdx.x) * ImageLanes + static_cast<int>(threadIdx.x);
  if (strip < strips)
  {
    ClampStrip(&a, values, i64{ strip }, i64{ strips }, a.count, clamped, numbers + ClampNumbers * strip);
  }
}

__global__ void
__launch_bounds__(HashGroupLanes) HashKernel(const u8 * bytes, i64 count, i64 lanes, u64 * states)
{
  const i64 number = i64{ blockIdx.x } * HashGroupLanes + threadIdx.x;
  if (number < lanes)
  {
    states[number] = HashLaneOfTask(bytes, count, number);
  }
}

template <typename real>
__global__ void
__launch_bounds__(ImageLanes) KeepKernel(const __grid_constant__ ImageSampling a,
                                         i64                                   count,
                                         const real *                          values,
                                         const real *                          edges,
                                         const u8 *                            mask,
                                         void *                                kept)
{
  const i64 sample = i64{ blockIdx.x } * ImageLanes + threadIdx.x;
  if (sample < count)
  {
    KeepImageValue(&a, values, edges, mask, sample, kept);
  }
}

class CudaImagePasses : public ImagePasses
{
public:
  explicit CudaImagePasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Summarize(std::int64_t   count,
            Precision      precision,
            double         factor,
            int            strips,
            const Memory & values,
            Memory &       summaries) override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      m_Queue.LaunchFor("summarising an image",
                        SummarizeKernel<Real>,
                        strips,
                        ImageLanes,
                        AddressIn<const Real>(values),
                        i64{ count },
                        strips,
                        factor,
                        AddressIn<double>(summaries));
    });
  }

  void
  Pick(std::int64_t count, Precision precision, std::int64_t parts, const Memory & values, Memory & picked) override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      m_Queue.LaunchFor("picking some of an image's values",
                        PickKernel<Real>,
                        parts,
                        ImageLanes,
                        AddressIn<const Real>(values),
                        i64{ count },
                        i64{ parts },
                        AddressIn<Real>(picked));
    });
  }

  void
  Clamp(const ClampArguments & a,
        Precision              precision,
        int                    strips,
        const Memory &         values,
        Memory &               clamped,
        Memory &               numbers) override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      m_Queue.LaunchFor("clamping an image's values",
                        ClampKernel<Real>,
                        strips,
                        ImageLanes,
                        a,
                        AddressIn<const Real>(values),
                        strips,
                        AddressIn<Real>(clamped),
                        AddressIn<i64>(numbers));
    });
  }

  void
  Hash(std::int64_t count, const Memory & bytes, Memory & states) override
  {
    m_Queue.LaunchFor("hashing an image",
                      HashKernel,
                      CountHashLanes(count),
                      HashGroupLanes,
                      AddressIn<const u8>(bytes),
                      i64{ count },
                      i64{ CountHashLanes(count) },
                      AddressIn<u64>(states));
  }

  void
  Keep(const ImageSampling & a,
       std::int64_t          count,
       Precision             precision,
       const Memory &        values,
       const Memory &        edges,
       const Memory *        mask,
       Memory &              kept) override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      m_Queue.LaunchFor("keeping an image's values",
                        KeepKernel<Real>,
                        count,
                        ImageLanes,
                        a,
                        i64{ count },
                        AddressIn<const Real>(values),
                        AddressIn<const Real>(edges),
                        mask != nullptr ? AddressIn<const u8>(*mask) : nullptr,
                        AddressIn<void>(kept));
    });
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ImagePasses>
MakePassesOn<DeviceKind::Cuda, ImagePasses>(Queue & queue)
{
  return std::make_unique<CudaImagePasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
