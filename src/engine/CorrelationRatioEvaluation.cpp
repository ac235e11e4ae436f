// SPDX-License-Identifier: Apache-2.0
#include "CorrelationRatioEvaluation.h"

#include "gpureg/Error.h"

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
constexpr const char * SchemeNames[NumberOfCorrelationRatioSchemes] = { "GlobalAtomic", "GlobalMerge", "SharedAtomic",
                                                                        "SharedMerge",  "SharedWarp",  "ConflictFree" };

/** Makes an array of the device that holds these elements. */
template <typename T>
void
Send(Queue & queue, MemoryPointer & target, const std::vector<T> & elements)
{
  ReserveExactly(queue, target, elements.size() * sizeof(T));
  if (!elements.empty())
  {
    FillArray(queue, *target, elements);
  }
}
} // namespace

const char *
GetName(CorrelationRatioScheme scheme)
{
  return IsCorrelationRatioScheme(scheme) ? SchemeNames[static_cast<int>(scheme)] : "";
}

std::ostream &
operator<<(std::ostream & out, CorrelationRatioScheme scheme)
{
  if (IsCorrelationRatioScheme(scheme))
  {
    return out << "gpureg::CorrelationRatioScheme::" << GetName(scheme);
  }
  return out << "INVALID VALUE FOR gpureg::CorrelationRatioScheme";
}

CorrelationRatioEvaluation::CorrelationRatioEvaluation(MetricCore & core)
  : HistogramEvaluation(core, core.queue->CreateCorrelationRatioPasses())
  , m_SchemePasses(core.queue->CreateCorrelationRatioSchemePasses())
{
  for (const MemoryPointer * array : { &m_SchemeArrays.sorted.indices,
                                       &m_SchemeArrays.parts,
                                       &m_SchemeArrays.firstParts,
                                       &m_SchemeArrays.sumsOfParts })
  {
    core.ownArrays.push_back(array);
  }
}

void
CorrelationRatioEvaluation::SetScheme(CorrelationRatioScheme scheme)
{
  if (!IsCorrelationRatioScheme(scheme))
  {
    throw BadInputError(
      "there is no scheme " + std::to_string(static_cast<int>(scheme)) +
      " of the correlation ratio; set GlobalAtomic, GlobalMerge, SharedAtomic, SharedMerge, SharedWarp "
      "or ConflictFree");
  }
  m_Scheme = scheme;
}

void
CorrelationRatioEvaluation::SetWorkloadLimit(int samples)
{
  if (samples < 1)
  {
    throw BadInputError("a group is to go through 1 sample or more, not " + std::to_string(samples) +
                        "; set another workload limit");
  }
  if (m_WorkloadLimit != static_cast<kernels::u32>(samples))
  {
    m_WorkloadLimit = static_cast<kernels::u32>(samples);
    m_SchemeArrays.firstParts.reset();
  }
}

bool
CorrelationRatioEvaluation::KeepsChunkHistograms() const
{
  return !m_SchemePasses || m_Scheme == CorrelationRatioScheme::SharedMerge ||
         m_Scheme == CorrelationRatioScheme::GlobalMerge || m_Scheme == CorrelationRatioScheme::SharedWarp;
}

kernels::CorrelationRatioArguments
CorrelationRatioEvaluation::MakeSchemeArguments() const
{
  kernels::CorrelationRatioArguments a = GetArguments();
  if (m_Scheme == CorrelationRatioScheme::SharedWarp)
  {
    // Each of a group's warps has a histogram.
    const SampleGrain grain = GetGrain();
    const auto        warps = static_cast<std::size_t>(grain.lanes / kernels::TileWidth);
    const auto        rowBytes = warps * static_cast<std::size_t>(a.histogram.columns) *
                          static_cast<std::size_t>(kernels::CellBytes(a.histogram.samples.variant));
    a.histogram.histogramCopies = static_cast<int>(warps);
    a.histogram.bandRows = static_cast<int>(std::clamp<std::size_t>(grain.localBytes / rowBytes, 1, a.histogram.rows));
  }
  return a;
}

void
CorrelationRatioEvaluation::PrepareFirstPass()
{
  if (!m_SchemePasses || m_Scheme != CorrelationRatioScheme::ConflictFree)
  {
    m_SchemeArrays.sorted = {};
    m_SchemeArrays.parts.reset();
    m_SchemeArrays.firstParts.reset();
    m_SchemeArrays.sumsOfParts.reset();
    m_SortedSamples = 0;
  }
  if (m_SchemePasses && m_Scheme != CorrelationRatioScheme::SharedMerge)
  {
    m_SchemePasses->Prepare(GetArguments().histogram.samples.variant);
    if (m_Scheme == CorrelationRatioScheme::ConflictFree)
    {
      PrepareParts();
    }
  }
}

void
CorrelationRatioEvaluation::PrepareParts()
{
  const SampleSet & samples = GetCore().samples;
  if (samples.GetCount() > std::numeric_limits<kernels::u32>::max())
  {
    throw UnsupportedError("the scheme ConflictFree sorts up to 4294967295 samples, not " +
                           std::to_string(samples.GetCount()) + "; set the scheme SharedMerge");
  }
  if (m_SortedSamples != samples.GetFixedStamp())
  {
    m_SortedSamples = 0;
    m_SchemeArrays.firstParts.reset();
    m_SchemePasses->Sort(samples.GetArrays().fixedBins,
                         samples.GetCount(),
                         GetArguments().histogram.rows,
                         m_SchemeArrays.sorted);
    m_SortedSamples = samples.GetFixedStamp();
  }
  if (!m_SchemeArrays.firstParts)
  {
    const SortedParts cut = CutIntoParts(m_SchemeArrays.sorted.firstOfBin, m_WorkloadLimit);
    Queue &           queue = *GetCore().queue;
    m_SchemeArrays.partCount = static_cast<int>(cut.parts.size());
    Send(queue, m_SchemeArrays.parts, cut.parts);
    ReserveExactly(queue,
                   m_SchemeArrays.sumsOfParts,
                   std::max<std::size_t>(1, cut.parts.size()) * kernels::CorrelationRatioColumns *
                     sizeof(kernels::u64));
    Send(queue, m_SchemeArrays.firstParts, cut.firstParts);
  }
}

void
CorrelationRatioEvaluation::EnqueueFirstPass()
{
  if (!m_SchemePasses || m_Scheme == CorrelationRatioScheme::SharedMerge)
  {
    HistogramEvaluation::EnqueueFirstPass();
    return;
  }
  const kernels::CorrelationRatioArguments a = MakeSchemeArguments();
  if (m_Scheme == CorrelationRatioScheme::ConflictFree)
  {
    m_SchemePasses->CountParts(a, GetMaps(), GetArrays(), m_SchemeArrays);
  }
  else if (KeepsChunkHistograms())
  {
    EnqueueChunks(
      [&](int first, int count) { m_SchemePasses->Count(m_Scheme, a, GetMaps(), GetArrays(), first, count); });
  }
  else
  {
    m_SchemePasses->Clear(a, GetArrays());
    m_SchemePasses->Count(m_Scheme, a, GetMaps(), GetArrays(), 0, kernels::ChunkCount(&a.histogram.samples));
  }
}

} // namespace gpureg
