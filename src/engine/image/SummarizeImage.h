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

/** Holds the summary of values while the device computes it. The arrays serve the next summary, of any values. */
class SummaryOnDevice
{
public:
  /** Enqueues the summary of count values. */
  void
  Enqueue(Queue & queue, Precision precision, std::int64_t count, const Memory & values);

  /** Waits for the summary. */
  ImageSummary
  Download(Queue & queue) const;

  /** Returns the bytes of the arrays for the summary of count values. */
  static std::size_t
  CountBytes(const Queue & queue, std::int64_t count);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_OfStrips) + SizeOf(m_Joined);
  }

private:
  int           m_Strips = 0;
  int           m_Count = 0; // of joined summaries; as many as strips if these are few, and then none is joined
  MemoryPointer m_OfStrips;  // double[kernels::SummaryNumbers] a strip
  MemoryPointer m_Joined;    // the summaries of some strips, joined
};

/** Summarizes count values on the queue's device, and waits for the summary. */
ImageSummary
SummarizeImage(Queue & queue, Precision precision, std::int64_t count, const Memory & values);

} // namespace gpureg

#endif
