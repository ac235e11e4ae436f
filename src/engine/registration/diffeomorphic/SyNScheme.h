// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNScheme_h
#define gpureg_SyNScheme_h

#include "engine/registration/diffeomorphic/SyNInverter.h"
#include "engine/field/FieldSmoother.h"
#include "engine/registration/diffeomorphic/ConvergenceWindow.h"
#include "engine/registration/diffeomorphic/MiddleForces.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <memory>
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
class SyNScheme : public SchemeSteps
{
public:
  /** workspace must outlive it. */
  explicit SyNScheme(SchemeWorkspace & workspace);

  void
  Begin() override
  {
    m_Level = {};
  }

  void
  BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number) override;

  bool
  Iterate(const DiffeomorphicSettings & settings, int t) override;

  std::vector<double>
  DownloadCosts(int count) override
  {
    return m_Forces.DownloadCosts(count);
  }

  const kernels::FieldGrid &
  GetGrid() const override
  {
    return m_Level.grid;
  }

  const Memory &
  MakeField(DeformationField field) override;

  std::size_t
  GetDeviceBytes() const override;

private:
  /** Leads from the space of one image to the middle. */
  struct Side
  {
    MemoryPointer toMiddle; // float[3] a voxel
    MemoryPointer fromMiddle;
  };

  void
  BeginFields(const LevelGrid & level);

  void
  SetSmoothing(const DiffeomorphicSettings & settings);

  /** Makes a smoothed update of the derivative, whose factor goes to m_Factors. */
  void
  MakeUpdate(const DiffeomorphicSettings & settings, MiddleRole role, int t, Memory & update);

  /** Enqueues the composition of a side's field with factors[0] times an update, and the inversions, which m_Inverter finishes. Overwrites the
   *  workspace's arrays. */
  void
  Move(Side & side, const Memory & factors, const Memory & update);

  void
  MoveByAverages(const DiffeomorphicSettings & settings, int t);

  SchemeWorkspace &                m_Workspace;
  FieldSmoother                    m_UpdateSmoother;
  FieldSmoother                    m_FieldSmoother;
  double                           m_UpdateSigma = 0; // that the smoothers are set to
  double                           m_FieldSigma = 0;
  SyNInverter                      m_Inverter;
  Side                             m_Fixed;
  Side                             m_Moving;
  MiddleForces                     m_Forces;
  LevelGrid                        m_Level; // of dimension 0 before the first level
  std::optional<ConvergenceWindow> m_Window;
  // float[3] a voxel: the other update, and a weighted derivative; only where the settings need them.
  MemoryPointer m_OtherUpdate;
  MemoryPointer m_Weighted;
  // float: see kernels::ComposeFields; the same, of ones; the length of the longest vector.
  MemoryPointer m_Factors;
  MemoryPointer m_Ones;
  MemoryPointer m_Longest;
};

} // namespace gpureg

#endif
