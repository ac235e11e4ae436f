// SPDX-License-Identifier: Apache-2.0
#include "engine/image/WideValues.h"

#include "engine/runtime/ForEachItem.h"

#include "kernels/core/NumberForm.h"
#include "kernels/image/NumberTypes.h"

namespace gpureg
{

const Memory &
Widen(Queue & queue, const DeviceImage & image, MemoryPointer & made)
{
  return WidenRange(queue, image, { 0, image.GetCount() }, made).memory;
}

WideValues
WidenRange(Queue & queue, const DeviceImage & image, const Range & range, MemoryPointer & made)
{
  if (!IsNarrow(image))
  {
    return { *image.GetMemory(), range.first };
  }
  Reserve(queue, made, BytesOf(image.GetPrecision()) * static_cast<std::size_t>(range.count));
  // A pointer to numbers of any type counts bytes.
  const auto bytes = static_cast<std::int64_t>(BytesOf(image.GetNumberType()));
  ForEachItem<kernels::NumberToRealKernel>(queue,
                                           range.count,
                                           image.GetPrecision(),
                                           Input<void>(*image.GetNumbers(), range.first * bytes),
                                           static_cast<int>(image.GetNumberType()),
                                           0,
                                           Output<RealNumber>(*made));
  return { *made, 0 };
}

} // namespace gpureg
