// SPDX-License-Identifier: Apache-2.0
#include "gpureg/MattesMetric.h"

#include "Backend.h"
#include "MattesPasses.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace gpureg
{

namespace
{
// What the slabs of one launch may take; larger problems are launched in several goes.
constexpr std::size_t MaximumSlabBytes = std::size_t{ 64 } << 20;

// So many copies of a group's histogram, as long as they leave local memory for other groups.
constexpr int         MaximumHistogramCopies = 4;
constexpr std::size_t CopiesBytes = std::size_t{ 48 } << 10;

// With fewer, a chunk's slab costs more to clear, keep and sum than its samples to count. No more, since up to here
// the histogram's unit is the finest: in units of 2^-20, sparse histograms miss ITK's derivative by more than 1e-4.
constexpr int LeastSamplesPerChunk = 1024;

// The marginals of so many bins fit into the local memory of every GPU.
constexpr int MaximumBins = 4096;

int
CheckedBins(int bins)
{
  if (bins <= 2 * kernels::HistogramPadding || bins > MaximumBins)
  {
    throw Error("a joint histogram has 5 to " + std::to_string(MaximumBins) + " bins, not " + std::to_string(bins) +
                "; set another number of bins");
  }
  return bins;
}

kernels::AffineMap
ToKernel(const IndexMap & map)
{
  kernels::AffineMap result;
  std::copy(map.matrix.begin(), map.matrix.end(), result.m);
  std::copy(map.offset.begin(), map.offset.end(), result.t);
  return result;
}

/** \throws Error if a volume has more rows, or more voxels in a slice, than 32 bits count. */
void
CheckSize(const Size & size, const char * what)
{
  const std::int64_t most = std::numeric_limits<int>::max();
  if (static_cast<std::int64_t>(size[0]) * size[1] > most || static_cast<std::int64_t>(size[1]) * size[2] > most)
  {
    throw Error(std::string(what) + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                std::to_string(size[2]) + " voxels has more rows, or more voxels in a slice, than " +
                std::to_string(most) + "; register a part of it, or a smaller image");
  }
}

kernels::VolumeShape
MakeShape(const Size & size)
{
  return kernels::MakeVolumeShape(size[0], size[1], size[2]);
}

/** Each voxel with its neighbours along x, y and both: see kernels::InterpolateQuads. */
Filler
MakeQuadFiller(const MattesMovingSide & side)
{
  return [&side](std::int64_t first, std::int64_t count, void * out) {
    const std::int64_t sizeX = side.size[0];
    const std::int64_t sizeY = side.size[1];
    const std::int64_t end = std::min(CountOf(side.size), first + count + sizeX + 1);
    std::vector<float> values(static_cast<std::size_t>(end - first));
    side.values(first, end - first, values.data());
    auto * const quads = static_cast<kernels::float4 *>(out);
    for (std::int64_t i = 0; i < count; ++i)
    {
      const std::int64_t x = (first + i) % sizeX + 1 < sizeX ? 1 : 0;
      const std::int64_t y = (first + i) / sizeX % sizeY + 1 < sizeY ? sizeX : 0;
      quads[i] = { values[i], values[i + x], values[i + y], values[i + y + x] };
    }
  };
}

int
DividedUp(std::int64_t a, std::int64_t b)
{
  return static_cast<int>((a + b - 1) / b);
}

/** Folds a grid of one slice into slices as high as a tile, which lanes can walk along. The fold's height is a
 *  power of two: the map is not rounded. */
void
FoldSlice(kernels::MattesArguments & a, const MattesGrain & grain)
{
  const int rows = a.virtualShape.size[1];
  const int height = grain.lanes / kernels::TileWidth;
  a.missingRows = 0;
  if ((a.variant & kernels::MattesSamplesArePoints) || a.virtualShape.size[2] > 1 || rows <= height)
  {
    return;
  }
  const int slices = DividedUp(rows, height);
  a.virtualShape = kernels::MakeVolumeShape(a.virtualShape.size[0], height, slices);
  a.missingRows = slices * height - rows;
  for (int r = 0; r < 3; ++r)
  {
    a.toMoving.m[3 * r + 2] = static_cast<float>(height) * a.toMoving.m[3 * r + 1];
  }
  a.centre[2] = std::floor(a.centre[1] / static_cast<float>(height));
  a.centre[1] -= static_cast<float>(height) * a.centre[2];
}

/** Sums over a folded slice in terms of its own rows: y = y' + height·z'. */
void
UnfoldSums(const kernels::MattesArguments & a, const Size & virtualSize, MattesResult & result)
{
  if (a.virtualShape.size[2] == virtualSize[2])
  {
    return;
  }
  const int height = a.virtualShape.size[1];
  for (int c = 0; c < 3; ++c)
  {
    result.forceSums[6 + c] += height * result.forceSums[9 + c];
    result.forceSums[9 + c] = 0;
  }
  result.centre[1] += height * result.centre[2];
  result.centre[2] = 0;
}

/** Cuts the samples into chunks: enough of them to fill the device, none larger than the histogram's
 *  32-bit counts allow, few smaller than what pays for a slab of its own, and of even depth. Chooses the
 *  histogram's unit to match. */
void
Partition(kernels::MattesArguments & a, const MattesGrain & grain)
{
  const int          deepest = kernels::MaximumSamplesPerChunk / grain.lanes;
  const int          least = std::clamp(LeastSamplesPerChunk / grain.lanes, 1, deepest);
  const bool         points = a.variant & kernels::MattesSamplesArePoints;
  const int          tilesX = points ? 1 : DividedUp(a.virtualShape.size[0], kernels::TileWidth);
  const int          tilesY = points ? 1 : DividedUp(a.virtualShape.size[1], grain.lanes / kernels::TileWidth);
  const std::int64_t depth = points ? DividedUp(a.pointCount, grain.lanes) : a.virtualShape.size[2];
  const std::int64_t tiles = static_cast<std::int64_t>(tilesX) * tilesY;
  const std::int64_t wanted =
    std::max<std::int64_t>(DividedUp(depth, deepest),
                           std::min<std::int64_t>(DividedUp(depth, least), grain.targetChunks / tiles));
  a.tileDepth = std::max(1, DividedUp(depth, std::max<std::int64_t>(1, wanted)));
  a.tileCount[0] = tilesX;
  a.tileCount[1] = tilesY;
  a.tileCount[2] = DividedUp(depth, a.tileDepth);

  // As fine as a chunk's 32-bit counts allow; beyond 2^22 a float's own rounding is coarser.
  a.countUnit = 1 << 18;
  for (int samples = grain.lanes * a.tileDepth; 2 * samples <= kernels::MaximumSamplesPerChunk && a.countUnit < 1 << 22;
       samples *= 2)
  {
    a.countUnit *= 2;
  }
}
} // namespace

class MattesMetric::Implementation
{
public:
  Implementation(const std::string & deviceName, int bins)
    : backend(GetBackend(deviceName))
    , queue(backend->CreateQueue())
    , passes(queue->CreateMattesPasses())
  {
    arguments.bins = bins;
  }

  /** The array with room for so many bytes: the one there is, if it has the size. */
  void
  Reserve(MemoryPointer & array, std::size_t bytes)
  {
    if (bytes == 0)
    {
      array.reset();
    }
    else if (!array || array->GetSize() != bytes)
    {
      array.reset();
      array = queue->Allocate(bytes);
    }
  }

  void
  Fill(MemoryPointer & array, std::size_t elementSize, std::int64_t count, const Filler & filler)
  {
    Reserve(array, filler ? elementSize * static_cast<std::size_t>(count) : 0);
    if (filler)
    {
      FillArray(*queue, *array, 0, elementSize, count, filler);
    }
  }

  std::int64_t
  GetSampleCount() const
  {
    return fixedSide.pointCount > 0 ? fixedSide.pointCount : CountOf(fixedSide.virtualSize);
  }

  int
  GetVariant(const MattesMapping & mapping, MattesDerivative derivative) const
  {
    return (fixedSide.pointCount > 0 ? kernels::MattesSamplesArePoints : 0) |
           (mapping.displacement ? kernels::MattesHasDisplacement : 0) |
           (movingSide.mask ? kernels::MattesHasMovingMask : 0) |
           (movingSide.gradient ? 0 : kernels::MattesGradientByDifferences) |
           (movingSide.splineOrder != 1 ? kernels::MattesInterpolatesSpline : 0) |
           (movingSide.checksRange ? kernels::MattesChecksRange : 0) |
           (derivative == MattesDerivative::Forces ? kernels::MattesWritesForces : 0) |
           (arrays.quads ? kernels::MattesReadsQuads : 0);
  }

  void
  SetArguments(const MattesMapping & mapping, MattesDerivative derivative, bool normalized)
  {
    kernels::MattesArguments & a = arguments;
    a.toMoving = ToKernel(mapping.toMoving);
    a.toMask = ToKernel(movingSide.toMask);
    std::copy(mapping.displacementToIndex.begin(), mapping.displacementToIndex.end(), a.displacementToIndex);
    std::copy(movingSide.differenceStep.begin(), movingSide.differenceStep.end(), a.differenceStep);
    std::copy(movingSide.inverseSpacing.begin(), movingSide.inverseSpacing.end(), a.inverseSpacing);
    a.virtualShape = MakeShape(fixedSide.virtualSize);
    a.movingShape = MakeShape(movingSide.size);
    a.maskShape = MakeShape(movingSide.maskSize);
    a.rangeEnd = static_cast<float>(a.bins - 2 * kernels::HistogramPadding);
    a.lastWhole = a.rangeEnd - 1.0f;
    a.acceptBegin = static_cast<float>(-movingSide.slackBelow);
    a.acceptEnd = static_cast<float>(a.bins - 2 * kernels::HistogramPadding + movingSide.slackAbove);
    for (int d = 0; d < 3; ++d)
    {
      a.centre[d] = static_cast<float>(fixedSide.virtualSize[d] / 2);
    }
    a.pointCount = static_cast<int>(fixedSide.pointCount);
    a.splineOrder = movingSide.splineOrder;
    a.variant = GetVariant(mapping, derivative);
    a.normalized = normalized;
    const MattesGrain grain = passes->GetGrain();
    a.bandRows = static_cast<int>(std::clamp<std::size_t>(grain.localBytes / (sizeof(float) * a.bins), 1, a.bins));
    a.histogramCopies = MaximumHistogramCopies;
    while (a.histogramCopies > 1 &&
           sizeof(kernels::u32) * a.histogramCopies * a.bandRows * a.bins > std::min(grain.localBytes, CopiesBytes))
    {
      a.histogramCopies /= 2;
    }
    FoldSlice(a, grain);
    Partition(a, grain);
  }

  int
  GetBandCount() const
  {
    return DividedUp(arguments.bins, arguments.bandRows);
  }

  std::shared_ptr<Backend>      backend;
  std::unique_ptr<Queue>        queue;
  std::unique_ptr<MattesPasses> passes;
  // Their fillers are not called again, they only say what there is.
  MattesFixedSide          fixedSide;
  MattesMovingSide         movingSide;
  MattesArrays             arrays;
  kernels::MattesArguments arguments{};
  bool                     timing = false;
};

MattesMetric::MattesMetric(const std::string & deviceName, int bins)
  : m_Implementation(std::make_unique<Implementation>(deviceName, CheckedBins(bins)))
{}

MattesMetric::~MattesMetric() = default;

const std::string &
MattesMetric::GetDeviceName() const
{
  return m_Implementation->backend->GetDescription().name;
}

int
MattesMetric::GetNumberOfBins() const
{
  return m_Implementation->arguments.bins;
}

void
MattesMetric::SetFixedSide(const MattesFixedSide & side, const ParallelFor & parallelFor)
{
  Implementation & self = *m_Implementation;
  if (side.pointCount > std::numeric_limits<int>::max())
  {
    throw Error("a sampled point set may hold 2147483647 points, not " + std::to_string(side.pointCount) +
                "; sample every voxel instead");
  }
  CheckSize(side.virtualSize, "a virtual domain");
  self.queue->parallelFor = parallelFor;
  self.fixedSide = {};
  const std::int64_t count = side.pointCount > 0 ? side.pointCount : CountOf(side.virtualSize);
  self.Fill(self.arrays.fixedBins, sizeof(kernels::u16), count, side.bins);
  self.Fill(self.arrays.points, 3 * sizeof(float), side.pointCount, side.points);
  self.fixedSide = side;
}

void
MattesMetric::SetMovingSide(const MattesMovingSide & side, const ParallelFor & parallelFor)
{
  Implementation & self = *m_Implementation;
  CheckSize(side.size, "a moving image");
  CheckSize(side.maskSize, "a moving mask");
  self.queue->parallelFor = parallelFor;
  self.movingSide = {};
  const std::int64_t count = CountOf(side.size);
  MattesArrays &     arrays = self.arrays;
  // Nearest-voxel interpolation reads the values themselves; linear interpolation quads, where the device
  // wants them; a spline only its coefficients, but for central differences.
  const bool interpolates = side.splineOrder == 1 || !side.gradient;
  const bool readsQuads = interpolates && self.passes->GetGrain().readsQuads;
  const bool readsValues = (interpolates && !readsQuads) || side.splineOrder == 0;
  self.Fill(arrays.moving, sizeof(float), count, readsValues ? side.values : Filler());
  self.Fill(arrays.quads, sizeof(kernels::float4), count, readsQuads ? MakeQuadFiller(side) : Filler());
  self.Fill(arrays.coefficients, sizeof(float), count, side.coefficients);
  self.Fill(arrays.mask, 1, CountOf(side.maskSize), side.mask);
  Filler packed;
  if (side.gradient)
  {
    // Gradient and value side by side: the second pass then reads both with eight 16-byte loads.
    packed = [&side](std::int64_t first, std::int64_t number, void * out) {
      auto *             voxels = static_cast<kernels::float4 *>(out);
      std::vector<float> gradient(3 * static_cast<std::size_t>(number));
      std::vector<float> values(static_cast<std::size_t>(number));
      side.gradient(first, number, gradient.data());
      side.values(first, number, values.data());
      for (std::size_t i = 0; i < values.size(); ++i)
      {
        voxels[i] = { gradient[3 * i], gradient[3 * i + 1], gradient[3 * i + 2], values[i] };
      }
    };
  }
  self.Fill(arrays.gradient, sizeof(kernels::float4), count, packed);
  self.movingSide = side;
}

MattesResult
MattesMetric::Evaluate(const MattesMapping & mapping,
                       MattesDerivative      derivative,
                       bool                  normalized,
                       const ParallelFor &   parallelFor)
{
  const auto       started = std::chrono::steady_clock::now();
  Implementation & self = *m_Implementation;
  if (!self.arrays.fixedBins || !self.fixedSide.bins || !self.movingSide.values)
  {
    throw Error("an image is missing: set the fixed and the moving side first");
  }
  Queue &        queue = *self.queue;
  MattesArrays & arrays = self.arrays;
  queue.parallelFor = parallelFor;
  queue.statistics = {};
  self.SetArguments(mapping, derivative, normalized);
  const kernels::MattesArguments & a = self.arguments;
  const std::int64_t               samples = self.GetSampleCount();
  const int                        chunks = kernels::ChunkCount(&a);
  const std::size_t                cells = static_cast<std::size_t>(a.bins) * a.bins;
  const int                        chunksPerLaunch =
    static_cast<int>(std::clamp<std::size_t>(MaximumSlabBytes / (cells * sizeof(kernels::u32)), 1, chunks));
  const bool        sumsForces = derivative == MattesDerivative::ForceSums;
  const std::size_t partialCount =
    sumsForces ? static_cast<std::size_t>(chunks) * self.GetBandCount() * kernels::ForceSumCount : 0;
  const std::size_t sumBytes = cells * sizeof(kernels::u64) + partialCount * sizeof(float);

  self.passes->Prepare(a.variant);
  if (mapping.displacement)
  {
    self.Fill(arrays.displacement, 3 * sizeof(float), CountOf(self.fixedSide.virtualSize), mapping.displacement);
  }
  self.Reserve(arrays.slabs, static_cast<std::size_t>(chunksPerLaunch) * cells * sizeof(kernels::u32));
  if (!arrays.sums || arrays.sums->GetSize() < sumBytes)
  {
    self.Reserve(arrays.sums, sumBytes);
  }
  if (derivative != MattesDerivative::None)
  {
    self.Reserve(arrays.table, cells * sizeof(float));
  }
  if (derivative == MattesDerivative::Forces)
  {
    self.Reserve(arrays.forces, 3 * sizeof(float) * static_cast<std::size_t>(samples));
  }

  if (self.timing)
  {
    queue.StartTimer();
  }
  for (int first = 0; first < chunks; first += chunksPerLaunch)
  {
    const int now = std::min(chunksPerLaunch, chunks - first);
    self.passes->Histogram(a, arrays, first, now);
    self.passes->SumSlabs(a, arrays, now, first > 0);
  }
  if (derivative != MattesDerivative::None)
  {
    self.passes->Table(a, arrays);
    self.passes->Forces(a, arrays);
  }
  if (self.timing)
  {
    queue.StopTimer();
  }

  MattesResult result;
  char *       staging = static_cast<char *>(queue.GetStaging(Direction::Down, 0, sumBytes));
  queue.Download(staging, *arrays.sums, sumBytes);
  result.histogram.resize(cells);
  std::memcpy(result.histogram.data(), staging, cells * sizeof(kernels::u64));
  result.countUnit = a.countUnit;
  if (sumsForces)
  {
    const auto * partials = reinterpret_cast<const float *>(staging + cells * sizeof(kernels::u64));
    for (std::size_t i = 0; i < partialCount; ++i)
    {
      result.forceSums[i % kernels::ForceSumCount] += partials[i];
    }
    std::copy(a.centre, a.centre + 3, result.centre.begin());
    UnfoldSums(a, self.fixedSide.virtualSize, result);
  }
  else if (derivative == MattesDerivative::Forces)
  {
    const std::size_t bytes = 3 * sizeof(float) * static_cast<std::size_t>(samples);
    void *            direct = queue.GetHostAddress(*arrays.forces);
    if (!direct)
    {
      direct = queue.GetStaging(Direction::Down, 0, bytes);
      queue.Download(direct, *arrays.forces, bytes);
    }
    result.forces = static_cast<const float *>(direct);
  }
  if (self.timing)
  {
    queue.statistics.kernelMilliseconds = queue.ReadTimer();
  }
  queue.statistics.evaluateMilliseconds =
    std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  return result;
}

void
MattesMetric::SetTiming(bool on)
{
  m_Implementation->timing = on;
}

EvaluationStatistics
MattesMetric::GetStatistics() const
{
  EvaluationStatistics statistics = m_Implementation->queue->statistics;
  const MattesArrays & arrays = m_Implementation->arrays;
  for (const MemoryPointer * array : { &arrays.fixedBins,
                                       &arrays.points,
                                       &arrays.displacement,
                                       &arrays.moving,
                                       &arrays.quads,
                                       &arrays.coefficients,
                                       &arrays.gradient,
                                       &arrays.mask,
                                       &arrays.slabs,
                                       &arrays.sums,
                                       &arrays.table,
                                       &arrays.forces })
  {
    statistics.deviceBytes += *array ? static_cast<std::int64_t>((*array)->GetSize()) : 0;
  }
  return statistics;
}

} // namespace gpureg
