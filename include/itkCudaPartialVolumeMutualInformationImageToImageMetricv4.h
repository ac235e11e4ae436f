// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartialVolumeMutualInformationImageToImageMetricv4_h
#define itkCudaPartialVolumeMutualInformationImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricAdapter.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMacros.h"
#include "itkGPUDevice.h"

#include "gpureg/metric/histogram/JointDensity.h"
#include "gpureg/metric/histogram/PartialVolumeMetric.h"

#include "itkDefaultImageToImageMetricTraitsv4.h"
#include "itkImageToImageMetricv4.h"

#include <array>
#include <cstdint>
#include <vector>

namespace itk
{

/** \class CudaPartialVolumeMutualInformationImageToImageMetricv4
 * \brief Computes mutual information by partial-volume interpolation, on a GPU or on host threads.
 *
 * Use this metric in an itk::ImageRegistrationMethodv4, or wherever an itk::ImageToImageMetricv4 fits. The moving image is not
 * interpolated. Each sample adds the weights w_c of linear interpolation, of the 8 voxels (4 in two dimensions) around the position
 * that it maps to, to the joint histogram: in the row of its fixed bin, and the columns of the voxels' moving bins (Maes 1997; Sun
 * 2010, section 3.2). A value v belongs to bin min(B - 1, floor(B·(v - min)/(max - min))), where min and max are the range of its
 * image's buffered region inside the mask; a value outside that range belongs to the first or the last bin.
 *
 * With NormalizedOn() (the default) the value is -(H_f + H_m)/H_j (Studholme 1999); with NormalizedOff() it is the negative mutual
 * information -Σ p ln(p/(p_f p_m)). Both values fall as the images align. The derivative is that of -value with respect to the moving
 * transform's parameters: the mean over the samples of Σ_c ∂w_c/∂y·ln(p/p_m)·J, with the entries of p at the sample's fixed bin and the
 * corners' moving bins (Maes 1999). For the normalised value, [NMI·ln p - ln p_m]/H_j takes the place of ln(p/p_m).
 *
 * If a position lies in the half voxel around the moving image's buffer, the edge voxels are repeated, and the weights' derivative
 * across the edge is 0. The metric uses neither the moving interpolator nor the images' gradients: the constructor turns the gradient
 * filters off, and the gradient source must remain the moving image.
 *
 * CudaMattesNMI says which transforms, masks and samplings the device computes, and what it guarantees on residency, repeatability and
 * bad input; all of that holds for this metric, too.
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
class ITK_TEMPLATE_EXPORT CudaPartialVolumeMutualInformationImageToImageMetricv4
  : public ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>
{
public:
  itkGPUMetricClassMacro(CudaPartialVolumeMutualInformationImageToImageMetricv4, ImageToImageMetricv4);

  static constexpr SizeValueType LeastBins = gpureg::PartialVolumeMetric::LeastBins;
  static constexpr SizeValueType MostBins = gpureg::PartialVolumeMetric::MostBins;

  /** Sets the number of bins for each image: 2 to 256, 32 by default. Call Initialize() after a change. */
  itkSetMacro(NumberOfHistogramBins, SizeValueType);
  itkGetConstMacro(NumberOfHistogramBins, SizeValueType);

  /** Computes normalised mutual information (on, the default), or mutual information (off). */
  itkSetMacro(Normalized, bool);
  itkGetConstMacro(Normalized, bool);
  itkBooleanMacro(Normalized);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  CudaPartialVolumeMutualInformationImageToImageMetricv4();
  ~CudaPartialVolumeMutualInformationImageToImageMetricv4() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUMetricFriendsMacro(gpureg::PartialVolumeMetric);
  using Range = std::pair<double, double>;
  using DensityType = gpureg::JointDensity;

  // Holds the voxels around a sample's position, their weights, and the derivatives of the weights with respect to the position in mm.
  struct Corners;

  void
  ComputeRanges();
  SizeValueType
  ComputeBin(double value, const Range & range) const;
  std::array<double, 9>
  GetIndexByMm() const;
  Corners
  LocateCorners(const typename Superclass::MovingImagePointType & point) const;
  void
  UpdateEngine(bool isInitializing) const;
  void
  EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const;
  void
  EvaluateThroughITK() const;
  void
  StoreValue(const DensityType & density, double count) const;

  GPURegistrationDetail::DeviceUse                                                m_Use;
  mutable GPURegistrationDetail::MetricAdapter<Self, gpureg::PartialVolumeMetric> m_Adapter{ *this };
  SizeValueType                                                                   m_NumberOfHistogramBins{ 32 };
  SizeValueType                                                                   m_InitializedBins{ 0 };
  bool                                                                            m_Normalized{ true };
  Range                                                                           m_FixedRange{ 0, 1 };
  Range                                                                           m_MovingRange{ 0, 1 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaPartialVolumeMutualInformationImageToImageMetricv4.hxx"
#endif

#endif
