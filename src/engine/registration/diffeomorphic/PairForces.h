// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PairForces_h
#define gpureg_PairForces_h

#include "engine/field/StartTransform.h"
#include "engine/registration/diffeomorphic/FieldForces.h"
#include "engine/registration/diffeomorphic/ForceSum.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpureg
{

/** The similarities of all pairs of images at a level, along one field, and the sum of their derivatives by its displacements. */
class PairForces
{
public:
  /** workspace must outlive this object. */
  explicit PairForces(SchemeWorkspace & workspace);
  ~PairForces();

  /** Makes the shrunk images of a level, and the forces of their similarities.
   *  \return the grid of the level's fields, which all fixed images of the level have, or the planes of it that the device holds
   *  \throws BadInputError if all values of an image of the level are equal */
  LevelGrid
  BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number);

  /** Enqueues the evaluation of the level's iteration t. field, scratch and forces: see FieldForces::Enqueue(). */
  void
  Enqueue(const Memory & field, Memory & scratch, Memory & forces, int t);

  /** Waits for the device, and returns the costs of the level's first count iterations.
   *  \throws BadInputError if no voxel of a pair was compared, or if a cost is no number */
  std::vector<double>
  DownloadCosts(int count) const;

  /** Frees the images of the level, and all that is computed from them, after the last level. */
  void
  Release();

  std::size_t
  GetDeviceBytes() const;

  /** Writes down the arrays that BeginLevel() and Enqueue() reserve, and returns the grid of the level's fields. */
  kernels::FieldGrid
  PlanLevel(const DiffeomorphicProblem &  problem,
            const DiffeomorphicSettings & settings,
            int                           number,
            MemoryLedger &                ledger);

private:
  struct Term;

  /** Makes the forces of a pair if there are none yet. */
  void
  MakeForces(const SimilaritySettings & similarity, double noise, Term & term);

  SchemeWorkspace &                  m_Workspace;
  std::vector<std::unique_ptr<Term>> m_Terms;
  StartTransform                     m_Start;
  ForceSum                           m_Sum;
  bool                               m_BeginsDeformed = false;
  MemoryPointer                      m_Moved;  // float[3] a voxel: the field and the start, if that is not linear
  MemoryPointer                      m_OfTerm; // float: the forces of one pair, if there are several
  MemoryPointer                      m_Values; // float: what FieldForces writes, of each pair for each iteration
};

} // namespace gpureg

#endif
