// SPDX-License-Identifier: Apache-2.0
// The least work of resampling a voxel, counted from src/kernels: Resample.h, TransformChain.h, FixedMap.h, BSpline.h.
#ifndef ResampleWork_h
#define ResampleWork_h

#include "Bounds.h"
#include "ResampleCases.h"

#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"

#include <string>

namespace bench
{

/** Floating-point operations for each voxel of a float volume, in the kernels' formulations, which for affine maps and B-splines are
 *  shorter than the formulas written out. A multiply-add counts as two; an addition, a multiplication or a floor as one; comparisons,
 *  integer operations, and operations once for a row as none. */
namespace flops
{
inline constexpr double MultiplyAdd = 2;

/** An affine map goes along a row by integer increments; the fractions of three sums become floats. As a matrix it would take 18. */
inline constexpr double Position = 3;

/** A displacement is added to each fraction, and whole voxels of the sum are carried: add, floor, subtract. */
inline constexpr double Move = 3 * 3;

/** Four cubic weights: 1 - t, t², (1 - t)², two cubes of 2, two polynomials of two multiply-adds. */
inline constexpr double CubicWeights = 3 + 2 * 2 + 2 * 2 * MultiplyAdd;

/** Linear interpolation of two values along an axis: the difference, and a multiply-add. */
inline constexpr double Mix = 1 + MultiplyAdd;

/** Weights and four vectors that are sums of columns, along a row of the output that is parallel to the grid's rows. */
inline constexpr double SplineFromColumns = 1 + CubicWeights + 4 * 3 * MultiplyAdd;

/** A column of 4×4 control points, summed once for a row. */
inline constexpr double SplineColumn = 4 * (4 + 1) * 3 * MultiplyAdd;

/** Three components of a displacement field: its own fractions, and seven linear interpolations for each component. */
inline constexpr double Field = 3 + 3 * 7 * Mix;

/** A voxel's own displacement, of a transform that is sampled. */
inline constexpr double OwnVector = 3 * MultiplyAdd;

inline constexpr double Linear = 7 * Mix;

/** 4×4×4 coefficients: the planes, 64, the columns, 16, and the row. */
inline constexpr double Cubic = 3 * CubicWeights + (64 + 16 + 4) * MultiplyAdd;
} // namespace flops

/** Adds a transform's flops and bytes for each voxel of a cube to those of an affine map, into which all linear transforms of a chain
 *  are combined. */
inline void
AddTransformWork(const TransformType & transform, unsigned int size, Work & work)
{
  if (const auto * const chain = dynamic_cast<const itk::CompositeTransform<double, 3> *>(&transform))
  {
    for (itk::SizeValueType n = 0; n < chain->GetNumberOfTransforms(); ++n)
    {
      AddTransformWork(*chain->GetNthTransformConstPointer(n), size, work);
    }
  }
  else if (const auto * const spline = dynamic_cast<const itk::BSplineTransform<double, 3, 3> *>(&transform))
  {
    const auto   grid = spline->GetCoefficientImages()[0]->GetLargestPossibleRegion().GetSize();
    const double columnsPerVoxel = static_cast<double>(grid[0]) / size;
    work.flopsPerVoxel += flops::SplineFromColumns + columnsPerVoxel * flops::SplineColumn + flops::Move;
  }
  else if (!transform.IsLinear())
  {
    const bool isField = dynamic_cast<const itk::DisplacementFieldTransform<double, 3> *>(&transform) != nullptr;
    work.flopsPerVoxel += (isField ? flops::Field : flops::OwnVector) + flops::Move;
    work.bytesPerVoxel += 3 * sizeof(float);
  }
}

/** Returns the work of resampling a cube of floats onto its own grid. */
inline Work
GetResampleWork(const ImageType & image, const TransformType & transform, const std::string & interpolator)
{
  const auto size = image.GetBufferedRegion().GetSize();
  Work       work{ static_cast<double>(image.GetBufferedRegion().GetNumberOfPixels()),
             2 * sizeof(float),
             flops::Position + (interpolator == "linear"  ? flops::Linear
                                      : interpolator == "cubic" ? flops::Cubic
                                                                : 0) };
  AddTransformWork(transform, static_cast<unsigned int>(size[0]), work);
  return work;
}

} // namespace bench

#endif
