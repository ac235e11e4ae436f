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
// The number of values that one thread of the host summarizes at a time.
constexpr std::int64_t HostStripValues = std::int64_t{ 1 } << 16;

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
  Reserve(queue, m_OfStrips, bytesOfOne * static_cast<std::size_t>(strips.number));
  ForEachItem<kernels::SummarizeStripKernel>(queue,
                                             strips.number,
                                             precision,
                                             strips,
                                             Input<RealNumber>(values),
                                             1.0 / static_cast<double>(count),
                                             Output<double>(*m_OfStrips));
  m_Strips = strips.number;
  m_Count = std::min(m_Strips, MostDownloaded);
  if (m_Count == m_Strips)
  {
    return;
  }
  kernels::Strips joined = strips;
  joined.count = strips.number;
  joined.number = m_Count;
  Reserve(queue, m_Joined, bytesOfOne * static_cast<std::size_t>(m_Count));
  ForEachItem<kernels::JoinSummariesKernel>(
    queue, m_Count, joined, Input<double>(*m_OfStrips), Output<double>(*m_Joined));
}

std::size_t
SummaryOnDevice::CountBytes(const Queue & queue, std::int64_t count)
{
  const int strips = CutIntoStrips(queue, count).number;
  return sizeof(double) * kernels::SummaryNumbers *
         static_cast<std::size_t>(strips + (strips > MostDownloaded ? MostDownloaded : 0));
}

ImageSummary
SummaryOnDevice::Download(Queue & queue) const
{
  std::vector<double> summaries(static_cast<std::size_t>(kernels::SummaryNumbers * m_Count));
  const Memory &      last = m_Count < m_Strips ? *m_Joined : *m_OfStrips;
  queue.Download(summaries.data(), last, sizeof(double) * summaries.size());
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
