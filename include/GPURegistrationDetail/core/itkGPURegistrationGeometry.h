// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURegistrationGeometry_h
#define itkGPURegistrationGeometry_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"

#include "gpureg/core/Error.h"
#include "gpureg/core/Geometry.h"

#include "itkCompositeTransform.h"
#include "itkContinuousIndex.h"
#include "itkImageBase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace itk
{
/** Converts ITK's geometry, in double precision, to the engine's index maps. Indices are relative to the buffer's first voxel; in two
 * dimensions the third index stays 0. */
namespace GPURegistrationGeometry
{

using IndexArray = std::array<double, 3>;

template <unsigned int VDimension>
gpureg::Size
SizeOf(const Size<VDimension> & size)
{
  gpureg::Size result{ 1, 1, 1 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    if (size[d] > static_cast<SizeValueType>(NumericTraits<int>::max()))
    {
      throw gpureg::UnsupportedError("an axis of " + std::to_string(size[d]) + " voxels is too long; one may have " +
                                     std::to_string(NumericTraits<int>::max()));
    }
    result[d] = static_cast<int>(size[d]);
  }
  return result;
}

template <unsigned int VDimension>
Point<double, VDimension>
IndexToPoint(const ImageBase<VDimension> & image, const IndexArray & index)
{
  ContinuousIndex<double, VDimension> absolute;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    absolute[d] = index[d] + static_cast<double>(image.GetBufferedRegion().GetIndex(d));
  }
  return image.template TransformContinuousIndexToPhysicalPoint<double, double>(absolute);
}

template <unsigned int VDimension>
IndexArray
PointToIndex(const ImageBase<VDimension> & image, const Point<double, VDimension> & point)
{
  const auto absolute = image.template TransformPhysicalPointToContinuousIndex<double>(point);
  IndexArray index{ 0, 0, 0 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    index[d] = absolute[d] - static_cast<double>(image.GetBufferedRegion().GetIndex(d));
  }
  return index;
}

/** Returns the centre of a buffer as an integer index. */
template <unsigned int VDimension>
IndexArray
GetCentre(const ImageBase<VDimension> & image)
{
  const auto & size = image.GetBufferedRegion().GetSize();
  IndexArray   centre{ 0, 0, 0 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    centre[d] = static_cast<double>(size[d] / 2);
  }
  return centre;
}

/** Returns true if a transform is an affine map. It does not ask IsLinear(). Some classes derived from linear transforms are not linear,
 * such as itk::AzimuthElevationToCartesianTransform; their category says so, but IsLinear() does not. A composite's category follows
 * from IsLinear() of its parts. A class derived from composites may map in another way. */
template <typename TScalar, unsigned int VDimension>
bool
IsLinear(const Transform<TScalar, VDimension, VDimension> & transform)
{
  const auto * const composite = dynamic_cast<const CompositeTransform<TScalar, VDimension> *>(&transform);
  if (composite == nullptr)
  {
    return transform.GetTransformCategory() == TransformBaseTemplateEnums::TransformCategory::Linear;
  }
  if (!GPURegistrationDetail::IsExactly<CompositeTransform<TScalar, VDimension>>(composite))
  {
    return false;
  }
  for (SizeValueType n = 0; n < composite->GetNumberOfTransforms(); ++n)
  {
    if (!IsLinear(*composite->GetNthTransformConstPointer(n)))
    {
      return false;
    }
  }
  return true;
}

/** Returns the indices whose images determine an affine map: the centre, and size[d] beyond it along each axis d. */
template <unsigned int VDimension>
std::array<IndexArray, VDimension + 1>
GetFitIndices(const ImageBase<VDimension> & image)
{
  std::array<IndexArray, VDimension + 1> indices;
  indices.fill(GetCentre(image));
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    indices[d + 1][d] += std::max<double>(1.0, static_cast<double>(image.GetBufferedRegion().GetSize(d)));
  }
  return indices;
}

/** Returns the affine map that moved the indices of GetFitIndices() to `moved`, whatever the classes of the transforms. */
template <unsigned int VDimension>
gpureg::IndexMap
FitMovedIndices(const ImageBase<VDimension> & image, const std::array<IndexArray, VDimension + 1> & moved)
{
  const auto       indices = GetFitIndices(image);
  gpureg::IndexMap map;
  map.offset = moved[0];
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const double reach = indices[d + 1][d] - indices[0][d];
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      map.matrix[3 * r + d] = (moved[d + 1][r] - moved[0][r]) / reach;
      map.offset[r] -= map.matrix[3 * r + d] * indices[0][d];
    }
  }
  return map;
}

/** Returns the map x ↦ function(x), which must be affine. */
template <unsigned int VDimension, typename TFunction>
gpureg::IndexMap
FitIndexMap(const ImageBase<VDimension> & image, const TFunction & function)
{
  const auto                             indices = GetFitIndices(image);
  std::array<IndexArray, VDimension + 1> moved;
  std::transform(indices.begin(), indices.end(), moved.begin(), function);
  return FitMovedIndices<VDimension>(image, moved);
}

/** Returns the largest displacement by a map of indices within a size, in voxels, summed over all axes. */
template <unsigned int VDimension>
double
ComputeLargestShift(const gpureg::IndexMap & map, const Size<VDimension> & size)
{
  double shift = 0;
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    shift += std::abs(map.offset[r]);
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      shift += std::abs(map.matrix[3 * r + c] - (r == c ? 1.0 : 0.0)) * static_cast<double>(size[c]);
    }
  }
  return shift;
}

/** Returns the matrix that maps a physical vector to an index vector of an image, stored row by row. */
template <unsigned int VDimension>
std::array<double, 9>
GetVectorToIndexMatrix(const ImageBase<VDimension> & image)
{
  const auto &          inverse = image.GetInverseDirection();
  std::array<double, 9> matrix{};
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      matrix[3 * r + d] = inverse[r][d] / image.GetSpacing()[r];
    }
  }
  return matrix;
}

/** Returns the map from an index, relative to a region's first voxel, to a point. */
template <unsigned int VDimension>
gpureg::IndexMap
GetIndexToPointMap(const ImageBase<VDimension> & image, const ImageRegion<VDimension> & region)
{
  Point<double, VDimension> first;
  image.TransformIndexToPhysicalPoint(region.GetIndex(), first);
  gpureg::IndexMap map;
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      map.matrix[3 * r + d] = image.GetDirection()[r][d] * image.GetSpacing()[d];
    }
    map.offset[r] = first[r];
  }
  return map;
}

/** Returns the map from a point to an index, relative to a region's first voxel. */
template <unsigned int VDimension>
gpureg::IndexMap
GetPointToIndexMap(const ImageBase<VDimension> & image, const ImageRegion<VDimension> & region)
{
  gpureg::IndexMap map;
  map.matrix = GetVectorToIndexMatrix(image);
  for (unsigned int d = VDimension; d < 3; ++d)
  {
    map.matrix[4 * d] = 1;
  }
  // The origin's index is a whole number, so that nothing is rounded.
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    map.offset[r] = -static_cast<double>(region.GetIndex(r));
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      map.offset[r] -= map.matrix[3 * r + d] * image.GetOrigin()[d];
    }
  }
  return map;
}

/** Returns true if two images have voxels of the same indices at the same points, to a millionth of a voxel. */
template <unsigned int VDimension>
bool
HaveSameGrid(const ImageBase<VDimension> & a, const ImageBase<VDimension> & b)
{
  if (a.GetLargestPossibleRegion() != b.GetLargestPossibleRegion())
  {
    return false;
  }
  const auto             region = a.GetLargestPossibleRegion();
  const gpureg::IndexMap mapA = GetIndexToPointMap<VDimension>(a, region);
  const gpureg::IndexMap mapB = GetIndexToPointMap<VDimension>(b, region);
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    double apart = std::abs(mapA.offset[r] - mapB.offset[r]);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      apart += std::abs(mapA.matrix[3 * r + d] - mapB.matrix[3 * r + d]) * static_cast<double>(region.GetSize(d));
    }
    if (!(apart <= 1e-6 * *std::min_element(a.GetSpacing().Begin(), a.GetSpacing().End())))
    {
      return false;
    }
  }
  return true;
}

/** Returns the offset from one region's first voxel to another's. */
template <unsigned int VDimension>
std::array<std::int64_t, 3>
GetOffset(const ImageRegion<VDimension> & from, const ImageRegion<VDimension> & to)
{
  std::array<std::int64_t, 3> offset{};
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    offset[d] = static_cast<std::int64_t>(to.GetIndex(d)) - static_cast<std::int64_t>(from.GetIndex(d));
  }
  return offset;
}

} // namespace GPURegistrationGeometry
} // namespace itk

#endif
