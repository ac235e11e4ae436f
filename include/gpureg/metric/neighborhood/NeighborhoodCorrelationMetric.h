// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NeighborhoodCorrelationMetric_h
#define gpureg_NeighborhoodCorrelationMetric_h

#include "gpureg/metric/Metric.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** What a neighborhood is, and what ITK's class knows of its values. */
struct NeighborhoodTerms
{
  /** Voxels along each axis of the virtual grid. One larger than the grid is as large as it. */
  std::array<std::uint64_t, 3> radius{ 2, 2, 2 };
  /** Squares are rounded to float, as those of such pixels. */
  bool fixedIsFloat = false;
  bool movingIsFloat = false;
  /** Of unscaled values: no larger sFF·sMM is a correlation of 1, no larger sFF or sMM a force of 0. */
  double epsilon = 0;
  /** It is of values as they are scaled. */
  bool epsilonIsOfScaledValues = false;
  /** Forces of each sample are the derivative of the correlations' sum, not, as ITK's, of that of the voxel's own neighborhood
   *  alone: see src/kernels/metric/neighborhood/NeighborhoodTerms.h. Not for centres in a list. */
  bool forcesAreOfValue = false;
};

/** What an evaluation gives: forces 2 sFM/(sFF·sMM)·((f - f̄) - sFM/sMM·(m - m̄))·∇m of scaled values. */
struct NeighborhoodResult : ForceResult
{
  /** Of valid centres, and the sum of their correlations. */
  double count = 0;
  double correlations = 0;
};

/** The mean correlation over the neighborhoods of voxels: src/kernels/metric/neighborhood/NeighborhoodCorrelation.h has the equations. The fixed
 *  samples are all voxels of the grid, with their values; they and the moving image are in double precision, and their scales'
 *  ranges powers of two. The device keeps 56 bytes a voxel besides; a grid whose voxels take more than SetSlabBytes() is gone
 *  through in slabs of planes, of twice a neighborhood's height at least. The slabs follow from the problem alone, so that the
 *  numbers do not depend on free memory; where there is no room for one, Evaluate() throws. */
class GPURegistration_EXPORT NeighborhoodCorrelationMetric : public Metric
{
public:
  /** 1 GiB: 19 million voxels. */
  static constexpr std::size_t DefaultSlabBytes = std::size_t{ 1 } << 30;

  /** \throws Error if there is no such device. */
  explicit NeighborhoodCorrelationMetric(const std::string & deviceName);
  ~NeighborhoodCorrelationMetric();

  /** int64 each, the offset of a voxel in the grid: a list of centres, which may hold some several times. None: every voxel is
   *  a centre. */
  void
  SetCentres(std::int64_t count, const Filler & offsets, const ParallelFor & parallelFor);

  void
  SetSlabBytes(std::size_t bytes)
  {
    m_SlabBytes = bytes;
  }

  /** Forces of each sample are those of each voxel, or of each centre in the list.
   *  \throws Error if the device has no doubles, or the samples none. */
  NeighborhoodResult
  Evaluate(const SampleMapping &     mapping,
           const NeighborhoodTerms & terms,
           Forces                    forces,
           const ParallelFor &       parallelFor);

  /** Of many candidates together, without forces: a device deals with as many at a time as 32 MiB hold what they keep of their
   *  voxels. One after the other on the host, of neighborhoods that are too large for a device's local memory, and of a grid that
   *  is gone through in several slabs. */
  std::vector<NeighborhoodResult>
  EvaluateBatch(const CandidateMaps & candidates, const NeighborhoodTerms & terms, const ParallelFor & parallelFor);

private:
  class Implementation;
  std::size_t                     m_SlabBytes = DefaultSlabBytes;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
