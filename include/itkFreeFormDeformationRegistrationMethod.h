// SPDX-License-Identifier: Apache-2.0
#ifndef itkFreeFormDeformationRegistrationMethod_h
#define itkFreeFormDeformationRegistrationMethod_h

#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "itkDeformableRegistrationMethod.h"

#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include "itkBSplineTransform.h"
#include "itkFixedArray.h"

#include <memory>
#include <string>
#include <vector>

namespace itk
{

/** \class FreeFormDeformationRegistrationMethod
 * \brief Registers two images by a free-form deformation (Rueckert 1999; Modat 2010), on one device from the images to the transform.
 *
 * The deformation is x + u(x), where u is a cubic B-spline of displacements at control points in the fixed image's space. The method
 * minimises the cost
 * \f[ C = (1 - \alpha)\,S + \alpha P \f]
 * (Modat 2010, equation 1): a similarity S, by default \f$ -(H_f + H_m)/H_{fm} \f$, normalised mutual information, and the bending
 * energy P. P measures displacements in a level's voxels and derivatives in steps of the level's control grid, so that one weight
 * serves all levels.
 *
 * The method works through the levels of a pyramid, in which voxels are twice as long as at the next level. At each level it takes
 * steps along the gradient (Adam, Kingma & Ba 2015) whose length falls to 0 along half a cosine, or follows conjugate gradients with
 * line searches, as the paper does. From one level to the next it refines the control grid exactly: the spline stays the same function.
 *
 * \code
 * auto method = itk::FreeFormDeformationRegistrationMethod<Image, Image>::New();
 * method->SetFixedImage(fixed);
 * method->SetMovingImage(moving);
 * method->SetInitialTransform(affine); // from points of the fixed image to those of the moving one
 * method->Update();
 * method->GetTransform();              // the deformation, followed by the initial transform
 * method->GetWarpedImage();
 * \endcode
 *
 * The initial transform follows the deformation: a linear transform, B-spline, displacement field, or composite of these. Without one,
 * GetTransform() is the B-spline; with one, it is a composite of the B-spline and the initial transform.
 *
 * Images have scalar pixels of any type, in 2D or 3D; the method computes in float. Pixels of 8 and 16 bits stay so on the device, with
 * the results of floats, to the bit; GetMemoryPlans() says how much memory a registration takes. An iteration event precedes each
 * iteration; at that moment the device may not have finished the iterations of the last 40 ms, or the last two iterations. Progress
 * events give the share of the work that is done. AbortGenerateDataOn() ends the work with an itk::ProcessAborted. A registration
 * enqueues its kernels level by level without waiting, so that GetElapsedSeconds() gives its time; kernel times are those of
 * GetDisplacementField() and GetWarpedImage().
 *
 * \throws itk::GPUBadInputError for settings out of range, constant images, values that are not finite, or if no voxel of the fixed
 * image maps into the moving image; itk::GPUUnsupportedError for an initial transform of another kind, or a device without double
 * precision; itk::GPUOutOfMemoryError if the device or the host has too little memory.
 *
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT FreeFormDeformationRegistrationMethod
  : public DeformableRegistrationMethod<TFixedImage, TMovingImage>
{
public:
  itkGPUClassMacro(FreeFormDeformationRegistrationMethod, DeformableRegistrationMethod<TFixedImage, TMovingImage>);

  using Superclass::ImageDimension;
  using typename Superclass::FixedImageType;
  using typename Superclass::MovingImageType;
  using typename Superclass::TransformType;
  using DeformationType = BSplineTransform<double, ImageDimension, 3>;
  using SpacingType = FixedArray<double, ImageDimension>;
  using SimilarityEnum = gpureg::SimilarityKind;
  using OptimizerEnum = gpureg::FreeFormOptimizer;

  /** Sets the similarity S, as an enumerator or by its name: "NormalizedMutualInformation" (-NMI, the default),
   * "MattesMutualInformation" (the negative of Mattes' mutual information), "CorrelationRatio" (1 - η of the moving values given the fixed
   * bins), "MeanSquares" (the mean of squared differences, after both images together are scaled
   * to [0, 1]), "Correlation" (-r²) or "NeighborhoodCorrelation" (the mean of -r² over the neighborhoods of all voxels).
   * \throws itk::GPUBadInputError if no similarity has this name. */
  itkGPUChoiceMacro(Similarity, SimilarityEnum, gpureg::GetSimilarityKind);

  /** Sets the number of pyramid levels, 1 to 5. 0, the default, takes 4 levels, or as many as leave the coarsest one enough voxels
   * inside the masks: gpureg::FreeFormResult::leastVoxels, 256 at least. GetRegisteredLevels() returns the number that was used. The
   * object warns of a level with too few voxels. */
  itkSetMacro(NumberOfLevels, unsigned int);
  itkGetConstMacro(NumberOfLevels, unsigned int);

  /** Sets the distance in mm between control points at the finest level, along each axis of the fixed image: a voxel's edge at least. 0,
   * the default, takes five times the shortest voxel edge, or five voxels along an axis with longer voxels: 5 mm for a head with voxels
   * of 1 mm. If the image has more than some 400 voxels along an axis, the default is larger by the whole number that leaves about 280
   * voxels. */
  itkSetMacro(ControlPointSpacing, SpacingType);
  itkGetConstReferenceMacro(ControlPointSpacing, SpacingType);
  void
  SetControlPointSpacing(double spacing);

  /** Sets the weight α of the bending energy: at least 0, and less than 1. Default: 0.01. */
  itkSetMacro(BendingEnergyWeight, double);
  itkGetConstMacro(BendingEnergyWeight, double);

  /** Set the weights of the linear energy, and of the penalty that keeps the Jacobian determinant positive: see gpureg::PenaltyKind.
   *  All weights together are less than 1. Default: 0. */
  itkSetMacro(LinearEnergyWeight, double);
  itkGetConstMacro(LinearEnergyWeight, double);
  itkSetMacro(JacobianPenaltyWeight, double);
  itkGetConstMacro(JacobianPenaltyWeight, double);

  /** Sets the number of bins of the joint histogram, 5 to 4096, or of the fixed values for a correlation ratio, 2 to 4096. Default: 64. */
  itkSetMacro(NumberOfHistogramBins, unsigned int);
  itkGetConstMacro(NumberOfHistogramBins, unsigned int);

  /** Sets the radius of the neighborhoods, in a level's voxels: the default, 4, makes them 9 voxels wide along each axis. */
  itkSetMacro(NeighborhoodRadius, unsigned int);
  itkGetConstMacro(NeighborhoodRadius, unsigned int);

  /** Sets the optimizer, as an enumerator or by its name: "Adam" (the default), "ConjugateGradient" or
   * "AdaptiveStochasticGradientDescent".
   * \throws itk::GPUBadInputError if no optimizer has this name. */
  itkGPUChoiceMacro(Optimizer, OptimizerEnum, gpureg::GetFreeFormOptimizer);

  /** Sets the largest number of steps at each level; for conjugate gradients, of line searches. Default: 100. */
  itkSetMacro(NumberOfIterations, unsigned int);
  itkGetConstMacro(NumberOfIterations, unsigned int);

  /** Sets the length of the first step at each level, in the level's voxels; line searches take no longer steps. Default: 0.5. */
  itkSetMacro(FirstStep, double);
  itkGetConstMacro(FirstStep, double);

  /** Set how many voxels of a level each iteration uses at most, and the seed that places them: a regular subsample, shifted
   * quasi-randomly for each iteration. On a processor, some ten thousand voxels suffice for a registration, in a fraction of the time.
   * A seed gives equal voxels on every device. 0 samples, the default, uses all voxels; Update() throws for others where a neighborhood
   * correlation, conjugate gradients or several pairs need them all. */
  itkSetMacro(NumberOfSamples, SizeValueType);
  itkGetConstMacro(NumberOfSamples, SizeValueType);
  itkSetMacro(Seed, SizeValueType);
  itkGetConstMacro(Seed, SizeValueType);

  /** Sets the convergence threshold: a level ends when the mean cost of the last iterations, as many as the window has, is below the
   * mean cost of the window before by no more than this share. Default: 0, a level ends with its last iteration. */
  itkSetMacro(ConvergenceThreshold, double);
  itkGetConstMacro(ConvergenceThreshold, double);
  /** Sets the number of iterations in the window of the convergence threshold. Default: 10. */
  itkSetMacro(ConvergenceWindowSize, unsigned int);
  itkGetConstMacro(ConvergenceWindowSize, unsigned int);

  /** Returns the B-spline without the initial transform. */
  const DeformationType *
  GetDeformation() const
  {
    return m_Deformation;
  }

  /** Returns the least Jacobian determinant of the deformation, without the initial transform, over the control points. Below 0 the
   * deformation folds. */
  double
  GetSmallestJacobianDeterminant() const
  {
    return m_Result.smallestDeterminant;
  }

  /** Returns the cost before each iteration of a level; the coarsest level has the number 0. The cost is not a number for an iteration
   *  none of whose samples was inside the masks: such an iteration moves nothing.
   *  \throws itk::GPUBadInputError if the last registration had no such level. */
  const std::vector<double> &
  GetCosts(unsigned int level) const;

  /** Returns the seconds of the last registration, without the upload of the images. */
  double
  GetElapsedSeconds() const
  {
    return 1e-3 * m_Result.milliseconds;
  }
  /** Returns the seconds of one level of the last registration; the coarsest level has the number 0.
   * \throws itk::GPUBadInputError if the last registration had no such level. */
  double
  GetElapsedSeconds(unsigned int level) const;

  /** Returns the number of levels of the current registration, or else of the last one. */
  itkGetConstMacro(RegisteredLevels, unsigned int);

protected:
  FreeFormDeformationRegistrationMethod() = default;
  ~FreeFormDeformationRegistrationMethod() override = default;

  void
  RegisterDeformation() override;
  std::vector<gpureg::MemoryPlan>
  PlanImages(GPURegistrationDetail::RegisteredImages & images) const override;
  void
  TakeDisplacements(const typename Superclass::Taker & take, const gpureg::ParallelFor & parallelFor) const override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  gpureg::FreeFormSettings
  MakeSettings() const;
  void
  WarnOfFewVoxels() const;
  void
  StoreTransform();

  SimilarityEnum m_Similarity{ SimilarityEnum::NormalizedMutualInformation };
  OptimizerEnum  m_Optimizer{ OptimizerEnum::Adam };
  unsigned int   m_NumberOfLevels{ 0 };
  SpacingType    m_ControlPointSpacing{ SpacingType::Filled(0) };
  double         m_BendingEnergyWeight{ 0.01 };
  double         m_LinearEnergyWeight{ 0 };
  double         m_JacobianPenaltyWeight{ 0 };
  unsigned int   m_NumberOfHistogramBins{ 64 };
  unsigned int   m_NeighborhoodRadius{ 4 };
  unsigned int   m_NumberOfIterations{ 100 };
  double         m_FirstStep{ 0.5 };
  SizeValueType  m_NumberOfSamples{ 0 };
  SizeValueType  m_Seed{ 1 };
  double         m_ConvergenceThreshold{ 0 };
  unsigned int   m_ConvergenceWindowSize{ 10 };
  unsigned int   m_RegisteredLevels{ 0 };

  std::unique_ptr<gpureg::FreeFormRegistration> m_Engine;
  gpureg::FreeFormResult                        m_Result;
  typename DeformationType::Pointer             m_Deformation;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFreeFormDeformationRegistrationMethod.hxx"
#endif

#endif
