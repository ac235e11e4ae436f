// SPDX-License-Identifier: Apache-2.0
// Floats of images whose values are stored as integers of up to 16 bits.
#ifndef gpureg_WideValues_h
#define gpureg_WideValues_h

#include "gpureg/image/DeviceImage.h"

#include "engine/core/Range.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Says whether an image's values are stored as integers: see DeviceImage::GetNumbers(). */
inline bool
IsNarrow(const DeviceImage & image)
{
  return image.GetNumberType() != TypeOf(image.GetPrecision());
}

/** Returns the bytes of so many of an image's values in its precision. */
inline std::size_t
CountWideBytes(const DeviceImage & image, std::int64_t count)
{
  return BytesOf(image.GetPrecision()) * static_cast<std::size_t>(count);
}

/** Returns the bytes of all of an image's values in its precision. */
inline std::size_t
CountWideBytes(const DeviceImage & image)
{
  return CountWideBytes(image, image.GetCount());
}

/** Returns an image's values in its precision: its own, or those of a narrow image, which it enqueues to write to made. */
const Memory &
Widen(Queue & queue, const DeviceImage & image, MemoryPointer & made);

/** Holds values in an image's precision, from a first one on. */
struct WideValues
{
  const Memory & memory;
  std::int64_t   first;
};

/** Returns a range of an image's values as Widen() returns all of them. made gets no other values. */
WideValues
WidenRange(Queue & queue, const DeviceImage & image, const Range & range, MemoryPointer & made);

} // namespace gpureg

#endif
