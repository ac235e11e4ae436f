// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SampleSet.h"

#include "gpureg/core/Error.h"

#include "engine/metric/samples/AddParts.h"
#include "engine/transform/FixedPoint.h"
#include "engine/metric/samples/IntegerValues.h"
#include "engine/transform/PackedVectors.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
// Lanes beside a grid count its rows further before they find that they have no sample.
constexpr std::int64_t LanesBeside = 1024;

/** \throws UnsupportedError if a volume has more rows, or more voxels in a slice, than 32 bits count */
void
CheckSize(const Size & size, const char * what)
{
  constexpr std::int64_t most = std::numeric_limits<int>::max() - LanesBeside;
  if (static_cast<std::int64_t>(size[0]) * size[1] > most || static_cast<std::int64_t>(size[1]) * size[2] > most)
  {
    throw UnsupportedError(std::string(what) + " of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) +
                           " x " + std::to_string(size[2]) + " voxels has more rows, or more voxels in a slice, than " +
                           std::to_string(most) + "; register a part of it, or a smaller image");
  }
}

/** \throws UnsupportedError if one of a chain's grids has more rows, or more voxels in a slice, than 32 bits count */
void
CheckGrids(const ChainedGrid & chain)
{
  for (const ChainStep & step : chain.transform.steps)
  {
    CheckSize(step.grid.size, "a transform's grid");
  }
}

/** Returns a filler that gives all elements one value. */
template <typename T>
Filler
MakeConstantFiller(T value)
{
  return [value](std::int64_t, std::int64_t count, void * out) { std::fill_n(static_cast<T *>(out), count, value); };
}

/** Returns one invalid sample for a domain without voxels, because kernels process at least one sample. */
FixedSamples
MakeInvalidSample(const FixedSamples & empty)
{
  FixedSamples one;
  one.precision = empty.precision;
  one.virtualSize = { 1, 1, 1 };
  one.scale = empty.scale;
  if (HasBins(empty))
  {
    one.bins = MakeConstantFiller(kernels::u16{ kernels::InvalidBin });
  }
  if (HasValues(empty))
  {
    one.values = empty.precision == Precision::Double ? MakeConstantFiller(NoFixedValue)
                                                      : MakeConstantFiller(static_cast<float>(NoFixedValue));
  }
  if (HasGradient(empty))
  {
    one.gradients = MakeConstantFiller(std::array<float, 3>{});
  }
  return one;
}

/** Returns true if the mapping has a displacement for each voxel of the samples' domain. */
bool
HasVectorsOfVoxels(const SampleMapping & mapping)
{
  const auto hasThem = [](const ChainedGrid & chain) {
    return std::any_of(chain.transform.steps.begin(), chain.transform.steps.end(), [](const ChainStep & step) {
      return step.grid.kind == GridKind::OfOutput;
    });
  };
  return mapping.displacement || hasThem(mapping.chain) || (mapping.preTransforms && hasThem(*mapping.preTransforms));
}

kernels::VolumeShape
MakeShape(const Size & size)
{
  return kernels::MakeVolumeShape(size[0], size[1], size[2]);
}

/** Returns a bound of how far a map leads from indices up to reach. */
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

/** Returns a map in fixed point. A map that leads farther than FarthestVoxel, or is not a number, is replaced by one that leads out of the
 *  volume. */
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

/** Writes points in fixed point. Points that are farther away than FarthestVoxel, or not a number, lie in no image: they are written as 0
 *  and are left out. */
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

  /** Returns the largest index of all points that are not left out. */
  double
  GetFarthest() const
  {
    return m_Farthest;
  }

  /** Returns a filler of the points' values in which points that are left out get an invalid value. */
  template <typename TValue>
  Filler
  LeaveOut(const Filler & values, TValue invalid) const
  {
    return [this, values, invalid](std::int64_t first, std::int64_t count, void * out) {
      values(first, count, out);
      for (auto it = m_LeftOut.lower_bound(first); it != m_LeftOut.end() && *it < first + count; ++it)
      {
        static_cast<TValue *>(out)[*it - first] = invalid;
      }
    };
  }

private:
  const Filler &         m_Points;
  std::mutex             m_Mutex;
  double                 m_Farthest = 0;
  std::set<std::int64_t> m_LeftOut;
};

// The largest number of vectors, and of samples, for which vectors are uploaded in fixed point: 24 bytes each instead of 12, and a B-spline
// needs 252 products of 64 bits per vector.
constexpr std::int64_t MostPreciseVectors = 1 << 18;

// Half of the distance at which GPUREG_FARTHEST_PRECISE_MOVE leads out.
constexpr int LongestPreciseAxis = 1 << 17;

bool
IsShort(const Size & size)
{
  return *std::max_element(size.begin(), size.end()) < LongestPreciseAxis;
}

/** Returns true if the displacements of the chain's grids fit into fixed point. */
bool
FitsPrecisely(const ChainedGrid & chain)
{
  std::int64_t vectors = 0;
  for (const ChainStep & step : chain.transform.steps)
  {
    vectors += CountOf(step.grid.size);
    if (!IsShort(step.grid.size))
    {
      return false;
    }
  }
  const std::vector<kernels::ChainPart> parts = FoldChain(chain).parts;
  return vectors <= MostPreciseVectors && std::all_of(parts.begin(), parts.end(), [](const kernels::ChainPart & part) {
           return std::all_of(part.carry, part.carry + 9, [](float entry) {
             return std::abs(entry) < static_cast<float>(GPUREG_LARGEST_PRECISE_CARRY);
           });
         });
}

int
DividedUp(std::int64_t a, std::int64_t b)
{
  return static_cast<int>((a + b - 1) / b);
}

/** Converts the map of a grid of one slice to the map of the grid reshaped into slabs of the given number of rows. 0 rows: the grid is not
 *  reshaped. */
void
StackMap(int rows, kernels::SampleMaps & maps)
{
  for (int r = 0; rows > 0 && r < 3; ++r)
  {
    maps.toMoving.row[4 * r + 2] = rows * maps.toMoving.row[4 * r + 1];
  }
}

/** Reshapes a grid of one slice into slabs as high as a tile, so that lanes can walk along them. The height is a power of two, so the map
 *  is not rounded. */
void
StackSlice(SampleProblem & problem, int lanes)
{
  kernels::SampleArguments & a = problem.arguments;
  const int                  rows = a.virtualShape.size[1];
  const int                  height = lanes / kernels::TileWidth;
  a.missingRows = 0;
  a.stackedRows = 0;
  if ((a.variant & kernels::SamplesArePoints) || a.virtualShape.size[2] > 1 || rows <= height)
  {
    return;
  }
  const int slices = DividedUp(rows, height);
  a.virtualShape = kernels::MakeVolumeShape(a.virtualShape.size[0], height, slices);
  a.missingRows = (height - rows % height) % height;
  a.stackedRows = height;
  StackMap(height, problem.maps);
  a.centre[2] = std::floor(a.centre[1] / static_cast<float>(height));
  a.centre[1] -= static_cast<float>(height) * a.centre[2];
}

/** Converts the sums over a slice that was reshaped into slabs to the slice's own rows: y = y' + height·z'. */
void
UnstackSums(const kernels::SampleArguments & a, const Size & virtualSize, ForceResult & result)
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

/** Cuts the samples into chunks of even depth. There are enough chunks to fill the device, no chunk is larger than the metric's sums allow,
 *  and few are smaller than what justifies sums of their own. */
void
Partition(kernels::SampleArguments & a, const SampleGrain & grain, const SampleNeeds & needs)
{
  const int          deepest = needs.mostOfChunk / grain.lanes;
  const int          least = std::clamp(needs.leastOfChunk / grain.lanes, 1, deepest);
  const bool         points = a.variant & kernels::SamplesArePoints;
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
}
} // namespace

void
SampleSet::SetFixed(const FixedSamples & samples, const ParallelFor & parallelFor)
{
  if (samples.pointCount > std::numeric_limits<int>::max())
  {
    throw UnsupportedError("a sampled point set may hold 2147483647 points, not " + std::to_string(samples.pointCount) +
                           "; sample every voxel instead");
  }
  CheckSize(samples.virtualSize, "a virtual domain");
  m_IsEmpty = samples.pointCount == 0 && CountOf(samples.virtualSize) == 0;
  if (m_IsEmpty)
  {
    this->FillFixed(MakeInvalidSample(samples), parallelFor);
  }
  else
  {
    this->FillFixed(samples, parallelFor);
  }
}

void
SampleSet::FillFixed(const FixedSamples & samples, const ParallelFor & parallelFor)
{
  m_Fixed = {};
  ++m_FixedStamp;
  Operate(m_Queue, parallelFor, [&] {
    const std::int64_t count = samples.pointCount > 0 ? samples.pointCount : CountOf(samples.virtualSize);
    PointFiller        points(samples.points);
    UploadExactly(m_Queue,
                  m_Arrays.points,
                  3 * sizeof(kernels::i64),
                  samples.pointCount,
                  samples.points ? Filler(std::ref(points)) : Filler());
    m_FarthestPoint = points.GetFarthest();
    if (samples.sampled)
    {
      TakeFixed(samples);
    }
    else
    {
      UploadExactly(m_Queue,
                    m_Arrays.fixedBins,
                    sizeof(kernels::u16),
                    count,
                    samples.bins ? points.LeaveOut(samples.bins, kernels::u16{ kernels::InvalidBin }) : Filler());
      FillFixedValues(samples, count, [&points](const Filler & values, auto invalid) {
        return points.LeaveOut(values, invalid);
      });
    }
    m_FixedGradients.Fill(samples, count, m_Arrays.fixedGradients);
  });
  m_Fixed = samples;
  m_Fixed.precision = GetPrecision(samples);
}

Precision
SampleSet::GetPrecision(const FixedSamples & samples)
{
  return samples.pointCount > 0 ? Precision::Double : samples.precision;
}

void
SampleSet::TakeFixed(const FixedSamples & samples)
{
  const SampledImage & sampled = *samples.sampled;
  if (samples.pointCount > 0)
  {
    throw BadInputError("points cannot be sampled on the device: give their bins or values");
  }
  if (sampled.bins && sampled.wantsValues && GetPrecision(samples) == Precision::Double)
  {
    throw BadInputError("places beside bins are made in single precision: give those of precise samples");
  }
  CheckSize(sampled.size, "a fixed image");
  ImageSamples places;
  places.sampleSize = samples.virtualSize;
  places.imageSize = sampled.size;
  places.isOneGrid = sampled.isOneGrid;
  places.toImage = sampled.toImage;
  places.minimum = sampled.minimum;
  places.unit = sampled.unit;
  places.placeOfMinimum = sampled.placeOfMinimum;
  places.exponent = FindValueExponent(samples.scale);
  const BinEdges * const bins = sampled.bins ? &*sampled.bins : nullptr;
  // Arrays that are filled again stay allocated if they have the right size, because other samples may come at each iteration.
  if (bins == nullptr)
  {
    m_Arrays.fixedBins.reset();
  }
  if (!sampled.wantsValues)
  {
    m_Arrays.fixedValues.reset();
  }
  MemoryPointer mask;
  if (sampled.mask != nullptr)
  {
    m_Sampler.FillMask(*sampled.mask, places, mask);
  }
  else
  {
    UploadExactly(m_Queue, mask, sizeof(kernels::u8), CountOf(samples.virtualSize), sampled.inside);
  }
  if (bins != nullptr)
  {
    m_Sampler.Fill(*sampled.image, places, bins, kernels::KeptAsBin, mask.get(), m_Arrays.fixedBins);
  }
  if (sampled.wantsValues)
  {
    const kernels::KeptAs form = GetPrecision(samples) == Precision::Double ? kernels::KeptAsInteger
                                 : bins != nullptr                          ? kernels::KeptAsPlace
                                                                            : kernels::KeptAsScaled;
    m_Sampler.Fill(*sampled.image, places, bins, form, mask.get(), m_Arrays.fixedValues);
  }
}

template <typename TLeaveOut>
void
SampleSet::FillFixedValues(const FixedSamples & samples, std::int64_t count, const TLeaveOut & leaveOut)
{
  Filler filler;
  if (samples.values && GetPrecision(samples) == Precision::Double)
  {
    filler = MakeIntegerFiller(leaveOut(samples.values, NoFixedValue), FindValueExponent(samples.scale));
  }
  else if (samples.values)
  {
    filler = leaveOut(samples.values, static_cast<float>(NoFixedValue));
  }
  UploadExactly(m_Queue, m_Arrays.fixedValues, BytesOf(GetPrecision(samples)), count, filler);
}

void
SampleSet::SetMoving(const MovingImage & image, bool readsQuads, const ParallelFor & parallelFor)
{
  CheckSize(image.size, "a moving image");
  CheckSize(image.maskSize, "a moving mask");
  m_Moving = {};
  m_ReadsQuads = readsQuads;
  Operate(m_Queue, parallelFor, [&] { m_MovingVolumes.Fill(image, readsQuads, m_Arrays); });
  m_Moving = image;
}

void
SampleSet::CheckIsComplete(bool readsFixedValues) const
{
  if (!(readsFixedValues ? HasValues(m_Fixed) : HasBins(m_Fixed)) || !HasValues(m_Moving))
  {
    throw BadInputError("an image is missing: set the fixed samples and the moving image first");
  }
  if (m_Fixed.precision != m_Moving.precision)
  {
    throw BadInputError(
      "the fixed samples and the moving image are of different precision: set the moving image again");
  }
}

bool
SampleSet::AreCountedAlike() const
{
  return m_Fixed.scale.minimum == m_Moving.scale.minimum && m_Fixed.scale.range == m_Moving.scale.range &&
         FindValueExponent(m_Fixed.scale) == FindValueExponent(m_Moving.scale);
}

std::int64_t
SampleSet::GetCount() const
{
  return m_Fixed.pointCount > 0 ? m_Fixed.pointCount : CountOf(m_Fixed.virtualSize);
}

ChainedGrid
SampleSet::WidenToPoints(ChainedGrid grid) const
{
  for (int & size : grid.size)
  {
    size = std::max(size, static_cast<int>(m_FarthestPoint) + 1);
  }
  return grid;
}

void
SampleSet::UploadMapping(const SampleMapping & mapping, Forces forces)
{
  if (m_IsEmpty && HasVectorsOfVoxels(mapping))
  {
    this->UploadMapping(MakeLinearMapping(mapping.toMoving), forces);
    return;
  }
  CheckGrids(mapping.chain);
  const bool isPrecise = this->MovesPrecisely(mapping);
  if (!mapping.chain.transform.steps.empty())
  {
    const ChainedGrid grid = this->WidenToPoints(mapping.chain);
    m_Chain.SetChain(grid, isPrecise);
    m_Chain.SetPlanes(m_Chain.CountPlanes(), false);
    m_Chain.Load({});
    if (mapping.forcesFollowChain && !mapping.derivesChain && forces != Forces::None)
    {
      m_Chain.LoadJacobians();
    }
  }
  m_HasSpline = mapping.spline.has_value();
  m_HasPreTransforms = mapping.preTransforms.has_value();
  if (m_HasPreTransforms)
  {
    CheckGrids(*mapping.preTransforms);
    ReserveExactly(m_Queue,
                   m_Arrays.displacement,
                   (isPrecise ? sizeof(PreciseMove) : 3 * sizeof(float)) * static_cast<std::size_t>(this->GetCount()));
    m_PreTransforms.SetGrids(this->WidenToPoints(*mapping.preTransforms),
                             { m_Fixed.virtualSize, m_Fixed.pointCount, m_Arrays.points.get(), m_FixedStamp },
                             mapping.displacementToIndex,
                             isPrecise);
    return;
  }
  m_PreTransforms.Forget();
  if (m_HasSpline)
  {
    const OptimizedSpline & spline = *mapping.spline;
    m_SplineDimension = spline.dimension;
    m_SplineGrid = spline.grid;
    m_SplineGrid.vectors = {};
    m_ControlPoints.SetGeometry(spline.grid,
                                spline.dimension,
                                { m_Fixed.virtualSize, m_Fixed.pointCount, m_Arrays.points.get(), m_FixedStamp });
    m_SplineIsPrecise = isPrecise;
    if (m_SplineIsPrecise)
    {
      m_ControlPoints.UploadPointsPrecisely(spline.grid, mapping.displacementToIndex);
    }
    else if (spline.grid.vectors)
    {
      m_ControlPoints.UploadPoints(spline.grid);
    }
    ReserveExactly(m_Queue,
                   m_Arrays.displacement,
                   (m_SplineIsPrecise ? sizeof(PreciseMove) : 3 * sizeof(float)) *
                     static_cast<std::size_t>(this->GetCount()));
  }
  else if (mapping.displacement)
  {
    UploadExactly(m_Queue,
                  m_Arrays.displacement,
                  isPrecise ? sizeof(PreciseMove) : 3 * sizeof(float),
                  CountOf(m_Fixed.virtualSize),
                  isPrecise ? MakePackedFiller<PreciseMove>(mapping.preciseDisplacement, mapping.displacementToIndex)
                            : mapping.displacement);
  }
}

void
SampleSet::Move()
{
  if (m_HasSpline && m_SplineIsPrecise)
  {
    m_ControlPoints.MovePrecisely(*m_Arrays.displacement);
  }
  else if (m_HasSpline)
  {
    m_ControlPoints.Move(*m_Arrays.displacement);
  }
  else if (m_HasPreTransforms)
  {
    m_PreTransforms.Move(*m_Arrays.displacement);
  }
}

Memory &
SampleSet::ReserveForces()
{
  const std::size_t bytes = 3 * sizeof(float) * static_cast<std::size_t>(this->GetCount());
  // Fixed-point displacements are larger than forces: a force would overwrite another sample's displacement.
  const bool takesTheirPlace = m_HasSpline && !m_SplineIsPrecise;
  ReserveExactly(m_Queue, m_Forces, takesTheirPlace ? 0 : bytes);
  return takesTheirPlace ? *m_Arrays.displacement : *m_Forces;
}

bool
SampleSet::Gather(const Memory & forces, MemoryPointer & gathered)
{
  if (!m_HasSpline)
  {
    return false;
  }
  ControlPoints & controls = m_ForcePlaces != nullptr ? m_PlaceControls : m_ControlPoints;
  if (m_ForcePlaces != nullptr)
  {
    m_PlaceControls.SetGeometry(m_SplineGrid,
                                m_SplineDimension,
                                { m_Fixed.virtualSize, m_ForcePlaceCount, m_ForcePlaces, m_ForcePlaceStamp });
  }
  ReserveExactly(m_Queue, gathered, sizeof(kernels::float4) * static_cast<std::size_t>(controls.GetPointCount()));
  controls.Gather(forces, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, *gathered);
  return true;
}

Vector3
SampleSet::GetCentre() const
{
  const Size & size = m_Fixed.virtualSize;
  return { static_cast<double>(size[0] / 2), static_cast<double>(size[1] / 2), static_cast<double>(size[2] / 2) };
}

void
SampleSet::SumForces(const Memory & forces)
{
  if (m_ForcePlaces != nullptr)
  {
    m_PreTransforms.SumForcesAt({ m_Fixed.virtualSize, m_ForcePlaceCount, m_ForcePlaces, m_ForcePlaceStamp },
                                forces,
                                this->GetCentre());
  }
  else
  {
    m_PreTransforms.SumForces(forces, *m_Arrays.displacement, this->GetCentre());
  }
}

ForceResult
SampleSet::DownloadForceSums()
{
  return { m_PreTransforms.DownloadSums(), this->GetCentre() };
}

bool
SampleSet::MovesPrecisely(const SampleMapping & mapping) const
{
  const bool isMoved =
    mapping.spline || mapping.displacement || mapping.preTransforms || !mapping.chain.transform.steps.empty();
  // Slopes are not computed in fixed point.
  if (!isMoved || mapping.derivesChain || !this->IsPrecise() || this->GetCount() > MostPreciseVectors ||
      !IsShort(m_Moving.size))
  {
    return false;
  }
  // Control points that lie on the device are floats.
  const bool splineFits =
    !mapping.spline || (mapping.spline->grid.vectors && CountOf(mapping.spline->grid.size) <= MostPreciseVectors);
  const bool fieldFits = mapping.spline || !mapping.displacement ||
                         (mapping.preciseDisplacement && CountOf(m_Fixed.virtualSize) <= MostPreciseVectors);
  const bool preTransformsFit =
    !mapping.preTransforms ||
    (FitsPrecisely(*mapping.preTransforms) &&
     std::all_of(mapping.displacementToIndex.begin(), mapping.displacementToIndex.end(), [](double entry) {
       return std::abs(entry) < GPUREG_LARGEST_PRECISE_CARRY;
     }));
  return splineFits && fieldFits && preTransformsFit &&
         (mapping.chain.transform.steps.empty() || FitsPrecisely(mapping.chain));
}

SampleProblem
SampleSet::MakeProblem(const SampleMapping & mapping,
                       Forces                forces,
                       const SampleGrain &   grain,
                       const SampleNeeds &   needs) const
{
  return this->CutAnew(this->MakeProblem(mapping, forces, needs.scaledRange), grain, needs);
}

SampleProblem
SampleSet::CutAnew(SampleProblem problem, const SampleGrain & grain, const SampleNeeds & needs) const
{
  problem.arguments.virtualShape = MakeShape(m_Fixed.virtualSize);
  StackSlice(problem, grain.lanes);
  Partition(problem.arguments, grain, needs);
  return problem;
}

SampleProblem
SampleSet::MakeProblem(const SampleMapping & mapping, Forces forces, double scaledRange) const
{
  if (m_IsEmpty && HasVectorsOfVoxels(mapping))
  {
    return this->MakeProblem(MakeLinearMapping(mapping.toMoving), forces, scaledRange);
  }
  SampleProblem              problem;
  kernels::SampleArguments & a = problem.arguments;
  std::copy(mapping.displacementToIndex.begin(), mapping.displacementToIndex.end(), a.displacementToIndex);
  std::copy(mapping.movingIndexToPoint.begin(), mapping.movingIndexToPoint.end(), a.movingIndexToPoint);
  a.partCount = static_cast<int>(mapping.chain.transform.steps.size());
  a.forcesFollowChain = !mapping.forcesFollowChain ? 0
                        : mapping.derivesChain     ? kernels::ForcesFollowDerivatives
                                                   : kernels::ForcesFollowJacobians;
  std::copy(m_Moving.inverseSpacing.begin(), m_Moving.inverseSpacing.end(), a.inverseSpacing);
  a.virtualShape = MakeShape(m_Fixed.virtualSize);
  a.movingShape = MakeShape(m_Moving.size);
  a.maskShape = MakeShape(m_Moving.maskSize);
  const Vector3 centre = this->GetCentre();
  std::copy(centre.begin(), centre.end(), a.centre);
  a.pointCount = static_cast<int>(m_Fixed.pointCount);
  a.splineOrder = m_Moving.splineOrder;
  a.movesPrecisely = this->MovesPrecisely(mapping);
  a.hasOwnDisplacements = mapping.spline || mapping.preTransforms;
  a.variant = FindVariant(mapping, forces);
  problem.maps = MakeMaps(mapping.toMoving, scaledRange);
  return problem;
}

int
SampleSet::FindVariant(const SampleMapping & mapping, Forces forces) const
{
  const int ofBoth =
    (IsPrecise() ? kernels::SamplesArePrecise : 0) | (m_Fixed.pointCount > 0 ? kernels::SamplesArePoints : 0) |
    (mapping.displacement || mapping.spline || mapping.preTransforms ? kernels::SamplesAreDisplaced : 0) |
    (m_Moving.mask || m_Moving.maskImage != nullptr ? kernels::MovingHasMask : 0) |
    (mapping.chain.transform.steps.empty() ? 0 : kernels::SamplesAreChained);
  if (HasBins(m_Moving))
  {
    // Cells of bins are read at once, as quads are, unless the array of bins holds 64-bit integers.
    return ofBoth | (forces == Forces::OfEachSample ? kernels::WritesForces : 0) |
           (m_ReadsQuads && !IsPrecise() ? kernels::ReadsQuads : 0);
  }
  // Without forces, options that only forces need are left out: they would select a more general kernel than the value needs.
  int ofForces = 0;
  if (forces != Forces::None)
  {
    ofForces = (forces == Forces::OfEachSample ? kernels::WritesForces : 0) |
               (HasGradient(m_Fixed)               ? kernels::GradientOfFixed
                : HasGradient(m_Moving)            ? 0
                : m_Moving.gradientOfInterpolation ? kernels::GradientOfInterpolation
                                                   : kernels::GradientByDifferences);
  }
  return ofForces | ofBoth | (m_Moving.splineOrder != 1 ? kernels::InterpolatesSpline : 0) |
         (m_Moving.checksRange ? kernels::ChecksRange : 0) | (m_Arrays.quads ? kernels::ReadsQuads : 0);
}

kernels::SampleMaps
SampleSet::MakeMaps(const IndexMap & toMoving, const kernels::SampleArguments & arguments, double scaledRange) const
{
  kernels::SampleMaps maps = this->MakeMaps(toMoving, scaledRange);
  StackMap(arguments.stackedRows, maps);
  return maps;
}

kernels::SampleMaps
SampleSet::MakeMaps(const IndexMap & toMoving, double scaledRange) const
{
  const Size & size = m_Fixed.virtualSize;
  const double reach = std::max<double>(m_FarthestPoint, *std::max_element(size.begin(), size.end()));
  const double farthest = FindFarthest(toMoving, reach);
  const double movingReach = *std::max_element(m_Moving.size.begin(), m_Moving.size.end());

  kernels::SampleMaps maps{};
  maps.guardBits = IsPrecise() && farthest < FarthestVoxel ? 29 - std::ilogb(farthest) : 0;
  maps.toMoving = ToFixedMapWithin(toMoving, farthest, 32 + maps.guardBits);
  maps.toMask = ToFixedMapWithin(m_Moving.toMask, FindFarthest(m_Moving.toMask, movingReach), 32);
  std::transform(m_Moving.differenceStep.begin(), m_Moving.differenceStep.end(), maps.differenceStep, [](double step) {
    return ToFixedPoint(step);
  });
  if (IsPrecise())
  {
    const ValueScale & scale = m_Moving.scale;
    const int          exponent = FindValueExponent(scale);
    maps.range = std::llround(std::ldexp(scale.range, exponent));
    maps.minimum = scale.roundsToFloat ? std::llround(std::ldexp(scale.minimum, exponent)) : 0;
    maps.roundsToFloat = scale.roundsToFloat;
    maps.unitsToValues = static_cast<float>(scaledRange / static_cast<double>(maps.range));
    maps.valuesPerUnit = std::llround(std::ldexp(scaledRange / static_cast<double>(maps.range), 80));
    maps.unitsToFixedValues =
      static_cast<float>(std::ldexp(scaledRange / m_Fixed.scale.range, -FindValueExponent(m_Fixed.scale)));
  }
  return maps;
}

std::size_t
SampleSet::CountPartials(const kernels::SampleArguments & arguments, int parts)
{
  return static_cast<std::size_t>(kernels::ChunkCount(&arguments)) * parts * kernels::PartialCount(arguments.variant);
}

ForceResult
SampleSet::SumPartials(const kernels::SampleArguments & arguments, const float * partials, std::size_t count) const
{
  std::array<double, kernels::ForceSumCount> sums{};
  AddParts(partials, kernels::ForceSumCount, count / kernels::ForceSumCount, sums.data());
  return this->MakeForceResult(arguments, sums);
}

ForceResult
SampleSet::MakeForceResult(const kernels::SampleArguments &                   arguments,
                           const std::array<double, kernels::ForceSumCount> & sums) const
{
  ForceResult result;
  result.forceSums = sums;
  std::copy(arguments.centre, arguments.centre + 3, result.centre.begin());
  UnstackSums(arguments, m_Fixed.virtualSize, result);
  return result;
}

std::int64_t
SampleSet::GetDeviceBytes() const
{
  std::int64_t bytes = m_Sampler.GetDeviceBytes() + m_ControlPoints.GetDeviceBytes() +
                       m_PlaceControls.GetDeviceBytes() + m_PreTransforms.GetDeviceBytes();
  for (const MemoryPointer * array : { &m_Forces,
                                       &m_Arrays.fixedBins,
                                       &m_Arrays.fixedValues,
                                       &m_Arrays.fixedGradients,
                                       &m_Arrays.points,
                                       &m_Arrays.displacement,
                                       &m_Arrays.moving,
                                       &m_Arrays.quads,
                                       &m_Arrays.coefficients,
                                       &m_Arrays.gradient,
                                       &m_Arrays.mask,
                                       &m_Arrays.movingBins,
                                       &m_Arrays.chain.parts,
                                       &m_Arrays.chain.vectors,
                                       &m_Arrays.chain.jacobians })
  {
    bytes += static_cast<std::int64_t>(SizeOf(*array));
  }
  return bytes;
}

} // namespace gpureg
