// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUBSplinePenaltyMetric_h
#define itkGPUBSplinePenaltyMetric_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "itkGPUDevice.h"

#include "gpureg/penalty/ControlPenalty.h"

#include "itkImageToImageMetricv4.h"

#include <memory>
#include <vector>

namespace itk
{

/** \class GPUBSplinePenaltyMetric
 * \brief Penalties of a cubic B-spline that is optimised, as a metric beside others, on a GPU or on host threads.
 *
 * The value is
 * \f[ P = w_b P_b + w_l P_l + w_j P_j \f]
 * of the bending energy, the linear energy, and what keeps the Jacobian's determinant positive (gpureg::PenaltyKind has the
 * equations: Rueckert 1999; Modat 2010, equation 2), each a mean over the control points that have all neighbours. Displacements
 * and places are in mm: the bending energy is in mm⁻², the others have no unit. Of control points s mm and voxels v mm apart,
 * w_b = s⁴/v² counts it as FreeFormDeformationRegistrationMethod does. The derivative is that of -P, as ITK's metrics have it, in
 * the order of the transform's parameters.
 *
 * WeightedSumMultiMetricv4 adds it to a similarity S: C = (1 - α) S + α P (Modat 2010, equation 1). In ITK's own
 * ObjectToObjectMultiMetricv4 it works, too; but there weights are of derivatives that are scaled to one length, and the value is
 * the first metric's alone.
 *
 * \code
 * auto penalty = itk::GPUBSplinePenaltyMetric<Image>::New(); // the bending energy
 * auto cost = itk::WeightedSumMultiMetricv4<3, 3, Image>::New();
 * cost->AddMetric(similarity);
 * cost->AddMetric(penalty);
 * cost->SetMetricWeights(weights); // 1 - α and α
 * registration->SetMetric(cost);
 * registration->SetFixedImage(1, fixed); // as of index 0: ImageRegistrationMethodv4 wants a pair for each metric
 * registration->SetMovingImage(1, moving);
 * \endcode
 *
 * No image is looked at, nor masks, samples and the virtual domain: it is an image metric because ImageRegistrationMethodv4 lets no
 * other into a multi-metric of images. The moving transform is an itk::BSplineTransform of order 3, or an
 * itk::BSplineDeformableTransform of order 3 with no bulk transform but an identity, or a composite that optimises such a spline
 * alone. What else is in the composite has no part in the penalty.
 *
 * Displacements are rounded to floats. The same input gives the same bits, on any number of threads.
 *
 * \throws itk::GPUBadInputError from Initialize() and evaluations: for a transform of another kind or order, or none; fewer than 3
 * control points along an axis; coefficients that are not finite; weights below 0, or all 0. A multi-metric's Initialize() passes
 * that on as an itk::ExceptionObject of the same words.
 *
 * \tparam TFixedImage, TMovingImage, TVirtualImage those of the metrics beside it, of 2 or 3 dimensions.
 *
 * \sa WeightedSumMultiMetricv4, FreeFormDeformationRegistrationMethod, GPUDevice
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage = TFixedImage, typename TVirtualImage = TFixedImage>
class ITK_TEMPLATE_EXPORT GPUBSplinePenaltyMetric
  : public ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, double>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GPUBSplinePenaltyMetric);

  using Self = GPUBSplinePenaltyMetric;
  using Superclass = ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, double>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using MovingTransformType = typename Superclass::MovingTransformType;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    return "GPUBSplinePenaltyMetric";
  }

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == 2 || ImageDimension == 3, "GPUBSplinePenaltyMetric: images have 2 or 3 dimensions");
  static_assert(TMovingImage::ImageDimension == ImageDimension && TVirtualImage::ImageDimension == ImageDimension,
                "GPUBSplinePenaltyMetric: fixed, moving and virtual image have the same dimension");

  /** w_b: at least 0. Default 1. */
  itkSetMacro(BendingEnergyWeight, double);
  itkGetConstMacro(BendingEnergyWeight, double);
  /** w_l: at least 0. Default 0. */
  itkSetMacro(LinearEnergyWeight, double);
  itkGetConstMacro(LinearEnergyWeight, double);
  /** w_j: at least 0. Default 0. */
  itkSetMacro(JacobianPenaltyWeight, double);
  itkGetConstMacro(JacobianPenaltyWeight, double);

  itkGPUDeviceMembersMacro(m_Use, (m_Engine ? m_Engine->GetStatistics() : gpureg::EvaluationStatistics()));

  /** Asks for transforms alone. */
  void
  Initialize() override;

protected:
  GPUBSplinePenaltyMetric();
  ~GPUBSplinePenaltyMetric() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** Valid points are the control points that have all neighbours. */
  void
  GetValueAndDerivativeExecute() const override;

private:
  /** What is optimised, and the grid of its control points. */
  struct Spline
  {
    const MovingTransformType * transform;
    gpureg::ControlGrid         grid;
  };

  const MovingTransformType *
  FindOptimized() const;
  Spline
  FindSpline() const;
  std::vector<gpureg::WeightedPenalty>
  MakePenalties() const;
  void
  StoreDerivative(const gpureg::PenaltyResult & result) const;

  GPURegistrationDetail::DeviceUse                m_Use;
  mutable std::unique_ptr<gpureg::ControlPenalty> m_Engine;
  double                                          m_BendingEnergyWeight{ 1 };
  double                                          m_LinearEnergyWeight{ 0 };
  double                                          m_JacobianPenaltyWeight{ 0 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUBSplinePenaltyMetric.hxx"
#endif

#endif
