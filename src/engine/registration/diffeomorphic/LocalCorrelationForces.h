// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LocalCorrelationForces_h
#define gpureg_LocalCorrelationForces_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/filter/LevelImage.h"

#include "gpureg/core/Geometry.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** The local correlation of a level's images along a field, and its derivative by each displacement; see kernels/field/BoxCorrelation.h. */
class LocalCorrelationForces
{
public:
  /** queue must outlive it. */
  explicit LocalCorrelationForces(Queue & queue);

  /** Sets the images.
   *  \param grid the fixed image's grid, which is the field's
   *  \param initial maps points of the fixed image to points of the moving one, after the displacement
   *  \param radius of a neighborhood, voxels, along each axis of more than one voxel */
  void
  SetImages(const kernels::FieldGrid & grid,
            const LevelImage &         fixed,
            const LevelImage &         moving,
            const IndexMap &           initial,
            int                        radius);

  /** Enqueues an evaluation. field: float[3] a voxel, mm; gradients: an array of that size, which is overwritten; forces: gets the
   *  derivatives, float[3] a voxel; values: gets the sum over all voxels at the slot, float. */
  void
  Enqueue(FieldReducer & reducer,
          const Memory & field,
          Memory &       gradients,
          Memory &       forces,
          Memory &       values,
          std::int64_t   slot);

  std::size_t
  GetDeviceBytes() const;

private:
  /** Writes (value - lowest)·scale of an image's values as floats. */
  void
  Scale(const ImageLevel & image, double lowest, double scale, MemoryPointer & scaled);

  Queue &                 m_Queue;
  kernels::FieldWarp      m_Warp{};
  kernels::BoxCorrelation m_Correlation{};
  bool                    m_HasFixedMask = false;
  // One float a voxel of the level's images; the moving mask as floats.
  MemoryPointer m_Fixed;
  MemoryPointer m_Moving;
  MemoryPointer m_MovingMask;
  MemoryPointer m_FixedWeights;
  MemoryPointer m_Warped;
  MemoryPointer m_Weights;
  // CountBoxSums() floats a voxel.
  MemoryPointer m_Sums;
};

} // namespace gpureg

#endif
