// SPDX-License-Identifier: Apache-2.0
// An evaluation of the neighborhood correlation: the arrays, the passes in their order, and what they bring.
#ifndef gpureg_NeighborhoodEvaluation_h
#define gpureg_NeighborhoodEvaluation_h

#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"

#include "engine/metric/MetricCore.h"
#include "engine/metric/neighborhood/NeighborhoodPasses.h"
#include "engine/metric/SimilarityPasses.h"

#include <cstddef>
#include <cstdint>
#include <memory>
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

  /** Of many candidates together, where the device has batches and local memory has room for tiles of the neighborhoods; else one after
   *  the other. */
  std::vector<NeighborhoodResult>
  EvaluateBatch(const CandidateMaps &     candidates,
                const NeighborhoodTerms & terms,
                std::size_t               slabBytes,
                const ParallelFor &       parallelFor);

  /** \throws Error unless the device has doubles, and the samples are all voxels in them. */
  void
  CheckIsPossible() const;

  /** Finds out what evaluations along a mapping take, and makes room for them: for a method that enqueues them itself. */
  void
  Prepare(const SampleMapping & mapping, const NeighborhoodTerms & terms, Forces forces, std::size_t slabBytes);

  /** Enqueues what it has been prepared for; the samples are where they have been moved.
   *  \param findsForces false: forces that are of the value are left out, which take passes of their own. */
  void
  EnqueuePasses(bool findsForces = true);

  /** Enqueues what makes the similarity of the last passes' sums. */
  void
  EnqueueSimilarity();

  /** Forces of each voxel that the last passes found. */
  const Memory &
  GetForces() const
  {
    return *m_Arrays.forces;
  }

  /** float [kernels::EvaluatedNumbers] */
  const Memory &
  GetEvaluated() const
  {
    return *m_Evaluated;
  }

private:
  /** Finds out what evaluations along a mapping take. */
  void
  Describe(const SampleMapping & mapping, const NeighborhoodTerms & terms, Forces forces, std::size_t slabBytes);
  /** Whether what it has found out can be done for several candidates at a time. */
  bool
  CanBeBatched() const;
  void
  EvaluateTogether(const CandidateMaps & candidates, const ParallelFor & parallelFor, NeighborhoodResult * results);
  /** How many of them have room for what they keep. */
  std::size_t
  CountAtOnce(int candidates) const;
  /** Where the centres of the list are, for control points that gather their forces. */
  void
  MakePlaces();
  /** Of one slab, or of the list. \param candidates so many go through it at once. */
  kernels::NeighborhoodArguments
  MakeSlab(int firstCentre, int centrePlanes, int firstPartial, int candidates = 1) const;
  static void
  CutIntoSegments(kernels::NeighborhoodArguments & a, std::int64_t wanted, int most);
  void
  CutIntoSlabs(std::size_t slabBytes);
  void
  ReserveArrays(Forces forces);
  std::size_t
  GetPartialBytes() const;
  NeighborhoodResult
  MakeResult(Forces forces);
  NeighborhoodResult
  AddUp(const float * partials) const;

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
  int                                         m_CentreCount = 0;
  MemoryPointer                               m_Places; // i64[3], one a centre; null until they are asked for
};

} // namespace gpureg

#endif
