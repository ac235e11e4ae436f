// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormCost_h
#define gpureg_FreeFormCost_h

#include "engine/registration/free_form/ControlSteps.h"
#include "engine/registration/free_form/FreeFormLevel.h"

#include <cstdint>
#include <vector>

namespace gpureg
{

/** The cost of a level as a function of its control points: similarity and penalties (Modat 2010, equation 1). Evaluations are enqueued,
 *  and their values are stored in slots on the device until Download(). */
class FreeFormCost
{
public:
  /** All arguments must outlive this object. The level must have its images and its grid. \param slots the number of values that can be
   *  stored */
  FreeFormCost(const FreeFormProblem & problem, const FreeFormSettings & settings, int slots, FreeFormLevel & level);

  /** Draws other samples for the following evaluations, if the similarity draws samples. */
  void
  Draw(std::uint32_t iteration);
  void
  TakeAllVoxels();

  /** Enqueues the similarity with the adjoint interpolation of its forces, and the penalties with their gradient.
   *  \return the arrays that a step reads, with the slot of the value */
  StepArrays
  EnqueueGradient(int slot);

  /** Returns the factor that, together with the evaluated factor, converts interpolated forces to the gradient of the similarity's part. */
  double
  GetSimilarityUnit() const;

  /** Enqueues the computation of the cost alone, and stores the value in a slot. */
  void
  EnqueueValue(int slot);

  /** Downloads the costs in the first count slots.
   *  \throws BadInputError if no voxel or sample of the fixed image is mapped into the moving image */
  std::vector<double>
  Download(int count);

private:
  void
  ComputeMaps(const FreeFormProblem & problem);
  /** Prepares the similarity for its current samples. */
  void
  PrepareSimilarity();
  void
  PreparePenalties(const FreeFormProblem & problem, int slots);
  StepArrays
  MakeArrays(int slot);
  /** Calls work(penalty, term, unit, slot) for each penalty whose weight is not 0. */
  template <typename TWork>
  void
  ForEachPenalty(int slot, const TWork & work);
  void
  AddPenalties(std::vector<double> & costs);

  const FreeFormSettings & m_Settings;
  FreeFormLevel &          m_Level;
  IndexMap                 m_VoxelToPoint; // from the level's fixed image
  IndexMap                 m_VoxelToMoving;
  IndexMap                 m_VoxelToGrid;
  SampleMapping            m_Mapping;
  Matrix3                  m_ForcesToGradient{};
};

} // namespace gpureg

#endif
