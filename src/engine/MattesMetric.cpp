// SPDX-License-Identifier: Apache-2.0
#include "gpureg/MattesMetric.h"

#include "Backend.h"
#include "FixedPoint.h"
#include "MattesPasses.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
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

/** \throws Error if a volume has more rows, or more voxels in a slice, than 32 bits count. */
void
CheckSize(const Size & size, const char * what)
{
  const std::int64_t most = std::numeric_limits<int>::max();
  if (static_cast<std::int64_t>(size[0]) * size[1] > most || static_cast<std::int64_t>(size[1]) * size[2] > most)
  {
    throw UnsupportedError(std::string(what) + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) +
                           " x " + std::to_string(size[2]) + " voxels has more rows, or more voxels in a slice, than " +
                           std::to_string(most) + "; register a part of it, or a smaller image");
  }
}

kernels::VolumeShape
MakeShape(const Size & size)
{
  return kernels::MakeVolumeShape(size[0], size[1], size[2]);
}

// A map that leads no further keeps a position's 64 bits from overflowing, with a displacement of 2^30 voxels.
constexpr double FarthestVoxel = 1 << 29;

/** How far a map leads, at most, from indices up to reach. */
double
FindFarthest(const IndexMap & map, double reach)
{
  double farthest = 1;
  for (std::size_t r = 0; r < 3; ++r)
  {
    farthest += std::abs(map.offset[r]);
    for (std::size_t c = 0; c < 3; ++c)
    {
      farthest += std::abs(map.matrix[3 * r + c]) * reach;
    }
  }
  return farthest;
}

/** ToFixedMap, but of a map that leads further than FarthestVoxel, or is not a number, one that leads out of the volume. */
kernels::FixedMap
ToFixedMapWithin(const IndexMap & map, double farthest, int bits)
{
  if (farthest < FarthestVoxel)
  {
    return ToFixedMap(map, bits);
  }
  IndexMap out;
  out.matrix = {};
  out.offset = { -FarthestVoxel, 0, 0 };
  return ToFixedMap(out, bits);
}

/** Points in fixed point. Those that are further away than FarthestVoxel, or not a number, are in no image: they are
 *  written as 0, and left out. */
class PointFiller
{
public:
  explicit PointFiller(const Filler & points)
    : m_Points(points)
  {}

  void
  operator()(std::int64_t first, std::int64_t count, void * out)
  {
    std::vector<double> indices(3 * static_cast<std::size_t>(count));
    m_Points(first, count, indices.data());
    double                    farthest = 0;
    std::vector<std::int64_t> leftOut;
    auto *                    result = static_cast<kernels::i64 *>(out);
    for (std::int64_t i = 0; i < count; ++i, result += 3)
    {
      const double * const index = &indices[3 * i];
      const bool isNearEnough = std::all_of(index, index + 3, [](double x) { return std::abs(x) < FarthestVoxel; });
      for (int d = 0; d < 3; ++d)
      {
        result[d] = isNearEnough ? ToFixedPoint(index[d]) : 0;
        farthest = isNearEnough ? std::max(farthest, std::abs(index[d])) : farthest;
      }
      if (!isNearEnough)
      {
        leftOut.push_back(first + i);
      }
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Farthest = std::max(m_Farthest, farthest);
    m_LeftOut.insert(leftOut.begin(), leftOut.end());
  }

  /** The largest index of any of them. */
  double
  GetFarthest() const
  {
    return m_Farthest;
  }

  /** The points' fixed bins, but none of those that were left out. */
  Filler
  MakeBinFiller(const Filler & bins) const
  {
    return [this, &bins](std::int64_t first, std::int64_t count, void * out) {
      bins(first, count, out);
      for (auto it = m_LeftOut.lower_bound(first); it != m_LeftOut.end() && *it < first + count; ++it)
      {
        static_cast<kernels::u16 *>(out)[*it - first] = kernels::InvalidBin;
      }
    };
  }

private:
  const Filler &         m_Points;
  std::mutex             m_Mutex;
  double                 m_Farthest = 0;
  std::set<std::int64_t> m_LeftOut;
};

// B-spline coefficients are up to 2^9 times the values; so large they may be without overflowing in their sums.
constexpr int CoefficientBits = 9;
constexpr int MostValueBits = 60;

/** Values are integers in units of 2^-exponent. The range has 46 bits, but fewer, 31 at least, where values or coefficients
 *  lie far outside of it; or where values are rounded to float and it lies far from 0. */
int
FindValueExponent(const MattesMovingSide & side)
{
  const int rangeExponent = std::ilogb(side.range);
  int       exponent =
    std::min(46 - rangeExponent, MostValueBits - CoefficientBits - std::ilogb(std::max(side.largest, side.range)));
  if (side.roundsToFloat && side.minimum != 0)
  {
    exponent = std::min(exponent, MostValueBits - std::ilogb(side.minimum));
  }
  return std::max(exponent, 31 - rangeExponent);
}

/** A filler of values as such integers; a NaN is as the least. */
Filler
MakeIntegerFiller(const Filler & values, int exponent)
{
  return [&values, exponent](std::int64_t first, std::int64_t count, void * out) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    values(first, count, numbers.data());
    const double most = std::ldexp(1.0, MostValueBits);
    std::transform(numbers.begin(), numbers.end(), static_cast<kernels::i64 *>(out), [=](double value) {
      const double scaled = std::ldexp(value, exponent);
      return static_cast<kernels::i64>(std::llround(scaled > -most ? std::min(scaled, most) : -most));
    });
  };
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

/** Takes a grid of one slice for a stack of slices as high as a tile, which lanes can walk along. The height is a power of
 *  two: the map is not rounded. */
void
StackSlice(kernels::MattesArguments & a, kernels::MattesMaps & maps, const MattesGrain & grain)
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
    maps.toMoving.row[4 * r + 2] = height * maps.toMoving.row[4 * r + 1];
  }
  a.centre[2] = std::floor(a.centre[1] / static_cast<float>(height));
  a.centre[1] -= static_cast<float>(height) * a.centre[2];
}

/** Sums over a stacked slice in terms of its own rows: y = y' + height·z'. */
void
UnstackSums(const kernels::MattesArguments & a, const Size & virtualSize, MattesResult & result)
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
 *  32-bit counts allow, few smaller than what pays for a histogram of its own, and of even depth. Chooses the
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
  if (a.variant & kernels::MattesIsPrecise)
  {
    a.countUnit = GPUREG_PRECISE_COUNT_UNIT;
    return;
  }
  a.countUnit = 1 << 18;
  for (int samples = grain.lanes * a.tileDepth; 2 * samples <= kernels::MaximumSamplesPerChunk && a.countUnit < 1 << 22;
       samples *= 2)
  {
    a.countUnit *= 2;
  }
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
  Implementation(const std::string & deviceName, int bins)
    : backend(gpureg::GetBackend(deviceName))
    , queue(backend->CreateQueue())
    , passes(queue->CreateMattesPasses())
  {
    arguments.bins = bins;
  }

  const Backend &
  GetBackend() const
  {
    return *backend;
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

  void
  FillMovingSide(const MattesMovingSide & side)
  {
    const std::int64_t count = CountOf(side.size);
    // Nearest-voxel interpolation reads the values themselves; linear interpolation quads, where the device
    // wants them; a spline only its coefficients, but for central differences.
    const bool interpolates = side.splineOrder == 1 || !side.gradient;
    const bool isPrecise = side.precision == Precision::Double;
    const bool readsQuads = interpolates && !isPrecise && passes->GetGrain().readsQuads;
    const bool readsValues = (interpolates && !readsQuads) || side.splineOrder == 0;
    const auto kept = [&](const Filler & filler) {
      return isPrecise && filler ? MakeIntegerFiller(filler, FindValueExponent(side)) : filler;
    };
    Fill(arrays.moving, BytesOf(side.precision), count, readsValues ? kept(side.values) : Filler());
    Fill(arrays.quads, sizeof(kernels::float4), count, readsQuads ? MakeQuadFiller(side) : Filler());
    Fill(arrays.coefficients, BytesOf(side.precision), count, kept(side.coefficients));
    Fill(arrays.mask, 1, CountOf(side.maskSize), side.mask);
    Filler packed;
    if (side.gradient)
    {
      // Gradient and value side by side: the second pass then reads both with eight 16-byte loads.
      packed = [&side, isPrecise](std::int64_t first, std::int64_t number, void * out) {
        auto *             voxels = static_cast<kernels::float4 *>(out);
        std::vector<float> gradient(3 * static_cast<std::size_t>(number));
        std::vector<float> values(static_cast<std::size_t>(number));
        side.gradient(first, number, gradient.data());
        if (!isPrecise)
        {
          side.values(first, number, values.data());
        }
        for (std::size_t i = 0; i < values.size(); ++i)
        {
          voxels[i] = { gradient[3 * i], gradient[3 * i + 1], gradient[3 * i + 2], values[i] };
        }
      };
    }
    Fill(arrays.gradient, sizeof(kernels::float4), count, packed);
  }

  std::int64_t
  GetSampleCount() const
  {
    return fixedSide.pointCount > 0 ? fixedSide.pointCount : CountOf(fixedSide.virtualSize);
  }

  bool
  IsPrecise() const
  {
    return fixedSide.precision == Precision::Double;
  }

  int
  GetVariant(const MattesMapping & mapping, MattesDerivative derivative) const
  {
    return (IsPrecise() ? kernels::MattesIsPrecise : 0) |
           (fixedSide.pointCount > 0 ? kernels::MattesSamplesArePoints : 0) |
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
    std::copy(mapping.displacementToIndex.begin(), mapping.displacementToIndex.end(), a.displacementToIndex);
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
    SetMaps(mapping);
    const MattesGrain grain = passes->GetGrain();
    const std::size_t rowBytes = static_cast<std::size_t>(a.bins) * kernels::CellBytes(a.variant);
    a.bandRows = static_cast<int>(std::clamp<std::size_t>(grain.localBytes / rowBytes, 1, a.bins));
    a.histogramCopies = MaximumHistogramCopies;
    while (a.histogramCopies > 1 && rowBytes * a.histogramCopies * a.bandRows > std::min(grain.localBytes, CopiesBytes))
    {
      a.histogramCopies /= 2;
    }
    StackSlice(a, maps, grain);
    Partition(a, grain);
  }

  void
  SetMaps(const MattesMapping & mapping)
  {
    const Size & size = fixedSide.virtualSize;
    const double reach = std::max<double>(farthestPoint, *std::max_element(size.begin(), size.end()));
    const double farthest = FindFarthest(mapping.toMoving, reach);
    maps = {};
    maps.guardBits = IsPrecise() && farthest < FarthestVoxel ? 29 - std::ilogb(farthest) : 0;
    maps.toMoving = ToFixedMapWithin(mapping.toMoving, farthest, 32 + maps.guardBits);
    const Size & movingSize = movingSide.size;
    const double movingReach = *std::max_element(movingSize.begin(), movingSize.end());
    maps.toMask = ToFixedMapWithin(movingSide.toMask, FindFarthest(movingSide.toMask, movingReach), 32);
    std::transform(movingSide.differenceStep.begin(),
                   movingSide.differenceStep.end(),
                   maps.differenceStep,
                   [](double step) { return ToFixedPoint(step); });
    if (IsPrecise())
    {
      SetPreciseValues();
    }
  }

  void
  SetPreciseValues()
  {
    const int exponent = FindValueExponent(movingSide);
    maps.range = std::llround(std::ldexp(movingSide.range, exponent));
    maps.minimum = movingSide.roundsToFloat ? std::llround(std::ldexp(movingSide.minimum, exponent)) : 0;
    maps.roundsToFloat = movingSide.roundsToFloat;
    const double bins = arguments.bins - 2 * kernels::HistogramPadding;
    maps.unitsToBins = static_cast<float>(bins / static_cast<double>(maps.range));
    maps.binsPerUnit = std::llround(std::ldexp(bins / static_cast<double>(maps.range), 80));
  }

  /** \throws Error unless both sides are there, in one precision. */
  void
  CheckSides() const
  {
    if (!arrays.fixedBins || !fixedSide.bins || !movingSide.values)
    {
      throw BadInputError("an image is missing: set the fixed and the moving side first");
    }
    if (fixedSide.precision != movingSide.precision)
    {
      throw BadInputError("the fixed and the moving side are of different precision: set the moving side again");
    }
  }

  Extent
  FindExtent(MattesDerivative derivative) const
  {
    const kernels::MattesArguments & a = arguments;
    Extent                           extent;
    extent.chunks = kernels::ChunkCount(&a);
    extent.cells = static_cast<std::size_t>(a.bins) * a.bins;
    extent.histogramBytes = extent.cells * kernels::CellBytes(a.variant);
    extent.chunksPerLaunch =
      static_cast<int>(std::clamp<std::size_t>(MaximumHistogramBytes / extent.histogramBytes, 1, extent.chunks));
    if (derivative == MattesDerivative::ForceSums)
    {
      extent.partials =
        static_cast<std::size_t>(extent.chunks) * DividedUp(a.bins, a.bandRows) * kernels::PartialCount(a.variant);
    }
    else if (derivative == MattesDerivative::Forces)
    {
      extent.forceBytes = 3 * sizeof(float) * static_cast<std::size_t>(GetSampleCount());
    }
    return extent;
  }

  void
  ReserveArrays(const MattesMapping & mapping, MattesDerivative derivative, const Extent & extent)
  {
    if (mapping.displacement)
    {
      Fill(arrays.displacement, 3 * sizeof(float), CountOf(fixedSide.virtualSize), mapping.displacement);
    }
    Reserve(arrays.chunkHistograms, static_cast<std::size_t>(extent.chunksPerLaunch) * extent.histogramBytes);
    if (!arrays.sums || arrays.sums->GetSize() < extent.GetSumBytes())
    {
      Reserve(arrays.sums, extent.GetSumBytes());
    }
    if (derivative != MattesDerivative::None)
    {
      Reserve(arrays.table, extent.histogramBytes);
    }
    if (derivative == MattesDerivative::Forces)
    {
      Reserve(arrays.forces, extent.forceBytes);
    }
  }

  void
  EnqueuePasses(MattesDerivative derivative, const Extent & extent)
  {
    for (int first = 0; first < extent.chunks; first += extent.chunksPerLaunch)
    {
      const int now = std::min(extent.chunksPerLaunch, extent.chunks - first);
      passes->Histogram(arguments, maps, arrays, first, now);
      passes->SumHistograms(arguments, arrays, now, first > 0);
    }
    if (derivative != MattesDerivative::None)
    {
      passes->Table(arguments, arrays);
      passes->Forces(arguments, maps, arrays);
    }
  }

  MattesResult
  BringResult(MattesDerivative derivative, const Extent & extent)
  {
    MattesResult      result;
    const std::size_t histogramBytes = extent.cells * sizeof(kernels::u64);
    char * const      staging = static_cast<char *>(queue->GetStaging(Direction::Down, 0, extent.GetSumBytes()));
    queue->Download(staging, *arrays.sums, extent.GetSumBytes());
    result.histogram.resize(extent.cells);
    std::memcpy(result.histogram.data(), staging, histogramBytes);
    result.countUnit = arguments.countUnit;
    if (derivative == MattesDerivative::ForceSums)
    {
      const auto * partials = reinterpret_cast<const float *>(staging + histogramBytes);
      for (std::size_t i = 0; i < extent.partials; ++i)
      {
        result.forceSums[i % kernels::ForceSumCount] += partials[i];
      }
      std::copy(arguments.centre, arguments.centre + 3, result.centre.begin());
      UnstackSums(arguments, fixedSide.virtualSize, result);
    }
    if (derivative == MattesDerivative::Forces)
    {
      result.forces = BringForces(extent.forceBytes);
    }
    else
    {
      queue->GiveStagingBack();
    }
    return result;
  }

  /** Where they lie, if the host reads that; else in staging memory. */
  const float *
  BringForces(std::size_t bytes)
  {
    void * forces = queue->GetHostAddress(*arrays.forces);
    if (!forces)
    {
      forces = queue->GetStaging(Direction::Down, 0, bytes);
      queue->Download(forces, *arrays.forces, bytes);
    }
    return static_cast<const float *>(forces);
  }

  std::shared_ptr<Backend>      backend;
  std::unique_ptr<Queue>        queue;
  std::unique_ptr<MattesPasses> passes;
  // Of their fillers it is only asked from now on whether they are there.
  MattesFixedSide          fixedSide;
  MattesMovingSide         movingSide;
  MattesArrays             arrays;
  double                   farthestPoint = 0;
  kernels::MattesArguments arguments{};
  kernels::MattesMaps      maps{};
  bool                     timing = false;
};

MattesMetric::MattesMetric(const std::string & deviceName, int bins)
  : m_Implementation(std::make_unique<Implementation>(deviceName, CheckedBins(bins)))
{}

MattesMetric::~MattesMetric()
{
  FreeUnlessForked(m_Implementation);
}

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

Precision
MattesMetric::GetPrecision() const
{
  return m_Implementation->fixedSide.precision;
}

void
MattesMetric::SetFixedSide(const MattesFixedSide & side, const ParallelFor & parallelFor)
{
  Implementation & self = *m_Implementation;
  if (side.pointCount > std::numeric_limits<int>::max())
  {
    throw UnsupportedError("a sampled point set may hold 2147483647 points, not " + std::to_string(side.pointCount) +
                           "; sample every voxel instead");
  }
  CheckSize(side.virtualSize, "a virtual domain");
  self.fixedSide = {};
  Operate(*self.queue, parallelFor, [&] {
    const std::int64_t count = side.pointCount > 0 ? side.pointCount : CountOf(side.virtualSize);
    PointFiller        points(side.points);
    self.Fill(self.arrays.points,
              3 * sizeof(kernels::i64),
              side.pointCount,
              side.points ? Filler(std::ref(points)) : Filler());
    self.farthestPoint = points.GetFarthest();
    self.Fill(self.arrays.fixedBins,
              sizeof(kernels::u16),
              count,
              side.bins ? points.MakeBinFiller(side.bins) : Filler());
  });
  self.fixedSide = side;
  if (side.pointCount > 0)
  {
    self.fixedSide.precision = Precision::Double;
  }
}

void
MattesMetric::SetMovingSide(const MattesMovingSide & side, const ParallelFor & parallelFor)
{
  Implementation & self = *m_Implementation;
  CheckSize(side.size, "a moving image");
  CheckSize(side.maskSize, "a moving mask");
  self.movingSide = {};
  Operate(*self.queue, parallelFor, [&] { self.FillMovingSide(side); });
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
  Queue &          queue = *self.queue;
  self.CheckSides();
  queue.CheckIsUsable();
  queue.parallelFor = parallelFor;
  queue.statistics = {};
  self.SetArguments(mapping, derivative, normalized);
  self.passes->Prepare(self.arguments.variant);
  const Extent extent = self.FindExtent(derivative);
  self.ReserveArrays(mapping, derivative, extent);
  if (self.timing)
  {
    queue.StartTimer();
  }
  self.EnqueuePasses(derivative, extent);
  if (self.timing)
  {
    queue.StopTimer();
  }
  const MattesResult result = self.BringResult(derivative, extent);
  if (self.timing)
  {
    queue.statistics.kernelMilliseconds = queue.ReadTimer();
  }
  queue.statistics.evaluateMilliseconds =
    std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  return result;
}

void
MattesMetric::ReleaseForces()
{
  m_Implementation->queue->GiveStagingBack();
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
                                       &arrays.chunkHistograms,
                                       &arrays.sums,
                                       &arrays.table,
                                       &arrays.forces })
  {
    statistics.deviceBytes += *array ? static_cast<std::int64_t>((*array)->GetSize()) : 0;
  }
  return statistics;
}

} // namespace gpureg
