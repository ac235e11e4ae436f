// SPDX-License-Identifier: Apache-2.0
// What every metric asks of its two images before it samples them.
#ifndef itkGPUMetricImages_h
#define itkGPUMetricImages_h

#include "GPURegistrationDetail/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/itkGPUMetricScales.h"
#include "GPURegistrationDetail/itkGPUMetricSources.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricImages
{
public:
  using Range = std::pair<double, double>;

  explicit MetricImages(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Whether both are set, without which ITK's own Initialize() throws. */
  bool
  AreThere() const
  {
    return m_Metric.m_FixedImage.IsNotNull() && m_Metric.m_MovingImage.IsNotNull();
  }

  /** Whether all is set by which fixed values are sampled, without which ITK's own Initialize() throws, too. */
  bool
  CanBeSampled() const
  {
    const bool samplesFixedPoints = m_Metric.m_UseSampledPointSet && !m_Metric.m_UseVirtualSampledPointSet;
    return this->AreThere() && m_Metric.m_FixedTransform.IsNotNull() &&
           !(samplesFixedPoints && m_Metric.m_FixedSampledPointSet->GetNumberOfPoints() == 0);
  }

  /** Before ITK's own Initialize(), whose gradient filter an infinity would end the process in.
   *  \throws as CheckAreFinite */
  void
  UpdateAndCheckAreFinite() const
  {
    if (!this->AreThere())
    {
      return;
    }
    if (m_Metric.m_FixedImage->GetSource())
    {
      m_Metric.m_FixedImage->GetSource()->Update();
    }
    if (m_Metric.m_MovingImage->GetSource())
    {
      m_Metric.m_MovingImage->GetSource()->Update();
    }
    this->CheckAreFinite();
  }

  /** \throws GPUBadInputError if an image is empty, or has values that are not finite. */
  void
  CheckAreFinite() const
  {
    this->CheckIsFinite(m_Metric.m_FixedImage.GetPointer(), "fixed");
    this->CheckIsFinite(m_Metric.m_MovingImage.GetPointer(), "moving");
  }

  /** Of the fixed values that the metric samples: over the mask, or over the voxels nearest to the sampled points, masks
   *  aside. */
  Range
  ComputeFixedRange() const
  {
    Range fixed{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
    if (m_Metric.m_UseSampledPointSet)
    {
      const auto include = [&](const typename TMetric::FixedImageType::PointType & point) {
        typename TMetric::FixedImageType::IndexType index;
        if (m_Metric.m_FixedImage->TransformPhysicalPointToIndex(point, index))
        {
          const double value = m_Metric.m_FixedImage->GetPixel(index);
          fixed.first = std::min(fixed.first, value);
          fixed.second = std::max(fixed.second, value);
        }
      };
      // A set of no points may have no container.
      if (m_Metric.m_UseVirtualSampledPointSet && m_Metric.m_VirtualSampledPointSet->GetNumberOfPoints() > 0)
      {
        for (const auto & point : m_Metric.m_VirtualSampledPointSet->GetPoints()->CastToSTLConstContainer())
        {
          typename TMetric::FixedTransformType::InputPointType virtualPoint;
          virtualPoint.CastFrom(point);
          typename TMetric::FixedImageType::PointType fixedPoint;
          fixedPoint.CastFrom(m_Metric.m_FixedTransform->TransformPoint(virtualPoint));
          include(fixedPoint);
        }
      }
      else if (!m_Metric.m_UseVirtualSampledPointSet)
      {
        for (const auto & point : m_Metric.m_FixedSampledPointSet->GetPoints()->CastToSTLConstContainer())
        {
          include(point);
        }
      }
    }
    else
    {
      fixed = this->ComputeMaskedFixedRange();
    }
    return fixed;
  }

  /** Of the fixed values, over the mask. */
  Range
  ComputeMaskedFixedRange() const
  {
    return this->ComputeRange(m_Metric.m_FixedImage.GetPointer(), m_Metric.m_FixedImageMask.GetPointer());
  }

  /** Of the moving values, over the mask. */
  Range
  ComputeMovingRange() const
  {
    return this->ComputeRange(m_Metric.m_MovingImage.GetPointer(), m_Metric.m_MovingImageMask.GetPointer());
  }

  /** Of all moving values. */
  Range
  ComputeWholeMovingRange() const
  {
    return this->ComputeWholeRange(m_Metric.m_MovingImage.GetPointer());
  }

  /** Of all that the moving interpolator may give. */
  Range
  ComputeReachOfMovingValues() const
  {
    return this->ComputeReachOf(m_Metric.m_MovingImage.GetPointer(), m_Metric.m_MovingInterpolator);
  }

  /** So that all values that the moving interpolator may give become [0, 1]. */
  MetricScales
  ComputeMovingScales() const
  {
    const Range  reach = this->ComputeReachOfMovingValues();
    MetricScales scales;
    scales.minimum = reach.first;
    scales.unit = WidthOf(reach);
    scales.maximum = scales.minimum + scales.unit;
    return scales;
  }

  /** So that all fixed and moving values, which are in one unit, become [0, 1] together. */
  MetricScales
  ComputeCommonScales() const
  {
    const Range  moving = this->ComputeReachOfMovingValues();
    const Range  fixed = this->ComputeReachOf(m_Metric.m_FixedImage.GetPointer(), m_Metric.m_FixedInterpolator);
    const Range  both{ std::min(fixed.first, moving.first), std::max(fixed.second, moving.second) };
    MetricScales scales;
    scales.minimum = scales.fixedMinimum = both.first;
    scales.unit = scales.fixedUnit = WidthOf(both);
    scales.maximum = scales.minimum + scales.unit;
    return scales;
  }

  /** Fixed and moving values, each scaled by a power of two, which rounds nothing, into [-1, 1]. */
  MetricScales
  ComputeScalesOfTwo() const
  {
    const auto unitOf = [](const Range & reach) {
      const double largest = std::max(std::abs(reach.first), std::abs(reach.second));
      return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + 1) : 1.0;
    };
    MetricScales scales;
    scales.unit = scales.maximum = unitOf(this->ComputeReachOfMovingValues());
    scales.fixedUnit = unitOf(this->ComputeReachOf(m_Metric.m_FixedImage.GetPointer(), m_Metric.m_FixedInterpolator));
    return scales;
  }

  /** Fixed and moving values as fractions of their own ranges, from their own means: sums of their squares lose least. */
  MetricScales
  ComputeSeparateScales() const
  {
    MetricScales scales;
    scales.fixedMinimum = this->ComputeMean(m_Metric.m_FixedImage.GetPointer());
    scales.fixedUnit = WidthOf(this->ComputeReachOf(m_Metric.m_FixedImage.GetPointer(), m_Metric.m_FixedInterpolator));
    scales.minimum = this->ComputeMean(m_Metric.m_MovingImage.GetPointer());
    scales.unit = WidthOf(this->ComputeReachOfMovingValues());
    scales.maximum = scales.minimum + scales.unit;
    return scales;
  }

  /** \throws GPUBadInputError unless there are values in it, and they vary. */
  void
  CheckRange(const char * role, const Range & range) const
  {
    if (range.first > range.second)
    {
      ThrowBadInput(m_Metric,
                    "Nothing of the ",
                    role,
                    " image is sampled: its mask or its sampled point set selects no voxel of it. "
                    "Check that they lie in the same physical space.");
    }
    if (range.first == range.second)
    {
      ThrowBadInput(m_Metric,
                    "The ",
                    role,
                    " image is constant where it is sampled: every value is ",
                    range.first,
                    ". This metric needs an image that varies.");
    }
  }

private:
  using MaskType = SpatialObject<TMetric::ImageDimension>;

  /** All of a constant image is 0, in any scale. */
  static double
  WidthOf(const Range & range)
  {
    return range.second > range.first ? range.second - range.first : 1.0;
  }

  template <typename TImage>
  Range
  ComputeWholeRange(const TImage * image) const
  {
    return this->ComputeRange(image, static_cast<const MaskType *>(nullptr));
  }

  /** Of all that an interpolator of the image may give: a spline's values lie between its coefficients. */
  template <typename TImage, typename TInterpolatorPointer>
  Range
  ComputeReachOf(const TImage * image, const TInterpolatorPointer & interpolator) const
  {
    Range reach = this->ComputeWholeRange(image);
    VisitSplineInterpolator(interpolator.GetPointer(), [&](const auto & spline) {
      using InterpolatorType = std::decay_t<decltype(spline)>;
      const auto * const coefficients = BSplineAccess<InterpolatorType>::GetCoefficients(spline);
      if (spline.GetSplineOrder() > 1 && coefficients != nullptr)
      {
        const Range all = this->ComputeWholeRange(coefficients);
        reach = { std::min(reach.first, all.first), std::max(reach.second, all.second) };
      }
    });
    return reach;
  }

  template <typename TImage>
  double
  ComputeMean(const TImage * image) const
  {
    const auto          count = static_cast<std::int64_t>(image->GetBufferedRegion().GetNumberOfPixels());
    const auto * const  buffer = image->GetBufferPointer();
    const std::int64_t  perTask = std::int64_t{ 1 } << 16;
    const std::int64_t  tasks = (count + perTask - 1) / perTask;
    std::vector<double> sums(tasks);
    MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())(tasks, [&](std::int64_t task) {
      sums[task] = std::accumulate(buffer + task * perTask, buffer + std::min(count, (task + 1) * perTask), 0.0);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(count);
  }

  template <typename TImage>
  void
  CheckIsFinite(const TImage * image, const char * role) const
  {
    const auto         count = static_cast<std::int64_t>(image->GetBufferedRegion().GetNumberOfPixels());
    const auto * const buffer = image->GetBufferPointer();
    if (count == 0 || buffer == nullptr)
    {
      ThrowBadInput(m_Metric, "The ", role, " image is empty: its buffered region is ", image->GetBufferedRegion());
    }
    const std::int64_t        perTask = std::int64_t{ 1 } << 18;
    const std::int64_t        tasks = (count + perTask - 1) / perTask;
    std::vector<std::int64_t> found(tasks, 0);
    MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())(tasks, [&](std::int64_t task) {
      const std::int64_t end = std::min(count, (task + 1) * perTask);
      std::int64_t       bad = 0;
      for (std::int64_t i = task * perTask; i < end; ++i)
      {
        bad += !std::isfinite(buffer[i]);
      }
      found[task] = bad;
    });
    std::int64_t bad = 0;
    for (const std::int64_t part : found)
    {
      bad += part;
    }
    if (bad != 0)
    {
      std::int64_t first = 0;
      while (std::isfinite(buffer[first]))
      {
        ++first;
      }
      ThrowBadInput(m_Metric,
                    "The ",
                    role,
                    " image has ",
                    bad,
                    " of ",
                    count,
                    " values that are NaN or infinite, the first at index ",
                    image->ComputeIndex(first),
                    ". Replace them before registering, for instance by 0, and leave them out with a mask.");
    }
  }

  /** Smallest and largest value in the buffer, where the mask is if there is one. */
  template <typename TImage, typename TMask>
  Range
  ComputeRange(const TImage * image, const TMask * mask) const
  {
    const auto         count = static_cast<std::int64_t>(image->GetBufferedRegion().GetNumberOfPixels());
    const auto * const buffer = image->GetBufferPointer();
    const std::int64_t perTask = std::int64_t{ 1 } << 16;
    const std::int64_t tasks = (count + perTask - 1) / perTask;
    Range              range{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
    std::vector<Range> ranges(tasks, range);
    MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())(tasks, [&](std::int64_t task) {
      auto               minimum = std::numeric_limits<typename TImage::PixelType>::max();
      auto               maximum = std::numeric_limits<typename TImage::PixelType>::lowest();
      bool               any = false;
      const std::int64_t end = std::min(count, (task + 1) * perTask);
      for (std::int64_t i = task * perTask; i < end; ++i)
      {
        if (mask != nullptr)
        {
          typename TImage::PointType point;
          image->TransformIndexToPhysicalPoint(image->ComputeIndex(i), point);
          if (!mask->IsInsideInWorldSpace(point))
          {
            continue;
          }
        }
        any = true;
        minimum = std::min(minimum, buffer[i]);
        maximum = std::max(maximum, buffer[i]);
      }
      if (any)
      {
        ranges[task] = { minimum, maximum };
      }
    });
    for (const auto & part : ranges)
    {
      range.first = std::min(range.first, part.first);
      range.second = std::max(range.second, part.second);
    }
    return range;
  }

  const TMetric & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
