// SPDX-License-Identifier: Apache-2.0
#ifndef itkDeviceRegistrationMethod_h
#define itkDeviceRegistrationMethod_h

#include "GPURegistrationDetail/core/itkGPUMembers.h"
#include "GPURegistrationDetail/registration/itkGPURegistrationMethod.h"
#include "itkGPUDevice.h"

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/registration/MemoryPlan.h"

#include "itkDataObjectDecorator.h"
#include "itkFixedArray.h"
#include "itkProcessObject.h"
#include "itkSpatialObject.h"
#include "itkTransform.h"

#include <memory>
#include <string>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{
class RegisteredImages;
}

/** \class DeviceRegistrationMethod
 * \brief Base class of the methods that register two images on one device from the images to the transform.
 *
 * It has their inputs: the images, their masks, the initial transform, the ranges of values and the device; and their output, a
 * decorated transform. A method derived from it has its own settings and engine, and registers the images in RegisterImages().
 *
 * \sa FreeFormDeformationRegistrationMethod, GlobalAffineRegistrationMethod
 * \ingroup GPURegistration
 */
template <typename TFixedImage, typename TMovingImage>
class ITK_TEMPLATE_EXPORT DeviceRegistrationMethod : public ProcessObject
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(DeviceRegistrationMethod);

  using Self = DeviceRegistrationMethod;
  using Superclass = ProcessObject;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  const char *
  GetNameOfClass() const override
  {
    return "DeviceRegistrationMethod";
  }

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == TMovingImage::ImageDimension, "both images have the same dimension");

  using FixedImageType = TFixedImage;
  using MovingImageType = TMovingImage;
  using TransformType = Transform<double, ImageDimension, ImageDimension>;
  using DecoratedTransformType = DataObjectDecorator<TransformType>;
  using MaskType = SpatialObject<ImageDimension>;
  using ValueRangeType = FixedArray<double, 2>;

  void
  SetFixedImage(const FixedImageType * image);
  const FixedImageType *
  GetFixedImage() const;

  void
  SetMovingImage(const MovingImageType * image);
  const MovingImageType *
  GetMovingImage() const;

  /** Set the regions that are registered: voxels of the fixed image inside the fixed mask that map into the moving mask. A level's voxel
   * is inside a mask if at least half of it is. A mask is evaluated once at each voxel of its image. Default: no masks, all voxels. */
  itkSetConstObjectMacro(FixedImageMask, MaskType);
  itkGetConstObjectMacro(FixedImageMask, MaskType);
  itkSetConstObjectMacro(MovingImageMask, MaskType);
  itkGetConstObjectMacro(MovingImageMask, MaskType);

  /** Sets the transform from points of the fixed image to those of the moving image with which the method begins. The method says which
   * transforms it takes, and what becomes of them. Default: none. */
  itkSetConstObjectMacro(InitialTransform, TransformType);
  itkGetConstObjectMacro(InitialTransform, TransformType);

  /** Set the least and the greatest value that the method distinguishes in an image: it takes a value outside this range for the nearer
   * end. Two equal numbers, the default, let the method choose a range without outliers; it warns if there are any. The range from
   * -infinity to infinity contains all values. */
  itkSetMacro(FixedImageRange, ValueRangeType);
  itkGetConstReferenceMacro(FixedImageRange, ValueRangeType);
  itkSetMacro(MovingImageRange, ValueRangeType);
  itkGetConstReferenceMacro(MovingImageRange, ValueRangeType);

  /** Returns the result. */
  TransformType *
  GetTransform();
  const TransformType *
  GetTransform() const;

  /** Returns the result as an output that a pipeline can connect. */
  DecoratedTransformType *
  GetOutput();

  /** Returns the warnings of the last registration: each is a sentence on what may have gone wrong. itkWarningMacro has shown them, too. */
  const std::vector<std::string> &
  GetWarnings() const
  {
    return m_Warnings;
  }

#ifndef ITK_WRAPPING_PARSER
  /** Plans what Update() would hold on each device, that of SetDevice() first, by the images and settings that the method now has: which
   * arrays, at which level, and which changes would hold less. Nothing is uploaded, and images that a pipeline is to make need have no
   * pixels yet. Update() makes the same plan, and throws itk::GPUOutOfMemoryError before it uploads anything if a device has no room
   * for it: the error says how much would be held and is missing, and which change would fit. gpureg::GetAvailableMemory() returns a
   * device's room. C++ only.
   * \throws itk::GPUError as Update() does for settings. */
  std::vector<gpureg::MemoryPlan>
  GetMemoryPlans();
#endif

  /** Returns the most bytes that Update() would hold at once on each device, that of SetDevice() first: see GetMemoryPlans(). */
  std::vector<SizeValueType>
  GetPlannedBytes()
  {
    return GPURegistrationDetail::GetBytes(this->GetMemoryPlans());
  }

  /* The statistics are those of the last operation: for a registration they include the upload of the images. */
  itkGPUDeviceMembersMacro(m_Use, m_Statistics);

  /** Returns the latest modification time of this object, the masks and the initial transform with its fields and coefficients, which a
   * program may change in place. */
  ModifiedTimeType
  GetMTime() const override;

  using Superclass::MakeOutput;
  DataObject::Pointer
  MakeOutput(ProcessObject::DataObjectPointerArraySizeType) override
  {
    return DecoratedTransformType::New().GetPointer();
  }

protected:
  DeviceRegistrationMethod();
  ~DeviceRegistrationMethod() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  void
  GenerateData() override;

  /** Registers the images, and sets the output. Errors of an engine become those of ITK. */
  virtual void
  RegisterImages() = 0;

  /** Plans RegisterImages() by PlanBy(). Errors of an engine become those of ITK.
   *  \param images none yet, and for a plan. */
  virtual std::vector<gpureg::MemoryPlan>
  PlanImages(GPURegistrationDetail::RegisteredImages & images) const = 0;

  /** Returns an engine's plan for each device.
   *  \param images, problem, settings as for RegisterBy(). */
  template <typename TEngine, typename TProblem, typename TSettings>
  std::vector<gpureg::MemoryPlan>
  PlanBy(GPURegistrationDetail::RegisteredImages & images, TProblem problem, const TSettings & settings) const;

  /** Uploads the images and their masks if the devices have room for the registration, registers them by an engine's Register(), and stores
   *  its warnings and statistics.
   *  \param engine the method's engine; it is made if there is none on the method's devices.
   *  \param images further images of the problem, not uploaded yet; the method's fixed and moving image are added.
   *  \param problem the engine's problem, or the problems of several devices, with everything but the images.
   *  \param settings the engine's settings.
   *  \param onProgress called with the engine's progress before each iteration event.
   *  \return the engine's result. */
  template <typename TEngine, typename TProblem, typename TSettings, typename TOnProgress>
  auto
  RegisterBy(std::unique_ptr<TEngine> &                engine,
             GPURegistrationDetail::RegisteredImages & images,
             TProblem &                                problem,
             const TSettings &                         settings,
             const TOnProgress &                       onProgress);

  GPURegistrationDetail::DeviceUse     m_Use;
  mutable gpureg::EvaluationStatistics m_Statistics; // of the last operation

private:
  /** Adds the method's fixed and moving image, with their masks, to images, and sets those of an engine's problem. */
  template <typename TProblem>
  void
  AddImages(GPURegistrationDetail::RegisteredImages & images, TProblem & problem) const;

  typename TransformType::ConstPointer m_InitialTransform;
  typename MaskType::ConstPointer      m_FixedImageMask;
  typename MaskType::ConstPointer      m_MovingImageMask;
  ValueRangeType                       m_FixedImageRange{ ValueRangeType::Filled(0) };
  ValueRangeType                       m_MovingImageRange{ ValueRangeType::Filled(0) };
  std::vector<std::string>             m_Warnings;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkDeviceRegistrationMethod.hxx"
#endif

#endif
