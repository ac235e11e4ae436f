// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUCorrelationImageToImageMetricv4_h
#define itkGPUCorrelationImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUPairAdapter.h"
#include "itkGPUDevice.h"

#include "itkCorrelationImageToImageMetricv4.h"

namespace itk
{

/** \class GPUCorrelationImageToImageMetricv4
 * \brief Computes itk::CorrelationImageToImageMetricv4 on a GPU or on host threads.
 *
 * With f₁ = f - f̄ and m₁ = m - m̄, and ff, mm and fm the sums of their products over the valid samples, the value is -fm²/(ff·mm). The
 * derivative is that of -value, 2 fm/(ff·mm)·Σ (f₁ - fm/mm·m₁)·Jᵀ∇m, as in ITK's class. One pass over the samples gives both: see
 * src/kernels/metric/ValuePairs.h.
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency and
 * repeatability; all of that holds for this metric, too. ITK's class computes the rest, and derivatives for displacement fields, after
 * a warning. The gradient source is the moving image. Images have scalar pixels.
 *
 * \tparam TFixedImage, TMovingImage images of float or double, of 2 or 3 dimensions.
 *
 * \sa CudaMattesNMI, GPUDevice
 * \ingroup GPURegistration
 */
template <typename TFixedImage,
          typename TMovingImage,
          typename TVirtualImage = TFixedImage,
          typename TInternalComputationValueType = double,
          typename TMetricTraits =
            DefaultImageToImageMetricTraitsv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType>>
class ITK_TEMPLATE_EXPORT GPUCorrelationImageToImageMetricv4
  : public CorrelationImageToImageMetricv4<TFixedImage,
                                           TMovingImage,
                                           TVirtualImage,
                                           TInternalComputationValueType,
                                           TMetricTraits>
{
public:
  itkGPUMetricClassMacro(GPUCorrelationImageToImageMetricv4, CorrelationImageToImageMetricv4);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  GPUCorrelationImageToImageMetricv4() = default;
  ~GPUCorrelationImageToImageMetricv4() override = default;

  itkGPUMetricOverrideMacro(m_Use);
  itkGPUMetricPrintMacro(m_Adapter);

  /** Skips the pass in which ITK's class computes the means; the device's sums do not need them. */
  void
  InitializeForIteration() const override;

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUPairFriendsMacro();

  bool
  Varies(const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) const;
  MeasureType
  MakeValue(const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) const;

  using ImageMetricType =
    ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>;

  GPURegistrationDetail::DeviceUse                 m_Use;
  mutable GPURegistrationDetail::PairAdapter<Self> m_Adapter{ *this, gpureg::PairMeasure::Correlation };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUCorrelationImageToImageMetricv4.hxx"
#endif

#endif
