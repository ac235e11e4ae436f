// SPDX-License-Identifier: Apache-2.0
// The resampler in plain loops: the reference that every device is tested against, and the code that runs where there is no device. cuda
// and opencl have their entry points in files of this name.
#include "host/runtime/HostQueue.h"

#include "engine/resample/ResamplePasses.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace gpureg
{

using namespace kernels;

namespace
{
// The number of voxels that one thread makes at a time.
constexpr i64 TaskVoxels = i64{ 1 } << 14;

/** Compiles work for each kind of interpolation separately, so that none pays for another. */
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
    case ResampleBSpline3:
      return work(std::integral_constant<int, ResampleBSpline3>{});
    default:
      return work(std::max<int>(interpolation, ResampleBSpline0));
  }
}

/** Calls work with the kernel's constants as types, and a value of the precision's type. */
template <typename TWork>
void
WithVariant(const ResampleArguments & a, Precision precision, const TWork & work)
{
  WithInterpolation(a.interpolation, [&](auto interpolation) {
    const auto withChain = [&](auto chain) {
      WithReal(precision, [&](auto zero) { work(interpolation, chain, zero); });
    };
    switch (a.chain)
    {
      case ChainIsAffine:
        return withChain(std::integral_constant<int, ChainIsAffine>{});
      case ChainHasParts:
        return withChain(std::integral_constant<int, ChainHasParts>{});
      default:
        return withChain(std::integral_constant<int, ChainFollowsRows>{});
    }
  });
}

/** The arrays as kernels see them. */
template <typename real>
struct ResampleVolumes
{
  const ChainPart * parts;
  const float4 *    vectors;
  const real *      input;
  const real *      outside;
};

/** Makes one row of the output. \param columns scratch */
template <typename TInterpolation, typename TChain, typename real>
void
ResampleRow(TInterpolation                interpolation,
            TChain                        chain,
            const ResampleArguments &     a,
            const ResampleVolumes<real> & v,
            int                           y,
            int                           z,
            std::vector<real> &           columns,
            real *                        out)
{
  const int width = a.outputSize[0];
  int       firstColumn = 0;
  if (chain == ChainFollowsRows)
  {
    const int columnCount = LocateColumnsOfRow(v.parts, 0, width - 1, y, z, &firstColumn);
    columns.resize(static_cast<std::size_t>(3 * std::max(columnCount, 0)));
    SumColumnsOfRow(v.parts, v.vectors, firstColumn, columnCount, 0, 1, y, z, columns.data());
  }
  i64 position[3];
  ComputeInputPosition(&a, 0, y, z, position);
  for (int x = 0; x < width; ++x)
  {
    real d[3] = { 0, 0, 0 };
    if (chain == ChainFollowsRows)
    {
      AddFromColumns(v.parts, columns.data(), firstColumn, ApplyFixedRow(&v.parts->toGrid, 0, x, y, z), d);
    }
    if (chain == ChainHasParts)
    {
      DisplaceByChain(a.partCount, v.parts, v.vectors, x, y, z, d);
    }
    ResampleMoved(interpolation,
                  a.components,
                  &a,
                  v.input,
                  v.outside,
                  position,
                  chain != ChainIsAffine ? d : nullptr,
                  out + i64{ x } * a.components);
    for (int r = 0; r < 3; ++r)
    {
      position[r] += a.toInput.row[4 * r];
    }
  }
}

class HostResamplePasses : public ResamplePasses
{
public:
  explicit HostResamplePasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Resample(const ResampleArguments & a, Precision precision, const ResampleArrays & arrays, Memory & output) override
  {
    const int firstRow = a.cut.firstRow;
    const int rowCount = a.cut.rowCount;
    const int taskRows = static_cast<int>(std::max<i64>(1, TaskVoxels / a.outputSize[0]));
    m_Queue.CountLaunch();
    WithVariant(a, precision, [&](auto interpolation, auto chain, auto zero) {
      using real = decltype(zero);
      const ResampleVolumes<real> v{ AddressOf<ChainPart>(arrays.parts),
                                     AddressOf<float4>(arrays.vectors),
                                     m_Queue.AddressIn<real>(arrays.input),
                                     AddressOf<real>(arrays.outside) };
      real * const                out = static_cast<real *>(m_Queue.GetHostAddress(output));
      m_Queue.ForEachTask((rowCount + taskRows - 1) / taskRows, [&](i64 task) {
        std::vector<real> columns;
        const int         end = static_cast<int>(std::min<i64>(rowCount, (task + 1) * taskRows));
        for (int row = static_cast<int>(task * taskRows); row < end; ++row)
        {
          const int y = (firstRow + row) % a.outputSize[1];
          const int z = (firstRow + row) / a.outputSize[1];
          real *    rowOut = out + i64{ row } * a.outputSize[0] * a.components;
          ResampleRow(interpolation, chain, a, v, y, z, columns, rowOut);
        }
      });
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ResamplePasses>
MakePassesOn<DeviceKind::Host, ResamplePasses>(Queue & queue)
{
  return std::make_unique<HostResamplePasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
