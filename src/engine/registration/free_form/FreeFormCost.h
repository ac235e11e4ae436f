// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormCost_h
#define gpureg_FreeFormCost_h

#include "engine/registration/free_form/ControlSteps.h"
#include "engine/registration/free_form/FreeFormLevel.h"
#include "engine/registration/free_form/FreeFormPairCost.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpureg
{

/** The cost of a level as a function of its control points: similarities and penalties (Modat 2010, equation 1). Evaluations are enqueued,
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
  FreeFormPairCost &
  GetFirst()
  {
    return m_Pairs.front();
  }

  /** Copies the control points to a further pair. */
  void
  SharePoints(FreeFormPairCost & pair);
  void
  PreparePenalties(const FreeFormProblem & problem, int slots);
  /** \param place the pair's among all pairs */
  StepArrays
  MakeArrays(int slot, std::size_t place = 0);
  /** \throws BadInputError if no voxel or sample of a pair's fixed image is mapped into its moving image */
  void
  CheckHaveSamples(const std::vector<float> & values) const;
  /** Calls work(penalty, term, unit, slot) for each penalty whose weight is not 0. */
  template <typename TWork>
  void
  ForEachPenalty(int slot, const TWork & work);
  void
  AddPenalties(std::vector<double> & costs);

  const FreeFormSettings &      m_Settings;
  FreeFormLevel &               m_Level;
  std::vector<std::size_t>      m_Numbers; // of the pairs
  std::vector<FreeFormPairCost> m_Pairs;
};

} // namespace gpureg

#endif
