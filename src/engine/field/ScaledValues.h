// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ScaledValues_h
#define gpureg_ScaledValues_h

#include "gpureg/image/DeviceImage.h"

#include "engine/field/FieldKernels.h"
#include "engine/image/WideValues.h"
#include "engine/runtime/ForEachItem.h"

#include <cstddef>

namespace gpureg
{

/** Enqueues the writing of (value - lowest)·scale of each of an image's values, as floats, to scaled, which is reserved. */
inline void
WriteScaled(Queue & queue, const DeviceImage & image, double lowest, double scale, MemoryPointer & scaled)
{
  Reserve(queue, scaled, sizeof(float) * static_cast<std::size_t>(image.GetCount()));
  // The values of a narrow image are widened there, and scaled in place.
  const Memory & values = Widen(queue, image, scaled);
  ForEachItem<kernels::ScaleValueKernel>(
    queue, image.GetCount(), image.GetPrecision(), Input<RealNumber>(values), lowest, scale, Output<float>(*scaled));
}

} // namespace gpureg

#endif
