// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LocalCorrelationForces_h
#define gpureg_LocalCorrelationForces_h

#include "engine/field/FieldKernels.h"
#include "engine/registration/diffeomorphic/FieldForces.h"

namespace gpureg
{

/** The local correlation of a level's images along a field, and its derivative by each displacement; see kernels/field/BoxCorrelation.h. */
class LocalCorrelationForces : public FieldForces
{
public:
  /** queue must outlive this object.
   *  \param radius the radius of a neighborhood, in voxels, along each axis of more than one voxel
   *  \param noise see DiffeomorphicSettings::noise */
  LocalCorrelationForces(Queue & queue, int radius, double noise);

  void
  SetImages(const LevelGrid &    level,
            TeamMember *         member,
            const LevelImage &   fixed,
            const LevelImage &   moving,
            const DisplacedMap & initial,
            int                  number,
            const ParallelFor &  parallelFor) override;

  void
  Enqueue(FieldReducer & reducer,
          const Memory & field,
          Memory &       gradients,
          Memory &       forces,
          Memory &       values,
          std::int64_t   slot) override;

  std::optional<double>
  ComputeCost(float value) const override;

  std::size_t
  GetDeviceBytes() const override;

  void
  Plan(const LevelGrid &   level,
       const LevelImage &  fixed,
       const LevelImage &  moving,
       const std::string & name,
       MemoryLedger &      ledger) override;

private:
  Queue &                 m_Queue;
  int                     m_Radius;
  float                   m_NoiseVariance;
  kernels::FieldWarp      m_Warp{};
  kernels::BoxCorrelation m_Correlation{};
  bool                    m_HasFixedMask = false;
  Range                   m_OwnPlanes;        // of the grid's
  TeamMember *            m_Member = nullptr; // see SetImages()
  std::int64_t            m_VoxelsOfLevel = 0;
  // One float a voxel: of the grid's planes of the fixed image, and of the moving image; the moving mask as floats.
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
