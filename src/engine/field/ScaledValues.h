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

/** Enqueues the writing of (value - lowest)·scale of a range of an image's values, as floats, to scaled, which is reserved. */
inline void
WriteScaled(
  Queue & queue, const DeviceImage & image, const Range & range, double lowest, double scale, MemoryPointer & scaled)
{
  Reserve(queue, scaled, sizeof(float) * static_cast<std::size_t>(range.count));
  // The values of a narrow image are widened there, and scaled in place.
  const WideValues values = WidenRange(queue, image, range, scaled);
  ForEachItem<kernels::ScaleValueKernel>(queue,
                                         range.count,
                                         image.GetPrecision(),
                                         Input<RealNumber>(values.memory, values.first),
                                         lowest,
                                         scale,
                                         Output<float>(*scaled));
}

/** Enqueues the writing of all values of an image as WriteScaled() writes a range. */
inline void
WriteScaled(Queue & queue, const DeviceImage & image, double lowest, double scale, MemoryPointer & scaled)
{
  WriteScaled(queue, image, { 0, image.GetCount() }, lowest, scale, scaled);
}

} // namespace gpureg

#endif
