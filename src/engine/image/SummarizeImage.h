// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SummarizeImage_h
#define gpureg_SummarizeImage_h

#include "gpureg/image/LoadedImage.h"

#include "engine/image/ImagePasses.h"

namespace gpureg
{

/** Returns into how many strips count values are cut. One lane of the device, or one of the host's threads, reads a strip. */
int
CountStrips(const Queue & queue, std::int64_t count);

/** Summarizes count values on the queue's device, and waits for the summary. */
ImageSummary
SummarizeImage(Queue & queue, ImagePasses & passes, Precision precision, std::int64_t count, const Memory & values);

} // namespace gpureg

#endif
