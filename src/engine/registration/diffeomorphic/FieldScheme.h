// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldScheme_h
#define gpureg_FieldScheme_h

#include "engine/field/FieldSmoother.h"
#include "engine/field/NewtonInverter.h"
#include "engine/registration/diffeomorphic/FieldAdam.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include "gpureg/registration/ConvergenceWindow.h"

#include <array>
#include <cstddef>
#include <optional>

namespace gpureg
{

/** Says whether the settings give an update's components other weights than 1. */
bool
HasWeights(const DiffeomorphicSettings & settings);

/** Holds what every scheme has: the grid of a level, the Gaussians, how an update gets its weights and its length, and when a level
 *  ends. */
class FieldScheme : public SchemeSteps
{
public:
  void
  Begin() override
  {
    m_Level = {};
  }

  /** Follows a change of the settings' sigmas, calls Move(), and says whether the costs of the level still change. */
  bool
  Iterate(const DiffeomorphicSettings & settings, int t) final;

  const LevelGrid &
  GetLevel() const override
  {
    return m_Level;
  }

protected:
  /** workspace must outlive this object.
   *  \param border the rule of smoothing at the grid's border */
  FieldScheme(SchemeWorkspace & workspace, FieldBorder border);

  /** Enqueues the level's iteration number t. */
  virtual void
  Move(const DiffeomorphicSettings & settings, int t) = 0;

  /** Makes level the current one, reserves what its updates need, sets the Gaussians, and returns the level before. */
  LevelGrid
  SetLevel(const LevelGrid & level, const DiffeomorphicSettings & settings);

  /** Enqueues the smoothing of weighted forces into an update; the arrays are those of FieldSmoother::Smooth(). If the settings ask for
   *  Adam, replaces the update by Adam's step. Writes to m_Factors the factor that gives the update's longest vector the length; Adam's
   *  step is shortened, but never lengthened. second is overwritten.
   *  \param length in voxels; negative for forces that point the other way
   *  \param slot kernels::FactorOfOuter or kernels::FactorOfInner */
  void
  MakeUpdate(const DiffeomorphicSettings & settings,
             const Memory &                forces,
             Memory &                      first,
             Memory &                      second,
             Memory &                      update,
             double                        length,
             int                           slot);

  /** Returns the size of the errors of RefineInverse(), float[2] a voxel. */
  static std::size_t
  CountErrorBytes(const kernels::FieldGrid & grid)
  {
    return 2 * sizeof(float) * static_cast<std::size_t>(kernels::CountFieldVoxels(&grid));
  }

  /** Takes Newton's steps from an inverse of a deformation on, until it undoes the deformation to 1e-4 voxels. errors: of
   *  CountErrorBytes(), is overwritten. */
  void
  RefineInverse(const Memory & deformation, Memory & inverse, Memory & errors);

  /** Returns an array that MakeUpdate() may overwrite as its second one: forces, unless smoothing still reads forces at its end. */
  Memory &
  GetSecondArray(const DiffeomorphicSettings & settings, Memory & forces);

  /** Returns the workspace's first array, which it makes if a field that was given away lies there. */
  Memory &
  ReserveFirst();

  /** Says whether the field is smoothed after an update. */
  bool
  SmoothsField() const
  {
    return m_FieldSigma > 0;
  }

  /** Writes down the arrays of SetLevel() and of updates on a level's grid. */
  void
  PlanUpdates(const kernels::FieldGrid & grid, const DiffeomorphicSettings & settings, MemoryLedger & ledger);

  /** Returns the size of this class's own arrays. */
  std::size_t
  GetUpdateBytes() const;

  SchemeWorkspace & m_Workspace;
  FieldSmoother     m_UpdateSmoother;
  FieldSmoother     m_FieldSmoother;
  NewtonInverter    m_NewtonInverter;
  LevelGrid         m_Level;   // of dimension 0 before the first level
  MemoryPointer     m_Factors; // float: see kernels::ComposeFields

private:
  void
  SetSmoothing(const DiffeomorphicSettings & settings);

  /** Begins Adam's steps on the current level, or frees Adam's arrays if the settings do not use Adam. */
  void
  BeginAdam(const LevelGrid & before, const DiffeomorphicSettings & settings);

  /** Returns forces times the weights of their components: forces themselves where all weights are 1. */
  const Memory &
  Weigh(const Memory & forces, const DiffeomorphicSettings & settings);

  /** Replaces the length of the longest vector of a slab by that of all slabs. */
  void
  FindLongestOfTeam();

  FieldBorder                      m_Border;
  double                           m_UpdateSigma = 0; // that the smoothers are set to
  double                           m_FieldSigma = 0;
  DiffeomorphicSmoothing           m_Smoothing = DiffeomorphicSmoothing::Discrete;
  std::optional<ConvergenceWindow> m_Window;
  std::optional<FieldAdam>         m_Adam;
  MemoryPointer                    m_Weighted; // float[3] a voxel: weighted forces, where the settings have weights
  MemoryPointer                    m_Longest;  // float: the length of the longest vector
};

} // namespace gpureg

#endif
