// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNScheme_h
#define gpureg_SyNScheme_h

#include "engine/registration/diffeomorphic/SyNInverter.h"
#include "engine/field/FieldSmoother.h"
#include "engine/registration/diffeomorphic/ConvergenceWindow.h"
#include "engine/registration/diffeomorphic/MiddleForces.h"
#include "engine/registration/diffeomorphic/MiddleImage.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include <optional>

namespace gpureg
{

/** The scheme of itk::SyNImageRegistrationMethod (Avants 2008), step by step. Two fields lead from the fixed and from the moving image's
 *  space to the middle, and each has its inverse. An iteration
 *  - resamples both images in the middle, along the inverses,
 *  - computes the similarity and its derivative by the moving image's points, and the same with exchanged roles,
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
    explicit Side(SchemeWorkspace & workspace)
      : image(workspace)
    {}

    MiddleImage   image;
    MemoryPointer toMiddle; // float[3] a voxel
    MemoryPointer fromMiddle;
    // Iterations of the last inversions: of toMiddle, and of fromMiddle.
    int iterations[2] = { 1, 1 };
  };

  void
  BeginFields(const LevelGrid & level);

  void
  SetSmoothing(const DiffeomorphicSettings & settings);

  /** Sets the range of the images in the middle where the similarity has bins of it, and checks the first ones of a level. */
  void
  MeasureImages(bool isFirst);

  /** Enqueues the similarity of the images in the middle, which is evaluation number slot, and makes a smoothed update of the derivative, whose
   *  factor goes to m_Factors. */
  void
  MakeUpdate(const DiffeomorphicSettings & settings,
             const LevelImage &            fixed,
             const LevelImage &            moving,
             std::int64_t                  slot,
             Memory &                      update);

  /** Composes a side's field with factors[0] times an update, and inverts it. Overwrites the workspace's arrays. */
  void
  Move(Side & side, const Memory & factors, const Memory & update);

  void
  MoveByAverages(const DiffeomorphicSettings & settings, std::int64_t slot);

  SchemeWorkspace &                m_Workspace;
  RecursiveFilter                  m_Filter;
  FieldSmoother                    m_UpdateSmoother;
  FieldSmoother                    m_FieldSmoother;
  double                           m_UpdateSigma = 0; // that the smoothers are set to
  double                           m_FieldSigma = 0;
  SyNInverter                      m_Inverter;
  MiddleForces                     m_Forces;
  Side                             m_Fixed;
  Side                             m_Moving;
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
