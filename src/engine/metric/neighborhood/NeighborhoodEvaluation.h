// SPDX-License-Identifier: Apache-2.0
// An evaluation of the neighborhood correlation: its arrays, the order of its passes, and its results.
#ifndef gpureg_NeighborhoodEvaluation_h
#define gpureg_NeighborhoodEvaluation_h

#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"

#include "engine/core/Range.h"
#include "engine/metric/MetricCore.h"
#include "engine/metric/neighborhood/NeighborhoodPasses.h"
#include "engine/metric/SimilarityPasses.h"
#include "engine/runtime/MemoryLedger.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

class NeighborhoodEvaluation
{
public:
  explicit NeighborhoodEvaluation(MetricCore & core);

  const Backend &
  GetBackend() const
  {
    return m_Core.GetBackend();
  }

  void
  SetCentres(std::int64_t count, const Filler & offsets, const ParallelFor & parallelFor);

  NeighborhoodResult
  Evaluate(const SampleMapping &     mapping,
           const NeighborhoodTerms & terms,
           Forces                    forces,
           std::size_t               slabBytes,
           const ParallelFor &       parallelFor);

  /** Evaluates candidates in batches if the device has batches and local memory holds tiles of the neighborhoods; otherwise one after
   *  another. */
  std::vector<NeighborhoodResult>
  EvaluateBatch(const CandidateMaps &     candidates,
                const NeighborhoodTerms & terms,
                std::size_t               slabBytes,
                const ParallelFor &       parallelFor);

  /** \throws Error unless the device computes in double precision, and the samples are all voxels with values in double precision */
  void
  CheckIsPossible() const;

  /** Makes DownloadCounted() regard the centres in these planes alone, from the next Prepare() on; without planes, all. */
  void
  SetCountedPlanes(const std::optional<Range> & planes)
  {
    m_CountedPlanes = planes;
  }

  /** Makes the arguments of evaluations along a mapping, and reserves their memory. For a method that enqueues evaluations itself. */
  void
  Prepare(const SampleMapping & mapping, const NeighborhoodTerms & terms, Forces forces, std::size_t slabBytes);

  /** Enqueues the passes that Prepare() prepared; the samples must have been moved.
   *  \param findsForces if false, forces that need passes of their own are left out */
  void
  EnqueuePasses(bool findsForces = true);

  /** Enqueues the computation of the similarity from the sums of the last passes. */
  void
  EnqueueSimilarity();

  /** Waits for the device, and returns the number of counted centres and the sum of their correlations, of the last passes. */
  NeighborhoodResult
  DownloadCounted();

  /** Writes down the arrays that Prepare() reserves for all voxels of a grid, for samples that SampleSet::Plan() has described.
   *  \param name what their names begin with */
  void
  Plan(const SampleMapping &     mapping,
       const NeighborhoodTerms & terms,
       Forces                    forces,
       std::size_t               slabBytes,
       const std::string &       name,
       MemoryLedger &            ledger);

  /** Returns the forces of each voxel that the last passes computed. Other work may overwrite them. */
  Memory &
  GetForces() const
  {
    return *m_Arrays.forces;
  }

  /** Returns the evaluated numbers: float[kernels::EvaluatedNumbers]. */
  const Memory &
  GetEvaluated() const
  {
    return *m_Evaluated;
  }

private:
  /** Makes the arguments of evaluations along a mapping. */
  void
  Describe(const SampleMapping & mapping, const NeighborhoodTerms & terms, Forces forces, std::size_t slabBytes);
  /** Returns true if an evaluation with the current arguments can process several candidates at once. */
  bool
  CanBeBatched() const;
  void
  EvaluateTogether(const CandidateMaps & candidates, const ParallelFor & parallelFor, NeighborhoodResult * results);
  /** Returns how many of the candidates can be evaluated at once within the memory for stored voxels. */
  std::size_t
  CountAtOnce(int candidates) const;
  /** Computes the places of the listed centres, whose forces control points collect, or which are summed. */
  void
  MakePlaces();
  /** Returns the arguments of one slab, or of the list. \param candidates how many candidates are processed at once */
  kernels::NeighborhoodArguments
  MakeSlab(int firstCentre, int centrePlanes, int firstPartial, int candidates = 1) const;
  static void
  CutIntoSegments(kernels::NeighborhoodArguments & a, std::int64_t wanted, int most);
  void
  CutIntoSlabs(std::size_t slabBytes);
  /** Adds slabs of so many planes each, or fewer, which make up a range of planes. */
  void
  AddSlabs(const Range & range, int planes);
  void
  ReserveArrays(Forces forces);
  /** The bytes of arrays that all slabs share. */
  struct SlabBytes
  {
    std::size_t moved = 0;
    std::size_t sums = 0;
    std::size_t buffers = 0;
  };
  SlabBytes
  ComputeSlabBytes() const;
  std::size_t
  GetPartialBytes() const;
  /** Waits for the device, and returns bytes of partial sums, which are valid until the operation ends. */
  const float *
  DownloadPartials(std::size_t bytes);
  NeighborhoodResult
  MakeResult(Forces forces);
  NeighborhoodResult
  AddUp(const float * partials, const Range & groups) const;

  MetricCore &                                m_Core;
  std::unique_ptr<NeighborhoodPasses>         m_Passes;
  std::unique_ptr<SimilarityPasses>           m_SimilarityPasses;
  NeighborhoodArrays                          m_Arrays;
  BatchArrays                                 m_Batch;
  MemoryPointer                               m_Evaluated;
  kernels::NeighborhoodArguments              m_Arguments{};
  kernels::SampleMaps                         m_Maps{};
  std::vector<kernels::NeighborhoodArguments> m_Slabs;
  int                                         m_PartialGroups = 0;
  std::optional<Range>                        m_CountedPlanes;
  Range                                       m_CountedGroups; // of all that write partial sums
  int                                         m_CentreCount = 0;
};

} // namespace gpureg

#endif
