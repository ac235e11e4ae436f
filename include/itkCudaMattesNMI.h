// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMattesNMI_h
#define itkCudaMattesNMI_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricAdapter.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMacros.h"
#include "itkGPUDevice.h"

#include "gpureg/metric/histogram/JointDensity.h"
#include "gpureg/metric/histogram/MattesMetric.h"

#include "itkMattesMutualInformationImageToImageMetricv4.h"

namespace itk
{

/** \class CudaMattesNMI
 * \brief Computes normalised mutual information, or Mattes' mutual information, on a GPU or on host threads.
 *
 * The class replaces itk::MattesMutualInformationImageToImageMetricv4, from which it is derived: it has the same histogram, interface
 * and sign. Set it as the metric of an itk::ImageRegistrationMethodv4 and leave the rest of the pipeline as it is.
 *
 * With NormalizedOn() (the default) the value is -(H_f + H_m)/H_j (Studholme 1999; Modat 2010, section 2.2); with NormalizedOff() it is
 * ITK's own Mattes mutual information. Both values fall as the images align. The derivative is that of -value with respect to the
 * moving transform's parameters. A sample of fixed bin i and moving value m adds w(k - m) to the joint density p(i, k), where w is a
 * cubic window; the derivative is the mean over samples of -Σ_k t(i, k)·w'(k - m)·∂m, with t(i, k) = ∂(-value)/∂p(i, k).
 *
 * Initialize() uploads the images; what the device computes from them stays there. An evaluation uploads the transform and downloads
 * sums. Results are bitwise the same from run to run, whatever the number of threads; different devices agree up to rounding.
 *
 * The device computes: any composite of linear transforms, displacement fields and B-splines, in any order; its derivative if the
 * optimised transform is linear, wherever it stands, or a displacement field that is applied first, or a B-spline of order 1 to 3,
 * applied first or behind linear transforms, and no other B-spline follows; linear, nearest-neighbour and B-spline interpolation; an
 * itk::ImageMaskSpatialObject as moving mask; any fixed image, mask, transform and interpolator. Everything else (another interpolator,
 * moving mask, gradient calculator or transform) is computed on the host through ITK's own classes, and the object warns once.
 *
 * Bad input throws an itk::ExceptionObject. Besides what ITK rejects, an image that is constant where it is sampled, an empty mask, and
 * an image with a NaN or an infinity are bad input; the message counts the NaNs and infinities. The object can be used again after each
 * of these errors.
 *
 * \tparam TFixedImage, TMovingImage images of float or double, of 2 or 3 dimensions.
 *
 * \sa MattesMutualInformationImageToImageMetricv4, GPUDevice
 * \ingroup GPURegistration
 */
template <typename TFixedImage,
          typename TMovingImage,
          typename TVirtualImage = TFixedImage,
          typename TInternalComputationValueType = double,
          typename TMetricTraits =
            DefaultImageToImageMetricTraitsv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType>>
class ITK_TEMPLATE_EXPORT CudaMattesNMI
  : public MattesMutualInformationImageToImageMetricv4<TFixedImage,
                                                       TMovingImage,
                                                       TVirtualImage,
                                                       TInternalComputationValueType,
                                                       TMetricTraits>
{
public:
  itkGPUMetricClassMacro(CudaMattesNMI, MattesMutualInformationImageToImageMetricv4);

  using JacobianType = typename Superclass::JacobianType;
  using VirtualPointType = typename Superclass::VirtualPointType;

  /** Computes normalised mutual information (on, the default), or Mattes' mutual information as ITK defines it (off). */
  itkSetMacro(Normalized, bool);
  itkGetConstMacro(Normalized, bool);
  itkBooleanMacro(Normalized);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share.
   * SetTrustsTimeStamps() concerns the time stamps of the images, their masks, the fixed transform, and the coefficients of a B-spline
   * interpolator. Call Initialize(), too, after a change. If time stamps are not trusted, each evaluation sees what ITK's metric sees:
   * the new values, and the gradient of the old values until Initialize() is called. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  CudaMattesNMI() = default;
  ~CudaMattesNMI() override = default;

  /** Makes this object replace ITK's class, with Mattes' mutual information: see GPUOverride. */
  void
  OverrideParent()
  {
    m_Use.OverrideParent();
    m_Normalized = false;
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  using ImageMetricType =
    ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>;

  itkGPUMetricFriendsMacro(gpureg::MattesMetric);

  void
  ComputeIntensityRanges();
  void
  UpdateEngine(bool isInitializing) const;
  void
  EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const;
  gpureg::JointDensity
  MakeDensity(const gpureg::MattesResult & result) const;
  void
  StoreValue(const gpureg::JointDensity & density, SizeValueType validPoints) const;
  void
  ForgetDensities() const;

  // Computes the same sums sample by sample, by ITK's own classes: see itkCudaMattesNMIThroughITK.hxx.
  class ThroughITK;
  void
  EvaluateThroughITK() const;

  GPURegistrationDetail::DeviceUse                                         m_Use;
  mutable GPURegistrationDetail::MetricAdapter<Self, gpureg::MattesMetric> m_Adapter{ *this };
  bool                                                                     m_Normalized{ true };
  SizeValueType                                                            m_InitializedBins{ 0 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaMattesNMI.hxx"
#endif

#endif
