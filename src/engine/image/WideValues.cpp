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
  if (!IsNarrow(image))
  {
    return *image.GetMemory();
  }
  Reserve(queue, made, CountWideBytes(image));
  ForEachItem<kernels::NumberToRealKernel>(queue,
                                           image.GetCount(),
                                           image.GetPrecision(),
                                           Input<void>(*image.GetNumbers()),
                                           static_cast<int>(image.GetNumberType()),
                                           0,
                                           Output<RealNumber>(*made));
  return *made;
}

} // namespace gpureg
