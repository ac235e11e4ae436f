// SPDX-License-Identifier: Apache-2.0
// What the faces of registration methods do with their engines.
#ifndef itkGPURegistrationMethod_h
#define itkGPURegistrationMethod_h

#include "GPURegistrationDetail/itkGPUDeviceUse.h"

#include "gpureg/Error.h"

#include "itkNumericTraits.h"

#include <algorithm>
#include <memory>
#include <new>
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

/** Too many of something for the engine's integers are too many for it. */
inline int
ToEngineCount(unsigned int n)
{
  return static_cast<int>(std::min<unsigned int>(n, NumericTraits<int>::max()));
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
