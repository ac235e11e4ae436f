// SPDX-License-Identifier: Apache-2.0
// Calls engines for the ITK classes of registration methods, and converts their settings.
#ifndef itkGPURegistrationMethod_h
#define itkGPURegistrationMethod_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/RegisteredImage.h"
#include "gpureg/registration/MemoryPlan.h"

#include "itkBSplineDeformableTransform.h"
#include "itkConstantVelocityFieldTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkFixedArray.h"
#include "itkImageMaskSpatialObject.h"
#include "itkMultiTransform.h"
#include "itkNumericTraits.h"
#include "itkVelocityFieldTransform.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Calls call(), and turns what it throws into the errors that the object's users expect. */
template <typename TCall>
void
CallEngine(const Object & object, const TCall & call)
{
  try
  {
    call();
  }
  catch (const gpureg::Error & error)
  {
    ThrowGPUError(error, NameObject(object) + error.what());
  }
  catch (const std::bad_alloc &)
  {
    ThrowGPUError(gpureg::OutOfMemoryError(""), NameObject(object) + "Out of host memory. Register smaller images.");
  }
}

/** Makes an engine on a device, unless engine is already on that device. */
template <typename TEngine>
void
ReserveEngine(std::unique_ptr<TEngine> & engine, const std::string & deviceName)
{
  if (!engine || engine->GetDeviceName() != deviceName)
  {
    engine.reset();
    engine = std::make_unique<TEngine>(deviceName);
  }
}

/** Does so on a method's device, the only one of its devices, for an engine that computes on one. */
template <typename TEngine>
void
ReserveEngine(std::unique_ptr<TEngine> & engine, const std::vector<std::string> & deviceNames)
{
  ReserveEngine(engine, deviceNames.front());
}

/** Returns the plan of an engine that computes on one device. */
template <typename TEngine, typename TProblem, typename TSettings>
std::vector<gpureg::MemoryPlan>
GetPlans(const TEngine & engine, const TProblem & problem, const TSettings & settings)
{
  return { engine.GetPlan(problem, settings) };
}

/** Returns the most bytes that are held at once, of each plan. */
inline std::vector<SizeValueType>
GetBytes(const std::vector<gpureg::MemoryPlan> & plans)
{
  std::vector<SizeValueType> bytes;
  for (const gpureg::MemoryPlan & plan : plans)
  {
    bytes.push_back(plan.bytes);
  }
  return bytes;
}

/** Returns the engine's range of values for an ITK class's range; none if its two numbers are equal. */
inline std::optional<gpureg::ValueRange>
ToEngineRange(const FixedArray<double, 2> & range)
{
  return range[0] == range[1] ? std::nullopt : std::make_optional(gpureg::ValueRange{ { range[0], range[1] } });
}

/** Returns the time of the last change of an object; 0 if it is null. */
inline ModifiedTimeType
GetTimeOf(const Object * object)
{
  return object != nullptr ? object->GetMTime() : 0;
}

template <unsigned int VDimension>
ModifiedTimeType
GetTimeOf(const Transform<double, VDimension, VDimension> * transform);

/** Returns the time of the last change of a B-spline's coefficients or bulk transform; 0 if transform is no B-spline of the order. */
template <unsigned int VDimension, unsigned int VOrder>
ModifiedTimeType
GetTimeOfSpline(const Transform<double, VDimension, VDimension> & transform)
{
  ModifiedTimeType latest = 0;
  if (const auto * const spline = dynamic_cast<const BSplineBaseTransform<double, VDimension, VOrder> *>(&transform))
  {
    for (const auto & image : spline->GetCoefficientImages())
    {
      latest = std::max(latest, GetTimeOf(static_cast<const Object *>(image.GetPointer())));
    }
  }
  if (const auto * const open =
        dynamic_cast<const BSplineDeformableTransform<double, VDimension, VOrder> *>(&transform))
  {
    latest = std::max(latest, GetTimeOf<VDimension>(open->GetBulkTransform()));
  }
  return latest;
}

/** Returns the time of the last change of a transform's fields; 0 if transform has none. */
template <unsigned int VDimension>
ModifiedTimeType
GetTimeOfFields(const Transform<double, VDimension, VDimension> & transform)
{
  const auto * const field = dynamic_cast<const DisplacementFieldTransform<double, VDimension> *>(&transform);
  if (field == nullptr)
  {
    return 0;
  }
  const Object * velocity = nullptr;
  if (const auto * const steady = dynamic_cast<const ConstantVelocityFieldTransform<double, VDimension> *>(field))
  {
    velocity = steady->GetConstantVelocityField();
  }
  else if (const auto * const varying = dynamic_cast<const VelocityFieldTransform<double, VDimension> *>(field))
  {
    velocity = varying->GetVelocityField();
  }
  const Object * const forward = field->GetDisplacementField();
  const Object * const inverse = field->GetInverseDisplacementField();
  return std::max({ GetTimeOf(forward), GetTimeOf(inverse), GetTimeOf(velocity) });
}

/** Returns the time of the last change of a transform, of its fields or coefficients, or of a transform that it is made of; 0 if transform
 *  is null. */
template <unsigned int VDimension>
ModifiedTimeType
GetTimeOf(const Transform<double, VDimension, VDimension> * transform)
{
  if (transform == nullptr)
  {
    return 0;
  }
  ModifiedTimeType latest = std::max({ static_cast<ModifiedTimeType>(transform->GetMTime()),
                                       GetTimeOfFields<VDimension>(*transform),
                                       GetTimeOfSpline<VDimension, 0>(*transform),
                                       GetTimeOfSpline<VDimension, 1>(*transform),
                                       GetTimeOfSpline<VDimension, 2>(*transform),
                                       GetTimeOfSpline<VDimension, 3>(*transform) });
  if (const auto * const several = dynamic_cast<const MultiTransform<double, VDimension, VDimension> *>(transform))
  {
    for (SizeValueType n = 0; n < several->GetNumberOfTransforms(); ++n)
    {
      latest = std::max(latest, GetTimeOf<VDimension>(several->GetNthTransformConstPointer(n)));
    }
  }
  return latest;
}

/** Returns the time of the last change of a mask or its image; 0 if mask is null. */
template <unsigned int VDimension>
ModifiedTimeType
GetTimeOf(const SpatialObject<VDimension> * mask)
{
  if (mask == nullptr)
  {
    return 0;
  }
  const auto * const ofImage = dynamic_cast<const ImageMaskSpatialObject<VDimension> *>(mask);
  const auto * const image = ofImage != nullptr ? ofImage->GetImage() : nullptr;
  return std::max<ModifiedTimeType>(mask->GetMTime(), image != nullptr ? image->GetMTime() : 0);
}

/** Converts a count to the engine's type. Counts beyond its range become the largest number, which the engine refuses. */
inline int
ToEngineCount(unsigned int n)
{
  return static_cast<int>(std::min<unsigned int>(n, NumericTraits<int>::max()));
}

} // namespace GPURegistrationDetail
} // namespace itk

/** Declares the members of a setting that is one of the engine's choices, which programs set as an enumerator or by its name:
 *  Set##name(type), Get##name(), Set##name(const std::string &), which throws itk::GPUBadInputError if there is no choice of this name,
 *  and Get##name##Name().
 *  \param find the engine's function that returns the choice of a name. */
#define itkGPUChoiceMacro(name, type, find)                                           \
  itkSetEnumMacro(name, type);                                                        \
  itkGetEnumMacro(name, type);                                                        \
  void Set##name(const std::string & choice)                                          \
  {                                                                                   \
    GPURegistrationDetail::CallEngine(*this, [&] { this->Set##name(find(choice)); }); \
  }                                                                                   \
  std::string Get##name##Name() const                                                 \
  {                                                                                   \
    return gpureg::GetName(m_##name);                                                 \
  }                                                                                   \
  ITK_MACROEND_NOOP_STATEMENT

#endif
