// SPDX-License-Identifier: Apache-2.0
// Summarises a metric's two images before it samples them, on the device or on the host's threads.
#ifndef itkGPUMetricImages_h
#define itkGPUMetricImages_h

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPUFinally.h"
#include "GPURegistrationDetail/core/itkGPULoadedImage.h"
#include "GPURegistrationDetail/core/itkGPUMaskedRange.h"
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

/** Summarises a metric's images: their ranges of values, and the scales that follow. The metric names this class a friend. */
template <typename TMetric>
class MetricImages
{
public:
  using Range = RangeOfValues;

  explicit MetricImages(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Returns true if both images are set. Otherwise ITK's own Initialize() throws. */
  bool
  AreThere() const
  {
    return m_Metric.m_FixedImage.IsNotNull() && m_Metric.m_MovingImage.IsNotNull();
  }

  /** Returns true if everything is set that sampling fixed values needs. Otherwise ITK's own Initialize() throws. */
  bool
  CanBeSampled() const
  {
    const bool samplesFixedPoints = m_Metric.m_UseSampledPointSet && !m_Metric.m_UseVirtualSampledPointSet;
    return this->AreThere() && m_Metric.m_FixedTransform.IsNotNull() &&
           !(samplesFixedPoints && m_Metric.m_FixedSampledPointSet->GetNumberOfPoints() == 0);
  }

  /** Updates the images by their sources.
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

  /** Summarises both images with their current values, which the functions below need. On a device the images stay until Release(), if
   *  the device can make something from them.
   *  \param device the device's name; empty for the host's threads. */
  void
  LookThrough(const std::string & device)
  {
    m_MaskedFixedRange.reset();
    m_MaskedMovingRange.reset();
    if (this->AreThere() && HasVoxels(*m_Metric.m_FixedImage) && HasVoxels(*m_Metric.m_MovingImage))
    {
      // Other samples of the fixed image are made by ITK's own classes.
      const std::string fixedDevice = this->MayBeSampledOnDevice() ? device : std::string();
      m_Fixed.LookThrough(*m_Metric.m_FixedImage, fixedDevice, this->GetParallelFor());
      m_Moving.LookThrough(*m_Metric.m_MovingImage, device, this->GetParallelFor());
    }
  }

  /** Gives up the images on the device, from which nothing more is made. */
  void
  Release()
  {
    m_Fixed.Release();
    m_Moving.Release();
  }

  /** Return the image on the device, or null. */
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

  /** Checks that all values are finite.
   *  \throws GPUBadInputError if an image has values that are not finite. With infinities, ITK's gradient filter would end the process. */
  void
  CheckAreFinite() const
  {
    if (this->AreThere())
    {
      this->CheckIsFinite(*m_Metric.m_FixedImage, m_Fixed.GetSummary(), "fixed");
      this->CheckIsFinite(*m_Metric.m_MovingImage, m_Moving.GetSummary(), "moving");
    }
  }

  /** Returns the range of the fixed values that the metric samples: inside the mask, or at the voxels nearest to the sampled points,
   *  whatever the mask. */
  Range
  ComputeFixedRange() const
  {
    if (!m_Metric.m_UseSampledPointSet)
    {
      return this->ComputeMaskedFixedRange();
    }
    if (!m_Metric.m_UseVirtualSampledPointSet)
    {
      return this->ComputeRangeAt(*m_Metric.m_FixedSampledPointSet, [](const auto & point) { return point; });
    }
    return this->ComputeRangeAt(*m_Metric.m_VirtualSampledPointSet, [this](const auto & point) {
      typename TMetric::FixedTransformType::InputPointType virtualPoint;
      virtualPoint.CastFrom(point);
      return m_Metric.m_FixedTransform->TransformPoint(virtualPoint);
    });
  }

  /** Returns the range of the fixed values inside the mask, at the last LookThrough(). */
  Range
  ComputeMaskedFixedRange() const
  {
    return m_Metric.m_FixedImageMask.IsNull()
             ? this->GetWholeFixedRange()
             : this->ComputeOnce(m_MaskedFixedRange, *m_Metric.m_FixedImage, m_Metric.m_FixedImageMask.GetPointer());
  }

  /** Returns the range of the fixed values inside the mask, for a metric whose bins lie in this range, also if points are sampled.
   *  \throws GPUBadInputError if these values, or those that are sampled, do not vary: see CheckRange(). */
  Range
  ComputeRangeOfFixedBins() const
  {
    const Range range = this->ComputeMaskedFixedRange();
    this->CheckRange("fixed", range);
    if (m_Metric.m_UseSampledPointSet)
    {
      this->CheckRange("fixed", this->ComputeFixedRange());
    }
    return range;
  }

  /** Returns the range of the moving values inside the mask, at the last LookThrough(). */
  Range
  ComputeMovingRange() const
  {
    return m_Metric.m_MovingImageMask.IsNull()
             ? this->GetWholeMovingRange()
             : this->ComputeOnce(m_MaskedMovingRange, *m_Metric.m_MovingImage, m_Metric.m_MovingImageMask.GetPointer());
  }

  /** Return the range of all fixed, or all moving, values. */
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

  /** Return the range of all values that the fixed, or the moving, interpolator can give. */
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

  /** Returns scales that map all values of the moving interpolator to [0, 1]. */
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

  /** Returns scales that map all fixed and moving values, which have the same unit, to [0, 1] together. The unit is a power of two, so
   *  that scaling rounds nothing. */
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
    // The engine compares the two ranges, so that this one is computed as that of the moving values, to the last digit.
    scales.fixedUnit = scales.maximum - scales.minimum;
    return scales;
  }

  /** Returns scales that map fixed and moving values to [-1, 1], each by a power of two, which rounds nothing. */
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

  /** Returns scales of fixed and moving values relative to their own means, in units of a power of two above their own ranges. Sums of
   *  their squares lose the least accuracy. */
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

  /** Checks a range of values.
   * \throws GPUBadInputError if the range contains no values, or they do not vary. */
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
  /** Returns the width of a range; 1 for a constant image, whose scaled values are then 0. */
  static double
  WidthOf(const Range & range)
  {
    return range.second > range.first ? range.second - range.first : 1.0;
  }

  /** Returns the least power of two above a width; 1 for a width of 0. */
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

  /** Returns the range of the fixed values at the voxels nearest to points.
   * \param points the points.
   * \param toFixed maps one of them into the fixed image's space. */
  template <typename TPointSet, typename TToFixed>
  Range
  ComputeRangeAt(const TPointSet & points, const TToFixed & toFixed) const
  {
    const Range        none{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
    const auto         count = static_cast<std::int64_t>(points.GetNumberOfPoints());
    const std::int64_t perTask = std::int64_t{ 1 } << 14;
    std::vector<Range> parts((count + perTask - 1) / perTask, none);
    this->GetParallelFor()(static_cast<std::int64_t>(parts.size()), [&](std::int64_t task) {
      // The container of an empty point set may be null, and then there is no task.
      const auto & container = points.GetPoints()->CastToSTLConstContainer();
      Range &      part = parts[task];
      for (std::int64_t n = task * perTask; n < std::min(count, (task + 1) * perTask); ++n)
      {
        typename TMetric::FixedImageType::PointType point;
        point.CastFrom(toFixed(container[n]));
        typename TMetric::FixedImageType::IndexType index;
        if (m_Metric.m_FixedImage->TransformPhysicalPointToIndex(point, index))
        {
          const double value = m_Metric.m_FixedImage->GetPixel(index);
          part.first = std::min(part.first, value);
          part.second = std::max(part.second, value);
        }
      }
    });
    Range all = none;
    for (const Range & part : parts)
    {
      all.first = std::min(all.first, part.first);
      all.second = std::max(all.second, part.second);
    }
    return all;
  }

  /** Returns the range of all values that an interpolator can give for values of a range; a spline's values lie between its
   * coefficients. */
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

  /** Returns true if the device may make what samples need of the fixed image: not for points, and for doubles only if samples may be
   *  the image's voxels. */
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

  /** Returns the range inside a mask, which it computes on the first call only.
   * \param range the result of an earlier call.
   * \param image the image.
   * \param mask the mask. */
  template <typename TImage, typename TMask>
  Range
  ComputeOnce(std::optional<Range> & range, const TImage & image, const TMask * mask) const
  {
    if (!range)
    {
      range = ComputeMaskedRange(image, mask, this->GetParallelFor());
    }
    return *range;
  }

  const TMetric &                                m_Metric;
  LoadedImage<typename TMetric::FixedImageType>  m_Fixed;
  LoadedImage<typename TMetric::MovingImageType> m_Moving;
  mutable std::optional<Range>                   m_MaskedFixedRange;
  mutable std::optional<Range>                   m_MaskedMovingRange;
};

/** Holds a metric's images on a device, if they can be there, as long as an object of this class lives. */
template <typename TMetric>
class ImagesOnDevice
{
public:
  /** Summarises the images.
   * \param images the images.
   * \param device the device's name; empty for the host's threads. */
  ImagesOnDevice(MetricImages<TMetric> & images, const std::string & device)
    : m_Images(images)
  {
    m_Images.LookThrough(device);
  }
  ~ImagesOnDevice()
  {
    Finally([this] { m_Images.Release(); });
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
