// SPDX-License-Identifier: Apache-2.0
// The resampler in plain loops: the reference that every device is tested against, and what runs where there
// is none. cuda and opencl have their entry points in files of this name.
#include "HostQueue.h"

#include "ResamplePasses.h"

#include <algorithm>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
// What one thread makes at a time.
constexpr i64 TaskVoxels = i64{ 1 } << 14;

/** Compiles work for each way of interpolating on its own, so that none pays for another. */
template <typename TWork>
void
WithInterpolation(int interpolation, const TWork & work)
{
  switch (interpolation)
  {
    case ResampleNearest:
      return work(std::integral_constant<int, ResampleNearest>{});
    case ResampleLinear:
      return work(std::integral_constant<int, ResampleLinear>{});
    case ResampleBSpline + 3:
      return work(std::integral_constant<int, ResampleBSpline + 3>{});
    default:
      return work(interpolation);
  }
}

/** Calls work with the types of the kernel's two constants, and a value of its precision's type. */
template <typename TWork>
void
WithVariant(const ResampleArguments & a, Precision precision, const TWork & work)
{
  WithInterpolation(a.interpolation, [&](auto interpolation) {
    const auto withParts = [&](auto hasParts) {
      if (precision == Precision::Single)
      {
        work(interpolation, hasParts, float{});
      }
      else
      {
        work(interpolation, hasParts, double{});
      }
    };
    if (a.partCount > 0)
    {
      withParts(std::true_type{});
    }
    else
    {
      withParts(std::false_type{});
    }
  });
}

class HostResamplePasses : public ResamplePasses
{
public:
  explicit HostResamplePasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Resample(const ResampleArguments & a,
           Precision                 precision,
           const ResampleArrays &    arrays,
           Memory &                  output,
           i64                       firstRow,
           int                       rowCount) override
  {
    const ChainPart * parts = AddressOf<ChainPart>(arrays.parts);
    const float4 *    vectors = AddressOf<float4>(arrays.vectors);
    const int         taskRows = static_cast<int>(std::max<i64>(1, TaskVoxels / a.outputSize[0]));
    ++m_Queue.statistics.launches;
    WithVariant(a, precision, [&](auto interpolation, auto hasParts, auto zero) {
      using real = decltype(zero);
      const real * input = AddressOf<real>(arrays.input);
      const real * outside = AddressOf<real>(arrays.outside);
      real *       out = static_cast<real *>(m_Queue.GetHostAddress(output));
      m_Queue.parallelFor((rowCount + taskRows - 1) / taskRows, [&](i64 task) {
        const int end = static_cast<int>(std::min<i64>(rowCount, (task + 1) * taskRows));
        for (int row = static_cast<int>(task * taskRows); row < end; ++row)
        {
          const int y = static_cast<int>((firstRow + row) % a.outputSize[1]);
          const int z = static_cast<int>((firstRow + row) / a.outputSize[1]);
          for (int x = 0; x < a.outputSize[0]; ++x)
          {
            real * voxel = out + (i64{ row } * a.outputSize[0] + x) * a.components;
            ResampleVoxel(interpolation, hasParts, &a, parts, vectors, input, outside, x, y, z, voxel);
          }
        }
      });
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

std::unique_ptr<ResamplePasses>
HostQueue::CreateResamplePasses()
{
  return std::make_unique<HostResamplePasses>(*this);
}

} // namespace gpureg
