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
 * \brief Computes penalties of a cubic B-spline that is optimised, as one metric among others, on a GPU or on host threads.
 *
 * The value is
 * \f[ P = w_b P_b + w_l P_l + w_j P_j \f]
 * with the bending energy P_b, the linear energy P_l, and a penalty P_j that keeps the Jacobian determinant positive
 * (gpureg::PenaltyKind has the equations: Rueckert 1999; Modat 2010, equation 2). Each is a mean over the control points that have all
 * neighbours. Displacements and positions are in mm, so the bending energy has the unit mm⁻², and the others have none. With control
 * points s mm and voxels v mm apart, w_b = s⁴/v² gives the bending energy of FreeFormDeformationRegistrationMethod. The derivative is
 * that of -P, as for all of ITK's metrics, in the order of the transform's parameters.
 *
 * WeightedSumMultiMetricv4 adds the penalty to a similarity S: C = (1 - α) S + α P (Modat 2010, equation 1). The penalty also works in
 * ITK's own ObjectToObjectMultiMetricv4; but that class applies its weights to derivatives that are scaled to one length, and returns
 * the value of the first metric alone.
 *
 * \code
 * auto penalty = itk::GPUBSplinePenaltyMetric<Image>::New(); // the bending energy
 * auto cost = itk::WeightedSumMultiMetricv4<3, 3, Image>::New();
 * cost->AddMetric(similarity);
 * cost->AddMetric(penalty);
 * cost->SetMetricWeights(weights); // 1 - α and α
 * registration->SetMetric(cost);
 * registration->SetFixedImage(1, fixed); // the images of index 0: ImageRegistrationMethodv4 requires a pair for each metric
 * registration->SetMovingImage(1, moving);
 * \endcode
 *
 * The penalty reads no image, mask, samples or virtual domain. It is an image metric only because ImageRegistrationMethodv4 accepts no
 * other metric in a multi-metric of images. The moving transform is an itk::BSplineTransform of order 3, an
 * itk::BSplineDeformableTransform of order 3 whose bulk transform is an identity, if it has one, or a composite that optimises only
 * such a spline. The composite's other transforms do not affect the penalty.
 *
 * Displacements are rounded to floats. Equal input gives equal bits, on any number of threads.
 *
 * \throws itk::GPUBadInputError from Initialize() and evaluations: if there is no transform, or one of another kind or order; for fewer
 * than 3 control points along an axis; for coefficients that are not finite; for weights below 0, or all 0. A multi-metric's
 * Initialize() turns this error into an itk::ExceptionObject with the same message.
 *
 * \tparam TFixedImage, TMovingImage, TVirtualImage the image types of the other metrics, of 2 or 3 dimensions.
 *
 * \sa WeightedSumMultiMetricv4, FreeFormDeformationRegistrationMethod, GPUDevice
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage = TFixedImage, typename TVirtualImage = TFixedImage>
class ITK_TEMPLATE_EXPORT GPUBSplinePenaltyMetric
  : public ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, double>
{
public:
  itkGPUClassMacro(GPUBSplinePenaltyMetric, ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, double>);

  using MovingTransformType = typename Superclass::MovingTransformType;

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == 2 || ImageDimension == 3, "GPUBSplinePenaltyMetric: images have 2 or 3 dimensions");
  static_assert(TMovingImage::ImageDimension == ImageDimension && TVirtualImage::ImageDimension == ImageDimension,
                "GPUBSplinePenaltyMetric: fixed, moving and virtual image have the same dimension");

  /** Sets the weight w_b of the bending energy: at least 0. Default: 1. */
  itkSetMacro(BendingEnergyWeight, double);
  itkGetConstMacro(BendingEnergyWeight, double);
  /** Sets the weight w_l of the linear energy: at least 0. Default: 0. */
  itkSetMacro(LinearEnergyWeight, double);
  itkGetConstMacro(LinearEnergyWeight, double);
  /** Sets the weight w_j of the penalty on the Jacobian determinant: at least 0. Default: 0. */
  itkSetMacro(JacobianPenaltyWeight, double);
  itkGetConstMacro(JacobianPenaltyWeight, double);

  itkGPUDeviceMembersMacro(m_Use, (m_Engine ? m_Engine->GetStatistics() : gpureg::EvaluationStatistics()));

  /** Checks the transform and the weights; the images are not needed. */
  void
  Initialize() override;

protected:
  GPUBSplinePenaltyMetric();
  ~GPUBSplinePenaltyMetric() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** Computes the value and the derivative; the number of valid points is that of the control points that have all neighbours. */
  void
  GetValueAndDerivativeExecute() const override;

private:
  /** Holds the optimised transform, and the grid of its control points. */
  struct Spline
  {
    const MovingTransformType * transform;
    gpureg::ControlGrid         grid;
  };

  const MovingTransformType *
  FindOptimized() const;
  Spline
  GetSpline() const;
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
