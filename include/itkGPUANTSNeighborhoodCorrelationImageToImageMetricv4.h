// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4_h
#define itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/metric/itkGPUMetricAdapter.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMacros.h"
#include "itkGPUDevice.h"

#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"

#include <string>

namespace itk
{

/** \class GPUANTSNeighborhoodCorrelationImageToImageMetricv4
 * \brief itk::ANTSNeighborhoodCorrelationImageToImageMetricv4 on a GPU or on host threads.
 *
 * The neighborhood of a voxel of the virtual domain are the voxels within SetRadius() of it along each axis, as far as the
 * domain reaches. Over those of them that map into both images and their masks, n of them, with f̄ and m̄ the means,
 *
 * sFF = Σ f² - 2 f̄ Σ f + n f̄², sMM and sFM alike,
 *
 * the value is -Σ sFM²/(sFF·sMM)/N over the N voxels that map into both themselves, and the derivative, as ITK's, the mean of
 * 2 sFM/(sFF·sMM)·((f - f̄) - sFM/sMM·(m - m̄))·Jᵀ∇m, with f, m, J and ∇m of the voxel itself (Avants 2011); by a
 * displacement field it is that of each voxel, not divided by N. Where |sFF·sMM| is not above epsilon, 2⁻⁵², the correlation
 * is 1; where sFF or sMM is not, the derivative is 0. With UseSampledPointSet on, the voxels are those that are nearest to the
 * points, each as often as there are points, and their neighborhoods are the same.
 *
 * A sum costs three additions an axis, whatever the radius: one of 4 takes hardly longer than one of 1. Over a sampled point
 * set each neighborhood is summed by itself. A radius larger than the domain is as large as it, as ITK has it.
 *
 * The sums are doubles, of the very values that ITK sums, so the device must compute in doubles. What ITK makes of
 * neighborhoods that are flat is kept: it squares values in the pixel's type, and where those squares are rounded, as 0.1's
 * is and 100's is not, a flat neighborhood has a tiny sFF of either sign instead of 0, and a correlation that means nothing. Of
 * pixels of float it is the same here, since these are rounded alike; of double it follows from the order of additions, which
 * is not ITK's. A radius of 0 makes all neighborhoods flat.
 *
 * Two more of ITK's ways are not kept: over a sampled point set, points in one voxel race for its place in a displacement
 * field's derivative, and here they add up; and ITK's sums depend on the number of threads in the last digits.
 *
 * Which transforms, interpolators, masks and samplings are computed on the device, and what else CudaMattesNMI says of
 * residency and repeatability, holds here, too. The rest, and sampled points outside of the virtual domain, is computed by
 * ITK's class, after a warning. The gradient source is the moving image. Images are of scalars.
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
class ITK_TEMPLATE_EXPORT GPUANTSNeighborhoodCorrelationImageToImageMetricv4
  : public ANTSNeighborhoodCorrelationImageToImageMetricv4<TFixedImage,
                                                           TMovingImage,
                                                           TVirtualImage,
                                                           TInternalComputationValueType,
                                                           TMetricTraits>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUANTSNeighborhoodCorrelationImageToImageMetricv4);

  using Self = GPUANTSNeighborhoodCorrelationImageToImageMetricv4;
  using Superclass = ANTSNeighborhoodCorrelationImageToImageMetricv4<TFixedImage,
                                                                     TMovingImage,
                                                                     TVirtualImage,
                                                                     TInternalComputationValueType,
                                                                     TMetricTraits>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using MeasureType = typename Superclass::MeasureType;
  using MovingTransformType = typename Superclass::MovingTransformType;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUANTSNeighborhoodCorrelationImageToImageMetricv4";
  }

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == 2 || ImageDimension == 3,
                "GPUANTSNeighborhoodCorrelationImageToImageMetricv4: images have 2 or 3 dimensions");
  static_assert(
    TMovingImage::ImageDimension == ImageDimension && TVirtualImage::ImageDimension == ImageDimension,
    "GPUANTSNeighborhoodCorrelationImageToImageMetricv4: fixed, moving and virtual image have the same dimension");

  /** See CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  GPUANTSNeighborhoodCorrelationImageToImageMetricv4() = default;
  ~GPUANTSNeighborhoodCorrelationImageToImageMetricv4() override = default;

  /** See GPUStandIn. */
  void
  StandInForParent()
  {
    m_Use.StandInForParent();
  }

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUMetricFriendsMacro(gpureg::NeighborhoodCorrelationMetric);

  std::string
  FindWhatTheDeviceLacks() const;
  bool
  HasPointOutside() const;
  void
  UpdateEngine(bool isInitializing) const;
  void
  UploadCentres() const;
  gpureg::NeighborhoodTerms
  MakeTerms() const;
  void
  EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const;

  GPURegistrationDetail::DeviceUse                                                          m_Use;
  mutable GPURegistrationDetail::MetricAdapter<Self, gpureg::NeighborhoodCorrelationMetric> m_Adapter{
    *this, false, [this] { return this->FindWhatTheDeviceLacks(); }
  };
  bool m_HasPointOutside{ false }; // of the virtual domain
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.hxx"
#endif

#endif
