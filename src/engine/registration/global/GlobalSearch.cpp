// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalSearch.h"


#include <algorithm>
#include <cmath>
#include <utility>

namespace gpureg
{

namespace
{
// The number of stages with and without a search among rotations.
constexpr int SearchStageCount = 10;
constexpr int RefinementStageCount = 6;

constexpr double Degree = GlobalSettings::Pi / 180;
// Appended to the names of stages that evaluate an eighth of the voxels, or a quarter of the pixels.
constexpr char Thinned[] = ", thinned";

// The angles and scales of Li 2015, section 2.2.
constexpr double      CoarseAngle = 60 * Degree;
constexpr double      FineAngle = 18 * Degree;
constexpr double      PerturbedAngle = 9 * Degree;
constexpr double      PerturbedScales[] = { 0.8, 0.9, 1.1, 1.2 };
constexpr std::size_t BestCount = 3;

// The limits of a quasi-Newton search, which often ends after 10 steps: the number of steps, and its end before the last stage and in it,
// with the last steps' length in voxels.
constexpr int       MostIterations = 40;
constexpr SearchEnd CoarseEnd{ 0.01, 1 };
constexpr SearchEnd FinalEnd{ 0.003, 3 };
// The last steps along lines, in voxels.
constexpr double FinalLine = 0.04;

/** How many poses continue, and the least angle between each pose and better ones. */
struct Selection
{
  std::size_t count;
  double      angle;
};
// At 8 mm, with two contrasts, cut-off or noisy images, the right pose may be the hundredth best of all rotations. So more poses continue
// than the paper's three, and each is searched more thoroughly as their number falls. The three poses are chosen at 4 mm.
constexpr Selection FineSelection{ 768, 6 * Degree };
constexpr Selection MovedSelection{ 96, 22 * Degree };
constexpr Selection TurnedSelection{ 64, 6 * Degree };
constexpr Selection ValleySelection{ 24, 6 * Degree };
constexpr Selection BestSelection{ BestCount, PerturbedAngle };

/** Returns an end whose tolerance is in mm. \param edge of a voxel, mm */
SearchEnd
InMillimetres(const SearchEnd & end, double edge)
{
  return { end.tolerance * edge, end.shortSteps };
}

/** Returns the best poses, each rotated relative to better ones by more than the selection's angle. */
std::vector<PosedCost>
ChooseApart(const std::vector<PosedCost> & poses, const Selection & selection)
{
  const double           cosine = std::cos(selection.angle);
  std::vector<PosedCost> chosen;
  for (const std::size_t n : OrderByCost(poses))
  {
    const bool isNew = std::none_of(chosen.begin(), chosen.end(), [&](const PosedCost & other) {
      return IsNearer(other.pose.rotation, poses[n].pose.rotation, cosine);
    });
    if (isNew)
    {
      chosen.push_back(poses[n]);
    }
    if (chosen.size() == selection.count)
    {
      break;
    }
  }
  return chosen;
}

const PosedCost &
GetBest(const std::vector<PosedCost> & poses)
{
  return poses[OrderByCost(poses).front()];
}
} // namespace

int
GlobalSearch::CountStages(const GlobalSettings & settings, int dimension)
{
  return SearchesAngles(settings, dimension) ? SearchStageCount : RefinementStageCount;
}

Pose
GlobalSearch::ComputeStart() const
{
  return m_Input.initial ? RestrictPose(m_Input.frame, ComputePose(m_Input.frame, *m_Input.initial), m_Input.kind)
                         : Pose();
}

PosedCost
GlobalSearch::Find(const Pose & start)
{
  return this->SearchAt1mm(this->SearchAt2mm(this->SearchAt4mm(this->SearchAt8mm(start))), start);
}

GlobalLevel &
GlobalSearch::BeginLevel(GlobalLevelNumber number, int stride, double overlap)
{
  GlobalLevel &          level = *m_Levels[number];
  std::vector<PairShare> shares = m_Input.shares;
  for (PairShare & share : shares)
  {
    share.leastOverlap = std::min(1.0, overlap * share.leastOverlap);
  }
  level.Begin(m_Input.frame, shares, stride, m_Input.parallelFor, [this] { m_Stages.Report(); });
  return level;
}

bool
GlobalSearch::SearchesAngles(const GlobalSettings & settings, int dimension)
{
  const std::size_t first = dimension == 3 ? 0 : 2;
  return std::any_of(settings.angles.begin() + static_cast<std::ptrdiff_t>(first),
                     settings.angles.end(),
                     [](const AngleRange & range) { return range[0] != 0 || range[1] != 0; });
}

void
GlobalSearch::MakeSearchedRotations()
{
  std::array<AngleRange, 3> angles = m_Input.settings.angles;
  if (m_Input.frame.dimension == 2)
  {
    angles[0] = angles[1] = { 0, 0 };
  }
  if (m_Coarse.empty() || angles != m_Angles)
  {
    m_Angles = angles;
    m_Coarse = MakeRotations(angles, CoarseAngle);
    m_Fine = MakeRotations(angles, FineAngle);
    m_Nearest = FindNearest(m_Coarse, m_Fine);
  }
}

std::vector<Pose>
GlobalSearch::MakeStarts(const Pose & start, GlobalLevel & level) const
{
  if (!m_Input.initial)
  {
    return { Pose() };
  }
  Pose centred = start;
  centred.translation = {};
  if (level.ComputeCosts({ start }).front().overlap <= 0.5 * m_Input.shares.front().leastOverlap)
  {
    return { centred };
  }
  const auto & t = start.translation;
  const bool   isNext = std::hypot(t[0], t[1], t[2]) < level.GetEdge();
  return SearchesAngles(m_Input.settings, m_Input.frame.dimension) && !isNext ? std::vector<Pose>{ start, centred }
                                                                              : std::vector<Pose>{ start };
}

Pose
GlobalSearch::Turn(const Pose & start, const Matrix3 & rotation)
{
  Pose pose = start;
  pose.rotation = Multiply(rotation, start.rotation);
  return pose;
}

PoseDirections
GlobalSearch::MakeDirectionsWithin(PoseKind kind) const
{
  if (m_Input.kind == PoseKind::Rigid)
  {
    kind = kind == PoseKind::TranslationAndScale ? PoseKind::Translation : PoseKind::Rigid;
  }
  return MakePoseDirections(m_Input.frame, m_Input.kind == PoseKind::Translation ? PoseKind::Translation : kind);
}

PoseDirections
GlobalSearch::MakeDirectionsWithin(PoseKind kind, const Pose & pose) const
{
  return BalanceDirections(m_Input.frame, this->MakeDirectionsWithin(kind), pose, m_Input.gradients);
}

std::vector<PosedCost>
GlobalSearch::EvaluateFineRotations(GlobalLevel &                  level,
                                    const std::vector<Pose> &      starts,
                                    const std::vector<PosedCost> & coarse) const
{
  std::vector<Pose> fine;
  for (std::size_t n = 0; n < m_Fine.size(); ++n)
  {
    for (std::size_t s = 0; s < starts.size(); ++s)
    {
      const Pose & next = coarse[s * m_Coarse.size() + m_Nearest[n]].pose;
      Pose         pose = Turn(starts[s], m_Fine[n]);
      fine.push_back(pose);
      pose.translation = next.translation;
      fine.push_back(pose);
      if (m_Input.kind != PoseKind::Rigid)
      {
        pose.logScale = next.logScale;
        fine.push_back(pose);
      }
    }
  }
  const std::vector<PosedCost> costs = level.ComputeCosts(fine);
  const auto                   ofEach = static_cast<std::ptrdiff_t>(fine.size() / m_Fine.size());
  std::vector<PosedCost>       best;
  for (auto first = costs.begin(); first != costs.end(); first += ofEach)
  {
    best.push_back(*std::min_element(first, first + ofEach, [](const PosedCost & a, const PosedCost & b) {
      return a.cost < b.cost;
    }));
  }
  return best;
}

std::vector<PosedCost>
GlobalSearch::SearchAt8mm(const Pose & start)
{
  m_Stages.Begin(At8mm, SearchesAngles(m_Input.settings, m_Input.frame.dimension) ? ": coarse rotations" : "");
  // A small overlap has a low cost by chance. Nothing is certain at this stage, so it requires more overlap than later stages.
  GlobalLevel &        level = this->BeginLevel(At8mm, 1, 2);
  const double         edge = level.GetEdge();
  const auto           starts = this->MakeStarts(start, level);
  const PoseDirections moves = this->MakeDirectionsWithin(PoseKind::TranslationAndScale);
  const PoseDirections turns = this->MakeDirectionsWithin(PoseKind::Similarity);
  if (!SearchesAngles(m_Input.settings, m_Input.frame.dimension))
  {
    std::vector<PosedCost> poses{ { starts.front(), 0, 0 } };
    SearchLines(level, turns, { edge, 0.5 * edge }, poses);
    m_Stages.End(poses.front().cost);
    return poses;
  }
  this->MakeSearchedRotations();
  std::vector<PosedCost> poses;
  for (const Pose & from : starts)
  {
    for (const Matrix3 & rotation : m_Coarse)
    {
      poses.push_back({ Turn(from, rotation), 0, 0 });
    }
  }
  SearchLines(level, moves, { 2 * edge, edge, 0.5 * edge }, poses);
  m_Stages.End(GetBest(poses).cost);

  m_Stages.Begin(At8mm, ": fine rotations");
  const std::vector<PosedCost> fine = this->EvaluateFineRotations(level, starts, poses);
  poses.insert(poses.end(), fine.begin(), fine.end());
  poses = ChooseApart(poses, FineSelection);
  m_Stages.End(poses.front().cost);

  m_Stages.Begin(At8mm, ": translations");
  SearchLines(level, moves, { edge }, poses);
  poses = ChooseApart(poses, MovedSelection);
  m_Stages.End(poses.front().cost);

  m_Stages.Begin(At8mm, ": best rotations");
  SearchLines(level, turns, { edge, 0.5 * edge }, poses);
  poses = ChooseApart(poses, TurnedSelection);
  m_Stages.End(poses.front().cost);
  return poses;
}

std::vector<PosedCost>
GlobalSearch::Perturb(std::vector<PosedCost> poses) const
{
  const std::size_t count = poses.size();
  for (std::size_t n = 0; n < count; ++n)
  {
    for (std::size_t axis = m_Input.frame.dimension == 3 ? 0 : 2; axis < 3; ++axis)
    {
      for (const double angle : { -PerturbedAngle, PerturbedAngle })
      {
        Vector3 vector{};
        vector[axis] = angle;
        poses.push_back(poses[n]);
        poses.back().pose.rotation = Multiply(MakeRotation(vector), poses[n].pose.rotation);
      }
    }
    for (const double scale : PerturbedScales)
    {
      if (m_Input.kind != PoseKind::Rigid)
      {
        poses.push_back(poses[n]);
        const double along = std::log(scale) * m_Input.frame.radius;
        poses.back().pose =
          MovePose(poses[n].pose, { MakePoseDirections(m_Input.frame, PoseKind::TranslationAndScale).back() }, &along);
      }
    }
  }
  return poses;
}

PosedCost
GlobalSearch::SearchAt4mm(std::vector<PosedCost> poses)
{
  const bool isThinned = poses.size() > 1;
  m_Stages.Begin(At4mm, isThinned ? Thinned : "");
  GlobalLevel &        level = this->BeginLevel(At4mm, isThinned ? 2 : 1);
  const double         edge = level.GetEdge();
  const PoseDirections turns = this->MakeDirectionsWithin(PoseKind::Similarity);
  if (isThinned)
  {
    SearchLines(level, turns, { edge, 0.5 * edge }, poses);
    poses = ChooseApart(poses, ValleySelection);
    // Line searches along parameters that depend on each other end in valleys. Searches along derivatives follow the valleys.
    this->Descend(level, turns, 0.5 * edge, poses, { { 4, 12 }, { 4, 1 } });
    poses = ChooseApart(poses, BestSelection);
    level.Thin(1);
    m_Stages.End(poses.front().cost);
    m_Stages.Begin(At4mm);
  }
  if (SearchesAngles(m_Input.settings, m_Input.frame.dimension))
  {
    poses = this->Perturb(poses);
  }
  this->Descend(level, turns, 0.5 * edge, poses, { { 4, 12 }, { 4, 4 }, { MostIterations, 1 } });
  const PosedCost best = GetBest(poses);
  m_Stages.End(best.cost);
  return best;
}

PosedCost
GlobalSearch::SearchAt2mm(PosedCost best)
{
  m_Stages.Begin(At2mm);
  GlobalLevel &          level = this->BeginLevel(At2mm);
  std::vector<PosedCost> poses{ best };
  for (const PoseKind kind : { PoseKind::Similarity, PoseKind::Scales, PoseKind::Affine })
  {
    if (kind <= std::max(m_Input.kind, PoseKind::Similarity))
    {
      this->Descend(level,
                    this->MakeDirectionsWithin(kind, poses.front().pose),
                    0.5 * level.GetEdge(),
                    poses,
                    { { MostIterations, 1 } });
    }
  }
  m_Stages.End(poses.front().cost);
  return poses.front();
}

PosedCost
GlobalSearch::SearchAt1mm(PosedCost best, const Pose & start)
{
  const bool isThinned = m_Levels[At1mm]->CanBeThinned();
  m_Stages.Begin(At1mm, isThinned ? Thinned : "");
  GlobalLevel & level = this->BeginLevel(At1mm, isThinned ? 2 : 1);
  // If coarser levels have led away from a better start, continues from the start.
  const std::vector<PosedCost> both = level.ComputeCosts({ best.pose, start });
  best = both[1].overlap > 0 && both[1].cost < both[0].cost ? both[1] : both[0];
  const PoseDirections   directions = this->MakeDirectionsWithin(m_Input.kind, best.pose);
  const double           firstStep = 0.25 * level.GetEdge();
  std::vector<PosedCost> poses{ best };
  if (m_Input.settings.optimizer == GlobalOptimizer::Lines)
  {
    // With few voxels line searches are cheap. A second one adapts each parameter to what the first one changed in the others.
    this->Descend(level, directions, firstStep, poses, {});
    this->Descend(level, directions, firstStep, poses, {});
    if (isThinned)
    {
      this->BeginLastStage(level, poses);
    }
    SearchLines(level, directions, { FinalLine * level.GetShortEdge() }, poses);
  }
  else
  {
    QuasiNewtonSearch search(level, directions, firstStep, InMillimetres(FinalEnd, level.GetShortEdge()), poses);
    search.Advance(MostIterations);
    if (isThinned)
    {
      this->BeginLastStage(level, poses);
      search.Resume();
      search.Advance(MostIterations);
    }
  }
  m_Stages.End(poses.front().cost);
  return poses.front();
}

void
GlobalSearch::BeginLastStage(GlobalLevel & level, const std::vector<PosedCost> & poses)
{
  m_Stages.End(poses.front().cost);
  m_Stages.Begin(At1mm);
  level.Thin(1);
}

void
GlobalSearch::Descend(GlobalLevel &                level,
                      const PoseDirections &       directions,
                      double                       firstStep,
                      std::vector<PosedCost> &     poses,
                      const std::vector<Pruning> & prunings) const
{
  if (m_Input.settings.optimizer == GlobalOptimizer::Lines)
  {
    SearchLines(level, directions, firstStep, FinalLine * level.GetShortEdge(), poses);
    return;
  }
  QuasiNewtonSearch search(level, directions, firstStep, InMillimetres(CoarseEnd, level.GetShortEdge()), poses);
  for (const Pruning & pruning : prunings)
  {
    search.Advance(pruning.iterations);
    search.KeepBest(pruning.count);
  }
}

} // namespace gpureg
