// SPDX-License-Identifier: Apache-2.0
#ifndef itkFreeFormDeformationRegistrationMethod_h
#define itkFreeFormDeformationRegistrationMethod_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "itkGPUDevice.h"

#include "gpureg/registration/free_form/FreeFormRegistration.h"
#include "gpureg/image/LoadedImage.h"

#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDataObjectDecorator.h"
#include "itkFixedArray.h"
#include "itkImage.h"
#include "itkProcessObject.h"
#include "itkSpatialObject.h"

#include <memory>
#include <string>
#include <vector>

namespace itk
{

/** \class FreeFormDeformationRegistrationMethod
 * \brief Registers two images by a free-form deformation (Rueckert 1999; Modat 2010), on one device from the images to the
 * transform.
 *
 * The deformation is x + u(x), where u is a cubic B-spline of displacements at control points in the fixed image's space. The cost,
 * which becomes smaller, is
 * \f[ C = (1 - \alpha)\,S + \alpha P \f]
 * (Modat 2010, equation 1): a similarity S, by default \f$ -(H_f + H_m)/H_{fm} \f$, normalised mutual information, and the bending
 * energy P. In P displacements are counted in a level's voxels, and differentiated by steps of its control grid: one weight serves
 * all levels.
 *
 * The work is done at each level of a pyramid, whose voxels are twice as long as the next one's, by steps along the gradient (Adam,
 * Kingma & Ba 2015), which fall to 0 along half a cosine, or by a conjugate gradient with line searches, as the paper does. From one
 * level to the next the control grid is refined exactly: its spline stays the same.
 *
 * \code
 * auto method = itk::FreeFormDeformationRegistrationMethod<Image, Image>::New();
 * method->SetFixedImage(fixed);
 * method->SetMovingImage(moving);
 * method->SetInitialTransform(affine); // from points of the fixed image to those of the moving one
 * method->Update();
 * method->GetTransform();              // the deformation, and behind it the initial transform
 * method->GetWarpedImage();
 * \endcode
 *
 * Images are of any scalar pixels, in 2D or 3D; they are computed in float. An iteration event comes before each iteration, while the
 * device may still have those of the last 40 ms to do, or two; progress events tell the share that is done, and AbortGenerateDataOn() ends
 * the work with an itk::ProcessAborted.
 *
 * \throws itk::GPUBadInputError for settings out of range, constant images, values that are not finite, or where no voxel of the
 * fixed image is mapped into the moving one; itk::GPUUnsupportedError for an initial transform of another kind, or a device without
 * double precision; itk::GPUOutOfMemoryError.
 *
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT FreeFormDeformationRegistrationMethod : public ProcessObject
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FreeFormDeformationRegistrationMethod);

  using Self = FreeFormDeformationRegistrationMethod;
  using Superclass = ProcessObject;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
#ifdef itkOverrideGetNameOfClassMacro
  itkOverrideGetNameOfClassMacro(FreeFormDeformationRegistrationMethod);
#else
  itkTypeMacro(FreeFormDeformationRegistrationMethod, ProcessObject);
#endif

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == TMovingImage::ImageDimension, "both images have the same dimension");

  using FixedImageType = TFixedImage;
  using MovingImageType = TMovingImage;
  using TransformType = Transform<double, ImageDimension, ImageDimension>;
  using DeformationType = BSplineTransform<double, ImageDimension, 3>;
  using CompositeType = CompositeTransform<double, ImageDimension>;
  using DecoratedTransformType = DataObjectDecorator<TransformType>;
  using DisplacementFieldType = Image<Vector<double, ImageDimension>, ImageDimension>;
  using SpacingType = FixedArray<double, ImageDimension>;
  using MaskType = SpatialObject<ImageDimension>;
  using SimilarityEnum = gpureg::SimilarityKind;
  using OptimizerEnum = gpureg::FreeFormOptimizer;
  using ValueRangeType = FixedArray<double, 2>;

  void
  SetFixedImage(const FixedImageType * image);
  const FixedImageType *
  GetFixedImage() const;

  void
  SetMovingImage(const MovingImageType * image);
  const MovingImageType *
  GetMovingImage() const;

  /** What is looked at of the fixed image, and where the moving one may be read: a level's voxels that lie inside by a half at least.
   * Masks are asked once for each voxel of their image. None, the default: everywhere. */
  itkSetConstObjectMacro(FixedImageMask, MaskType);
  itkGetConstObjectMacro(FixedImageMask, MaskType);
  itkSetConstObjectMacro(MovingImageMask, MaskType);
  itkGetConstObjectMacro(MovingImageMask, MaskType);

  /** S: -NMI (the default), 1 - η of the moving values by fixed bins, the mean of squared differences of values that both images
   * together scale to [0, 1], -r², or -r² over the neighborhoods of all voxels. Also by name: "NormalizedMutualInformation",
   * "CorrelationRatio", "MeanSquares", "Correlation" or "NeighborhoodCorrelation".
   * \throws itk::GPUBadInputError if there is no such one. */
  itkSetEnumMacro(Similarity, SimilarityEnum);
  itkGetEnumMacro(Similarity, SimilarityEnum);
  void
  SetSimilarity(const std::string & name);
  std::string
  GetSimilarityName() const;

  /** From points of the fixed image to those of the moving one: linear transforms, B-splines, displacement fields, and composites of
   * these. None, the default, leaves points where they are. */
  itkSetConstObjectMacro(InitialTransform, TransformType);
  itkGetConstObjectMacro(InitialTransform, TransformType);

  /** Levels of the pyramid, 1 to 5. 0, the default: 4, or as many as leave the coarsest one enough voxels inside of masks:
   * gpureg::FreeFormResult::leastVoxels, 256 at least. GetRegisteredLevels() tells how many that were. A warning tells of a level with
   * too few. */
  itkSetMacro(NumberOfLevels, unsigned int);
  itkGetConstMacro(NumberOfLevels, unsigned int);

  /** mm between control points at the finest level, along each axis of the fixed image: a voxel's edge at least. 0, the default: five
   * voxels along that axis, or five of the shortest where these are longer: 5 mm of a head of 1 mm; of images of more than some 400
   * voxels along an axis as many more as leave about 280 of them. */
  itkSetMacro(ControlPointSpacing, SpacingType);
  itkGetConstReferenceMacro(ControlPointSpacing, SpacingType);
  void
  SetControlPointSpacing(double spacing);

  /** α: at least 0, and less than 1. Default 0.01. */
  itkSetMacro(BendingEnergyWeight, double);
  itkGetConstMacro(BendingEnergyWeight, double);

  /** The same of the linear energy, and of what keeps the Jacobian's determinant positive: see gpureg::PenaltyKind. All weights
   *  together are less than 1. Default 0. */
  itkSetMacro(LinearEnergyWeight, double);
  itkGetConstMacro(LinearEnergyWeight, double);
  itkSetMacro(JacobianPenaltyWeight, double);
  itkGetConstMacro(JacobianPenaltyWeight, double);

  /** Of the joint histogram, 5 to 4096, or of the fixed values of a correlation ratio, 2 to 4096. Default 64. */
  itkSetMacro(NumberOfHistogramBins, unsigned int);
  itkGetConstMacro(NumberOfHistogramBins, unsigned int);

  /** Of the neighborhoods, in a level's voxels along each axis: 4, the default, takes 9 of them. */
  itkSetMacro(NeighborhoodRadius, unsigned int);
  itkGetConstMacro(NeighborhoodRadius, unsigned int);

  /** Adam (the default), ConjugateGradient or AdaptiveStochasticGradientDescent, also by name. */
  itkSetEnumMacro(Optimizer, OptimizerEnum);
  itkGetEnumMacro(Optimizer, OptimizerEnum);
  void
  SetOptimizer(const std::string & name);
  std::string
  GetOptimizerName() const;

  /** Of each level: steps, or lines that are searched, at most. Default 100. */
  itkSetMacro(NumberOfIterations, unsigned int);
  itkGetConstMacro(NumberOfIterations, unsigned int);

  /** Set the least and the greatest value of an image that are told apart: the method registers values beyond them as if they were the
   * nearer end. Two equal numbers, the default, stand for all values but outliers, of which a warning tells; infinite ones for all. */
  itkSetMacro(FixedImageRange, ValueRangeType);
  itkGetConstReferenceMacro(FixedImageRange, ValueRangeType);
  itkSetMacro(MovingImageRange, ValueRangeType);
  itkGetConstReferenceMacro(MovingImageRange, ValueRangeType);

  /** A level's first step, in its voxels; a line search takes no longer ones. Default 0.5. */
  itkSetMacro(FirstStep, double);
  itkGetConstMacro(FirstStep, double);

  /** Voxels of a level that each iteration looks at, at most: a subsample, placed quasi-randomly, anew for each. On a processor, some ten
   * thousand do for a registration, and take a part of the time of all. 0, the default: all. Not for a neighborhood correlation, nor
   * for a conjugate gradient. The same seed places the same ones, on every device. */
  itkSetMacro(NumberOfSamples, SizeValueType);
  itkGetConstMacro(NumberOfSamples, SizeValueType);
  itkSetMacro(Seed, SizeValueType);
  itkGetConstMacro(Seed, SizeValueType);

  /** A level ends when the mean cost over a window of iterations is below that over the window before by no more than this share of
   * it. Default 0: it ends with its last iteration. */
  itkSetMacro(ConvergenceThreshold, double);
  itkGetConstMacro(ConvergenceThreshold, double);
  /** Default 10. */
  itkSetMacro(ConvergenceWindowSize, unsigned int);
  itkGetConstMacro(ConvergenceWindowSize, unsigned int);

  /** The result: the B-spline, or, after an initial transform, a composite of both. */
  TransformType *
  GetTransform();
  const TransformType *
  GetTransform() const;

  /** The same as an output. */
  DecoratedTransformType *
  GetOutput();

  /** The deformation alone. */
  const DeformationType *
  GetDeformation() const
  {
    return m_Deformation;
  }

  /** The moving image in the fixed image's space, interpolated linearly, 0 outside. One of floats or doubles is still on the device, and
   * is not sent again, as long as no time stamp tells of a change.
   * \throws itk::GPUBadInputError before Update(), as GetDisplacementField() does. */
  typename MovingImageType::Pointer
  GetWarpedImage() const;

  /** How far GetTransform() moves each voxel of the fixed image, mm. */
  typename DisplacementFieldType::Pointer
  GetDisplacementField() const;

  /** Of the Jacobian of the deformation alone, over its control points; below 0 something has folded. */
  double
  GetSmallestJacobianDeterminant() const
  {
    return m_Result.smallestDeterminant;
  }

  /** Get the warnings of the last registration: each sentence tells what may have gone wrong. itkWarningMacro told them, too. */
  const std::vector<std::string> &
  GetWarnings() const
  {
    return m_Result.warnings;
  }

  /** The cost before each iteration of a level; the coarsest is level 0. Not a number for an iteration whose drawn samples all missed a
   *  mask: it moves nothing. */
  const std::vector<double> &
  GetCosts(unsigned int level) const;

  /** Of the last registration, its images' way to the device left out. */
  double
  GetElapsedSeconds() const
  {
    return 1e-3 * m_Result.milliseconds;
  }
  /** The same of a level; the coarsest is level 0. */
  double
  GetElapsedSeconds(unsigned int level) const;

  /** How many levels the registration has that runs, or else the last one. */
  itkGetConstMacro(RegisteredLevels, unsigned int);

  /** While it registers: the coarsest level is 0. */
  itkGetConstMacro(CurrentLevel, unsigned int);
  itkGetConstMacro(CurrentIteration, unsigned int);

  // Kernel times are those of GetDisplacementField() and GetWarpedImage(): a registration's kernels are enqueued ahead, level by level,
  // and GetElapsedSeconds() tells of them.
  itkGPUDeviceMembersMacro(m_Use, m_Statistics);

  /** The latest of its own, the initial transform's and the masks'. */
  ModifiedTimeType
  GetMTime() const override;

  using Superclass::MakeOutput;
  DataObject::Pointer
  MakeOutput(ProcessObject::DataObjectPointerArraySizeType) override
  {
    return DecoratedTransformType::New().GetPointer();
  }

protected:
  FreeFormDeformationRegistrationMethod();
  ~FreeFormDeformationRegistrationMethod() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  gpureg::FreeFormSettings
  MakeSettings() const;
  gpureg::TransformChain
  MakeInitialChain() const;
  void
  RegisterImages();
  void
  CheckIsRegistered() const;
  const gpureg::FreeFormLevelResult &
  GetLevelResult(unsigned int level) const;
  void
  Warn() const;
  void
  KeepTransform();

  typename TransformType::ConstPointer m_InitialTransform;
  typename MaskType::ConstPointer      m_FixedImageMask;
  typename MaskType::ConstPointer      m_MovingImageMask;
  SimilarityEnum                       m_Similarity{ SimilarityEnum::NormalizedMutualInformation };
  OptimizerEnum                        m_Optimizer{ OptimizerEnum::Adam };
  unsigned int                         m_NumberOfLevels{ 0 };
  SpacingType                          m_ControlPointSpacing;
  double                               m_BendingEnergyWeight{ 0.01 };
  double                               m_LinearEnergyWeight{ 0 };
  double                               m_JacobianPenaltyWeight{ 0 };
  unsigned int                         m_NumberOfHistogramBins{ 64 };
  unsigned int                         m_NeighborhoodRadius{ 4 };
  unsigned int                         m_NumberOfIterations{ 100 };
  double                               m_FirstStep{ 0.5 };
  ValueRangeType                       m_FixedImageRange{ ValueRangeType::Filled(0) };
  ValueRangeType                       m_MovingImageRange{ ValueRangeType::Filled(0) };
  SizeValueType                        m_NumberOfSamples{ 0 };
  SizeValueType                        m_Seed{ 1 };
  double                               m_ConvergenceThreshold{ 0 };
  unsigned int                         m_ConvergenceWindowSize{ 10 };
  unsigned int                         m_RegisteredLevels{ 0 };
  unsigned int                         m_CurrentLevel{ 0 };
  unsigned int                         m_CurrentIteration{ 0 };

  GPURegistrationDetail::DeviceUse              m_Use;
  std::unique_ptr<gpureg::FreeFormRegistration> m_Engine;
  gpureg::FreeFormResult                        m_Result;
  mutable gpureg::EvaluationStatistics          m_Statistics; // of the last work
  /** The moving image that was registered, of reals, and what it was made from. */
  std::unique_ptr<gpureg::LoadedImage>  m_Moving;
  gpureg::Key                           m_MovingKey;
  typename FixedImageType::ConstPointer m_Registered; // the fixed image of the result
  typename FixedImageType::RegionType   m_RegisteredRegion;
  typename DeformationType::Pointer     m_Deformation;
  typename TransformType::ConstPointer  m_RegisteredFrom; // the initial transform of the result
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFreeFormDeformationRegistrationMethod.hxx"
#endif

#endif
