// SPDX-License-Identifier: Apache-2.0
// The moving image's gradient that ITK's metrics make at Initialize(): instead of its image, how a device makes it.
#ifndef itkGPUMetricGradient_h
#define itkGPUMetricGradient_h

#include "GPURegistrationDetail/itkGPUGaussianWeights.h"
#include "GPURegistrationDetail/itkGPUIsExactly.h"

#include "gpureg/Device.h"
#include "gpureg/Samples.h"

#include "itkGradientRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricGradient
{
public:
  explicit MetricGradient(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Whether the metric takes the gradient of ITK's own filter, as it comes, and the device makes the same. To be asked before
   *  the parent's Initialize(). */
  bool
  CanBeMadeOn(const std::string & device) const
  {
    using FilterType =
      GradientRecursiveGaussianImageFilter<MovingImageType, typename TMetric::MovingImageGradientImageType>;
    const MovingImageType * const image = m_Metric.m_MovingImage.GetPointer();
    if (image == nullptr || !m_Metric.GetGradientSourceIncludesMoving() || !m_Metric.m_UseMovingImageGradientFilter ||
        static_cast<const LightObject *>(m_Metric.m_MovingImageGradientFilter.GetPointer()) !=
          m_Metric.m_DefaultMovingImageGradientFilter.GetPointer() ||
        !IsExactly<FilterType>(m_Metric.m_MovingImageGradientFilter))
    {
      return false;
    }
    // It wants the whole image, and four voxels along each axis.
    const auto & size = image->GetBufferedRegion().GetSize();
    return image->GetBufferedRegion() == image->GetLargestPossibleRegion() &&
           std::all_of(size.begin(), size.end(), [](SizeValueType length) { return length >= 4; }) &&
           gpureg::HasDoubles(device);
  }

  /** As ImageToImageMetricv4::InitializeDefaultMovingImageGradientFilter sets the filter up.
   *  \param keepsLast see gpureg::GaussianGradient. */
  gpureg::GaussianGradient
  Describe(bool keepsLast) const
  {
    const MovingImageType &  image = *m_Metric.m_MovingImage;
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

  /** Makes ITK's image of it, for ITK's classes. */
  void
  MakeImage() const
  {
    m_Metric.ComputeMovingImageGradientFilterImage();
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using MovingImageType = typename TMetric::MovingImageType;

  const TMetric & m_Metric;
};

/** For as long as it lives, a metric takes no gradient filter. Of a metric that names it a friend. */
template <typename TMetric>
class WithoutGradientFilter
{
public:
  /** \param isWanted false for nothing. */
  WithoutGradientFilter(const TMetric & metric, bool isWanted)
    : m_Flag(const_cast<TMetric &>(metric).m_UseMovingImageGradientFilter)
    , m_Last(m_Flag)
  {
    m_Flag = m_Flag && !isWanted;
  }
  ~WithoutGradientFilter()
  {
    m_Flag = m_Last;
  }
  WithoutGradientFilter(const WithoutGradientFilter &) = delete;
  WithoutGradientFilter &
  operator=(const WithoutGradientFilter &) = delete;

private:
  bool &     m_Flag;
  const bool m_Last;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
