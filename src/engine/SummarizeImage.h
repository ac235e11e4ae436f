// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SummarizeImage_h
#define gpureg_SummarizeImage_h

#include "gpureg/LoadedImage.h"

#include "ImagePasses.h"

namespace gpureg
{

/** Looks through count values on the queue's device, and waits for what that gives. */
ImageSummary
SummarizeImage(Queue & queue, ImagePasses & passes, Precision precision, std::int64_t count, const Memory & values);

} // namespace gpureg

#endif
