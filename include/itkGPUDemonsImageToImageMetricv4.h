// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUDemonsImageToImageMetricv4_h
#define itkGPUDemonsImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUPairAdapter.h"
#include "itkGPUDevice.h"

#include "itkDemonsImageToImageMetricv4.h"

namespace itk
{

/** \class GPUDemonsImageToImageMetricv4
 * \brief Computes itk::DemonsImageToImageMetricv4 on a GPU or on host threads.
 *
 * The value is the mean of (f - m)² over the valid samples. The derivative is ITK's, (f - m)·∇/((f - m)²/K + |∇|²), with the gradient ∇
 * of the fixed image, the default, or of the moving image, and K the mean square of that image's spacing. The derivative is 0 if |f -
 * m| is below IntensityDifferenceThreshold, or the denominator below DenominatorThreshold. The moving transform is a displacement field
 * (Thirion 1998).
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency and
 * repeatability; all of that holds for this metric, too. ITK's class computes the rest, after a warning. Images have scalar pixels.
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
class ITK_TEMPLATE_EXPORT GPUDemonsImageToImageMetricv4
  : public DemonsImageToImageMetricv4<TFixedImage,
                                      TMovingImage,
                                      TVirtualImage,
                                      TInternalComputationValueType,
                                      TMetricTraits>
{
public:
  itkGPUMetricClassMacro(GPUDemonsImageToImageMetricv4, DemonsImageToImageMetricv4);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  GPUDemonsImageToImageMetricv4() = default;
  ~GPUDemonsImageToImageMetricv4() override = default;

  itkGPUMetricOverrideMacro(m_Use);
  itkGPUMetricPrintMacro(m_Adapter);
  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUPairFriendsMacro();

  gpureg::DemonsTerms
  ComputeDemonsTerms(const GPURegistrationDetail::MetricScales & scales) const;

  GPURegistrationDetail::DeviceUse                 m_Use;
  mutable GPURegistrationDetail::PairAdapter<Self> m_Adapter{ *this, gpureg::PairMeasure::Demons };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUDemonsImageToImageMetricv4.hxx"
#endif

#endif
