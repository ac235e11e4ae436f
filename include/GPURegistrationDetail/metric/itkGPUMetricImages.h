// SPDX-License-Identifier: Apache-2.0
// What every metric asks of its two images before it samples them: on the device, or on the host's threads.
#ifndef itkGPUMetricImages_h
#define itkGPUMetricImages_h

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPULoadedImage.h"
#include "GPURegistrationDetail/core/itkGPUMaskVoxels.h"
#include "GPURegistrationDetail/metric/itkGPUMetricScales.h"
#include "GPURegistrationDetail/metric/itkGPUMetricSources.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
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

  /** By the images' sources.
   *  \throws GPUBadInputError if an image is empty. */
  void
  Update() const
  {
    if (!this->AreThere())
    {
      return;
    }
    Update(*m_Metric.m_FixedImage);
    Update(*m_Metric.m_MovingImage);
    this->CheckHasVoxels(*m_Metric.m_FixedImage, "fixed");
    this->CheckHasVoxels(*m_Metric.m_MovingImage, "moving");
  }

  /** Looks through both as they are now, after which the rest can be asked. On a device they stay loaded until Release(), if
   *  something can be made of them there.
   *  \param device empty for the host's threads. */
  void
  LookThrough(const std::string & device)
  {
    m_MaskedFixedRange.reset();
    m_MaskedMovingRange.reset();
    if (this->AreThere() && HasVoxels(*m_Metric.m_FixedImage) && HasVoxels(*m_Metric.m_MovingImage))
    {
      // Elsewhere ITK's own classes sample it.
      const std::string fixedDevice = this->MayBeSampledOnDevice() ? device : std::string();
      m_Fixed.LookThrough(*m_Metric.m_FixedImage, fixedDevice, this->GetParallelFor());
      m_Moving.LookThrough(*m_Metric.m_MovingImage, device, this->GetParallelFor());
    }
  }

  /** Nothing more is made of what is on the device. */
  void
  Release()
  {
    m_Fixed.Release();
    m_Moving.Release();
  }

  /** Null where an image is not on the device. */
  const gpureg::LoadedImage *
  GetLoadedFixed() const
  {
    return m_Fixed.Get();
  }
  const gpureg::LoadedImage *
  GetLoadedMoving() const
  {
    return m_Moving.Get();
  }

  /** \throws GPUBadInputError if an image has values that are not finite: in infinities, ITK's gradient filter would end the
   *  process. */
  void
  CheckAreFinite() const
  {
    if (this->AreThere())
    {
      this->CheckIsFinite(*m_Metric.m_FixedImage, m_Fixed.GetSummary(), "fixed");
      this->CheckIsFinite(*m_Metric.m_MovingImage, m_Moving.GetSummary(), "moving");
    }
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
      else if (!m_Metric.m_UseVirtualSampledPointSet && m_Metric.m_FixedSampledPointSet->GetNumberOfPoints() > 0)
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

  /** Of the fixed values, over the mask: as they were when they were looked through. */
  Range
  ComputeMaskedFixedRange() const
  {
    return m_Metric.m_FixedImageMask.IsNull()
             ? this->GetWholeFixedRange()
             : this->ComputeOnce(m_MaskedFixedRange, *m_Metric.m_FixedImage, m_Metric.m_FixedImageMask.GetPointer());
  }

  /** The same, of a metric whose bins lie between these, where points are sampled, too.
   *  \throws GPUBadInputError unless these values vary, and those that are sampled: see CheckRange. */
  Range
  FindRangeOfFixedBins() const
  {
    const Range range = this->ComputeMaskedFixedRange();
    this->CheckRange("fixed", range);
    if (m_Metric.m_UseSampledPointSet)
    {
      this->CheckRange("fixed", this->ComputeFixedRange());
    }
    return range;
  }

  /** Of the moving values, over the mask, likewise. */
  Range
  ComputeMovingRange() const
  {
    return m_Metric.m_MovingImageMask.IsNull()
             ? this->GetWholeMovingRange()
             : this->ComputeOnce(m_MaskedMovingRange, *m_Metric.m_MovingImage, m_Metric.m_MovingImageMask.GetPointer());
  }

  /** Of all fixed values, and of all moving ones. */
  Range
  GetWholeFixedRange() const
  {
    return RangeOf(m_Fixed.GetSummary());
  }
  Range
  GetWholeMovingRange() const
  {
    return RangeOf(m_Moving.GetSummary());
  }

  /** Of all that the fixed interpolator may give, and the moving one. */
  Range
  ComputeReachOfFixedValues() const
  {
    return this->ComputeReach(this->GetWholeFixedRange(), m_Metric.m_FixedInterpolator);
  }
  Range
  ComputeReachOfMovingValues() const
  {
    return this->ComputeReach(this->GetWholeMovingRange(), m_Metric.m_MovingInterpolator);
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

  /** So that all fixed and moving values, which are in one unit, become [0, 1] together. A unit that is a power of two rounds
   *  nothing. */
  MetricScales
  ComputeCommonScales() const
  {
    const Range  moving = this->ComputeReachOfMovingValues();
    const Range  fixed = this->ComputeReachOfFixedValues();
    const Range  both{ std::min(fixed.first, moving.first), std::max(fixed.second, moving.second) };
    MetricScales scales;
    scales.minimum = scales.fixedMinimum = both.first;
    scales.unit = PowerOfTwoAbove(WidthOf(both));
    scales.maximum = scales.minimum + scales.unit;
    // As the moving values' range is found of these, to the last digit: the engine compares the two.
    scales.fixedUnit = scales.maximum - scales.minimum;
    return scales;
  }

  /** Fixed and moving values, each scaled by a power of two, which rounds nothing, into [-1, 1]. */
  MetricScales
  ComputeScalesOfTwo() const
  {
    const auto unitOf = [](const Range & reach) {
      return PowerOfTwoAbove(std::max(std::abs(reach.first), std::abs(reach.second)));
    };
    MetricScales scales;
    scales.unit = scales.maximum = unitOf(this->ComputeReachOfMovingValues());
    scales.fixedUnit = unitOf(this->ComputeReachOfFixedValues());
    return scales;
  }

  /** Fixed and moving values from their own means, in units of a power of two above their own ranges: sums of their squares
   *  lose least. */
  MetricScales
  ComputeSeparateScales() const
  {
    MetricScales scales;
    scales.fixedMinimum = m_Fixed.GetSummary().mean;
    scales.fixedUnit = PowerOfTwoAbove(WidthOf(this->ComputeReachOfFixedValues()));
    scales.minimum = m_Moving.GetSummary().mean;
    scales.unit = PowerOfTwoAbove(WidthOf(this->ComputeReachOfMovingValues()));
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
  /** All of a constant image is 0, in any scale. */
  static double
  WidthOf(const Range & range)
  {
    return range.second > range.first ? range.second - range.first : 1.0;
  }

  /** The least one above a width; 1 where that is 0. */
  static double
  PowerOfTwoAbove(double width)
  {
    return width > 0 ? std::ldexp(1.0, std::ilogb(width) + 1) : 1.0;
  }

  static Range
  RangeOf(const gpureg::ImageSummary & summary)
  {
    return { summary.minimum, summary.maximum };
  }

  gpureg::ParallelFor
  GetParallelFor() const
  {
    return MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits());
  }

  /** Of all that an interpolator may give of values of a range: a spline's lie between its coefficients. */
  template <typename TInterpolatorPointer>
  Range
  ComputeReach(const Range & range, const TInterpolatorPointer & interpolator) const
  {
    Range reach = range;
    VisitSplineInterpolator(interpolator.GetPointer(), [&](const auto & spline) {
      using InterpolatorType = std::decay_t<decltype(spline)>;
      const auto * const coefficients = BSplineAccess<InterpolatorType>::GetCoefficients(spline);
      if (spline.GetSplineOrder() > 1 && coefficients != nullptr)
      {
        const auto  count = static_cast<std::int64_t>(coefficients->GetBufferedRegion().GetNumberOfPixels());
        const Range all = RangeOf(Summarize(coefficients->GetBufferPointer(), count, this->GetParallelFor()));
        reach = { std::min(reach.first, all.first), std::max(reach.second, all.second) };
      }
    });
    return reach;
  }

  template <typename TImage>
  static void
  Update(TImage & image)
  {
    if (image.GetSource())
    {
      image.GetSource()->Update();
    }
  }

  template <typename TImage>
  static bool
  HasVoxels(const TImage & image)
  {
    return image.GetBufferedRegion().GetNumberOfPixels() > 0 && image.GetBufferPointer() != nullptr;
  }

  template <typename TImage>
  void
  CheckHasVoxels(const TImage & image, const char * role) const
  {
    if (!HasVoxels(image))
    {
      ThrowBadInput(m_Metric, "The ", role, " image is empty: its buffered region is ", image.GetBufferedRegion());
    }
  }

  template <typename TImage>
  void
  CheckIsFinite(const TImage & image, const gpureg::ImageSummary & summary, const char * role) const
  {
    if (summary.notFinite == 0)
    {
      return;
    }
    const auto * const  buffer = image.GetBufferPointer();
    const SizeValueType count = image.GetBufferedRegion().GetNumberOfPixels();
    SizeValueType       first = 0;
    while (first + 1 < count && std::isfinite(static_cast<double>(buffer[first])))
    {
      ++first;
    }
    ThrowBadInput(m_Metric,
                  "The ",
                  role,
                  " image has ",
                  summary.notFinite,
                  " of ",
                  count,
                  " values that are NaN or infinite, the first at index ",
                  image.ComputeIndex(static_cast<OffsetValueType>(first)),
                  ". Replace them before registering, for instance by 0, and leave them out with a mask.");
  }

  /** Whether the device may make what samples are given of the fixed image: not of points, and of doubles only where samples may be
   *  its voxels. */
  bool
  MayBeSampledOnDevice() const
  {
    if (m_Metric.m_UseSampledPointSet)
    {
      return false;
    }
    return std::is_same<typename TMetric::FixedImageType::PixelType, float>::value ||
           !m_Metric.m_UserHasSetVirtualDomain ||
           m_Metric.GetVirtualRegion().GetSize() == m_Metric.m_FixedImage->GetBufferedRegion().GetSize();
  }

  /** \param range once it has been asked for. */
  template <typename TImage, typename TMask>
  Range
  ComputeOnce(std::optional<Range> & range, const TImage & image, const TMask * mask) const
  {
    if (!range)
    {
      range = this->ComputeRange(image, mask);
    }
    return *range;
  }

  /** Smallest and largest value in the buffer, where the mask is. */
  template <typename TImage, typename TMask>
  Range
  ComputeRange(const TImage & image, const TMask * mask) const
  {
    const auto * const voxels = FindMaskVoxels<TImage::ImageDimension>(image, mask);
    if (voxels != nullptr)
    {
      return this->ComputeRangeWhere(image, [voxels](std::int64_t i) { return voxels[i] != 0; });
    }
    return this->ComputeRangeWhere(image, [&image, mask](std::int64_t i) {
      typename TImage::PointType point;
      image.TransformIndexToPhysicalPoint(image.ComputeIndex(i), point);
      return mask->IsInsideInWorldSpace(point);
    });
  }

  /** The same of the voxels that isInside(number of a voxel). */
  template <typename TImage, typename TIsInside>
  Range
  ComputeRangeWhere(const TImage & image, const TIsInside & isInside) const
  {
    const auto         count = static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
    const auto * const buffer = image.GetBufferPointer();
    const std::int64_t perTask = std::int64_t{ 1 } << 16;
    const std::int64_t tasks = (count + perTask - 1) / perTask;
    Range              range{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
    std::vector<Range> ranges(tasks, range);
    this->GetParallelFor()(tasks, [&](std::int64_t task) {
      Range part = range;
      for (std::int64_t i = task * perTask; i < std::min(count, (task + 1) * perTask); ++i)
      {
        if (isInside(i))
        {
          part.first = std::min(part.first, static_cast<double>(buffer[i]));
          part.second = std::max(part.second, static_cast<double>(buffer[i]));
        }
      }
      ranges[task] = part;
    });
    for (const auto & part : ranges)
    {
      range.first = std::min(range.first, part.first);
      range.second = std::max(range.second, part.second);
    }
    return range;
  }

  const TMetric &                                m_Metric;
  LoadedImage<typename TMetric::FixedImageType>  m_Fixed;
  LoadedImage<typename TMetric::MovingImageType> m_Moving;
  mutable std::optional<Range>                   m_MaskedFixedRange;
  mutable std::optional<Range>                   m_MaskedMovingRange;
};

/** For as long as it lives, a metric's images are on a device, if they can be there. */
template <typename TMetric>
class ImagesOnDevice
{
public:
  /** Looks through them. \param device empty for the host's threads. */
  ImagesOnDevice(MetricImages<TMetric> & images, const std::string & device)
    : m_Images(images)
  {
    m_Images.LookThrough(device);
  }
  ~ImagesOnDevice()
  {
    m_Images.Release();
  }
  ImagesOnDevice(const ImagesOnDevice &) = delete;
  ImagesOnDevice &
  operator=(const ImagesOnDevice &) = delete;

private:
  MetricImages<TMetric> & m_Images;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
