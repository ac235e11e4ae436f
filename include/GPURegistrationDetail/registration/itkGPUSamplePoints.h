// SPDX-License-Identifier: Apache-2.0
// Draws the points at which ITK's registration method samples a metric, on all threads.
#ifndef itkGPUSamplePoints_h
#define itkGPUSamplePoints_h

#include "GPURegistrationDetail/core/itkGPUMersenneTwister.h"

#include "gpureg/core/ParallelFor.h"

#include "itkImageBase.h"
#include "itkMersenneTwisterRandomVariateGenerator.h"
#include "itkSpatialObject.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

using RandomGenerator = Statistics::MersenneTwisterRandomVariateGenerator;

/** Returns true if a generator draws as DrawIntegers() and ComputeNormalVariate() do: the first numbers are compared.
 *  \param generator the generator, which has just been given its seed. */
inline bool
DrawsEqually(RandomGenerator & generator)
{
  bool isEqual = true;
  DrawIntegers(
    static_cast<std::uint32_t>(generator.GetSeed()),
    8,
    1,
    [](std::int64_t, const std::function<void(std::int64_t)> & body) { body(0); },
    [&](std::int64_t, const std::uint32_t * integers) {
      for (unsigned int n = 0; n < 6; n += 2)
      {
        isEqual = isEqual && generator.GetNormalVariate() == ComputeNormalVariate(integers[n], integers[n + 1]);
      }
      isEqual = isEqual && generator.GetIntegerVariate() == integers[6] && generator.GetIntegerVariate() == integers[7];
    });
  return isEqual;
}

/** Draws random positions in a region as itk::ImageRandomConstIteratorWithIndex does.
 *  \param generator the iterator's generator, which has its seed.
 *  \param count the number of positions.
 *  \param voxels the number of the region's voxels.
 *  \returns the number of each position's voxel in the region */
inline std::vector<SizeValueType>
DrawPositions(RandomGenerator & generator, SizeValueType count, SizeValueType voxels)
{
  std::vector<SizeValueType> positions(count);
  const double               range = static_cast<double>(voxels) - 0.5;
  for (SizeValueType & position : positions)
  {
    position = static_cast<SizeValueType>(generator.GetVariateWithOpenRange(range));
  }
  return positions;
}

/** Makes the points of voxels, each moved by three normal numbers of a third of the spacing, and keeps those inside a mask. Order and bits
 *  are those of itk::ImageRegistrationMethodv4::SetMetricSamplePoints().
 *  \param grid the image whose voxels are sampled.
 *  \param region the region of the grid from which voxels are counted.
 *  \param count the number of voxels to sample.
 *  \param findVoxel returns the number in the region of the n-th voxel to sample.
 *  \param mask what points are inside, or null.
 *  \param seed the seed of the generator of normal numbers.
 *  \param parallelFor the threads to use.
 *  \param points receives the points. */
template <typename TPoint, typename TFindVoxel, unsigned int VDimension>
void
MakeSamplePoints(const ImageBase<VDimension> &     grid,
                 const ImageRegion<VDimension> &   region,
                 SizeValueType                     count,
                 const TFindVoxel &                findVoxel,
                 const SpatialObject<VDimension> * mask,
                 std::uint32_t                     seed,
                 const gpureg::ParallelFor &       parallelFor,
                 std::vector<TPoint> &             points)
{
  // Each task's integers are a multiple of the generator's state, and fit into a processor's cache.
  constexpr SizeValueType    perTask = 312 * 12;
  constexpr unsigned int     perPoint = 2 * VDimension;
  const auto                 oneThirdSpacing = grid.GetSpacing() / 3.0;
  const SizeValueType        tasks = (count + perTask - 1) / perTask;
  std::vector<SizeValueType> kept(tasks);
  std::vector<TPoint>        all;
  all.resize(count);
  DrawIntegers(seed,
               static_cast<std::int64_t>(perTask * perPoint),
               static_cast<std::int64_t>(tasks),
               parallelFor,
               [&](std::int64_t task, const std::uint32_t * integers) {
                 const SizeValueType first = static_cast<SizeValueType>(task) * perTask;
                 TPoint *            out = all.data() + first;
                 for (SizeValueType n = first; n < std::min(count, first + perTask); ++n, integers += perPoint)
                 {
                   Index<VDimension> index = region.GetIndex();
                   SizeValueType     rest = findVoxel(n);
                   for (unsigned int d = 0; d < VDimension; ++d)
                   {
                     index[d] += static_cast<IndexValueType>(rest % region.GetSize(d));
                     rest /= region.GetSize(d);
                   }
                   TPoint point;
                   grid.TransformIndexToPhysicalPoint(index, point);
                   for (unsigned int d = 0; d < VDimension; ++d)
                   {
                     point[d] += ComputeNormalVariate(integers[2 * d], integers[2 * d + 1]) * oneThirdSpacing[d];
                   }
                   if (mask == nullptr || mask->IsInsideInWorldSpace(point))
                   {
                     *out++ = point;
                   }
                 }
                 kept[static_cast<std::size_t>(task)] = static_cast<SizeValueType>(out - (all.data() + first));
               });
  // closes the gaps
  auto end = all.begin();
  for (SizeValueType task = 0; task < tasks; ++task)
  {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(task * perTask);
    end = first == end ? first + static_cast<std::ptrdiff_t>(kept[task]) : std::copy_n(first, kept[task], end);
  }
  all.erase(end, all.end());
  points = std::move(all);
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
