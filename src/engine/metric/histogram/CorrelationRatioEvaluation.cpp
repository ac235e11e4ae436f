// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/histogram/CorrelationRatioEvaluation.h"

#include "gpureg/core/Error.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Transfer.h"

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

/** Returns the most samples of a chunk whose sums in the histogram's unit fit into 32 bits. HistogramEvaluation chooses the unit by the
 *  chunks that it cuts. */
int
ComputeMostOfChunk(const kernels::HistogramArguments & a)
{
  int most = kernels::MostSamplesOfCorrelationRatio + 1;
  for (float unit = 1 << 18; unit < a.countUnit && !kernels::CountsHalves(a.samples.variant); unit *= 2)
  {
    most /= 2;
  }
  return std::min(most, int{ kernels::MostSamplesOfCorrelationRatio });
}

/** Makes an array on the device that holds the elements. */
template <typename T>
void
ReserveAndUpload(Queue & queue, MemoryPointer & target, const std::vector<T> & elements)
{
  ReserveExactly(queue, target, elements.size() * sizeof(T));
  if (!elements.empty())
  {
    UploadArray(queue, *target, elements);
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
  : HistogramEvaluation(core, MakePasses<CorrelationRatioPasses>(*core.queue))
  , m_SchemePasses(MakePasses<CorrelationRatioSchemePasses>(*core.queue))
{
  for (const MemoryPointer * array : { &m_SchemeArrays.sorted.indices,
                                       &m_SchemeArrays.workloads,
                                       &m_SchemeArrays.firstWorkloads,
                                       &m_SchemeArrays.sumsOfWorkloads })
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
    m_SchemeArrays.firstWorkloads.reset();
  }
}

void
CorrelationRatioEvaluation::SetLaunchShape(const LaunchShape & shape)
{
  if (!shape.IsValid())
  {
    throw BadInputError(
      "a launch of " + std::to_string(shape.groups) + " groups of " + std::to_string(shape.lanes) +
      " lanes is not possible; set 0 or more groups, and 0 lanes, for the device's own, or a power of "
      "two from " +
      std::to_string(LaunchShape::LeastLanes) + " to " + std::to_string(LaunchShape::MostLanes));
  }
  if (m_SchemePasses)
  {
    m_SchemePasses->ChooseLanes(m_Scheme, shape.lanes);
  }
  m_Shape = shape;
}

bool
CorrelationRatioEvaluation::HasSchemeLaunch() const
{
  return m_SchemePasses && (m_Scheme != CorrelationRatioScheme::SharedMerge || HasShape());
}

int
CorrelationRatioEvaluation::CountChunks() const
{
  if (!HasSchemeLaunch())
  {
    return HistogramEvaluation::CountChunks();
  }
  const SchemeLaunch launch = MakeSchemeLaunch();
  return kernels::ChunkCount(&launch.arguments.histogram.samples);
}

bool
CorrelationRatioEvaluation::StoresChunkHistograms() const
{
  return !m_SchemePasses || m_Scheme == CorrelationRatioScheme::SharedMerge ||
         m_Scheme == CorrelationRatioScheme::GlobalMerge || m_Scheme == CorrelationRatioScheme::SharedWarp;
}

void
CorrelationRatioEvaluation::CutChunks(SchemeLaunch & launch) const
{
  kernels::SampleArguments & samples = launch.arguments.histogram.samples;
  SampleGrain                grain = GetGrain();
  SampleNeeds                needs{};
  if (m_Scheme == CorrelationRatioScheme::GlobalAtomic)
  {
    // GlobalAtomic counts in 64 bits.
    needs.mostOfChunk = std::numeric_limits<int>::max();
  }
  else
  {
    needs.mostOfChunk = ComputeMostOfChunk(launch.arguments.histogram);
    while (launch.shape.lanes > needs.mostOfChunk)
    {
      launch.shape.lanes /= 2;
    }
  }
  grain.lanes = launch.shape.lanes;
  const auto cut = [&](int chunks) {
    grain.targetChunks = chunks;
    const SampleProblem problem = GetCore().samples.CutDifferently({ samples, launch.maps }, grain, needs);
    samples = problem.arguments;
    launch.maps = problem.maps;
    return kernels::ChunkCount(&samples);
  };
  const int groups = m_Shape.groups;
  const int chunks = cut(groups > 0 ? groups : grain.targetChunks);
  if (chunks < groups)
  {
    // Makes the number of chunks in depth equal for all tiles, and large enough that each group has a chunk.
    const int tiles = samples.tileCount[0] * samples.tileCount[1];
    cut(((groups - 1) / tiles + 1) * tiles);
  }
  else if (groups > 0)
  {
    cut(((chunks - 1) / groups + 1) * groups);
  }
}

SchemeLaunch
CorrelationRatioEvaluation::MakeSchemeLaunch() const
{
  SchemeLaunch launch{ GetArguments(), GetMaps(), { 0, m_SchemePasses->ChooseLanes(m_Scheme, m_Shape.lanes) } };
  if (m_Scheme == CorrelationRatioScheme::ConflictFree)
  {
    // ConflictFree has workloads instead of chunks.
    return launch;
  }
  kernels::HistogramArguments & h = launch.arguments.histogram;
  if (HasShape())
  {
    CutChunks(launch);
  }
  const int chunks = kernels::ChunkCount(&h.samples);
  launch.shape.groups = m_Shape.groups > 0 ? std::min(m_Shape.groups, chunks) : chunks;
  if (m_Scheme == CorrelationRatioScheme::SharedWarp)
  {
    // Each warp of a group has its own histogram.
    const auto warps = static_cast<std::size_t>(launch.shape.lanes / kernels::TileWidth);
    const auto rowBytes =
      warps * static_cast<std::size_t>(h.columns) * static_cast<std::size_t>(kernels::EntryBytes(h.samples.variant));
    h.histogramCopies = static_cast<int>(warps);
    h.bandRows = ComputeBandRows(h.rows, rowBytes, GetGrain().localBytes);
  }
  return launch;
}

void
CorrelationRatioEvaluation::PrepareFirstPass()
{
  if (!m_SchemePasses || m_Scheme != CorrelationRatioScheme::ConflictFree)
  {
    m_SchemeArrays.sorted = {};
    m_SchemeArrays.workloads.reset();
    m_SchemeArrays.firstWorkloads.reset();
    m_SchemeArrays.sumsOfWorkloads.reset();
    m_SortedSamples = 0;
  }
  if (HasSchemeLaunch())
  {
    m_SchemePasses->Prepare(GetArguments().histogram.samples.variant);
    if (m_Scheme == CorrelationRatioScheme::ConflictFree)
    {
      PrepareWorkloads();
    }
  }
}

void
CorrelationRatioEvaluation::PrepareWorkloads()
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
    m_SchemeArrays.firstWorkloads.reset();
    m_SchemePasses->Sort(samples.GetArrays().fixedBins,
                         samples.GetCount(),
                         GetArguments().histogram.rows,
                         m_SchemeArrays.sorted);
    m_SortedSamples = samples.GetFixedStamp();
  }
  if (!m_SchemeArrays.firstWorkloads)
  {
    const Workloads cut = CutIntoWorkloads(m_SchemeArrays.sorted.firstOfBin, m_WorkloadLimit);
    Queue &         queue = *GetCore().queue;
    m_SchemeArrays.workloadCount = static_cast<int>(cut.workloads.size());
    ReserveAndUpload(queue, m_SchemeArrays.workloads, cut.workloads);
    ReserveExactly(queue,
                   m_SchemeArrays.sumsOfWorkloads,
                   std::max<std::size_t>(1, cut.workloads.size()) * kernels::CorrelationRatioColumns *
                     sizeof(kernels::u64));
    ReserveAndUpload(queue, m_SchemeArrays.firstWorkloads, cut.firstWorkloads);
  }
}

void
CorrelationRatioEvaluation::EnqueueFirstPass()
{
  m_UsedShape = {};
  if (!HasSchemeLaunch())
  {
    HistogramEvaluation::EnqueueFirstPass();
    if (m_SchemePasses)
    {
      m_UsedShape = { GetExtent().chunksPerLaunch, GetGrain().lanes };
    }
    return;
  }
  const SchemeLaunch launch = MakeSchemeLaunch();
  m_UsedShape = launch.shape;
  if (m_Scheme == CorrelationRatioScheme::ConflictFree)
  {
    m_SchemePasses->CountWorkloads(launch, GetArrays(), m_SchemeArrays);
    m_UsedShape.groups = m_SchemeArrays.workloadCount;
  }
  else if (StoresChunkHistograms())
  {
    EnqueueChunks([&](int first, int count) { m_SchemePasses->Count(m_Scheme, launch, GetArrays(), first, count); });
    m_UsedShape.groups = std::min(launch.shape.groups, GetExtent().chunksPerLaunch);
  }
  else
  {
    m_SchemePasses->Clear(launch.arguments, GetArrays());
    m_SchemePasses->Count(m_Scheme, launch, GetArrays(), 0, GetExtent().chunks);
  }
}

} // namespace gpureg
