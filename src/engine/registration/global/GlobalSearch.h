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

/** What a search looks for. */
struct GlobalSearchInput
{
  GlobalSettings          settings;
  FreedomKind             kind = FreedomKind::Affine;
  std::optional<IndexMap> initial;
  PoseFrame               frame;
  /** Of the fixed image at 8 mm. */
  GradientSums gradients;
  /** GlobalSettings::leastOverlap, of the share of the fixed image that the moving one could cover. */
  double leastOverlap = 0;
  /** The cost of images that have nothing to do with each other. */
  double      unrelated = 0;
  ParallelFor parallelFor;
};

/** Searches for the pose of least cost through all levels, from coarse to fine: Li 2015, section 2.2, with more poses and along derivatives.
 *  Its rotations stay for the next search. */
class GlobalSearch
{
public:
  /** \param levels and stages outlive it. */
  GlobalSearch(GlobalLevels & levels, GlobalStages & stages)
    : m_Levels(levels)
    , m_Stages(stages)
  {}

  /** Returns whether settings ask for more than one rotation, or for one that is not none, of so many dimensions. */
  static bool
  SearchesAngles(const GlobalSettings & settings, int dimension);

  /** Returns the number of stages, with the one that makes the levels. */
  static int
  CountStages(const GlobalSettings & settings, int dimension);

  /** Returns the pose that a search begins with: the initial map's, as far as the result may have it, or none. */
  static Pose
  FindStart(const GlobalSearchInput & input);

  /** Finds the best pose. */
  PosedCost
  Find(const GlobalSearchInput & input);

private:
  /** Rounds of local searches, and how many of the best poses are left after them. */
  struct Pruning
  {
    int         rounds;
    std::size_t count;
  };

  /** Prepares a level for this search.
   *  \param leastOverlap see GlobalSettings. \param stride evaluates each stride-th voxel along each axis. */
  GlobalLevel &
  BeginLevel(GlobalLevelNumber number, double leastOverlap, int stride = 1);

  /** Makes the rotations that are searched; anew only for other angles. */
  void
  MakeSearchedRotations();

  /** Returns where the search begins: as the initial map says, or with the centres of mass on each other. A search among rotations begins
   *  at both, unless they are next to each other: from a start that is half a head off, lines lead elsewhere. */
  std::vector<Pose>
  MakeStarts(GlobalLevel & level) const;

  /** Returns a start, turned further by rotation. */
  static Pose
  Turn(const Pose & start, const Matrix3 & rotation);

  /** Returns the degrees of freedom of a kind, without what the result is not to have. */
  Freedom
  MakeFreedomWithin(FreedomKind kind) const;

  /** Returns the degrees of freedom of a kind, balanced around pose. */
  Freedom
  MakeFreedomWithin(FreedomKind kind, const Pose & pose) const;

  /** Returns the best pose of each fine rotation. What the next coarse rotation has found may lead astray: it is tried whole, by its
   *  translation alone, and not at all.
   *  \param coarse the pose of each start and coarse rotation. */
  std::vector<PosedCost>
  FindFine(GlobalLevel & level, const std::vector<Pose> & starts, const std::vector<PosedCost> & coarse) const;

  std::vector<PosedCost>
  SearchAt8mm();

  /** Returns the poses, and around each of them poses turned both ways about each axis, and of other scales. */
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

  /** Searches locally around poses, by the optimizer that is set. */
  void
  Descend(GlobalLevel &                level,
          const Freedom &              freedom,
          double                       firstStep,
          std::vector<PosedCost> &     poses,
          const std::vector<Pruning> & prunings) const;

  GlobalLevels &            m_Levels;
  GlobalStages &            m_Stages;
  GlobalSearchInput         m_Input;
  std::array<AngleRange, 3> m_Angles{};
  std::vector<Matrix3>      m_Coarse;
  std::vector<Matrix3>      m_Fine;
  std::vector<std::size_t>  m_Nearest; // of the coarse ones, to each fine one
};

} // namespace gpureg

#endif
