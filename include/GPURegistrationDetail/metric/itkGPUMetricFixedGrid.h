// SPDX-License-Identifier: Apache-2.0
// Where a metric's samples lie in the fixed image, if they are all voxels of the virtual domain.
#ifndef itkGPUMetricFixedGrid_h
#define itkGPUMetricFixedGrid_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPULoadedImage.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"

#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Of a metric that names it a friend, and that has its virtual domain. */
template <typename TMetric>
class MetricFixedGrid
{
public:
  explicit MetricFixedGrid(const TMetric & metric)
    : m_TakesNearest(
        IsExactly<NearestNeighborInterpolateImageFunction<FixedImageType, CoordinateType>>(metric.m_FixedInterpolator))
    , m_IsLinear(IsLoadable<FixedImageType> && GPURegistrationGeometry::IsLinear(*metric.m_FixedTransform) &&
                 (m_TakesNearest || IsExactly<LinearInterpolateImageFunction<FixedImageType, CoordinateType>>(
                                      metric.m_FixedInterpolator)))
  {
    namespace Geometry = GPURegistrationGeometry;
    if (!m_IsLinear)
    {
      return;
    }
    const auto & virtualImage = *metric.GetVirtualImage();
    const auto & fixedImage = *metric.m_FixedImage;
    m_ToFixed = Geometry::FitIndexMap<ImageDimension>(virtualImage, [&](const Geometry::IndexArray & index) {
      typename TMetric::FixedTransformType::InputPointType point;
      point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
      Point<double, ImageDimension> moved;
      moved.CastFrom(metric.m_FixedTransform->TransformPoint(point));
      return Geometry::PointToIndex<ImageDimension>(fixedImage, moved);
    });
    const auto size = metric.GetVirtualRegion().GetSize();
    m_IsOneGrid = size == fixedImage.GetBufferedRegion().GetSize() &&
                  Geometry::FindLargestShift<ImageDimension>(m_ToFixed, size) < LargestShift;
  }

  /** Voxels: what samples may lie aside from those that they are. ITK's own rounding takes less. */
  static constexpr double LargestShift = 1e-9;

  /** Whether a linear map leads there, and ITK interpolates linearly, or takes the nearest voxel, of floats or doubles. */
  bool
  IsLinear() const
  {
    return m_IsLinear;
  }

  /** Whether then sample n is voxel n. */
  bool
  IsOneGrid() const
  {
    return m_IsOneGrid;
  }

  bool
  TakesNearest() const
  {
    return m_TakesNearest;
  }

  /** The map, from a voxel of the virtual domain, where it is linear. */
  const gpureg::IndexMap &
  GetMap() const
  {
    return m_ToFixed;
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using FixedImageType = typename TMetric::FixedImageType;
  using CoordinateType = typename TMetric::Superclass::CoordinateRepresentationType;

  bool             m_TakesNearest;
  bool             m_IsLinear;
  bool             m_IsOneGrid{ false };
  gpureg::IndexMap m_ToFixed;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
