// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MakePasses_h
#define gpureg_MakePasses_h

#include "engine/runtime/Queue.h"

#include <memory>
#include <stdexcept>

namespace gpureg
{

/** Makes the passes of one class for a queue on one kind of device. GPUREG_DECLARE_PASSES declares the function for a class; host/, cuda/
 *  and opencl/ define it beside their passes. Returns null where that kind of device has no such passes. */
template <DeviceKind kind, typename TPasses>
std::unique_ptr<TPasses>
MakePassesOn(Queue & queue);

/** Declares MakePassesOn() of a class of passes for each kind of device. Stands behind the class. */
#define GPUREG_DECLARE_PASSES(passes)                                            \
  template <>                                                                    \
  std::unique_ptr<passes> MakePassesOn<DeviceKind::Host, passes>(Queue & queue); \
  template <>                                                                    \
  std::unique_ptr<passes> MakePassesOn<DeviceKind::Cuda, passes>(Queue & queue); \
  template <>                                                                    \
  std::unique_ptr<passes> MakePassesOn<DeviceKind::OpenCL, passes>(Queue & queue)

/** Defines MakePassesOn() for all devices but the host by one class, which launches groups and takes a Queue. */
#define GPUREG_DEFINE_GROUP_PASSES(passes, implementation)                        \
  template <>                                                                     \
  std::unique_ptr<passes> MakePassesOn<DeviceKind::Cuda, passes>(Queue & queue)   \
  {                                                                               \
    return std::make_unique<implementation>(queue);                               \
  }                                                                               \
  template <>                                                                     \
  std::unique_ptr<passes> MakePassesOn<DeviceKind::OpenCL, passes>(Queue & queue) \
  {                                                                               \
    return std::make_unique<implementation>(queue);                               \
  }

/** Makes the passes of one class for a queue, which must outlive them. Returns null where the queue's kind of device has none. */
template <typename TPasses>
std::unique_ptr<TPasses>
MakePasses(Queue & queue)
{
  switch (queue.GetKind())
  {
    case DeviceKind::Host:
      return MakePassesOn<DeviceKind::Host, TPasses>(queue);
    case DeviceKind::Cuda:
#ifdef GPUREG_USE_CUDA
      return MakePassesOn<DeviceKind::Cuda, TPasses>(queue);
#else
      break;
#endif
    case DeviceKind::OpenCL:
#ifdef GPUREG_USE_OPENCL
      return MakePassesOn<DeviceKind::OpenCL, TPasses>(queue);
#else
      break;
#endif
  }
  throw std::logic_error("a queue of a kind of device that was not built");
}

} // namespace gpureg

#endif
