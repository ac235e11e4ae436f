// SPDX-License-Identifier: Apache-2.0
#ifndef itkGlobalAffineRegistrationMethod_h
#define itkGlobalAffineRegistrationMethod_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "itkGPUDevice.h"

#include "gpureg/registration/global/GlobalRegistration.h"

#include "itkDataObjectDecorator.h"
#include "itkFixedArray.h"
#include "itkImage.h"
#include "itkProcessObject.h"
#include "itkSpatialObject.h"
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
 * with a rotation R, a translation t, scales S and skews K along the axes A of the fixed image, and the centres of mass \f$ c_f \f$
 * and \f$ c_m \f$ of both images. What becomes smaller is a cost, by default \f$ 1 - \eta(m \mid f) \f$, the correlation ratio.
 *
 * The search looks at rotations of 60 degrees about each axis in images of 8 mm, each with the best translation and scale, then at
 * all that are 18 degrees apart; the best go on along all parameters. In images of 4 mm the best three remain, and what they become
 * if they are turned by 9 degrees or scaled; of these the best one, with more and more degrees of freedom, in images of 2 and 1 mm.
 * These lengths are of a head of 1 mm: of other images they follow from their voxels, see SetFinestSpacing().
 * Where the degrees of freedom and the overlap allow, the images may be turned round, far from each other, and of different scales.
 *
 * Thick slices bound how well a pose is known, in their plane and out of it. A head in pixels of 1 mm and slices of 10 mm is found within
 * 0.4 mm, of two contrasts within 0.7 mm, and then with 12 degrees of freedom within 1.2 mm. What four or five slices show is found within
 * a fifth of their thickness. There the cost is least, wherever the search begins.
 *
 * At 8 mm candidates advance together: each round is a batch on the device. From 4 mm on the best ones go along derivatives, one after
 * the other.
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
 * The transform is a start for itk::ImageRegistrationMethodv4 (SetMovingInitialTransform(), or SetInitialTransform() of a copy) and
 * for itk::FreeFormDeformationRegistrationMethod (SetInitialTransform()). itk::FLIRTMatrix writes it for FSL.
 *
 * Images are of any scalar pixels, in 2D or 3D; they are computed in float. An iteration event precedes each round, progress events
 * tell the share that is done, and AbortGenerateDataOn() ends the work with an itk::ProcessAborted. On one device the result is the same
 * each time. Between devices rounding may decide about a last step: their results are within 0.03 voxel of each other.
 *
 * \throws itk::GPUBadInputError for settings out of range, constant images, images of one slice, values that are not finite, masks that
 * leave nothing, or an initial transform that mirrors; itk::GPUUnsupportedError for one that is not linear, or a device without double
 * precision; itk::GPUOutOfMemoryError.
 *
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT GlobalAffineRegistrationMethod : public ProcessObject
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GlobalAffineRegistrationMethod);

  using Self = GlobalAffineRegistrationMethod;
  using Superclass = ProcessObject;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
#ifdef itkOverrideGetNameOfClassMacro
  itkOverrideGetNameOfClassMacro(GlobalAffineRegistrationMethod);
#else
  itkTypeMacro(GlobalAffineRegistrationMethod, ProcessObject);
#endif

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == TMovingImage::ImageDimension, "both images have the same dimension");

  using FixedImageType = TFixedImage;
  using MovingImageType = TMovingImage;
  using TransformType = Transform<double, ImageDimension, ImageDimension>;
  using DecoratedTransformType = DataObjectDecorator<TransformType>;
  using MaskType = SpatialObject<ImageDimension>;
  using CostEnum = gpureg::GlobalCost;
  using OptimizerEnum = gpureg::GlobalOptimizer;
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

  /** 6: rotation and translation; 7: and one scale; 9: one along each axis of the fixed image; 12, the default: and skews. In 2D these
   * are 3, 4, 5 and 6. The transform is an Euler3DTransform, a Similarity3DTransform, or of 9 and 12 an AffineTransform; in 2D an
   * Euler2DTransform, a Similarity2DTransform or an AffineTransform. */
  itkSetMacro(DegreesOfFreedom, unsigned int);
  itkGetConstMacro(DegreesOfFreedom, unsigned int);

  /** 1 - η of the moving values by fixed bins (the default), the negative of Mattes' mutual information or of its normalised one, -r²,
   * or the mean of squared or absolute differences of values that both images together scale to [0, 1]. Also by name:
   * "CorrelationRatio", "MattesMutualInformation", "NormalizedMutualInformation", "Correlation", "MeanSquares" or
   * "MeanAbsoluteDifferences". \throws itk::GPUBadInputError if there is no such one. */
  itkSetEnumMacro(Cost, CostEnum);
  itkGetEnumMacro(Cost, CostEnum);
  void
  SetCost(const std::string & name);
  std::string
  GetCostName() const;

  /** Degrees, from and to, about an axis of physical space (0, 1 or 2), or about all of them, beyond the initial transform's rotation,
   * or none: R = R_z R_y R_x. In 2D the last one counts alone. Default: -180 to 180 about all. About an axis that is not to be searched
   * both are 0; where all are, the initial transform is refined. \throws itk::GPUBadInputError if there is no such axis. */
  void
  SetSearchAngles(unsigned int axis, double from, double to);
  void
  SetSearchAngles(double from, double to);
  double
  GetSearchAngleFrom(unsigned int axis) const;
  double
  GetSearchAngleTo(unsigned int axis) const;

  /** Linear, from points of the fixed image to those of the moving one: where the search begins. None, the default, lays the centres of
   * mass on each other, as does one that leaves less than half of the least overlap. Where angles are searched, a search with a start
   * begins at both: with the start's translation, and with the centres of mass on each other. What the degrees of freedom do not have
   * is left out. */
  itkSetConstObjectMacro(InitialTransform, TransformType);
  itkGetConstObjectMacro(InitialTransform, TransformType);

  /** mm: length of the finest level's voxels; 2, 4 and 8 times as long at the others. Images of longer voxels keep them. 0, the default:
   * that of the images' shortest voxels, or, of images of more than some 400 voxels along an axis, of so many that about 280 are left. */
  itkSetMacro(FinestSpacing, double);
  itkGetConstMacro(FinestSpacing, double);

  /** Of the fixed values, and of the moving ones where the cost has a joint histogram, at the two finest levels; half and a quarter as
   * many at the others, but 32. Mutual information has 5 to 4096, a correlation ratio 2 to 4096. 0, the default: 64, and 256. */
  itkSetMacro(NumberOfHistogramBins, unsigned int);
  itkGetConstMacro(NumberOfHistogramBins, unsigned int);

  /** QuasiNewton (the default), along derivatives, or Lines: one parameter after the other by values alone, as FLIRT does; also by
   * name. */
  itkSetEnumMacro(Optimizer, OptimizerEnum);
  itkGetEnumMacro(Optimizer, OptimizerEnum);
  void
  SetOptimizer(const std::string & name);
  std::string
  GetOptimizerName() const;

  /** Share of the fixed image, or of the moving one where that is smaller, each inside of its mask, that is to overlap: with less, a cost
   * counts less. At 8 mm it is twice as much. From 0 to 1, default 0.25. */
  itkSetMacro(LeastOverlap, double);
  itkGetConstMacro(LeastOverlap, double);

  /** Set the least and the greatest value of an image that are told apart: the method registers values beyond them as if they were the
   * nearer end. Two equal numbers, the default, stand for all values but outliers, of which a warning tells; infinite ones for all. */
  itkSetMacro(FixedImageRange, ValueRangeType);
  itkGetConstReferenceMacro(FixedImageRange, ValueRangeType);
  itkSetMacro(MovingImageRange, ValueRangeType);
  itkGetConstReferenceMacro(MovingImageRange, ValueRangeType);

  /** The result. */
  TransformType *
  GetTransform();
  const TransformType *
  GetTransform() const;

  /** The same as an output. */
  DecoratedTransformType *
  GetOutput();

  /** At the finest level. */
  double
  GetFinalCost() const
  {
    return m_Result.cost;
  }

  /** Share of the fixed image's voxels, of those in its mask, that lie in the moving image. */
  double
  GetOverlap() const
  {
    return m_Result.overlap;
  }

  /** Get the warnings of the last registration: each sentence tells what may have gone wrong. itkWarningMacro told them, too. */
  const std::vector<std::string> &
  GetWarnings() const
  {
    return m_Result.warnings;
  }

  /** What the stages of the last search came to, in their order.
   * \throws itk::GPUBadInputError for a stage that there was not. */
  unsigned int
  GetNumberOfStages() const
  {
    return static_cast<unsigned int>(m_Result.stages.size());
  }
  /** Such as "4 mm", which is the longest edge of either image's voxels there, or "8 mm: coarse rotations". */
  std::string
  GetStageName(unsigned int stage) const;
  double
  GetStageSeconds(unsigned int stage) const;
  /** Its least cost. */
  double
  GetStageCost(unsigned int stage) const;
  /** Of the cost, with and without its derivative. */
  SizeValueType
  GetStageEvaluations(unsigned int stage) const;
  /** How often they were waited for. */
  SizeValueType
  GetStageRounds(unsigned int stage) const;

  /** Of the last search, its images' way to the device left out. */
  double
  GetElapsedSeconds() const
  {
    return 1e-3 * m_Result.milliseconds;
  }

  /** While it searches. */
  itkGetStringMacro(CurrentStage);

  /* Statistics are of the last search, its images' way to the device included; kernel times are of the evaluations of its cost. */
  itkGPUDeviceMembersMacro(m_Use, m_Statistics);

  /** The time of the last change: of the initial transform and of the masks, too, which may be changed in place. */
  ModifiedTimeType
  GetMTime() const override;

  using Superclass::MakeOutput;
  DataObject::Pointer
  MakeOutput(ProcessObject::DataObjectPointerArraySizeType) override
  {
    return DecoratedTransformType::New().GetPointer();
  }

protected:
  GlobalAffineRegistrationMethod();
  ~GlobalAffineRegistrationMethod() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  gpureg::GlobalSettings
  MakeSettings() const;
  void
  SearchTransform();
  const std::array<double, 2> &
  GetAngles(unsigned int axis) const;
  const gpureg::GlobalStageResult &
  GetStage(unsigned int stage) const;
  template <typename TResult>
  typename TransformType::Pointer
  MakeTransform() const;

  typename TransformType::ConstPointer m_InitialTransform;
  typename MaskType::ConstPointer      m_FixedImageMask;
  typename MaskType::ConstPointer      m_MovingImageMask;
  unsigned int                         m_DegreesOfFreedom{ 12 };
  CostEnum                             m_Cost{ CostEnum::CorrelationRatio };
  OptimizerEnum                        m_Optimizer{ OptimizerEnum::QuasiNewton };
  std::array<std::array<double, 2>, 3> m_SearchAngles{ { { { -180, 180 } }, { { -180, 180 } }, { { -180, 180 } } } };
  double                               m_FinestSpacing{ 0.0 };
  unsigned int                         m_NumberOfHistogramBins{ 0 };
  double                               m_LeastOverlap{ 0.25 };
  ValueRangeType                       m_FixedImageRange{ ValueRangeType::Filled(0) };
  ValueRangeType                       m_MovingImageRange{ ValueRangeType::Filled(0) };
  std::string                          m_CurrentStage;

  GPURegistrationDetail::DeviceUse            m_Use;
  std::unique_ptr<gpureg::GlobalRegistration> m_Engine;
  gpureg::GlobalResult                        m_Result;
  gpureg::EvaluationStatistics                m_Statistics;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGlobalAffineRegistrationMethod.hxx"
#endif

#endif
