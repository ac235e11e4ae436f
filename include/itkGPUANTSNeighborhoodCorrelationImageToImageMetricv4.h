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
 * \brief Computes itk::ANTSNeighborhoodCorrelationImageToImageMetricv4 on a GPU or on host threads.
 *
 * The neighborhood of a voxel of the virtual domain consists of the voxels of the domain within SetRadius() of that voxel along each
 * axis. Let n be the number of voxels in a neighborhood that map into both images and their masks, and f̄ and m̄ the means of their
 * values. With
 *
 * sFF = Σ f² - 2 f̄ Σ f + n f̄², and sMM and sFM likewise,
 *
 * the value is -Σ sFM²/(sFF·sMM)/N, summed over the N voxels that map into both images themselves. The derivative is ITK's: the mean of
 * 2 sFM/(sFF·sMM)·((f - f̄) - sFM/sMM·(m - m̄))·Jᵀ∇m, with f, m, J and ∇m of the central voxel alone (Avants 2011). For a displacement
 * field the derivative is that term at each voxel, not divided by N. If |sFF·sMM| is not above epsilon, 2⁻⁵², the correlation is 1; if
 * sFF or sMM is not above epsilon, the derivative is 0. With UseSampledPointSet on, the central voxels are those nearest to the sampled
 * points, each counted once per point; neighborhoods consist of voxels as before.
 *
 * Running sums cost three additions per axis, whatever the radius: a radius of 4 takes hardly longer than a radius of 1. For a sampled
 * point set, each neighborhood is summed by itself. A radius larger than the domain acts as one of the domain's size, as in ITK.
 *
 * The sums are doubles of exactly the values that ITK sums, so the device must compute in double precision. Flat neighborhoods give
 * what ITK gives: ITK squares values in the pixel type, and if rounding changes these squares (that of 0.1, but not that of 100), a
 * flat neighborhood has a tiny sFF of either sign instead of 0, and a correlation without a meaning. For pixels of float this class
 * rounds identically, and returns the same correlations; for pixels of double they depend on the order of additions, which is not ITK's.
 * With a radius of 0 all neighborhoods are flat.
 *
 * Two properties of ITK's class are not reproduced. Where several sampled points lie in one voxel, ITK's threads race for the voxel's
 * place in a displacement field's derivative; here the points' terms add up. ITK's sums depend on the number of threads in the last
 * digits; here they do not.
 *
 * CudaMattesNMI says which transforms, interpolators, masks and samplings the device computes, and what it guarantees on residency and
 * repeatability; all of that holds for this metric, too. ITK's class computes the rest, and sampled points outside the virtual domain,
 * after a warning. The gradient source is the moving image. Images have scalar pixels.
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
  itkGPUMetricClassMacro(GPUANTSNeighborhoodCorrelationImageToImageMetricv4,
                         ANTSNeighborhoodCorrelationImageToImageMetricv4);

  /** Declares SetDevice(), SetTrustsTimeStamps(), GetValues() and the other members that all metrics of this module share: see
   * CudaMattesNMI. */
  itkGPUMetricMembersMacro(m_Use, m_Adapter);

  void
  Initialize() override;

protected:
  GPUANTSNeighborhoodCorrelationImageToImageMetricv4() = default;
  ~GPUANTSNeighborhoodCorrelationImageToImageMetricv4() override = default;

  itkGPUMetricOverrideMacro(m_Use);
  itkGPUMetricPrintMacro(m_Adapter);
  itkGPUMetricIterationMacro(m_Adapter);

  void
  GetValueAndDerivativeExecute() const override;

private:
  itkGPUMetricFriendsMacro(gpureg::NeighborhoodCorrelationMetric);

  std::string
  FindUnsupportedFeature() const;
  /** Returns whether a sampled point lies outside the virtual domain, as both are now. */
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
    *this, false, [this] { return this->FindUnsupportedFeature(); }
  };
  mutable gpureg::Key m_KeyOfPoints;              // the points, and the virtual domain, that the next one is of
  mutable bool        m_HasPointOutside{ false }; // a sampled point lies outside the virtual domain
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.hxx"
#endif

#endif
