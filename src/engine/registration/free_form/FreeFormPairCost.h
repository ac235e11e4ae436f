// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormPairCost_h
#define gpureg_FreeFormPairCost_h

#include "engine/registration/ImagePairs.h"
#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/registration/free_form/FreeFormPairLevel.h"

namespace gpureg
{

/** The similarity of a pair at a level as a function of the control points. */
class FreeFormPairCost
{
public:
  /** The level must have its images, and must outlive this object.
   *  \param pair the pair, with the share of its weight \param grid the level's control grid
   *  \param isOfSeveral true if there are other pairs: then the cost is in nats, see ComputeInformation() */
  FreeFormPairCost(const FreeFormProblem & problem,
                   const WeighedPair &     pair,
                   const FreeFormGrid &    grid,
                   bool                    isOfSeveral,
                   FreeFormPairLevel &     level);

  /** Prepares the similarity for its current samples. */
  void
  Prepare();

  /** Enqueues the similarity with the adjoint interpolation of its forces. controlForces: float4, one per control point */
  void
  EnqueueForces(Memory & controlForces);

  /** Enqueues the similarity alone. */
  void
  EnqueueValue();

  /** Returns the numbers of the last evaluation, whose factor is that of the pair's share of the cost of all pairs. */
  const Memory &
  GetEvaluated() const;
  std::int64_t
  GetEvaluatedPlace() const;

  /** Returns the pair's share of the cost of all pairs. \param value of the similarity */
  double
  ComputeCost(double value) const;

  FreeFormPairLevel &
  GetLevel() const
  {
    return m_Level;
  }

private:
  void
  ComputeMaps(const FreeFormProblem & problem, const FurtherPair & pair, const FreeFormGrid & grid);
  /** Returns the cost of unrelated images. */
  double
  FindUnrelatedCost() const;
  /** Enqueues what makes a pair's share of the evaluated numbers. */
  void
  Inform();

  FreeFormPairLevel & m_Level;
  double              m_Weight;
  bool                m_IsOfSeveral;
  IndexMap            m_VoxelToPoint; // from the level's fixed image
  IndexMap            m_VoxelToMoving;
  IndexMap            m_VoxelToGrid;
  SampleMapping       m_Mapping;
  Matrix3             m_ForcesToGradient{};
};

} // namespace gpureg

#endif
