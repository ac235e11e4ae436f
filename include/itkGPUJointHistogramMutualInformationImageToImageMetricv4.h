// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUJointHistogramMutualInformationImageToImageMetricv4_h
#define itkGPUJointHistogramMutualInformationImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricAdapter.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMacros.h"
#include "itkGPUDevice.h"

#include "gpureg/metric/histogram/JointHistogramMetric.h"
#include "gpureg/metric/histogram/SmoothedDensity.h"

#include "itkJointHistogramMutualInformationImageToImageMetricv4.h"

#include <vector>

namespace itk
{

/** \class GPUJointHistogramMutualInformationImageToImageMetricv4
 * \brief Computes itk::JointHistogramMutualInformationImageToImageMetricv4 on a GPU or on host threads.
 *
 * Each valid sample is counted in the nearest bin of a joint histogram. The counts become a density p, which is smoothed by a Gaussian
 * with a variance of VarianceForJointPDFSmoothing bins. The value is -Σ p·log₂(p/(p_f p_m)), as in ITK's class. The derivative is
 * ITK's, too: the mean over the samples of [ln 2·p·(∂p_m/∂m)/p_m - ln(p/p_m)·∂p/∂m]·Jᵀ∇m, where p and p_m are interpolated linearly
 * between bins, and ∂/∂m is a difference over a bin's width. ITK's releases up to 5.4 use one image's marginal density in place of the
 * other's; this class does what the ITK does with which it is compiled.
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency and
 * repeatability; all of that holds for this metric, too. ITK's class computes the rest, and more than 1024 bins, after a warning. The
 * gradient source is the moving image.
 *
 * Bad input throws an itk::GPUBadInputError: besides what ITK rejects, fewer than 6 bins (with 5 bins, ITK's bins have no width), a
 * variance that is not finite, a constant image, and an image with a NaN or an infinity. If no sample is valid, the value is the
 * largest number, after a warning, as is ITK's value that comes with a derivative.
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
class ITK_TEMPLATE_EXPORT GPUJointHistogramMutualInformationImageToImageMetricv4
  : public JointHistogramMutualInformationImageToImageMetricv4<TFixedImage,
                                                               TMovingImage,
                                                               TVirtualImage,
                                                               TInternalComputationValueType,
                                                               TMetricTraits>
{
public:
  itkGPUMetricClassMacro(GPUJointHistogramMutualInformationImageToImageMetricv4,
                         JointHistogramMutualInformationImageToImageMetricv4);

  // Repeat the base class's gradient types: those of the parent class, which computes gradients in float, are other types.
  using FixedImageGradientType = typename ImageToImageMetricv4<TFixedImage,
                                                               TMovingImage,
                                                               TVirtualImage,
                                                               TInternalComputationValueType,
                                                               TMetricTraits>::FixedImageGradientType;
  using MovingImageGradientType = typename ImageToImageMetricv4<TFixedImage,
                                                                TMovingImage,
                                                                TVirtualImage,
                                                                TInternalComputationValueType,
                                                                TMetricTraits>::MovingImageGradientType;

  using JacobianType = typename Superclass::JacobianType;
  using VirtualPointType = typename Superclass::VirtualPointType;

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. For GetValues() a device counts the histograms of many candidates together. The device, or the host if the device
   * has no double precision, computes the values from the histograms: they equal those of GetValue() to the bit. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

  /** Computes the value on the device; ITK's class overrides GetValue() with one that counts on the host. */
  typename Superclass::MeasureType
  GetValue() const override;

protected:
  GPUJointHistogramMutualInformationImageToImageMetricv4() = default;
  ~GPUJointHistogramMutualInformationImageToImageMetricv4() override = default;

  itkGPUMetricOverrideMacro(m_Use);

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** Leaves out ITK's joint density, which a device computes itself. */
  void
  InitializeForIteration() const override;

  void
  GetValueAndDerivativeExecute() const override;

private:
  using ImageMetricType =
    ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>;
  using Range = std::pair<double, double>;

  itkGPUMetricFriendsMacro(gpureg::JointHistogramMetric);

  /** Checks that images and settings give a joint histogram.
   * \throws GPUBadInputError if they do not. */
  void
  CheckHistogram() const;
  void
  ShapeJointPDF();
  double
  ComputePlace(double value, const Range & range) const;
  SizeValueType
  ComputeBin(double value, const Range & range) const;
  std::vector<bool>
  FindTies() const;
  std::vector<double>
  MakeSmoothing() const;
  gpureg::JointHistogramOptions
  MakeOptions() const;
  void
  UpdateEngine(bool isInitializing) const;
  void
  EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const;
  std::string
  FindUnsupportedFeature() const;
  /** Makes what ITK's class makes at Initialize(), for evaluations by ITK's class. */
  void
  InitializeParent() const;
  void
  EvaluateThroughITK() const;
  void
  StoreValue(const gpureg::SmoothedDensity & density) const;

  GPURegistrationDetail::DeviceUse                                                 m_Use;
  mutable GPURegistrationDetail::MetricAdapter<Self, gpureg::JointHistogramMetric> m_Adapter{
    *this, false, [this] { return this->FindUnsupportedFeature(); }
  };
  SizeValueType m_InitializedBins{ 0 };
  Range         m_FixedRange{ 0, 1 };
  Range         m_MovingRange{ 0, 1 };
  mutable bool  m_ParentIsInitialized{ false };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.hxx"
#endif

#endif
