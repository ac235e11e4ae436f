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
 * \brief itk::JointHistogramMutualInformationImageToImageMetricv4 on a GPU or on host threads.
 *
 * Each valid sample is counted in the nearest bin of a joint histogram, the counts become a density p that is smoothed by a
 * Gaussian of a variance of VarianceForJointPDFSmoothing bins, and the value is -Σ p·log₂(p/(p_f p_m)), as ITK's is. The
 * derivative is ITK's, too: the mean over the samples of
 * [ln 2·p·(∂p_m/∂m)/p_m - ln(p/p_m)·∂p/∂m]·Jᵀ∇m,
 * where p and p_m are interpolated linearly between bins, and ∂/∂m is a difference over a bin's width. ITK's releases up to 5.4
 * take the one image's marginal density for the other's; so does this class, with the ITK that it is compiled with.
 *
 * Which transforms, interpolators, masks and samplings are computed on the device, and what else CudaMattesNMI says of
 * residency and repeatability, holds here, too. The rest, and more than 1024 bins, is computed by ITK's class, after a
 * warning. The gradient source is the moving image.
 *
 * Bad input is an itk::GPUBadInputError: besides what ITK rejects, fewer than 6 bins (of 5 ITK's have no width), a variance
 * that is not finite, an image that is constant, and one with a NaN or an infinity. Where no sample is valid, the value is the
 * largest number there is, after a warning, as ITK's is that comes with a derivative.
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
  ITK_DISALLOW_COPY_AND_MOVE(GPUJointHistogramMutualInformationImageToImageMetricv4);

  using Self = GPUJointHistogramMutualInformationImageToImageMetricv4;
  using Superclass = JointHistogramMutualInformationImageToImageMetricv4<TFixedImage,
                                                                         TMovingImage,
                                                                         TVirtualImage,
                                                                         TInternalComputationValueType,
                                                                         TMetricTraits>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  // As the base class has them: the parent's, computed in float, are of another type.
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
  using MovingTransformType = typename Superclass::MovingTransformType;
  using VirtualPointType = typename Superclass::VirtualPointType;

  using MeasureType = typename Superclass::MeasureType;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUJointHistogramMutualInformationImageToImageMetricv4";
  }

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == 2 || ImageDimension == 3,
                "GPUJointHistogramMutualInformationImageToImageMetricv4: images have 2 or 3 dimensions");
  static_assert(TMovingImage::ImageDimension == ImageDimension && TVirtualImage::ImageDimension == ImageDimension,
                "GPUJointHistogramMutualInformationImageToImageMetricv4: fixed, moving and virtual image have the same "
                "dimension");

  /** See CudaMattesNMI. A device counts the histograms of GetValues() together, and finds the values from them where it computes in
   * doubles, else the host does: they are GetValue()'s to the bit. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

  /** ITK's class has one of its own, which counts on the host. */
  typename Superclass::MeasureType
  GetValue() const override;

protected:
  GPUJointHistogramMutualInformationImageToImageMetricv4() = default;
  ~GPUJointHistogramMutualInformationImageToImageMetricv4() override = default;

  /** See GPUStandIn. */
  void
  StandInForParent()
  {
    m_Use.StandInForParent();
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** ITK's makes the joint density. */
  void
  InitializeForIteration() const override;

  void
  GetValueAndDerivativeExecute() const override;

private:
  using ImageMetricType =
    ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>;
  using Range = std::pair<double, double>;

  itkGPUMetricFriendsMacro(gpureg::JointHistogramMetric);

  /** \throws GPUBadInputError if images or settings have no joint histogram. */
  void
  CheckHistogram() const;
  void
  ShapeJointPDF();
  double
  FindPlace(double value, const Range & range) const;
  SizeValueType
  FindBin(double value, const Range & range) const;
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
  FindWhatTheDeviceLacks() const;
  /** What ITK's class makes at Initialize(), for its own evaluations. */
  void
  InitializeParent() const;
  void
  EvaluateThroughITK() const;
  void
  StoreValue(const gpureg::SmoothedDensity & density) const;

  GPURegistrationDetail::DeviceUse                                                 m_Use;
  mutable GPURegistrationDetail::MetricAdapter<Self, gpureg::JointHistogramMetric> m_Adapter{
    *this, false, [this] { return this->FindWhatTheDeviceLacks(); }
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
