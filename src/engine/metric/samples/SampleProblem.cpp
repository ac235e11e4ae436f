// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SampleProblem.h"

#include "engine/metric/samples/IntegerValues.h"
#include "engine/metric/samples/MovingVolumes.h"
#include "engine/transform/FixedPoint.h"
#include "engine/transform/MergedChain.h"
#include "engine/transform/PackedVectors.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpureg
{

namespace
{
/** Returns a bound of how far a map leads from indices up to reach. */
double
ComputeFarthest(const IndexMap & map, double reach)
{
  double farthest = 1;
  for (std::size_t r = 0; r < 3; ++r)
  {
    farthest += std::abs(map.offset[r]);
    for (std::size_t c = 0; c < 3; ++c)
    {
      farthest += std::abs(map.matrix[3 * r + c]) * reach;
    }
  }
  return farthest;
}

/** Returns a map in fixed point. A map that leads farther than FarthestVoxel, or is not a number, is replaced by one that leads out of the
 *  volume. */
kernels::FixedMap
ToFixedMapWithin(const IndexMap & map, double farthest, int bits)
{
  if (farthest < FarthestVoxel)
  {
    return ToFixedMap(map, bits);
  }
  IndexMap out;
  out.matrix = {};
  out.offset = { -FarthestVoxel, 0, 0 };
  return ToFixedMap(out, bits);
}

// The largest number of vectors, and of samples, for which vectors are uploaded in fixed point: 24 bytes each instead of 12, and a B-spline
// needs 252 products of 64 bits per vector.
constexpr std::int64_t MostFixedPointVectors = 1 << 18;

// Half of the distance at which GPUREG_FARTHEST_FIXED_POINT_MOVE leads out.
constexpr int LongestFixedPointAxis = 1 << 17;

bool
IsShort(const Size & size)
{
  return *std::max_element(size.begin(), size.end()) < LongestFixedPointAxis;
}

/** Returns true if the displacements of the chain's grids fit into fixed point. */
bool
FitsFixedPoint(const ChainedGrid & chain)
{
  std::int64_t vectors = 0;
  for (const ChainStep & step : chain.transform.steps)
  {
    vectors += CountOf(step.grid.size);
    if (!IsShort(step.grid.size))
    {
      return false;
    }
  }
  const std::vector<kernels::ChainPart> parts = MergeChain(chain).parts;
  return vectors <= MostFixedPointVectors &&
         std::all_of(parts.begin(), parts.end(), [](const kernels::ChainPart & part) {
           return std::all_of(part.carry, part.carry + 9, [](float entry) {
             return std::abs(entry) < static_cast<float>(GPUREG_LARGEST_FIXED_POINT_CARRY);
           });
         });
}

int
GetVariant(const SampleDescription & samples, const SampleMapping & mapping, Forces forces)
{
  const int ofBoth = (samples.IsFixedPoint() ? kernels::SamplesAreFixedPoint : 0) |
                     (samples.fixed.pointCount > 0 ? kernels::SamplesArePoints : 0) |
                     (mapping.displacement || mapping.isDisplacedOnDevice || mapping.spline || mapping.preTransforms
                        ? kernels::SamplesAreDisplaced
                        : 0) |
                     (samples.moving.mask || samples.moving.maskImage != nullptr ? kernels::MovingHasMask : 0) |
                     (mapping.chain.transform.steps.empty() ? 0 : kernels::SamplesAreChained);
  if (HasBins(samples.moving))
  {
    // Cells of bins are read at once, as quads are, unless the array of bins holds 64-bit integers.
    return ofBoth | (forces == Forces::OfEachSample ? kernels::WritesForces : 0) |
           (samples.readsQuads && !samples.IsFixedPoint() ? kernels::ReadsQuads : 0);
  }
  // Without forces, options that only forces need are left out: they would select a more general kernel than the value needs.
  int ofForces = 0;
  if (forces != Forces::None)
  {
    ofForces = (forces == Forces::OfEachSample ? kernels::WritesForces : 0) |
               (HasGradient(samples.fixed)               ? kernels::GradientOfFixed
                : HasGradient(samples.moving)            ? 0
                : samples.moving.gradientOfInterpolation ? kernels::GradientOfInterpolation
                                                         : kernels::GradientByDifferences);
  }
  return ofForces | ofBoth | (samples.moving.splineOrder != 1 ? kernels::InterpolatesSpline : 0) |
         (samples.moving.checksRange ? kernels::ChecksRange : 0) | (samples.hasQuads ? kernels::ReadsQuads : 0);
}
} // namespace

kernels::VolumeShape
MakeShape(const Size & size)
{
  return kernels::MakeVolumeShape(size[0], size[1], size[2]);
}

bool
MovesInFixedPoint(const SampleDescription & samples, const SampleMapping & mapping)
{
  const bool isMoved =
    mapping.spline || mapping.displacement || mapping.preTransforms || !mapping.chain.transform.steps.empty();
  // Slopes are not computed in fixed point, and a field on the device is of floats.
  if (!isMoved || mapping.derivesChain || !samples.IsFixedPoint() || samples.GetCount() > MostFixedPointVectors ||
      !IsShort(samples.moving.size))
  {
    return false;
  }
  // Control points that lie on the device are floats.
  const bool splineFits =
    !mapping.spline || (mapping.spline->grid.vectors && CountOf(mapping.spline->grid.size) <= MostFixedPointVectors);
  const bool fieldFits = mapping.spline || !mapping.displacement ||
                         (mapping.displacementInDoubles && CountOf(samples.fixed.virtualSize) <= MostFixedPointVectors);
  const bool preTransformsFit =
    !mapping.preTransforms ||
    (FitsFixedPoint(*mapping.preTransforms) &&
     std::all_of(mapping.displacementToIndex.begin(), mapping.displacementToIndex.end(), [](double entry) {
       return std::abs(entry) < GPUREG_LARGEST_FIXED_POINT_CARRY;
     }));
  return splineFits && fieldFits && preTransformsFit &&
         (mapping.chain.transform.steps.empty() || FitsFixedPoint(mapping.chain));
}

SampleProblem
MakeProblem(const SampleDescription & samples, const SampleMapping & mapping, Forces forces, double scaledRange)
{
  SampleProblem              problem;
  kernels::SampleArguments & a = problem.arguments;
  std::copy(mapping.displacementToIndex.begin(), mapping.displacementToIndex.end(), a.displacementToIndex);
  std::copy(mapping.movingIndexToPoint.begin(), mapping.movingIndexToPoint.end(), a.movingIndexToPoint);
  a.partCount = static_cast<int>(mapping.chain.transform.steps.size());
  a.forcesFollowChain = !mapping.forcesFollowChain ? 0
                        : mapping.derivesChain     ? kernels::ForcesFollowDerivatives
                                                   : kernels::ForcesFollowJacobians;
  std::copy(samples.moving.inverseSpacing.begin(), samples.moving.inverseSpacing.end(), a.inverseSpacing);
  a.virtualShape = MakeShape(samples.fixed.virtualSize);
  a.movingShape = MakeShape(samples.moving.size);
  a.maskShape = MakeShape(samples.moving.maskSize);
  const Vector3 centre = samples.GetCentre();
  std::copy(centre.begin(), centre.end(), a.centre);
  a.pointCount = static_cast<int>(samples.fixed.pointCount);
  a.splineOrder = samples.moving.splineOrder;
  a.movesInFixedPoint = MovesInFixedPoint(samples, mapping);
  a.hasOwnDisplacements = mapping.spline || mapping.preTransforms;
  a.variant = GetVariant(samples, mapping, forces);
  problem.maps = MakeMaps(samples, mapping.toMoving, scaledRange);
  return problem;
}

kernels::SampleMaps
MakeMaps(const SampleDescription & samples, const IndexMap & toMoving, double scaledRange)
{
  const Size & size = samples.fixed.virtualSize;
  const double reach = std::max<double>(samples.farthestPoint, *std::max_element(size.begin(), size.end()));
  const double farthest = ComputeFarthest(toMoving, reach);
  const double movingReach = *std::max_element(samples.moving.size.begin(), samples.moving.size.end());

  kernels::SampleMaps maps{};
  maps.guardBits = samples.IsFixedPoint() && farthest < FarthestVoxel ? 29 - std::ilogb(farthest) : 0;
  maps.toMoving = ToFixedMapWithin(toMoving, farthest, 32 + maps.guardBits);
  maps.toMask = ToFixedMapWithin(samples.moving.toMask, ComputeFarthest(samples.moving.toMask, movingReach), 32);
  std::transform(samples.moving.differenceStep.begin(),
                 samples.moving.differenceStep.end(),
                 maps.differenceStep,
                 [](double step) { return ToFixedPoint(step); });
  if (samples.IsFixedPoint())
  {
    const ValueScale & scale = samples.moving.scale;
    const int          exponent = ComputeValueExponent(scale);
    maps.range = std::llround(std::ldexp(scale.range, exponent));
    maps.minimum = scale.roundsToFloat ? std::llround(std::ldexp(scale.minimum, exponent)) : 0;
    maps.roundsToFloat = scale.roundsToFloat;
    maps.unitsToValues = static_cast<float>(scaledRange / static_cast<double>(maps.range));
    maps.valuesPerUnit = std::llround(std::ldexp(scaledRange / static_cast<double>(maps.range), 80));
    maps.unitsToFixedValues = static_cast<float>(
      std::ldexp(scaledRange / samples.fixed.scale.range, -ComputeValueExponent(samples.fixed.scale)));
  }
  return maps;
}

} // namespace gpureg
