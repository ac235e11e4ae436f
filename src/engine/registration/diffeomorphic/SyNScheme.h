// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNScheme_h
#define gpureg_SyNScheme_h

#include "engine/registration/diffeomorphic/FieldScheme.h"
#include "engine/registration/diffeomorphic/MiddleForces.h"
#include "engine/registration/diffeomorphic/SideSlab.h"
#include "engine/registration/diffeomorphic/SyNInverter.h"

#include <optional>
#include <vector>

namespace gpureg
{

/** The scheme of itk::SyNImageRegistrationMethod (Avants 2008), step by step. Two fields lead from the fixed and from the moving image's
 *  space to the middle, and each has its inverse. An iteration
 *  - resamples both images of each pair in the middle, along the inverses,
 *  - computes the similarities and their derivatives by the moving image's points, adds up those of several pairs, and the same with
 *    exchanged roles,
 *  - smooths each derivative, scales it to a longest vector d, and composes u(x) ← u(x) + d(x + u(x)); smooths u,
 *  - inverts u, from its last inverse on, and then the inverse, from u on. */
class SyNScheme : public FieldScheme
{
public:
  /** workspace must outlive this object. */
  explicit SyNScheme(SchemeWorkspace & workspace);

  void
  Begin() override;

  void
  BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number) override;

  std::vector<double>
  DownloadCosts(int count) override
  {
    return m_Forces.DownloadCosts(count);
  }

  void
  CollectFields() override;

  bool
  HasDeformation() const override;

  const Memory &
  MakeField(DeformationField field) override;

  InvertedDeformation
  MakeInverse() override;

  void
  FreeForces() override;

  std::size_t
  GetDeviceBytes() const override;

  kernels::FieldGrid
  PlanLevel(const DiffeomorphicProblem &  problem,
            const DiffeomorphicSettings & settings,
            int                           number,
            MemoryLedger &                ledger) override;

private:
  /** Writes down the fields of the sides that this device moves. \param field the bytes of one */
  void
  PlanSides(std::size_t field, MemoryLedger & ledger) const;

  /** Writes down what CollectFields() frees and reserves, and what the deformation's inverse needs beside it.
   *  \param cut the planes of the last level that the device holds */
  void
  PlanCollectedFields(const LevelGrid & level, const LevelGrid & cut, MemoryLedger & ledger) const;

  /** Leads from the space of one image to the middle. */
  struct Side
  {
    SideField toMiddle;
    SideField fromMiddle;
  };

  /** Says whether this device evaluates a role and moves its side: the fixed image's for MiddleRole::AsGiven. */
  bool
  Has(MiddleRole role) const;

  /** Says whether this device is the first one of those that move its side. */
  bool
  IsFirstOfSlabs() const;

  /** Resamples a side's fields on a level's grid. before: the previous level; state: the fields of the first level, or null. */
  void
  BeginSide(Side & side, LevelGrid before, const LevelGrid & level, const std::optional<MiddleState> & state);

  void
  Move(const DiffeomorphicSettings & settings, int t) override;

  /** Resamples the fields on a level's grid. The first level's fields are the problem's state, or zeros. cut: the planes of it that the
   *  device holds */
  void
  BeginFields(const LevelGrid &             level,
              const LevelGrid &             cut,
              const DiffeomorphicProblem &  problem,
              const DiffeomorphicSettings & settings);

  /** Makes a smoothed update of the derivative, whose factor goes to m_Factors. */
  void
  MakeUpdateOf(const DiffeomorphicSettings & settings, MiddleRole role, int t, Memory & update);

  /** Enqueues the composition of a side's field with factors[0] times an update, and the inversions, which m_Inverter finishes. Where the
   *  level is cut, waits for the side's other devices, and the inversions have ended. Overwrites the workspace's arrays.
   *  \param longest the length of the longest vector of that product at most, in voxels */
  void
  MoveSide(Side & side, const Memory & factors, const Memory & update, double longest);

  /** Enqueues the smoothing of a side's field to the middle. Overwrites the workspace's arrays. */
  void
  SmoothSide(Side & side);

  /** Calls work for the fields of the sides that this device moves. */
  template <typename TWork>
  void
  ForEachField(const TWork & work);

  void
  MoveByAverages(const DiffeomorphicSettings & settings, int t);

  /** Returns an array for a deformation whose inverse is refined: where forces were on the level's grid, if there were some. */
  Memory &
  ReserveDeformation();

  /** Enqueues the composition of the way from inner's image to the middle and the one from there to outer's image. */
  void
  ComposeHalves(const Side & inner, const Side & outer, Memory & out);

  SideSlab      m_Slab;
  SyNInverter   m_Inverter;
  Side          m_Fixed;
  Side          m_Moving;
  MiddleForces  m_Forces;
  MemoryPointer m_OtherUpdate; // float[3] a voxel: the other update, or what ReserveDeformation() returns
  MemoryPointer m_Ones;        // float: as m_Factors, of ones
};

} // namespace gpureg

#endif
