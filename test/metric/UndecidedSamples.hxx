// SPDX-License-Identifier: Apache-2.0
// Finds samples of a MetricSetUp about which rounding may decide.
#ifndef UndecidedSamples_hxx
#define UndecidedSamples_hxx

#include "MetricSetUp.h"

#include "itkBSplineTransform.h"

#include <algorithm>
#include <cmath>

namespace gpuregtest
{

/** The distance in voxels from a decision within which rounding may decide about a mapped sample. The matrix that maps indices is
 *  rounded to 2^-33; if samples are many, displacements of up to 5 voxels are floats. */
constexpr double EdgeDistance = 5e-8;
constexpr double EdgeDistanceOfMany = 1e-6;
/** The least distance from the ends of the histogram's range, relative to the range: values are floats. */
constexpr double RangeDistance = 5e-7;
/** The error of the value of a single voxel, which is rounded once. */
constexpr double VoxelBinDistance = 7e-8;

/** Returns true if a value is closer than `distance`, relative to the range, to an edge between two bins of a joint histogram. */
template <typename TPixel, unsigned int VDimension>
bool
MetricSetUp<TPixel, VDimension>::IsNearBinEdge(double value, const Ranges & range, double distance) const
{
  const double inner = static_cast<double>(m_Case.bins) - 5;
  const double place = inner * (value - range.low) / (range.high - range.low);
  return std::abs(place - std::floor(place) - 0.5) < inner * distance;
}

/** Returns true if rounding may decide about the bin of a voxel's own value, read without interpolation: no transform can avoid such a
 *  voxel. */
template <typename TPixel, unsigned int VDimension>
bool
MetricSetUp<TPixel, VDimension>::HasVoxelNearBinEdge() const
{
  if (!HasFloatBins() || m_Case.interpolation != Interpolation::Nearest)
  {
    return false;
  }
  const Ranges         range = ComputeRanges(*m_Moving, m_MovingMask);
  const TPixel * const values = m_Moving->GetBufferPointer();
  return std::any_of(values, values + m_Moving->GetBufferedRegion().GetNumberOfPixels(), [&](double value) {
    return IsNearBinEdge(value, range, VoxelBinDistance);
  });
}

/** Returns true if a step of `distance` spacings changes the transform at a point: whether the point is in a spline's domain, or, if
 *  other transforms precede a field, which of its vectors is nearest, at which ITK computes the derivative. */
template <typename TPixel, unsigned int VDimension>
bool
MetricSetUp<TPixel, VDimension>::IsUndecided(PointType point, double distance) const
{
  const auto composite = dynamic_cast<const CompositeType *>(m_Transform.GetPointer());
  const int  count = composite ? static_cast<int>(composite->GetNumberOfTransforms()) : 1;
  for (int n = count - 1; n >= 0; --n)
  {
    const TransformType & transform = composite ? *composite->GetNthTransformConstPointer(n) : *m_Transform;
    if (IsNearEndOf<1>(transform, point, distance) || IsNearEndOf<2>(transform, point, distance) ||
        IsNearEndOf<3>(transform, point, distance) || (n < count - 1 && IsBetweenVectors(transform, point, distance)))
    {
      return true;
    }
    point = transform.TransformPoint(point);
  }
  return false;
}

/** Returns true if a point is in a spline's domain, where all control points of its order exist. */
template <typename TPixel, unsigned int VDimension>
template <unsigned int VOrder>
bool
MetricSetUp<TPixel, VDimension>::IsNearEndOf(const TransformType & transform, const PointType & point, double distance)
{
  const auto spline = dynamic_cast<const itk::BSplineTransform<double, VDimension, VOrder> *>(&transform);
  if (!spline)
  {
    return false;
  }
  const auto & subsample = *spline->GetCoefficientImages()[0];
  const auto   place = subsample.template TransformPhysicalPointToContinuousIndex<double>(point);
  const auto   size = subsample.GetLargestPossibleRegion().GetSize();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const double low = 0.5 * (VOrder - 1);
    const double high = static_cast<double>(size[d]) - 1 - low;
    if (std::abs(place[d] - low) < distance || std::abs(place[d] - high) < distance)
    {
      return true;
    }
  }
  return false;
}

template <typename TPixel, unsigned int VDimension>
bool
MetricSetUp<TPixel, VDimension>::IsBetweenVectors(const TransformType & transform,
                                                  const PointType &     point,
                                                  double                distance)
{
  const auto field = dynamic_cast<const FieldTransformType *>(&transform);
  if (!field)
  {
    return false;
  }
  const auto place = field->GetDisplacementField()->template TransformPhysicalPointToContinuousIndex<double>(point);
  return std::any_of(place.Begin(), place.End(), [distance](double index) {
    return std::abs(index - std::floor(index) - 0.5) < distance;
  });
}

/** Returns true if rounding may decide about an evaluated point: if a step of EdgeDistance changes whether it is valid, whether its
 *  gradient is, its nearest voxel, or the transform there; if RangeDistance decides whether its value is in the histogram's range; or
 *  if BinDistance decides about its bin. All is computed in double precision, by ITK's own objects. */
template <typename TPixel, unsigned int VDimension>
bool
MetricSetUp<TPixel, VDimension>::FindSampleNearEdge() const
{
  const auto interpolator = MakeInterpolator();
  interpolator->SetInputImage(m_Moving);
  const Ranges range = ComputeRanges(*m_Moving, m_MovingMask);
  const double distance = RangeDistance * (range.high - range.low);

  // If the range is that of the whole image, only a spline leaves it.
  const bool   overshoots = m_Case.interpolation == Interpolation::BSpline;
  const bool   lowMatters = overshoots || range.low > range.least;
  const bool   highMatters = overshoots || range.high < range.greatest;
  const bool   binMatters = m_Case.measure == Measure::JointHistogram && m_Case.interpolation != Interpolation::Nearest;
  const double ofEdge = m_Case.many ? EdgeDistanceOfMany : EdgeDistance;
  const double ofBin = GetValueDistance();

  for (const PointType & virtualPoint : GetLookedAtPoints())
  {
    const PointType point = m_Transform->TransformPoint(virtualPoint);
    const unsigned  decisions = Decide(point);
    bool            isNear = IsUndecided(virtualPoint, ofEdge);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      isNear = isNear || Decide(Step(point, d, ofEdge)) != decisions || Decide(Step(point, d, -ofEdge)) != decisions;
      if (m_Case.interpolation == Interpolation::Nearest)
      {
        isNear = isNear || GetNearest(Step(point, d, ofEdge)) != GetNearest(Step(point, d, -ofEdge));
      }
    }
    if ((lowMatters || highMatters || binMatters) && !isNear && (decisions & 1u))
    {
      const double value = interpolator->Evaluate(point);
      const bool   isExact = !overshoots && (value == range.low || value == range.high); // a voxel's own value
      isNear = !isExact && ((lowMatters && std::abs(value - range.low) < distance) ||
                            (highMatters && std::abs(value - range.high) < distance));
      isNear = isNear || (binMatters && IsNearBinEdge(value, range, ofBin));
    }
    if (isNear)
    {
      return true;
    }
  }
  return false;
}

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::Step(const PointType & point, unsigned int axis, double voxels) const -> PointType
{
  auto index = m_Moving->template TransformPhysicalPointToContinuousIndex<double>(point);
  index[axis] += voxels;
  return m_Moving->template TransformContinuousIndexToPhysicalPoint<double>(index);
}

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::GetNearest(const PointType & point) const -> typename ImageType::IndexType
{
  return m_Moving->TransformPhysicalPointToIndex(point);
}

template <typename TPixel, unsigned int VDimension>
bool
MetricSetUp<TPixel, VDimension>::IsInBuffer(const PointType & point) const
{
  typename ImageType::IndexType index;
  return m_Moving->TransformPhysicalPointToIndex(point, index);
}

/** Returns bits: bit 0 is set if the sample is valid, bit 1 + d if component d of its central difference is. */
template <typename TPixel, unsigned int VDimension>
unsigned
MetricSetUp<TPixel, VDimension>::Decide(const PointType & point) const
{
  if (!IsInBuffer(point) || (m_MovingMask && !m_MovingMask->IsInsideInWorldSpace(point)))
  {
    return 0;
  }
  unsigned decisions = 1;
  if (!m_Case.gradientFilter)
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      VectorType step;
      step.Fill(0.0);
      step[d] = 0.5 * m_Moving->GetSpacing()[d];
      decisions |= IsInBuffer(point + step) && IsInBuffer(point - step) ? 2u << d : 0u;
    }
  }
  return decisions;
}

} // namespace gpuregtest

#endif
