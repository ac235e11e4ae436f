// SPDX-License-Identifier: Apache-2.0
// Computes where a metric's samples lie in the fixed image, if every voxel of the virtual domain is a sample.
#ifndef itkGPUMetricFixedGrid_h
#define itkGPUMetricFixedGrid_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPULoadedImage.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/transform/itkGPULinearMap.h"

#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Describes how the virtual domain maps to the fixed image's voxels. The metric names this class a friend, and has its virtual domain. */
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
      return Geometry::PointToIndex<ImageDimension>(fixedImage,
                                                    GPUTransformChain::MovePoint<CoordinateType, ImageDimension>(
                                                      *metric.m_FixedTransform,
                                                      Geometry::IndexToPoint<ImageDimension>(virtualImage, index)));
    });
    const auto size = metric.GetVirtualRegion().GetSize();
    m_IsOneGrid = size == fixedImage.GetBufferedRegion().GetSize() &&
                  Geometry::ComputeLargestShift<ImageDimension>(m_ToFixed, size) < LargestShift;
  }

  /** Largest distance in voxels of samples from the voxels that they count as. ITK's own rounding moves them by less. */
  static constexpr double LargestShift = 1e-9;

  /** Returns true if the map to the fixed image is linear, the image has floats or doubles, and ITK interpolates linearly or takes the
   * nearest voxel. */
  bool
  IsLinear() const
  {
    return m_IsLinear;
  }

  /** Returns true if IsLinear() is true and sample n is voxel n. */
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

  /** Returns the map from a voxel of the virtual domain to an index of the fixed image, if it is linear. */
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
