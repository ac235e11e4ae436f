// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SummarizeImage_h
#define gpureg_SummarizeImage_h

#include "gpureg/image/LoadedImage.h"

#include "engine/image/ImagePasses.h"

namespace gpureg
{

/** Into how many strips an image of so many values is cut where each one is gone through by one lane, or one of the host's threads. */
int
CountStrips(const Queue & queue, std::int64_t count);

/** Looks through count values on the queue's device, and waits for what that gives. */
ImageSummary
SummarizeImage(Queue & queue, ImagePasses & passes, Precision precision, std::int64_t count, const Memory & values);

} // namespace gpureg

#endif
