// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormLevel_h
#define gpureg_FreeFormLevel_h

#include "engine/penalty/ControlPenaltyTerm.h"
#include "engine/registration/free_form/FreeFormChecks.h"
#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/registration/free_form/FreeFormPairLevel.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpureg
{

/** The arrays of the current level on the device, of which the base class has those of the first pair. All levels use these arrays, which
 *  are as large as the finest level requires, and stay for the next registration; see Queue::KeepLargerArrays(). */
struct FreeFormLevel : FreeFormPairLevel
{
  /** \param others the similarities of further pairs */
  FreeFormLevel(const FreeFormSettings &                settings,
                const std::vector<SimilaritySettings> & others,
                const std::shared_ptr<Backend> &        backend,
                const std::shared_ptr<Queue> &          queue)
    : FreeFormPairLevel(GetSimilarity(settings), { settings.samples, settings.seed }, backend, queue)
    , bending(*queue, &nodeDerivatives)
    , penalties(*queue, &nodeDerivatives)
  {
    for (const SimilaritySettings & other : others)
    {
      further.push_back(std::make_unique<FreeFormPairLevel>(other, SampleDraws{}, backend, queue));
    }
  }

  /** Returns a pair's arrays, by its place among all pairs. */
  FreeFormPairLevel &
  GetPair(std::size_t place)
  {
    return place == 0 ? *this : *further[place - 1];
  }

  ControlPenaltyTerm &
  GetTerm(PenaltyKind kind)
  {
    return kind == PenaltyKind::BendingEnergy ? bending : penalties;
  }

  /** Returns the factor of a penalty: bending energy is that of displacements in voxels of the level, with derivatives by steps of its
   *  grid, so that one weight fits all levels. */
  double
  GetUnit(PenaltyKind kind) const
  {
    return kind == PenaltyKind::BendingEnergy ? 1.0 / (edge * edge) : 1.0;
  }

  std::int64_t
  GetDeviceBytes() const
  {
    std::int64_t bytes = FreeFormPairLevel::GetDeviceBytes();
    for (const auto & pair : further)
    {
      bytes += pair->GetDeviceBytes();
    }
    for (const MemoryPointer * array : { &nodeDerivatives,
                                         &coarsePoints,
                                         &controlForces,
                                         &penalty,
                                         &firstMeans,
                                         &secondMeans,
                                         &values,
                                         &lineNumbers,
                                         &penaltyValues })
    {
      bytes += static_cast<std::int64_t>(SizeOf(*array));
    }
    return bytes;
  }

  std::vector<std::unique_ptr<FreeFormPairLevel>> further;
  /** Has no points before the first level. */
  FreeFormGrid grid;
  /** The shortest edge of the level's voxels in mm, and that of the finest level's. */
  double edge = 1;
  double finestEdge = 1;
  /** The partial derivatives at the nodes, for one penalty at a time. */
  MemoryPointer nodeDerivatives;
  /** Derivatives by steps of the grid, and by mm. */
  ControlPenaltyTerm bending;
  ControlPenaltyTerm penalties;
  /** The control points of the level before, float4 each, and their number. */
  MemoryPointer coarsePoints;
  Size          coarseSize{};
  /** float4, one per control point. The last two also store a conjugate gradient's last gradient and its direction. */
  MemoryPointer controlForces;
  MemoryPointer penalty;
  MemoryPointer firstMeans;
  MemoryPointer secondMeans;
  /** float: the similarities, of all pairs for each stored cost. */
  MemoryPointer values;
  /** float[kernels::LineNumbers]. */
  MemoryPointer lineNumbers;
  /** A slot of each weighted penalty for each stored cost, or at least one slot, which the Jacobian of the result uses. */
  MemoryPointer penaltyValues;
};

} // namespace gpureg

#endif
