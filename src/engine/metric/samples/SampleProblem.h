// SPDX-License-Identifier: Apache-2.0
// The arguments of kernels that map samples to a moving image and read it there.
#ifndef gpureg_SampleProblem_h
#define gpureg_SampleProblem_h

#include "gpureg/metric/samples/Samples.h"

#include "engine/metric/samples/ControlPoints.h"
#include "engine/metric/samples/SampleArrays.h"

#include <cstdint>

namespace gpureg
{

/** Describes the samples and the moving image that are on a device. The fillers are only tested for being set. */
struct SampleDescription
{
  FixedSamples fixed;
  /** True if the samples' domain has no voxels. There is one sample then, which is invalid. */
  bool isEmpty = false;
  /** A number that changes whenever the samples change; 0 before the first ones. */
  std::uint64_t stamp = 0;
  /** The largest index of all points. */
  double      farthestPoint = 0;
  MovingImage moving;
  /** True if the device interpolates faster from quads, and if the moving image has quads. */
  bool readsQuads = false;
  bool hasQuads = false;

  bool
  IsFixedPoint() const
  {
    return fixed.precision == Precision::Double;
  }

  std::int64_t
  GetCount() const
  {
    return fixed.pointCount > 0 ? fixed.pointCount : CountOf(fixed.virtualSize);
  }

  /** Returns the virtual index that the first-order sums of forces refer to. */
  Vector3
  GetCentre() const
  {
    const Size & size = fixed.virtualSize;
    return { static_cast<double>(size[0] / 2), static_cast<double>(size[1] / 2), static_cast<double>(size[2] / 2) };
  }

  /** Returns the samples as what displaces them reads them. */
  MovedSamples
  GetMoved(const SampleArrays & arrays) const
  {
    return { fixed.virtualSize, fixed.pointCount, arrays.points.get(), stamp };
  }
};

/** All arguments of kernels that read samples, except the arrays. */
struct SampleProblem
{
  kernels::SampleArguments arguments{};
  kernels::SampleMaps      maps{};
};

/** Returns the shape of a volume as kernels read it. */
kernels::VolumeShape
MakeShape(const Size & size);

/** Returns true if the displacements, by field, spline or chain, are stored in fixed point. */
bool
MovesInFixedPoint(const SampleDescription & samples, const SampleMapping & mapping);

/** Returns the arguments for samples that are not cut into chunks. */
SampleProblem
MakeProblem(const SampleDescription & samples, const SampleMapping & mapping, Forces forces, double scaledRange);

/** Returns the maps of a linear mapping. */
kernels::SampleMaps
MakeMaps(const SampleDescription & samples, const IndexMap & toMoving, double scaledRange);

} // namespace gpureg

#endif
