// SPDX-License-Identifier: Apache-2.0
#include "engine/image/SummarizeImage.h"

#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <vector>

namespace gpureg
{

namespace
{
// As many lanes as fill a device, the fewest values that one lane reads, and the most summaries that are downloaded.
constexpr std::int64_t DeviceStrips = 32768;
constexpr std::int64_t LeastStripValues = 256;
constexpr int          MostDownloaded = 1024;
// As many summaries as one lane joins while others wait for it.
constexpr int JoinedByLane = 32;
// The number of values that one thread of the host summarizes at a time.
constexpr std::int64_t HostStripValues = std::int64_t{ 1 } << 16;

/** Returns to how many summaries a launch joins count of them. */
int
CountJoined(const Queue & queue, int count)
{
  return queue.IsHost() ? 1 : (count + JoinedByLane - 1) / JoinedByLane;
}

ImageSummary
JoinStrips(const std::vector<double> & summaries)
{
  const kernels::Strips all{ static_cast<std::int64_t>(summaries.size()) / kernels::SummaryNumbers, 1, 0 };
  double                joined[kernels::SummaryNumbers];
  kernels::JoinSummaries(&all, summaries.data(), joined, 0);
  ImageSummary summary;
  if (joined[0] <= joined[1])
  {
    summary.minimum = joined[0];
    summary.maximum = joined[1];
  }
  summary.mean = joined[2];
  summary.notFinite = static_cast<std::int64_t>(joined[3]);
  return summary;
}
} // namespace

kernels::Strips
CutIntoStrips(const Queue & queue, std::int64_t count)
{
  kernels::Strips strips{};
  strips.count = count;
  strips.number =
    static_cast<int>(queue.IsHost() ? (count + HostStripValues - 1) / HostStripValues
                                    : std::clamp<std::int64_t>(count / LeastStripValues, 1, DeviceStrips));
  // Neighbouring lanes read neighbours; a thread of the host reads on.
  strips.areInterleaved = !queue.IsHost();
  return strips;
}

void
SummaryOnDevice::Enqueue(Queue & queue, Precision precision, std::int64_t count, const Memory & values)
{
  constexpr std::size_t bytesOfOne = sizeof(double) * kernels::SummaryNumbers;
  const kernels::Strips strips = CutIntoStrips(queue, count);
  m_Last = nullptr;
  Reserve(queue, m_OfStrips, bytesOfOne * static_cast<std::size_t>(strips.number));
  ForEachItem<kernels::SummarizeStripKernel>(queue,
                                             strips.number,
                                             precision,
                                             strips,
                                             Input<RealNumber>(values),
                                             1.0 / static_cast<double>(count),
                                             Output<double>(*m_OfStrips));
  m_Last = m_OfStrips.get();
  m_Count = strips.number;
  if (m_Count > MostDownloaded)
  {
    this->JoinTo(queue, MostDownloaded);
  }
}

void
SummaryOnDevice::JoinTo(Queue & queue, int count)
{
  kernels::Strips joined{};
  joined.count = m_Count;
  joined.number = count;
  joined.areInterleaved = !queue.IsHost();
  MemoryPointer & target = m_Last == m_OfStrips.get() ? m_Joined : m_OfStrips;
  Reserve(queue, target, sizeof(double) * kernels::SummaryNumbers * static_cast<std::size_t>(count));
  ForEachItem<kernels::JoinSummariesKernel>(queue, count, joined, Input<double>(*m_Last), Output<double>(*target));
  m_Last = target.get();
  m_Count = count;
}

const Memory &
SummaryOnDevice::Join(Queue & queue)
{
  while (m_Count > 1)
  {
    this->JoinTo(queue, CountJoined(queue, m_Count));
  }
  return *m_Last;
}

std::size_t
SummaryOnDevice::CountBytes(const Queue & queue, std::int64_t count, bool isJoined)
{
  const int strips = CutIntoStrips(queue, count).number;
  int       joined = 0;
  if (strips > MostDownloaded)
  {
    joined = MostDownloaded;
  }
  else if (isJoined && strips > 1)
  {
    joined = CountJoined(queue, strips);
  }
  return sizeof(double) * kernels::SummaryNumbers * static_cast<std::size_t>(strips + joined);
}

ImageSummary
SummaryOnDevice::Download(Queue & queue) const
{
  std::vector<double> summaries(static_cast<std::size_t>(kernels::SummaryNumbers * m_Count));
  queue.Download(summaries.data(), *m_Last, sizeof(double) * summaries.size());
  return JoinStrips(summaries);
}

ImageSummary
SummarizeImage(Queue & queue, Precision precision, std::int64_t count, const Memory & values)
{
  SummaryOnDevice summary;
  summary.Enqueue(queue, precision, count, values);
  return summary.Download(queue);
}

} // namespace gpureg
