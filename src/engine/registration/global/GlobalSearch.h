// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalSearch_h
#define gpureg_GlobalSearch_h

#include "engine/registration/global/GlobalBalance.h"
#include "engine/registration/global/GlobalDescent.h"
#include "engine/registration/global/GlobalRotations.h"
#include "engine/registration/global/GlobalStages.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** The input of a search. */
struct GlobalSearchInput
{
  GlobalSettings          settings;
  PoseKind                kind = PoseKind::Affine;
  std::optional<IndexMap> initial;
  PoseFrame               frame;
  /** The sums of the fixed image's gradients at 8 mm. */
  GradientSums gradients;
  /** Describe how much each pair counts, in the order of the pairs. */
  std::vector<PairShare> shares;
  ParallelFor            parallelFor;
};

/** Searches for the pose of least cost through all levels, from coarse to fine, as Li 2015, section 2.2, with more poses and along
 *  derivatives. Keeps its rotations for the next search. */
class GlobalSearch
{
public:
  /** \param levels, stages, input must outlive the search */
  GlobalSearch(GlobalLevels & levels, GlobalStages & stages, const GlobalSearchInput & input)
    : m_Levels(levels)
    , m_Stages(stages)
    , m_Input(input)
  {}

  /** Returns true if the settings ask for more than one rotation, or for a rotation by an angle other than 0. */
  static bool
  SearchesAngles(const GlobalSettings & settings, int dimension);

  /** Returns the number of stages, including the stage that makes the levels. */
  static int
  CountStages(const GlobalSettings & settings, int dimension);

  /** Returns the pose at which a search begins: the initial map's, restricted to the degrees of freedom of the result; or no change. */
  Pose
  ComputeStart() const;

  /** Finds the best pose.
   *  \param start see ComputeStart() */
  PosedCost
  Find(const Pose & start);

private:
  /** The number of steps of each local search, and the number of best poses that continue afterwards. */
  struct Pruning
  {
    int         iterations;
    std::size_t count;
  };

  /** Prepares a level for this search.
   *  \param stride evaluates each stride-th voxel along each axis
   *  \param overlap factor of the least overlap of each pair */
  GlobalLevel &
  BeginLevel(GlobalLevelNumber number, int stride = 1, double overlap = 1);

  /** Makes the rotations to search, unless the angles have not changed. */
  void
  MakeSearchedRotations();

  /** Returns the poses at which the search begins: the initial map's, or the one with the centres of mass on each other. A search among
   *  rotations begins at both, unless they are close together: from a start that is half a head off, line searches lead elsewhere. */
  std::vector<Pose>
  MakeStarts(const Pose & start, GlobalLevel & level) const;

  /** Returns a start with a further rotation. */
  static Pose
  Turn(const Pose & start, const Matrix3 & rotation);

  /** Returns the degrees of freedom of a kind, without those that the settings exclude from the result. */
  PoseDirections
  MakeDirectionsWithin(PoseKind kind) const;

  /** Returns the degrees of freedom of a kind, balanced around a pose. */
  PoseDirections
  MakeDirectionsWithin(PoseKind kind, const Pose & pose) const;

  /** Returns the best pose for each fine rotation. The translation and scale of the nearest coarse rotation may be misleading, so
   *  three poses are tried: with both, with the translation alone, and with neither. Without scales there are two.
   *  \param coarse the pose of each start and coarse rotation */
  std::vector<PosedCost>
  EvaluateFineRotations(GlobalLevel &                  level,
                        const std::vector<Pose> &      starts,
                        const std::vector<PosedCost> & coarse) const;

  std::vector<PosedCost>
  SearchAt8mm(const Pose & start);

  /** Returns the poses, and for each of them poses turned both ways about each axis, and poses of other scales. */
  std::vector<PosedCost>
  Perturb(std::vector<PosedCost> poses) const;

  PosedCost
  SearchAt4mm(std::vector<PosedCost> poses);

  PosedCost
  SearchAt2mm(PosedCost best);

  PosedCost
  SearchAt1mm(PosedCost best, const Pose & start);

  void
  BeginLastStage(GlobalLevel & level, const std::vector<PosedCost> & poses);

  /** Searches locally around poses, by the optimizer of the settings. */
  void
  Descend(GlobalLevel &                level,
          const PoseDirections &       directions,
          double                       firstStep,
          std::vector<PosedCost> &     poses,
          const std::vector<Pruning> & prunings) const;

  GlobalLevels &            m_Levels;
  GlobalStages &            m_Stages;
  const GlobalSearchInput & m_Input;
  std::array<AngleRange, 3> m_Angles{};
  std::vector<Matrix3>      m_Coarse;
  std::vector<Matrix3>      m_Fine;
  std::vector<std::size_t>  m_Nearest; // the nearest coarse rotation of each fine one
};

} // namespace gpureg

#endif
