// SPDX-License-Identifier: Apache-2.0
// Checks a metric's settings and results.
#ifndef itkGPUMetricChecks_h
#define itkGPUMetricChecks_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Checks what a metric has been given. The metric names this class a friend. */
template <typename TMetric>
class MetricChecks
{
public:
  explicit MetricChecks(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Checks the gradient source and the sampled points.
   *  \param usesFixedGradient true if forces may follow the fixed image's gradient.
   *  \throws GPUBadInputError for settings that the metric does not support. */
  void
  CheckSettings(bool usesFixedGradient) const
  {
    const bool isFixed = m_Metric.GetGradientSourceIncludesFixed();
    const bool isMoving = m_Metric.GetGradientSourceIncludesMoving();
    if (usesFixedGradient ? isFixed == isMoving : isFixed || !isMoving)
    {
      ThrowBadInput(m_Metric,
                    usesFixedGradient ? "The gradient source is to be the fixed image or the moving image, not both."
                                      : "The gradient source is to be the moving image only. Call "
                                        "SetGradientSource(GRADIENT_SOURCE_MOVING), the default.");
    }
    if (m_Metric.m_UseSampledPointSet &&
        (m_Metric.m_UseVirtualSampledPointSet ? m_Metric.m_VirtualSampledPointSet.IsNull()
                                              : m_Metric.m_FixedSampledPointSet.IsNull()))
    {
      ThrowBadInput(m_Metric,
                    "UseSampledPointSet is on but there is no ",
                    m_Metric.m_UseVirtualSampledPointSet ? "virtual" : "fixed",
                    " sampled point set. Set one, or turn UseSampledPointSet off to sample every voxel.");
    }
    this->CheckPoints(m_Metric.m_UseSampledPointSet && m_Metric.m_UseVirtualSampledPointSet &&
                      m_Metric.m_VirtualSampledPointSet->GetNumberOfPoints() < 1);
  }

  /** Checks that there are points where points are sampled.
   *  \throws GPUBadInputError if there are none. */
  void
  CheckHasPoints() const
  {
    this->CheckPoints(m_Metric.m_UseSampledPointSet && m_Metric.GetNumberOfDomainPoints() < 1);
  }

  /** Checks the number of bins.
   *  \throws GPUBadInputError if the number is out of range. */
  void
  CheckNumberOfBins(SizeValueType bins, SizeValueType least, SizeValueType most) const
  {
    if (bins < least || bins > most)
    {
      ThrowBadInput(m_Metric, "The number of histogram bins is ", bins, ". Set one from ", least, " to ", most, ".");
    }
  }

  /** Checks that some samples are valid.
   * \throws GPUNoOverlapError if no sample is valid. */
  void
  CheckHasValidPoints(SizeValueType validPoints) const
  {
    if (validPoints == 0)
    {
      ThrowNoOverlap(m_Metric,
                     "All samples map outside moving image buffer. The images do not sufficiently overlap, or a mask "
                     "leaves nothing of the overlap. Initialize the transform so that they do, for instance with "
                     "itk::CenteredTransformInitializer.");
    }
  }

private:
  void
  CheckPoints(bool areMissing) const
  {
    if (areMissing)
    {
      ThrowBadInput(m_Metric, "VirtualSampledPointSet must have 1 or more points.");
    }
  }

  const TMetric & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
