// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormLevel_h
#define gpureg_FreeFormLevel_h

#include "engine/penalty/ControlPenaltyTerm.h"
#include "engine/registration/free_form/FreeFormChecks.h"
#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/filter/ImageLevel.h"
#include "engine/registration/LevelSimilarity.h"
#include "engine/metric/MetricCore.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

/** The arrays of the current level on the device. All levels use these arrays, which are as large as the finest level requires, and stay
 *  for the next registration; see Queue::KeepLargerArrays(). */
struct FreeFormLevel
{
  FreeFormLevel(const FreeFormSettings &         settings,
                const std::shared_ptr<Backend> & backend,
                const std::shared_ptr<Queue> &   queue)
    : core(backend, queue)
    , similarity(MakeLevelSimilarity(core, GetSimilarity(settings), { settings.samples, settings.seed }))
    , fixed(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , moving(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , fixedMask(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , movingMask(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , bending(*queue, &nodeDerivatives)
    , penalties(*queue, &nodeDerivatives)
  {}

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
    std::int64_t bytes = core.samples.GetDeviceBytes();
    for (const ImageLevel * image : { &fixed, &moving, &fixedMask, &movingMask })
    {
      bytes += static_cast<std::int64_t>(image->GetDeviceBytes());
    }
    for (const MemoryPointer * array : core.ownArrays)
    {
      bytes += static_cast<std::int64_t>(SizeOf(*array));
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

  MetricCore                       core;
  std::unique_ptr<LevelSimilarity> similarity;
  ImageLevel                       fixed;
  ImageLevel                       moving;
  ImageLevel                       fixedMask;
  ImageLevel                       movingMask;
  /** Has no points before the first level. */
  LevelGrid grid;
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
  /** float: the similarities. */
  MemoryPointer values;
  /** float[kernels::LineNumbers]. */
  MemoryPointer lineNumbers;
  /** A slot of each weighted penalty for each stored cost, or at least one slot, which the Jacobian of the result uses. */
  MemoryPointer penaltyValues;
};

} // namespace gpureg

#endif
