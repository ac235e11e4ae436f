// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_VelocityScheme_h
#define gpureg_VelocityScheme_h

#include "engine/field/FieldExponential.h"
#include "engine/filter/ImageLevel.h"
#include "engine/registration/diffeomorphic/FieldScheme.h"
#include "engine/registration/diffeomorphic/MiddleForces.h"

#include <memory>
#include <vector>

namespace gpureg
{

/** One stationary velocity v, on the fixed image's grid, whose exponential is the deformation, and exp(-v) its inverse (Arsigny 2006;
 *  Vercauteren 2008). An iteration
 *  - resamples both images in the middle, the fixed one along exp(-v/2) and the moving one along exp(v/2),
 *  - computes the similarity and its derivative by the moving image's points, and the same with exchanged roles, as SyN does,
 *  - smooths each derivative, scales it to half a step, and adds the first one to v, minus the second one,
 *  - smooths v.
 *  At the end v is smoothed while exp(v) folds at a voxel, along the way of the points around that voxel (kernels/field/FieldUnfolding.h):
 *  exact exponentials never fold, but this one is known at voxels, and interpolated linearly between them, which is too little where v is
 *  roughest.
 *  So, where nothing folds, exchanged images have the opposite velocity. A level's images are shrunk. */
class VelocityScheme : public FieldScheme
{
public:
  /** workspace must outlive this object. */
  explicit VelocityScheme(SchemeWorkspace & workspace);

  void
  BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number) override;

  bool
  Unfold() override;

  std::vector<double>
  DownloadCosts(int count) override
  {
    return m_Forces.DownloadCosts(count);
  }

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
  void
  Move(const DiffeomorphicSettings & settings, int t) override;

  /** An image at a level, with its mask. */
  struct LevelValues
  {
    explicit LevelValues(SchemeWorkspace & workspace);

    ImageLevel values;
    ImageLevel mask;
  };

  /** A pair's images at a level. */
  struct LevelPair
  {
    explicit LevelPair(SchemeWorkspace & workspace)
      : fixed(workspace)
      , moving(workspace)
    {}

    LevelValues fixed;
    LevelValues moving;
  };

  /** Shrinks a pair's images into made. edge: of the level's voxels, mm. */
  MiddleSources
  MakeSources(const WeighedPair & pair, const DiffeomorphicProblem & problem, double edge, LevelPair & made);

  /** Resamples all images in the middle. Overwrites the workspace's first array, and the update. */
  void
  ResampleImages();

  /** Makes the update of iteration t that moves one image of each pair to the other one, length voxels at most. */
  void
  MakeUpdateOf(const DiffeomorphicSettings & settings, MiddleRole role, int t, Memory & update);

  /** Returns an array as large as a field, of any contents, beside the update and the workspace's first one. */
  Memory &
  GetScratch();

  std::vector<std::unique_ptr<LevelPair>> m_Pairs;
  MiddleForces                            m_Forces;
  FieldExponential                        m_ToMiddle;
  FieldExponential                        m_Whole;
  int                                     m_Unfoldings = 0; // of the current level
  // float[3] a voxel: v; one of its two updates, which serves as scratch while it is not.
  MemoryPointer m_Velocity;
  MemoryPointer m_Update;
};

} // namespace gpureg

#endif
