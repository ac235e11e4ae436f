// SPDX-License-Identifier: Apache-2.0
// Computes the map of a linear transform, and where it moves a point, in double precision.
#ifndef itkGPULinearMap_h
#define itkGPULinearMap_h

#include "gpureg/transform/TransformChain.h"

#include "itkCompositeTransform.h"

#include <type_traits>

namespace itk
{
namespace GPUTransformChain
{

/** Returns the map of a linear transform of floats from its own numbers; TransformPoint() would round each point to floats. */
template <unsigned int VDimension>
gpureg::IndexMap
GetMapOfFloats(const Transform<float, VDimension, VDimension> & transform)
{
  gpureg::IndexMap map;
  if (const auto * const composite = dynamic_cast<const CompositeTransform<float, VDimension> *>(&transform))
  {
    // The transform that was added last is applied first.
    for (SizeValueType n = composite->GetNumberOfTransforms(); n > 0; --n)
    {
      map = gpureg::Compose(GetMapOfFloats<VDimension>(*composite->GetNthTransformConstPointer(n - 1)), map);
    }
    return map;
  }
  using TransformType = Transform<float, VDimension, VDimension>;
  typename TransformType::InputPointType       origin;
  typename TransformType::JacobianPositionType jacobian;
  origin.Fill(0);
  transform.ComputeJacobianWithRespectToPosition(origin, jacobian);
  const auto moved = transform.TransformPoint(origin);
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      map.matrix[3 * r + c] = static_cast<double>(jacobian(r, c));
    }
    map.offset[r] = static_cast<double>(moved[r]);
  }
  return map;
}

/** Returns the map of a transform that is known to be affine, from where it moves a few points, whatever its class. */
template <typename TScalar, unsigned int VDimension>
gpureg::IndexMap
FitAffine(const Transform<TScalar, VDimension, VDimension> & transform)
{
  if constexpr (std::is_same<TScalar, float>::value)
  {
    return GetMapOfFloats<VDimension>(transform);
  }
  using PointType = typename Transform<TScalar, VDimension, VDimension>::InputPointType;
  // A power of two, of the order of lengths in mm: no digit is lost.
  constexpr TScalar reach = 1024;
  PointType         origin;
  origin.Fill(0);
  const auto       moved = transform.TransformPoint(origin);
  gpureg::IndexMap map;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    PointType there = origin;
    there[d] = reach;
    const auto movedThere = transform.TransformPoint(there);
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      map.matrix[3 * r + d] = static_cast<double>(movedThere[r] - moved[r]) / reach;
    }
    map.offset[d] = static_cast<double>(moved[d]);
  }
  return map;
}

/** Returns where a linear transform moves a point. */
template <typename TScalar, unsigned int VDimension>
Point<double, VDimension>
MovePoint(const Transform<TScalar, VDimension, VDimension> & transform, const Point<double, VDimension> & point)
{
  if constexpr (std::is_same<TScalar, float>::value)
  {
    const gpureg::IndexMap    map = GetMapOfFloats<VDimension>(transform);
    Point<double, VDimension> moved;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      moved[r] = map.offset[r];
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        moved[r] += map.matrix[3 * r + c] * point[c];
      }
    }
    return moved;
  }
  else
  {
    return transform.TransformPoint(point);
  }
}

} // namespace GPUTransformChain
} // namespace itk

#endif
