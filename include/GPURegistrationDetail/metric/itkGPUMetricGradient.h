// SPDX-License-Identifier: Apache-2.0
// Describes to a device how to compute the gradients for which ITK's metrics make gradient images at Initialize().
#ifndef itkGPUMetricGradient_h
#define itkGPUMetricGradient_h

#include "GPURegistrationDetail/filter/itkGPUGaussianWeights.h"
#include "GPURegistrationDetail/core/itkGPUIsExactly.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/metric/samples/Samples.h"

#include "itkGradientRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Makes the gradients of a metric's images on a device, or as ITK's images. The metric names this class a friend. */
template <typename TMetric>
class MetricGradient
{
public:
  explicit MetricGradient(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Returns true if the metric uses the moving image's gradient from ITK's own unchanged filter, which the device can compute. Called
   *  before the parent's Initialize(). */
  bool
  CanBeMadeOn(const std::string & device) const
  {
    return m_Metric.GetGradientSourceIncludesMoving() && m_Metric.m_UseMovingImageGradientFilter &&
           IsDefaultFilter<MovingImageType, typename TMetric::MovingImageGradientImageType>(
             m_Metric.m_MovingImageGradientFilter, m_Metric.m_DefaultMovingImageGradientFilter) &&
           CanBeMadeOf(m_Metric.m_MovingImage.GetPointer(), device);
  }

  /** Returns true if forces follow the fixed image's gradient, from ITK's own unchanged filter, which the device can compute. */
  bool
  CanFixedBeMadeOn(const std::string & device) const
  {
    return m_Metric.GetGradientSourceIncludesFixed() && m_Metric.m_UseFixedImageGradientFilter &&
           IsDefaultFilter<FixedImageType, typename TMetric::FixedImageGradientImageType>(
             m_Metric.m_FixedImageGradientFilter, m_Metric.m_DefaultFixedImageGradientFilter) &&
           CanBeMadeOf(m_Metric.m_FixedImage.GetPointer(), device);
  }

  /** Describes the gradient that ImageToImageMetricv4::InitializeDefaultMovingImageGradientFilter sets up.
   *  \param keepsLast see gpureg::GaussianGradient. */
  gpureg::GaussianGradient
  Describe(bool keepsLast) const
  {
    return DescribeOf(*m_Metric.m_MovingImage, keepsLast);
  }
  gpureg::GaussianGradient
  DescribeFixed(bool keepsLast) const
  {
    return DescribeOf(*m_Metric.m_FixedImage, keepsLast);
  }

  /** Makes ITK's gradient image, for ITK's classes. */
  void
  MakeImage() const
  {
    m_Metric.ComputeMovingImageGradientFilterImage();
  }
  void
  MakeFixedImage() const
  {
    // ITK's metrics make the image in a function that is not const.
    const_cast<TMetric &>(m_Metric).ComputeFixedImageGradientFilterImage();
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using FixedImageType = typename TMetric::FixedImageType;
  using MovingImageType = typename TMetric::MovingImageType;

  template <typename TImage, typename TGradientImage>
  static bool
  IsDefaultFilter(const LightObject * filter, const LightObject * defaultFilter)
  {
    return filter == defaultFilter && IsExactly<GradientRecursiveGaussianImageFilter<TImage, TGradientImage>>(filter);
  }

  /** Returns true if the whole image is there, with at least four voxels along each axis, which the filter needs, and the device can
   * compute it. */
  static bool
  CanBeMadeOf(const ImageBase<ImageDimension> * image, const std::string & device)
  {
    if (image == nullptr)
    {
      return false;
    }
    const auto & size = image->GetBufferedRegion().GetSize();
    return image->GetBufferedRegion() == image->GetLargestPossibleRegion() &&
           std::all_of(size.begin(), size.end(), [](SizeValueType length) { return length >= 4; }) &&
           gpureg::HasDoubles(device);
  }

  static gpureg::GaussianGradient
  DescribeOf(const ImageBase<ImageDimension> & image, bool keepsLast)
  {
    const auto &             spacing = image.GetSpacing();
    const double             sigma = *std::max_element(spacing.begin(), spacing.end());
    gpureg::GaussianGradient gradient;
    gradient.dimension = ImageDimension;
    gradient.keepsLast = keepsLast;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      gradient.smoothing[d] = GaussianWeights::Compute(GaussianOrderEnum::ZeroOrder, sigma, true, spacing[d]);
      gradient.derivative[d] = GaussianWeights::Compute(GaussianOrderEnum::FirstOrder, sigma, true, spacing[d]);
      for (unsigned int r = 0; r < ImageDimension; ++r)
      {
        gradient.toPhysical[3 * r + d] = image.GetDirection()[r][d] / spacing[d];
      }
    }
    return gradient;
  }

  const TMetric & m_Metric;
};

/** Turns a metric's gradient filters off, as long as an object of this class lives. The metric names this class a friend. */
template <typename TMetric>
class WithoutGradientFilter
{
public:
  /** Turns the filters of the given images off.
   * \param metric the metric.
   * \param ofMoving true for the moving image's filter.
   * \param ofFixed true for the fixed image's filter. */
  WithoutGradientFilter(const TMetric & metric, bool ofMoving, bool ofFixed)
    : m_Moving(const_cast<TMetric &>(metric).m_UseMovingImageGradientFilter)
    , m_Fixed(const_cast<TMetric &>(metric).m_UseFixedImageGradientFilter)
    , m_LastMoving(m_Moving)
    , m_LastFixed(m_Fixed)
  {
    m_Moving = m_Moving && !ofMoving;
    m_Fixed = m_Fixed && !ofFixed;
  }
  ~WithoutGradientFilter()
  {
    m_Moving = m_LastMoving;
    m_Fixed = m_LastFixed;
  }
  WithoutGradientFilter(const WithoutGradientFilter &) = delete;
  WithoutGradientFilter &
  operator=(const WithoutGradientFilter &) = delete;

private:
  bool &     m_Moving;
  bool &     m_Fixed;
  const bool m_LastMoving;
  const bool m_LastFixed;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
