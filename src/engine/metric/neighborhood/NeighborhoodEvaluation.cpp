// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/neighborhood/NeighborhoodEvaluation.h"

#include "gpureg/core/Error.h"

#include "engine/metric/samples/AddPartials.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gpureg
{

namespace
{
using ForceSums = std::array<double, kernels::ForceSumCount>;

/** The bytes of each stored voxel: its moving value and its sums. */
constexpr std::size_t StoredBytes = sizeof(kernels::i64) + kernels::NeighborhoodSumCount * sizeof(double);

constexpr std::size_t RunningSumBytes = kernels::NeighborhoodSumCount * sizeof(double);

// A segment along z has at least the length of so many neighborhoods, because each segment first reads a neighborhood's length less one
// voxel without a result.
constexpr int LeastLengthsOfSegment = 3;

// Columns of tiles are cut along z into this number of segments in all, a few times as many as any device runs at once. With more groups
// than MostTileGroups, too many sums would be downloaded.
constexpr int WantedTileSegments = 2048;
constexpr int MostTileGroups = 4096;

// The most bytes of stored voxels of all candidates that are evaluated at once. On an H200, a quarter as many launches are worth more than
// data that stay in the L2 cache: 32 MiB took an eighth longer. CUDA has no more groups along the third axis than MostAtOnce.
constexpr std::size_t StoredBatchBytes = std::size_t{ 128 } << 20;
constexpr std::size_t MostAtOnce = 32768;
} // namespace

NeighborhoodEvaluation::NeighborhoodEvaluation(MetricCore & core)
  : m_Core(core)
  , m_Passes(MakePasses<NeighborhoodPasses>(*core.queue))
  , m_SimilarityPasses(MakePasses<SimilarityPasses>(*core.queue))
{
  m_Arrays.samples = &core.samples.GetArrays();
  core.readsFixedValues = true;
  core.ownArrays = { &m_Arrays.moved,    &m_Arrays.sums,  &m_Arrays.centres,
                     &m_Arrays.forces,   &m_Arrays.terms, &m_Arrays.circularBuffers,
                     &m_Arrays.partials, &m_Evaluated,    &m_Batch.maps };
}

void
NeighborhoodEvaluation::SetCentres(std::int64_t count, const Filler & offsets, const ParallelFor & parallelFor)
{
  if (count > std::numeric_limits<int>::max())
  {
    throw UnsupportedError("a list of centres may hold 2147483647 of them, not " + std::to_string(count) +
                           "; take every voxel instead");
  }
  m_CentreCount = 0;
  m_Core.samples.GetForces().SetPlaces({});
  Operate(*m_Core.queue, parallelFor, [&] {
    ReserveExactly(*m_Core.queue, m_Arrays.centres, sizeof(kernels::i64) * static_cast<std::size_t>(count));
    if (count > 0)
    {
      UploadArray(*m_Core.queue, *m_Arrays.centres, 0, sizeof(kernels::i64), count, offsets);
    }
  });
  m_CentreCount = static_cast<int>(count);
}

NeighborhoodResult
NeighborhoodEvaluation::Evaluate(const SampleMapping &     mapping,
                                 const NeighborhoodTerms & terms,
                                 Forces                    forces,
                                 std::size_t               slabBytes,
                                 const ParallelFor &       parallelFor)
{
  CheckIsPossible();
  return m_Core.Evaluate(
    parallelFor,
    [&] { Prepare(mapping, terms, forces, slabBytes); },
    [&] { EnqueuePasses(); },
    [&] { return MakeResult(forces); });
}

std::vector<NeighborhoodResult>
NeighborhoodEvaluation::EvaluateBatch(const CandidateMaps &     candidates,
                                      const NeighborhoodTerms & terms,
                                      std::size_t               slabBytes,
                                      const ParallelFor &       parallelFor)
{
  if (candidates.count < 1)
  {
    return {};
  }
  CheckIsPossible();
  m_Core.samples.CheckIsComplete(m_Core.readsFixedValues);
  Describe(MakeMapping(candidates, 0), terms, Forces::None, slabBytes);
  m_Passes->Prepare(m_Arguments.samples.variant);
  if (!CanBeBatched())
  {
    return EvaluateEach(candidates, [&](const SampleMapping & mapping) {
      return Evaluate(mapping, terms, Forces::None, slabBytes, parallelFor);
    });
  }
  const auto most =
    static_cast<std::int64_t>(std::clamp<std::size_t>(MostBatchBytes / GetPartialBytes(), 1, MostAtOnce));
  return EvaluateInBatches<NeighborhoodResult>(candidates,
                                               most,
                                               [&](const CandidateMaps & some, NeighborhoodResult * results) {
                                                 EvaluateTogether(some, parallelFor, results);
                                               });
}

bool
NeighborhoodEvaluation::CanBeBatched() const
{
  return m_Passes->HasBatches() && m_Slabs.size() == 1 && (m_CentreCount > 0 || m_Arguments.tileRows > 0);
}

std::size_t
NeighborhoodEvaluation::CountAtOnce(int candidates) const
{
  const auto kept = StoredBytes * static_cast<std::size_t>(m_CentreCount > 0 ? 0 : StoredVoxels(&m_Slabs.front()));
  const auto most = std::clamp<std::size_t>(StoredBatchBytes / std::max<std::size_t>(1, kept), 1, MostAtOnce);
  return std::min(most, static_cast<std::size_t>(candidates));
}

void
NeighborhoodEvaluation::EvaluateTogether(const CandidateMaps & candidates,
                                         const ParallelFor &   parallelFor,
                                         NeighborhoodResult *  results)
{
  const int         count = CountCandidates(candidates);
  const auto        subBatch = GetSubBatchSize(m_Core, count);
  const std::size_t atOnce = CountAtOnce(count);
  if (m_CentreCount == 0)
  {
    m_Slabs.front() = MakeSlab(0, m_Slabs.front().centrePlanes, 0, static_cast<int>(atOnce));
    m_PartialGroups = m_Slabs.front().groupCount;
  }
  const kernels::NeighborhoodArguments & a = m_Slabs.front();
  const std::size_t                      bytes = static_cast<std::size_t>(count) * GetPartialBytes();
  const auto                             upload = [&](const BatchRange & range) {
    UploadMaps(m_Core, candidates, range, m_Arguments.samples, 1.0, m_Batch);
  };
  m_Core.Evaluate(
    parallelFor,
    [&] {
      Queue & queue = *m_Core.queue;
      Reserve(queue, m_Batch.maps, sizeof(kernels::SampleMaps) * static_cast<std::size_t>(count));
      Reserve(queue, m_Arrays.partials, bytes);
      if (m_CentreCount == 0)
      {
        Reserve(queue, m_Arrays.moved, atOnce * static_cast<std::size_t>(StoredVoxels(&a)) * sizeof(kernels::i64));
        Reserve(queue, m_Arrays.sums, atOnce * static_cast<std::size_t>(CentreVoxels(&a)) * RunningSumBytes);
      }
      upload({ 0, static_cast<int>(subBatch) });
    },
    [&] {
      EnqueueSubBatches(*m_Core.queue, count, subBatch, upload, [&](const BatchRange & range) {
        ForEachRange(range, atOnce, [&](const BatchRange & some) {
          m_Passes->CorrelateBatch(a, some, m_Arrays, m_Batch);
        });
      });
    },
    [&] {
      const float * const partials = DownloadPartials(bytes);
      ForEachCandidate(parallelFor, count, [&](std::int64_t n) {
        results[n] = AddUp(partials + n * std::int64_t{ m_PartialGroups } * NeighborhoodPartialCount(&m_Arguments),
                           { 0, m_PartialGroups });
      });
      return 0;
    });
}

void
NeighborhoodEvaluation::CheckIsPossible() const
{
  if (!m_Core.GetBackend().HasDoubles())
  {
    throw UnsupportedError("the device does not compute in doubles, which the sums over neighborhoods are");
  }
  if (!m_Core.samples.IsFixedPoint() || m_Core.samples.GetFixed().pointCount > 0)
  {
    throw BadInputError("neighborhoods are of all voxels of a grid, in double precision");
  }
}

void
NeighborhoodEvaluation::Describe(const SampleMapping &     mapping,
                                 const NeighborhoodTerms & terms,
                                 Forces                    forces,
                                 std::size_t               slabBytes)
{
  const SampleProblem problem = m_Core.samples.MakeProblem(mapping, forces, 1.0);
  m_Maps = problem.maps;
  m_Arguments = {};
  m_Arguments.samples = problem.arguments;
  for (int d = 0; d < 3; ++d)
  {
    const int size = m_Arguments.samples.virtualShape.size[d];
    m_Arguments.radius[d] = static_cast<int>(std::min<std::uint64_t>(terms.radius[d], size > 0 ? size - 1 : 0));
  }
  m_Arguments.forces = forces == Forces::None   ? kernels::NoNeighborhoodForces
                       : terms.forcesAreOfValue ? kernels::TermsOfCentres
                                                : kernels::ForcesOfCentres;
  m_Arguments.fixedIsFloat = terms.flat.fixedIsFloat;
  m_Arguments.movingIsFloat = terms.flat.movingIsFloat;
  m_Arguments.fixedUnit =
    terms.flat.isOfScaledValues ? 1.0F : static_cast<float>(m_Core.samples.GetFixed().scale.range);
  m_Arguments.movingUnit =
    terms.flat.isOfScaledValues ? 1.0F : static_cast<float>(m_Core.samples.GetMoving().scale.range);
  m_Arguments.epsilon = static_cast<float>(terms.flat.epsilon);
  m_Arguments.centreCount = m_CentreCount;
  m_Arguments.tileRows = m_CentreCount > 0 ? 0 : ChooseTileRows(m_Arguments, m_Passes->GetGrain());
  CutIntoSlabs(slabBytes);
}

void
NeighborhoodEvaluation::Prepare(const SampleMapping &     mapping,
                                const NeighborhoodTerms & terms,
                                Forces                    forces,
                                std::size_t               slabBytes)
{
  Describe(mapping, terms, forces, slabBytes);
  m_Passes->Prepare(m_Arguments.samples.variant);
  m_Core.samples.UploadMapping(mapping, forces);
  const bool areCollected = mapping.spline || mapping.preTransforms || forces == Forces::OfEachSample;
  if (areCollected && m_CentreCount > 0 && !m_Core.samples.GetForces().HasPlaces())
  {
    MakePlaces();
  }
  ReserveArrays(forces);
}

void
NeighborhoodEvaluation::MakePlaces()
{
  Queue &                   queue = *m_Core.queue;
  const auto                count = static_cast<std::size_t>(m_CentreCount);
  const Size &              size = m_Core.samples.GetFixed().virtualSize;
  std::vector<kernels::i64> centres(count);
  std::vector<kernels::i64> places;
  queue.Download(centres.data(), *m_Arrays.centres, sizeof(kernels::i64) * count);
  for (const kernels::i64 centre : centres)
  {
    const kernels::i64 row = centre / size[0];
    places.insert(places.end(), { (centre % size[0]) << 32, (row % size[1]) << 32, (row / size[1]) << 32 });
  }
  m_Core.samples.GetForces().SetPlaces(places);
}

kernels::NeighborhoodArguments
NeighborhoodEvaluation::MakeSlab(int firstCentre, int centrePlanes, int firstPartial, int candidates) const
{
  kernels::NeighborhoodArguments a = m_Arguments;
  const int                      radius = a.radius[2];
  const int                      size = a.samples.virtualShape.size[2];
  const NeighborhoodGrain        grain = m_Passes->GetGrain();
  a.firstCentre = firstCentre;
  a.centrePlanes = centrePlanes;
  a.firstStored = std::max(0, firstCentre - radius);
  a.keptPlanes = std::min<int>(size - a.firstStored, firstCentre - a.firstStored + centrePlanes + radius);
  a.firstPartial = firstPartial;
  if (a.tileRows > 0)
  {
    const std::int64_t columns = std::max(1, CountTilesAlongX(&a) * CountTilesAlongY(&a));
    CutIntoSegments(a, WantedTileSegments / (columns * candidates), centrePlanes);
    a.groupCount = std::clamp(CountTileColumns(&a), 1, MostTileGroups);
    return a;
  }
  const std::int64_t wanted =
    std::int64_t{ grain.lanes } * grain.mostGroups / std::max<std::int64_t>(1, VoxelsOfPlane(&a));
  CutIntoSegments(a, wanted, centrePlanes / (LeastLengthsOfSegment * LengthOfWindow(&a, 2)));
  a.groupCount = CountNeighborhoodGroups(a, 2, grain);
  return a;
}

void
NeighborhoodEvaluation::CutIntoSegments(kernels::NeighborhoodArguments & a, std::int64_t wanted, int most)
{
  const int segments = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max(1, most)));
  a.segmentPlanes = (a.centrePlanes + segments - 1) / segments;
  a.segmentCount = (a.centrePlanes + a.segmentPlanes - 1) / a.segmentPlanes;
}

void
NeighborhoodEvaluation::CutIntoSlabs(std::size_t slabBytes)
{
  m_Slabs.clear();
  m_PartialGroups = 0;
  if (m_CentreCount > 0)
  {
    m_Slabs.push_back(MakeSlab(0, 1, 0));
    m_Slabs[0].groupCount = CountGroups(m_CentreCount, m_Passes->GetGrain());
    m_PartialGroups = m_Slabs[0].groupCount;
    m_CountedGroups = { 0, m_PartialGroups };
    return;
  }
  const int          size = m_Arguments.samples.virtualShape.size[2];
  const int          around = 2 * m_Arguments.radius[2];
  const std::int64_t mostPlanes =
    static_cast<std::int64_t>(slabBytes / StoredBytes) / std::max<std::int64_t>(1, VoxelsOfPlane(&m_Arguments));
  // Slabs begin with a block of the sums along z, so that these round as in one slab of all planes.
  const std::int64_t blocks =
    std::max<std::int64_t>(mostPlanes - around, around + kernels::WindowsAtOnce) / kernels::WindowsAtOnce;
  const int   planes = static_cast<int>(std::min<std::int64_t>(size, blocks * kernels::WindowsAtOnce));
  const Range all{ 0, size };
  const Range counted = m_CountedPlanes ? Intersect(all, *m_CountedPlanes) : all;
  AddSlabs({ 0, counted.first }, planes);
  m_CountedGroups.first = m_PartialGroups;
  AddSlabs(counted, planes);
  m_CountedGroups.count = m_PartialGroups - m_CountedGroups.first;
  AddSlabs({ counted.GetEnd(), size - counted.GetEnd() }, planes);
}

void
NeighborhoodEvaluation::AddSlabs(const Range & range, int planes)
{
  const auto end = static_cast<int>(range.GetEnd());
  for (auto first = static_cast<int>(range.first); first < end; first += planes)
  {
    m_Slabs.push_back(MakeSlab(first, std::min(planes, end - first), m_PartialGroups));
    m_PartialGroups += m_Slabs.back().groupCount;
  }
}

void
NeighborhoodEvaluation::ReserveArrays(Forces forces)
{
  Queue & queue = *m_Core.queue;
  Reserve(queue, m_Arrays.partials, GetPartialBytes());
  Reserve(queue, m_Evaluated, sizeof(float) * kernels::EvaluatedNumbers);
  if (forces == Forces::OfEachSample)
  {
    const std::int64_t places = m_CentreCount > 0 ? m_CentreCount : m_Core.samples.GetCount();
    ReserveExactly(queue, m_Arrays.forces, 3 * sizeof(float) * static_cast<std::size_t>(places));
    const bool hasTerms = m_Arguments.forces == kernels::TermsOfCentres;
    ReserveExactly(queue, m_Arrays.terms, hasTerms ? SizeOf(m_Arrays.forces) : 0);
  }
  if (m_CentreCount > 0)
  {
    return;
  }
  const SlabBytes bytes = ComputeSlabBytes();
  Reserve(queue, m_Arrays.moved, bytes.moved);
  Reserve(queue, m_Arrays.sums, bytes.sums);
  Reserve(queue, m_Arrays.circularBuffers, bytes.buffers);
}

void
NeighborhoodEvaluation::Plan(const SampleMapping &     mapping,
                             const NeighborhoodTerms & terms,
                             Forces                    forces,
                             std::size_t               slabBytes,
                             const std::string &       name,
                             MemoryLedger &            ledger)
{
  Describe(mapping, terms, forces, slabBytes);
  m_Core.samples.PlanMapping(mapping, Forces::None, name, ledger);
  ledger.Reserve(name + "partial sums", GetPartialBytes());
  ledger.Reserve(name + "value", sizeof(float) * kernels::EvaluatedNumbers);
  if (forces == Forces::OfEachSample)
  {
    const std::size_t bytes = 3 * sizeof(float) * static_cast<std::size_t>(m_Core.samples.GetCount());
    ledger.ReserveExactly(name + "forces", bytes);
    ledger.ReserveExactly(name + "terms of forces", m_Arguments.forces == kernels::TermsOfCentres ? bytes : 0);
  }
  const SlabBytes bytes = ComputeSlabBytes();
  ledger.Reserve(name + "values of a slab", bytes.moved);
  ledger.Reserve(name + "sums of a slab", bytes.sums);
  ledger.Reserve(name + "buffers of a slab", bytes.buffers);
}

NeighborhoodEvaluation::SlabBytes
NeighborhoodEvaluation::ComputeSlabBytes() const
{
  SlabBytes bytes;
  for (const kernels::NeighborhoodArguments & a : m_Slabs)
  {
    const auto kept = static_cast<std::size_t>(StoredVoxels(&a));
    bytes.moved = std::max(bytes.moved, kept * sizeof(kernels::i64));
    bytes.sums =
      std::max(bytes.sums, RunningSumBytes * (a.tileRows > 0 ? static_cast<std::size_t>(CentreVoxels(&a)) : kept));
    for (int axis = 0; a.tileRows == 0 && axis < 3; ++axis)
    {
      const int length = LengthOfWindow(&a, axis);
      if (m_Passes->NeedsCircularBuffers(length))
      {
        const NeighborhoodGrain grain = m_Passes->GetGrain();
        bytes.buffers = std::max(bytes.buffers,
                                 RunningSumBytes * static_cast<std::size_t>(CountNeighborhoodGroups(a, axis, grain)) *
                                   grain.lanes * length);
      }
    }
  }
  return bytes;
}

std::size_t
NeighborhoodEvaluation::GetPartialBytes() const
{
  return sizeof(float) * static_cast<std::size_t>(m_PartialGroups) *
         static_cast<std::size_t>(NeighborhoodPartialCount(&m_Arguments));
}

void
NeighborhoodEvaluation::EnqueuePasses(bool findsForces)
{
  m_Core.samples.CheckAreMoved();
  for (const kernels::NeighborhoodArguments & a : m_Slabs)
  {
    if (m_CentreCount > 0)
    {
      m_Passes->CorrelateList(a, m_Maps, m_Arrays);
      continue;
    }
    m_Passes->MovePlanes(a, m_Maps, m_Arrays);
    if (a.tileRows > 0)
    {
      m_Passes->CorrelateTiles(a, m_Maps, m_Arrays);
      continue;
    }
    m_Passes->SumAlong(0, a, m_Maps, m_Arrays);
    if (a.radius[1] > 0)
    {
      m_Passes->SumAlong(1, a, m_Maps, m_Arrays);
    }
    m_Passes->CorrelatePlanes(a, m_Maps, m_Arrays);
  }
  if (findsForces && m_Arguments.forces == kernels::TermsOfCentres)
  {
    m_Passes->SumTerms(0, m_Arguments, *m_Arrays.forces, *m_Arrays.terms);
    m_Passes->SumTerms(1, m_Arguments, *m_Arrays.terms, *m_Arrays.forces);
    m_Passes->ComputeForcesOfTerms(m_Arguments, m_Maps, m_Arrays, *m_Arrays.forces, *m_Arrays.terms);
    std::swap(m_Arrays.forces, m_Arrays.terms);
  }
}

void
NeighborhoodEvaluation::EnqueueSimilarity()
{
  kernels::SimilaritySums a{};
  a.chunks = m_PartialGroups;
  a.stride = kernels::NeighborhoodPartialCount(&m_Arguments);
  a.count = kernels::MostCentreSums;
  a.haveRests = 1;
  a.fixedUnit = a.movingUnit = 1;
  m_SimilarityPasses->Find(a, *m_Arrays.partials, *m_Evaluated);
}

const float *
NeighborhoodEvaluation::DownloadPartials(std::size_t bytes)
{
  void * const staging = m_Core.queue->GetStaging(Direction::Down, 0, bytes);
  m_Core.queue->Download(staging, *m_Arrays.partials, bytes);
  return static_cast<const float *>(staging);
}

NeighborhoodResult
NeighborhoodEvaluation::DownloadCounted()
{
  return AddUp(DownloadPartials(GetPartialBytes()), m_CountedGroups);
}

NeighborhoodResult
NeighborhoodEvaluation::MakeResult(Forces forces)
{
  NeighborhoodResult result = AddUp(DownloadPartials(GetPartialBytes()), { 0, m_PartialGroups });
  if (forces == Forces::OfEachSample)
  {
    m_Core.StoreForces(*m_Arrays.forces);
  }
  return result;
}

NeighborhoodResult
NeighborhoodEvaluation::AddUp(const float * partials, const Range & groups) const
{
  std::array<double, kernels::MostCentreSums> ofCentres{};
  ForceSums                                   forces{};
  const bool hasForces = NeighborhoodPartialCount(&m_Arguments) > 2 * kernels::MostCentreSums;
  partials += groups.first * NeighborhoodPartialCount(&m_Arguments);
  for (std::int64_t group = 0; group < groups.count; ++group)
  {
    // Both kinds of sums are followed by their rounding errors.
    partials = AddPartials(partials, kernels::MostCentreSums, 2, ofCentres.data());
    partials = AddPartials(partials, kernels::ForceSumCount, hasForces ? 2 : 0, forces.data());
  }
  NeighborhoodResult result;
  result.count = ofCentres[kernels::CentreCountSum];
  result.correlations = ofCentres[kernels::CorrelationSum];
  static_cast<ForceResult &>(result) = m_Core.samples.MakeForceResult(m_Arguments.samples, forces);
  return result;
}

} // namespace gpureg
