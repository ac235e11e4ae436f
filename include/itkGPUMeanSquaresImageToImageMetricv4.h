// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMeanSquaresImageToImageMetricv4_h
#define itkGPUMeanSquaresImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUPairAdapter.h"
#include "itkGPUDevice.h"

#include "itkMeanSquaresImageToImageMetricv4.h"

namespace itk
{

/** \class GPUMeanSquaresImageToImageMetricv4
 * \brief Computes itk::MeanSquaresImageToImageMetricv4 on a GPU or on host threads.
 *
 * The value is the mean of (f - m)² over the valid samples. The derivative is that of -value: the mean of 2 (f - m)·Jᵀ∇m, as in ITK's
 * class. One pass over the samples gives both.
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency and
 * repeatability; all of that holds for this metric, too. ITK's class computes the rest, after a warning. The gradient source is the
 * moving image. Images have scalar pixels.
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
class ITK_TEMPLATE_EXPORT GPUMeanSquaresImageToImageMetricv4
  : public MeanSquaresImageToImageMetricv4<TFixedImage,
                                           TMovingImage,
                                           TVirtualImage,
                                           TInternalComputationValueType,
                                           TMetricTraits>
{
public:
  itkGPUMetricClassMacro(GPUMeanSquaresImageToImageMetricv4, MeanSquaresImageToImageMetricv4);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  GPUMeanSquaresImageToImageMetricv4() = default;
  ~GPUMeanSquaresImageToImageMetricv4() override = default;

  itkGPUMetricOverrideMacro(m_Use);
  itkGPUMetricPrintMacro(m_Adapter);
  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUPairFriendsMacro();

  GPURegistrationDetail::DeviceUse                 m_Use;
  mutable GPURegistrationDetail::PairAdapter<Self> m_Adapter{ *this, gpureg::PairMeasure::MeanSquares };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUMeanSquaresImageToImageMetricv4.hxx"
#endif

#endif
