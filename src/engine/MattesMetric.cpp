// SPDX-License-Identifier: Apache-2.0
#include "gpureg/MattesMetric.h"

#include "MattesPasses.h"
#include "MetricCore.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpureg
{

namespace
{
// What the chunks' histograms of one launch may take; larger problems are launched in several goes.
constexpr std::size_t MaximumHistogramBytes = std::size_t{ 64 } << 20;

// So many copies of a group's histogram, as long as they leave local memory for other groups.
constexpr int         MaximumHistogramCopies = 4;
constexpr std::size_t CopiesBytes = std::size_t{ 48 } << 10;

// With fewer, a chunk's histogram costs more to clear, keep and sum than its samples to count. No more, since up to here
// the histogram's unit is the finest: in units of 2^-20, sparse histograms miss ITK's derivative by more than 1e-4.
constexpr int LeastSamplesPerChunk = 1024;

// The marginals of so many bins fit into the local memory of every GPU.
constexpr int MaximumBins = 4096;

int
CheckedBins(int bins)
{
  if (bins <= 2 * kernels::HistogramPadding || bins > MaximumBins)
  {
    throw BadInputError("a joint histogram has 5 to " + std::to_string(MaximumBins) + " bins, not " +
                        std::to_string(bins) + "; set another number of bins");
  }
  return bins;
}

/** One count of the histogram: as fine as a chunk's 32-bit counts allow; beyond 2^22 a float's own rounding is coarser. */
float
FindCountUnit(const kernels::SampleArguments & a, int lanes)
{
  if (a.variant & kernels::SamplesArePrecise)
  {
    return GPUREG_PRECISE_COUNT_UNIT;
  }
  float unit = 1 << 18;
  for (int samples = lanes * a.tileDepth; 2 * samples <= kernels::MaximumSamplesPerChunk && unit < 1 << 22;
       samples *= 2)
  {
    unit *= 2;
  }
  return unit;
}

/** How large an evaluation's arrays are, and how many launches pass 1 takes. */
struct Extent
{
  int         chunks = 0;
  int         chunksPerLaunch = 0;
  std::size_t cells = 0;
  std::size_t histogramBytes = 0; // of a chunk
  std::size_t partials = 0;       // floats: the chunks' sums of forces
  std::size_t forceBytes = 0;     // of all samples

  std::size_t
  GetSumBytes() const
  {
    return cells * sizeof(kernels::u64) + partials * sizeof(float);
  }
};
} // namespace

class MattesMetric::Implementation
{
public:
  Implementation(Core & ofMetric, int numberOfBins)
    : core(ofMetric)
    , passes(core.queue->CreateMattesPasses())
    , bins(numberOfBins)
  {
    arrays.samples = &core.samples.GetArrays();
    core.readsQuads = passes->GetGrain().readsQuads;
    core.ownArrays = { &arrays.chunkHistograms, &arrays.sums, &arrays.table, &arrays.forces };
  }

  const Backend &
  GetBackend() const
  {
    return core.GetBackend();
  }

  void
  SetArguments(const SampleMapping & mapping, Forces forces, bool normalized)
  {
    const SampleGrain   grain = passes->GetGrain();
    const MovingImage & moving = core.samples.GetMoving();
    const double        rangeEnd = bins - 2 * kernels::HistogramPadding;
    const SampleProblem problem = core.samples.MakeProblem(
      mapping, forces, grain, { LeastSamplesPerChunk, kernels::MaximumSamplesPerChunk, rangeEnd });
    maps = problem.maps;
    arguments = {};
    kernels::MattesArguments & a = arguments;
    a.samples = problem.arguments;
    a.bins = bins;
    a.rangeEnd = static_cast<float>(rangeEnd);
    a.lastWhole = a.rangeEnd - 1.0f;
    a.acceptBegin = static_cast<float>(-moving.slackBelow);
    a.acceptEnd = static_cast<float>(rangeEnd + moving.slackAbove);
    a.countUnit = FindCountUnit(a.samples, grain.lanes);
    a.normalized = normalized;
    const std::size_t rowBytes = static_cast<std::size_t>(bins) * kernels::CellBytes(a.samples.variant);
    a.bandRows = static_cast<int>(std::clamp<std::size_t>(grain.localBytes / rowBytes, 1, bins));
    a.histogramCopies = MaximumHistogramCopies;
    while (a.histogramCopies > 1 && rowBytes * a.histogramCopies * a.bandRows > std::min(grain.localBytes, CopiesBytes))
    {
      a.histogramCopies /= 2;
    }
  }

  void
  SetExtent(Forces forces)
  {
    const kernels::MattesArguments & a = arguments;
    extent = {};
    extent.chunks = kernels::ChunkCount(&a.samples);
    extent.cells = static_cast<std::size_t>(bins) * bins;
    extent.histogramBytes = extent.cells * kernels::CellBytes(a.samples.variant);
    extent.chunksPerLaunch =
      static_cast<int>(std::clamp<std::size_t>(MaximumHistogramBytes / extent.histogramBytes, 1, extent.chunks));
    if (forces == Forces::Summed)
    {
      extent.partials = SampleSet::CountPartials(a.samples, (bins + a.bandRows - 1) / a.bandRows);
    }
    else if (forces == Forces::OfEachSample)
    {
      extent.forceBytes = 3 * sizeof(float) * static_cast<std::size_t>(core.samples.GetCount());
    }
  }

  void
  Prepare(const SampleMapping & mapping, Forces forces, bool normalized)
  {
    Queue & queue = *core.queue;
    SetArguments(mapping, forces, normalized);
    passes->Prepare(arguments.samples.variant);
    SetExtent(forces);
    core.samples.SendMapping(mapping);
    ReserveExactly(queue,
                   arrays.chunkHistograms,
                   static_cast<std::size_t>(extent.chunksPerLaunch) * extent.histogramBytes);
    Reserve(queue, arrays.sums, extent.GetSumBytes());
    if (forces != Forces::None)
    {
      ReserveExactly(queue, arrays.table, extent.histogramBytes);
    }
    if (forces == Forces::OfEachSample)
    {
      ReserveExactly(queue, arrays.forces, extent.forceBytes);
    }
  }

  void
  EnqueuePasses(Forces forces)
  {
    for (int first = 0; first < extent.chunks; first += extent.chunksPerLaunch)
    {
      const int now = std::min(extent.chunksPerLaunch, extent.chunks - first);
      passes->Histogram(arguments, maps, arrays, first, now);
      passes->SumHistograms(arguments, arrays, now, first > 0);
    }
    if (forces != Forces::None)
    {
      passes->Table(arguments, arrays);
      passes->FindForces(arguments, maps, arrays);
    }
  }

  MattesResult
  BringResult(Forces forces)
  {
    Queue &           queue = *core.queue;
    MattesResult      result;
    const std::size_t histogramBytes = extent.cells * sizeof(kernels::u64);
    char * const      staging = static_cast<char *>(queue.GetStaging(Direction::Down, 0, extent.GetSumBytes()));
    queue.Download(staging, *arrays.sums, extent.GetSumBytes());
    if (forces == Forces::Summed)
    {
      const auto * partials = reinterpret_cast<const float *>(staging + histogramBytes);
      static_cast<ForceResult &>(result) = core.samples.SumPartials(arguments.samples, partials, extent.partials);
    }
    result.histogram.resize(extent.cells);
    std::memcpy(result.histogram.data(), staging, histogramBytes);
    result.countUnit = arguments.countUnit;
    if (forces == Forces::OfEachSample)
    {
      result.forces = core.BringForces(*arrays.forces);
    }
    else
    {
      queue.GiveStagingBack();
    }
    return result;
  }

  Core &                        core;
  std::unique_ptr<MattesPasses> passes;
  const int                     bins;
  MattesArrays                  arrays;
  kernels::MattesArguments      arguments{};
  kernels::SampleMaps           maps{};
  Extent                        extent;
};

MattesMetric::MattesMetric(const std::string & deviceName, int bins)
  : Metric(std::make_unique<Core>(deviceName))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), CheckedBins(bins)))
{}

MattesMetric::~MattesMetric()
{
  FreeUnlessForked(m_Implementation);
}

int
MattesMetric::GetNumberOfBins() const
{
  return m_Implementation->bins;
}

MattesResult
MattesMetric::Evaluate(const SampleMapping & mapping, Forces forces, bool normalized, const ParallelFor & parallelFor)
{
  Implementation & self = *m_Implementation;
  return GetCore().Evaluate(
    parallelFor,
    [&] { self.Prepare(mapping, forces, normalized); },
    [&] { self.EnqueuePasses(forces); },
    [&] { return self.BringResult(forces); });
}

} // namespace gpureg
