// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMeanAbsoluteDifferencesImageToImageMetricv4_h
#define itkCudaMeanAbsoluteDifferencesImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUPairAdapter.h"
#include "itkGPUDevice.h"

#include "itkDefaultImageToImageMetricTraitsv4.h"
#include "itkImageToImageMetricv4.h"

namespace itk
{

/** \class CudaMeanAbsoluteDifferencesImageToImageMetricv4
 * \brief Computes the mean of absolute differences (SAD), for which ITK has no v4 metric, on a GPU or on host threads.
 *
 * Use this metric in an itk::ImageRegistrationMethodv4, or wherever an itk::ImageToImageMetricv4 fits. The value is the mean of |f - m|
 * over the valid samples (Ansorge 2008). The derivative is that of -value: the mean of sign(f - m)·Jᵀ∇m, where a sample with f = m adds
 * 0.
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency and
 * repeatability; all of that holds for this metric, too. ITK's classes compute the rest, after a warning. The gradient source is the
 * moving image. If no sample is valid, the value is the largest number, the derivative is 0, and the object warns, as ITK's own metrics
 * do.
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
class ITK_TEMPLATE_EXPORT CudaMeanAbsoluteDifferencesImageToImageMetricv4
  : public ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>
{
public:
  itkGPUMetricClassMacro(CudaMeanAbsoluteDifferencesImageToImageMetricv4, ImageToImageMetricv4);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  CudaMeanAbsoluteDifferencesImageToImageMetricv4();
  ~CudaMeanAbsoluteDifferencesImageToImageMetricv4() override = default;

  itkGPUMetricPrintMacro(m_Adapter);
  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUPairFriendsMacro();

  MeasureType
  MakeValue(const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) const;

  void
  EvaluateThroughITK() const;

  GPURegistrationDetail::DeviceUse                 m_Use;
  mutable GPURegistrationDetail::PairAdapter<Self> m_Adapter{ *this, gpureg::PairMeasure::MeanAbsoluteDifferences };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaMeanAbsoluteDifferencesImageToImageMetricv4.hxx"
#endif

#endif
