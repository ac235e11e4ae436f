// SPDX-License-Identifier: Apache-2.0
// What the adapters of registration methods do with their engines.
#ifndef itkGPURegistrationMethod_h
#define itkGPURegistrationMethod_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/RegisteredImage.h"

#include "itkFixedArray.h"
#include "itkImageMaskSpatialObject.h"
#include "itkMultiTransform.h"
#include "itkNumericTraits.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Calls it, and throws what it throws as the object's users expect it. */
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

/** Has an engine of a device: the one that is there, if it is of this one. */
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

/** Returns the engine's range of values for an ITK class's range; none if its two numbers are equal. */
inline std::optional<gpureg::ValueRange>
ToEngineRange(const FixedArray<double, 2> & range)
{
  return range[0] == range[1] ? std::nullopt : std::make_optional(gpureg::ValueRange{ { range[0], range[1] } });
}

/** When a transform was last modified, or one that it is made of; 0 if it is null. */
template <unsigned int VDimension>
ModifiedTimeType
FindTimeOf(const Transform<double, VDimension, VDimension> * transform)
{
  if (transform == nullptr)
  {
    return 0;
  }
  ModifiedTimeType latest = transform->GetMTime();
  if (const auto * const several = dynamic_cast<const MultiTransform<double, VDimension, VDimension> *>(transform))
  {
    for (SizeValueType n = 0; n < several->GetNumberOfTransforms(); ++n)
    {
      latest = std::max(latest, FindTimeOf<VDimension>(several->GetNthTransformConstPointer(n)));
    }
  }
  return latest;
}

/** The same of a mask, and its image. */
template <unsigned int VDimension>
ModifiedTimeType
FindTimeOf(const SpatialObject<VDimension> * mask)
{
  if (mask == nullptr)
  {
    return 0;
  }
  const auto * const ofImage = dynamic_cast<const ImageMaskSpatialObject<VDimension> *>(mask);
  const auto * const image = ofImage != nullptr ? ofImage->GetImage() : nullptr;
  return std::max<ModifiedTimeType>(mask->GetMTime(), image != nullptr ? image->GetMTime() : 0);
}

/** What Update() compares: the latest time of a method, its initial transform and its masks, which may be modified in place.
 *  \param own the method's superclass's. */
template <unsigned int VDimension>
ModifiedTimeType
FindLatestTime(ModifiedTimeType                                  own,
               const Transform<double, VDimension, VDimension> * initial,
               const SpatialObject<VDimension> *                 fixedMask,
               const SpatialObject<VDimension> *                 movingMask)
{
  return std::max(
    { own, FindTimeOf<VDimension>(initial), FindTimeOf<VDimension>(fixedMask), FindTimeOf<VDimension>(movingMask) });
}

/** Too many of something for the engine's integers are too many for it. */
inline int
ToEngineCount(unsigned int n)
{
  return static_cast<int>(std::min<unsigned int>(n, NumericTraits<int>::max()));
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
