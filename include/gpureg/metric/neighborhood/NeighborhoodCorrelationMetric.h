// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NeighborhoodCorrelationMetric_h
#define gpureg_NeighborhoodCorrelationMetric_h

#include "gpureg/metric/Metric.h"
#include "gpureg/metric/neighborhood/FlatNeighborhoods.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Holds the settings of an evaluation: the size of neighborhoods, and properties of ITK's class. */
struct NeighborhoodTerms
{
  /** Radius in voxels along each axis of the virtual grid; one larger than the grid acts as one of the grid's size. */
  std::array<std::uint64_t, 3> radius{ 2, 2, 2 };
  FlatNeighborhoods            flat{};
  /** True for forces that are the derivative of the correlations' sum, instead of ITK's, which are the derivative of the correlation of
   *  the voxel's own neighborhood alone: see src/kernels/metric/neighborhood/NeighborhoodTerms.h. Not for a list of centres. */
  bool forcesAreOfValue = false;
};

/** Result of an evaluation, with forces 2 sFM/(sFF·sMM)·((f - f̄) - sFM/sMM·(m - m̄))·∇m of scaled values. */
struct NeighborhoodResult : ForceResult
{
  /** Number of valid centres, and the sum of their correlations. */
  double count = 0;
  double correlations = 0;
};

/** Computes the mean correlation over the neighborhoods of voxels; src/kernels/metric/neighborhood/NeighborhoodCorrelation.h has the
 *  equations. The fixed samples are all voxels of the grid, with their values. Samples and moving image are in double precision, and
 *  the ranges of their scales are powers of two. The device stores 56 bytes more per voxel. A grid whose voxels need more than
 *  SetSlabBytes() is processed in slabs of planes, at least twice as high as a neighborhood. The slabs depend only on the problem, so
 *  that results do not depend on free memory; if the memory does not hold one slab, Evaluate() throws. */
class GPURegistration_EXPORT NeighborhoodCorrelationMetric : public Metric
{
public:
  /** 1 GiB, enough for 19 million voxels. */
  static constexpr std::size_t DefaultSlabBytes = std::size_t{ 1 } << 30;

  /** Makes a metric on one device.
   *  \throws Error if there is no such device. */
  explicit NeighborhoodCorrelationMetric(const std::string & deviceName);
  ~NeighborhoodCorrelationMetric();

  /** Uploads the list of centres: the offset of each centre's voxel in the grid, as int64; a voxel may occur several times. Without a
   *  list every voxel is a centre. */
  void
  SetCentres(std::int64_t count, const Filler & offsets, const ParallelFor & parallelFor);

  void
  SetSlabBytes(std::size_t bytes)
  {
    m_SlabBytes = bytes;
  }

  /** Computes the sum of correlations, and the forces. Forces::OfEachSample gives one force for each voxel, or for each centre of the
   *  list.
   *  \throws Error if the device has no double precision, or the samples have no values. */
  NeighborhoodResult
  Evaluate(const SampleMapping &     mapping,
           const NeighborhoodTerms & terms,
           Forces                    forces,
           const ParallelFor &       parallelFor);

  /** Evaluates many candidates in batches, without forces. A batch has as many candidates as 32 MiB hold the voxels' data of.
   *  Candidates are evaluated one after the other on the host, if neighborhoods are too large for a device's local memory, and if the
   *  grid takes several slabs. */
  std::vector<NeighborhoodResult>
  EvaluateBatch(const CandidateMaps & candidates, const NeighborhoodTerms & terms, const ParallelFor & parallelFor);

private:
  class Implementation;
  std::size_t                     m_SlabBytes = DefaultSlabBytes;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
