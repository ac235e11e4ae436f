// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldAdam_h
#define gpureg_FieldAdam_h

#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <cstddef>

namespace gpureg
{

/** Holds Adam's means for each vector of a field, which are carried from level to level, and makes steps of smoothed updates: see
 *  kernels/field/FieldAdam.h. */
class FieldAdam
{
public:
  /** workspace must outlive this object. */
  explicit FieldAdam(SchemeWorkspace & workspace)
    : m_Workspace(workspace)
  {}

  /** Resamples the means on a level's grid. before: the previous level; if its dimension is 0 this is the first level, and steps count from
   *  0. */
  void
  BeginLevel(const LevelGrid & before, const LevelGrid & level);

  /** Enqueues the replacement of an update, float[3] a voxel, mm, by Adam's step.
   *  \param length the length of a step, in voxels
   *  \param lengths float[1] a voxel, which is overwritten
   *  \param longest holds the length of the update's longest vector, float, in voxels; is replaced by that of the step's longest vector */
  void
  Enqueue(double length, Memory & update, Memory & lengths, Memory & longest);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_FirstMeans) + SizeOf(m_SecondMeans);
  }

private:
  SchemeWorkspace &  m_Workspace;
  kernels::FieldGrid m_Grid{};
  Range              m_OwnVoxels; // of the grid's
  int                m_Step = 0;
  MemoryPointer      m_FirstMeans; // float[3] a voxel
  MemoryPointer      m_SecondMeans;
};

} // namespace gpureg

#endif
