// SPDX-License-Identifier: Apache-2.0
#ifndef itkGlobalAffineRegistrationMethod_h
#define itkGlobalAffineRegistrationMethod_h

#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "itkDeviceRegistrationMethod.h"

#include "gpureg/registration/global/GlobalRegistration.h"

#include "itkFixedArray.h"
#include "itkImage.h"
#include "itkTransform.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace itk
{

/** \class GlobalAffineRegistrationMethod
 * \brief Finds the rigid or affine transform from one image to another from any start, by FLIRT's search (Jenkinson & Smith 2001;
 * Jenkinson 2002; Li 2015, section 2.2), on one device from the images to the transform.
 *
 * The transform is
 * \f[ y = R\,A\,S\,K\,A^{T}\,(x - c_f) + c_m + t \f]
 * with a rotation R, a translation t, scales S and skews K along the axes A of the fixed image, and the centres of mass \f$ c_f \f$ and
 * \f$ c_m \f$ of both images. The search minimises a cost, by default \f$ 1 - \eta(m \mid f) \f$, the correlation ratio.
 *
 * At the level of 8 mm voxels, the search tries rotations that are 60 degrees apart about each axis, each with the best translation and
 * scale, and then all rotations that are 18 degrees apart; it optimises the best of these over all parameters. At the level of 4 mm it
 * optimises the best three, and variants of them that are rotated by 9 degrees or scaled. At the levels of 2 and 1 mm it optimises the
 * best one, with more and more degrees of freedom. These lengths hold for a head with voxels of 1 mm; for other images they follow from
 * the voxels, see SetFinestSpacing(). Within the limits of degrees of freedom and overlap, the images may be rotated against each other
 * by any angle, far apart, and of different scales.
 *
 * Thick slices limit how well a pose is known, in their plane and out of it. The search finds a head in pixels of 1 mm and slices of 10
 * mm within 0.4 mm, with two contrasts within 0.7 mm, and then with 12 degrees of freedom within 1.2 mm. If only four or five slices
 * show an object, the search finds it within a fifth of the slices' thickness. At these poses the cost is least, wherever the search
 * begins.
 *
 * At 8 mm, candidates advance together, in batches on the device. From 4 mm on, the best candidates follow derivatives, one after the
 * other.
 *
 * \code
 * auto method = itk::GlobalAffineRegistrationMethod<Image, Image>::New();
 * method->SetFixedImage(fixed);
 * method->SetMovingImage(moving);
 * method->SetDegreesOfFreedom(12);
 * method->Update();
 * method->GetTransform(); // from points of the fixed image to those of the moving one
 * \endcode
 *
 * The search begins at the initial transform, which is linear. Without one, or if it leaves less than half of the least overlap, the
 * search begins with the images' centres of mass on each other. If angles are searched, it begins at both: with the translation of the
 * initial transform, and with the centres of mass on each other. A part of the initial transform that the degrees of freedom lack, such
 * as skews, is ignored.
 *
 * The transform is a start for itk::ImageRegistrationMethodv4 (SetMovingInitialTransform(), or SetInitialTransform() with a copy) and
 * for itk::FreeFormDeformationRegistrationMethod (SetInitialTransform()). itk::FLIRTMatrix writes it for FSL.
 *
 * Images have scalar pixels of any type, in 2D or 3D; the method computes in float. Pixels of 8 and 16 bits stay so on the device, with
 * the results of floats, to the bit; GetMemoryPlans() says how much memory a registration takes. An iteration event precedes each batch.
 * Progress events give the share of the work that is done. Kernel times are those of the evaluations of the cost. AbortGenerateDataOn()
 * ends the work with an itk::ProcessAborted. On one device the result is the same each time. On different devices rounding may decide
 * whether a last step is taken: results differ by 0.03 voxel at most.
 *
 * \throws itk::GPUBadInputError for settings out of range, constant images, images of one slice, values that are not finite, masks that
 * leave nothing, or an initial transform that mirrors; itk::GPUUnsupportedError for an initial transform that is not linear, or a
 * device without double precision; itk::GPUOutOfMemoryError if the device or the host has too little memory.
 *
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT GlobalAffineRegistrationMethod : public DeviceRegistrationMethod<TFixedImage, TMovingImage>
{
public:
  itkGPUClassMacro(GlobalAffineRegistrationMethod, DeviceRegistrationMethod<TFixedImage, TMovingImage>);

  using Superclass::ImageDimension;
  using typename Superclass::FixedImageType;
  using typename Superclass::MovingImageType;
  using typename Superclass::TransformType;
  using CostEnum = gpureg::GlobalCost;
  using OptimizerEnum = gpureg::GlobalOptimizer;

  /** Sets the degrees of freedom. 3: translation; 6: and rotation; 7: and one scale; 9: and one scale along each axis of the fixed image;
   * 12, the default: and skews. In 2D these numbers stand for 2, 3, 4, 5 and 6 degrees of freedom. A translation has no angles to search.
   * The result is an Euler3DTransform for 6, a Similarity3DTransform for 7, and an AffineTransform for 3, 9 and 12; in 2D an
   * Euler2DTransform, a Similarity2DTransform or an AffineTransform. */
  itkSetMacro(DegreesOfFreedom, unsigned int);
  itkGetConstMacro(DegreesOfFreedom, unsigned int);

  /** Sets the cost, as an enumerator or by its name: "CorrelationRatio" (1 - η of the moving values given the fixed bins, the default),
   * "MattesMutualInformation" (the negative of Mattes' mutual information), "NormalizedMutualInformation" (the negative of its
   * normalised form), "Correlation" (-r²), "NeighborhoodCorrelation" (the negative of the mean r² of neighborhoods), "MeanSquares" or
   * "MeanAbsoluteDifferences" (the means of squared or absolute differences, after both images together are scaled to [0, 1]).
   * \throws itk::GPUBadInputError if no cost has this name. */
  itkGPUChoiceMacro(Cost, CostEnum, gpureg::GetGlobalCost);

  /** Sets the range of rotation angles in degrees, from `from` to `to`, about one axis of physical space (0, 1 or 2) or about all axes.
   * Angles are relative to the rotation of the initial transform, if there is one; R = R_z R_y R_x. In 2D only axis 2 counts. Default:
   * -180 to 180 about all axes. Set 0 and 0 for an axis about which nothing is to be searched; if all axes have 0 and 0, the search
   * refines the initial transform.
   * \throws itk::GPUBadInputError if axis is above 2. */
  void
  SetSearchAngles(unsigned int axis, double from, double to);
  void
  SetSearchAngles(double from, double to);
  double
  GetSearchAngleFrom(unsigned int axis) const;
  double
  GetSearchAngleTo(unsigned int axis) const;

  /** Sets the voxel length in mm at the finest level; at the other levels voxels are 2, 4 and 8 times as long. Images with longer voxels
   * keep them. 0, the default, takes the shortest voxel edge of both images; if an image has more than some 400 voxels along an axis,
   * it takes the multiple of that edge that leaves about 280. */
  itkSetMacro(FinestSpacing, double);
  itkGetConstMacro(FinestSpacing, double);

  /** Sets the number of bins at the two finest levels, for the fixed values, and for the moving values if the cost has a joint
   * histogram. The two coarser levels have half and a quarter as many, but at least 32. Mutual information takes 5 to 4096 bins, a
   * correlation ratio 2 to 4096. 0, the default, takes 256 for a correlation ratio, and 64 for other costs. */
  itkSetMacro(NumberOfHistogramBins, unsigned int);
  itkGetConstMacro(NumberOfHistogramBins, unsigned int);

  /** Sets the radius of neighborhoods, in voxels of each level, for a cost that has some: 1 or more, default: 4. */
  itkSetMacro(NeighborhoodRadius, unsigned int);
  itkGetConstMacro(NeighborhoodRadius, unsigned int);

  /** Sets the optimizer, as an enumerator or by its name: "QuasiNewton" (the default), which follows derivatives, or "Lines", which
   * searches one parameter after the other by values alone, as FLIRT does.
   * \throws itk::GPUBadInputError if no optimizer has this name. */
  itkGPUChoiceMacro(Optimizer, OptimizerEnum, gpureg::GetGlobalOptimizer);

  /** Sets the share of the fixed image, or of the moving image if it is smaller, inside the masks, that should overlap: with less
   * overlap a cost counts for less. At the level of 8 mm the share is doubled. 0 to 1, default: 0.25. */
  itkSetMacro(LeastOverlap, double);
  itkGetConstMacro(LeastOverlap, double);

  /** Returns the cost of the result at the finest level. */
  double
  GetFinalCost() const
  {
    return m_Result.cost;
  }

  /** Returns the share of the fixed image's voxels, inside its mask, that the result maps into the moving image. */
  double
  GetOverlap() const
  {
    return m_Result.overlap;
  }

  /** Returns the number of stages of the last search. The functions below describe one stage, in the order in which they ran.
   * \throws itk::GPUBadInputError if stage is not below the number of stages. */
  unsigned int
  GetNumberOfStages() const
  {
    return static_cast<unsigned int>(m_Result.stages.size());
  }
  /** Returns a stage's name: the longest voxel edge of both images, such as "4 mm", or a text such as "8 mm: coarse rotations". */
  std::string
  GetStageName(unsigned int stage) const;
  double
  GetStageSeconds(unsigned int stage) const;
  /** Returns the least cost that a stage found. */
  double
  GetStageCost(unsigned int stage) const;
  /** Returns the number of evaluations of the cost in a stage, with and without derivatives. */
  SizeValueType
  GetStageEvaluations(unsigned int stage) const;
  /** Returns the number of batches in a stage: how often the search waited for the device. */
  SizeValueType
  GetStageBatches(unsigned int stage) const;

  /** Returns the seconds of the last search, without the upload of the images. */
  double
  GetElapsedSeconds() const
  {
    return 1e-3 * m_Result.milliseconds;
  }

  /** Returns the name of the current stage, for observers of iteration events. */
  itkGetStringMacro(CurrentStage);

protected:
  GlobalAffineRegistrationMethod() = default;
  ~GlobalAffineRegistrationMethod() override = default;

  void
  RegisterImages() override;
  std::vector<gpureg::MemoryPlan>
  PlanImages(GPURegistrationDetail::RegisteredImages & images) const override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  gpureg::GlobalSettings
  MakeSettings() const;

  /** Returns what the engine registers, without images. */
  gpureg::GlobalProblem
  MakeProblem() const;

  const std::array<double, 2> &
  GetAngles(unsigned int axis) const;
  const gpureg::GlobalStageResult &
  GetStage(unsigned int stage) const;
  template <typename TResult>
  typename TransformType::Pointer
  MakeTransform() const;

  unsigned int                         m_DegreesOfFreedom{ 12 };
  CostEnum                             m_Cost{ CostEnum::CorrelationRatio };
  OptimizerEnum                        m_Optimizer{ OptimizerEnum::QuasiNewton };
  std::array<std::array<double, 2>, 3> m_SearchAngles{ { { { -180, 180 } }, { { -180, 180 } }, { { -180, 180 } } } };
  double                               m_FinestSpacing{ 0.0 };
  unsigned int                         m_NumberOfHistogramBins{ 0 };
  unsigned int                         m_NeighborhoodRadius{ 4 };
  double                               m_LeastOverlap{ 0.25 };
  std::string                          m_CurrentStage;

  std::unique_ptr<gpureg::GlobalRegistration> m_Engine;
  gpureg::GlobalResult                        m_Result;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGlobalAffineRegistrationMethod.hxx"
#endif

#endif
