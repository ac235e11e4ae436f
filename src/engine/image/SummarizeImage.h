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

  /** Enqueues what joins the parts, and returns the array that begins with the summary: kernels::SummaryNumbers. */
  const Memory &
  Join(Queue & queue);

  /** Waits for the summary. */
  ImageSummary
  Download(Queue & queue) const;

  /** Returns the bytes of the arrays for the summary of count values. \param isJoined whether Join() is called, too */
  static std::size_t
  CountBytes(const Queue & queue, std::int64_t count, bool isJoined = false);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_OfStrips) + SizeOf(m_Joined);
  }

private:
  /** Enqueues a pass that joins the last summaries into count ones. */
  void
  JoinTo(Queue & queue, int count);

  int      m_Count = 0; // of the last summaries
  Memory * m_Last = nullptr;
  MemoryPointer
    m_OfStrips; // double[kernels::SummaryNumbers] a strip; it is overwritten where summaries are joined more than once
  MemoryPointer m_Joined; // the summaries of some strips, joined
};

/** Summarizes count values on the queue's device, and waits for the summary. */
ImageSummary
SummarizeImage(Queue & queue, Precision precision, std::int64_t count, const Memory & values);

} // namespace gpureg

#endif
