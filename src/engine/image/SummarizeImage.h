// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SummarizeImage_h
#define gpureg_SummarizeImage_h

#include "gpureg/image/LoadedImage.h"

#include "engine/runtime/Queue.h"

#include "kernels/core/Prelude.h"
#include "kernels/core/Geometry.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/image/InvalidSample.h"
#include "kernels/core/Strips.h"
#include "kernels/image/ImageValues.h"

namespace gpureg
{

/** Cuts count values into strips. One lane of the device, or one of the host's threads, reads a strip. */
kernels::Strips
CutIntoStrips(const Queue & queue, std::int64_t count);

/** Summarizes count values on the queue's device, and waits for the summary. */
ImageSummary
SummarizeImage(Queue & queue, Precision precision, std::int64_t count, const Memory & values);

} // namespace gpureg

#endif
