// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormCost_h
#define gpureg_FreeFormCost_h

#include "engine/registration/free_form/ControlStepPasses.h"
#include "engine/registration/free_form/FreeFormLevel.h"

#include <cstdint>
#include <vector>

namespace gpureg
{

/** The cost of a level at its control points: similarity and penalties (Modat 2010, equation 1). Evaluations are enqueued, and what
 *  they come to is kept on the device, in slots, until it is asked for. */
class FreeFormCost
{
public:
  /** All of them must outlive it. The level has its images and its grid.
   *  \param slots values that are kept. */
  FreeFormCost(const FreeFormProblem &  problem,
               const FreeFormSettings & settings,
               int                      slots,
               ControlStepPasses &      steps,
               FreeFormLevel &          level);

  /** Takes other samples from now on, if the similarity draws them; or all voxels. */
  void
  Draw(std::uint32_t iteration);
  void
  TakeAllVoxels();

  /** Enqueues what finds the similarity and its gathered forces, and the penalties and their gradient.
   *  \return the arrays that a step reads; values is the slot's. */
  StepArrays
  EnqueueGradient(int slot);

  /** Gathered forces times this and the evaluated factor are the gradient of the similarity's part. */
  double
  GetSimilarityUnit() const;

  /** Enqueues what finds the cost alone, and keeps it. */
  void
  EnqueueValue(int slot);

  /** Downloads the costs in the first slots.
   *  \throws BadInputError if in the first no voxel of the fixed image is mapped into the moving one. */
  std::vector<double>
  Download(int count);

private:
  void
  FindMaps(const FreeFormProblem & problem);
  /** For the samples that the similarity has. */
  void
  PrepareSimilarity();
  void
  PreparePenalties(const FreeFormProblem & problem, int slots);
  StepArrays
  MakeArrays(int slot);
  /** Calls work(penalty, term, its unit, its slot) for those that have a weight. */
  template <typename TWork>
  void
  ForEachPenalty(int slot, const TWork & work);
  void
  AddPenalties(std::vector<double> & costs);

  const FreeFormSettings & m_Settings;
  ControlStepPasses &      m_Steps;
  FreeFormLevel &          m_Level;
  IndexMap                 m_VoxelToPoint; // of the level's fixed image
  IndexMap                 m_VoxelToMoving;
  IndexMap                 m_VoxelToGrid;
  SampleMapping            m_Mapping;
  Matrix3                  m_ForcesToGradient{};
};

} // namespace gpureg

#endif
