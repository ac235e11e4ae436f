// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormLevel_h
#define gpureg_FreeFormLevel_h

#include "engine/penalty/ControlPenaltyTerm.h"
#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/filter/ImageLevel.h"
#include "engine/registration/free_form/FreeFormSimilarity.h"
#include "engine/metric/MetricCore.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

/** What the level that is dealt with has on the device. All levels have the same arrays, which are as large as the finest one wants
 *  them, and stay for the next registration: see Queue::keepsLargerArrays. */
struct FreeFormLevel
{
  FreeFormLevel(const FreeFormSettings &         settings,
                const std::shared_ptr<Backend> & backend,
                const std::shared_ptr<Queue> &   queue)
    : core(backend, queue)
    , similarity(MakeFreeFormSimilarity(settings, core))
    , fixed(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , moving(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , fixedMask(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , movingMask(*queue, backend->GetDescription().name, &core.samples.GetControlPoints().GetScratch())
    , bending(*queue, &stresses)
    , penalties(*queue, &stresses)
  {}

  ControlPenaltyTerm &
  GetTerm(PenaltyKind kind)
  {
    return kind == PenaltyKind::BendingEnergy ? bending : penalties;
  }

  /** What a penalty is counted in: bending of displacements in the level's voxels, by steps of its grid, so that one weight serves
   *  all levels. */
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
    for (const MemoryPointer * array : { &stresses,
                                         &coarsePoints,
                                         &gathered,
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

  MetricCore                          core;
  std::unique_ptr<FreeFormSimilarity> similarity;
  ImageLevel                          fixed;
  ImageLevel                          moving;
  ImageLevel                          fixedMask;
  ImageLevel                          movingMask;
  /** Of no points before there is one. */
  LevelGrid grid;
  /** Of its voxels, mm: the shortest; and that of the finest level's. */
  double edge = 1;
  double finestEdge = 1;
  /** Of the nodes, for a penalty at a time. */
  MemoryPointer stresses;
  /** By steps of the grid, and by mm. */
  ControlPenaltyTerm bending;
  ControlPenaltyTerm penalties;
  /** Those of the level before, float4 each, and how many. */
  MemoryPointer coarsePoints;
  Size          coarseSize{};
  /** float4, one a control point; the last two are a conjugate gradient's last gradient and its direction, too. */
  MemoryPointer gathered;
  MemoryPointer penalty;
  MemoryPointer firstMeans;
  MemoryPointer secondMeans;
  /** float: similarities. */
  MemoryPointer values;
  /** float [kernels::LineNumbers] */
  MemoryPointer lineNumbers;
  /** A slot for each value's penalties, one kind that has a weight behind the other, and one at the end for the end's Jacobian. */
  MemoryPointer penaltyValues;
};

} // namespace gpureg

#endif
