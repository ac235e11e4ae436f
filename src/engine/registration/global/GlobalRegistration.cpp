// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/global/GlobalRegistration.h"

#include "gpureg/core/Error.h"

#include "engine/registration/Agreement.h"
#include "engine/runtime/Backend.h"
#include "engine/core/Elapsed.h"
#include "engine/registration/global/GlobalBalance.h"
#include "engine/registration/global/GlobalDescent.h"
#include "engine/registration/global/GlobalLevel.h"
#include "engine/registration/global/GlobalMass.h"
#include "engine/registration/global/GlobalRotations.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/core/NumberNames.h"
#include "engine/image/RangedImage.h"

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace gpureg
{
namespace
{
// The finest is 0, of voxels that are so many times as long: 1, 2, 4, 8.
constexpr int LevelCount = 4;
constexpr int At8mm = 3;
constexpr int At4mm = 2;
constexpr int At2mm = 1;
constexpr int At1mm = 0;

// Stages with and without a search among rotations, for the progress.
constexpr int SearchStageCount = 10;
constexpr int StageCount = 6;

// Behind the names of stages that look at an eighth of the voxels, of pixels at a quarter.
constexpr char Thinned[] = ", thinned";

// A linear map that stretches one direction so many times as much as another is told of.
constexpr double MostStretch = 1.4;

constexpr double Degree = GlobalSettings::Pi / 180;
// Li 2015, section 2.2.
constexpr double      CoarseAngle = 60 * Degree;
constexpr double      FineAngle = 18 * Degree;
constexpr double      PerturbedAngle = 9 * Degree;
constexpr double      PerturbedScales[] = { 0.8, 0.9, 1.1, 1.2 };
constexpr std::size_t BestCount = 3;

// Of a quasi-Newton search, which often ends after 10: steps, and the last one's length in voxels, before the end and at it.
constexpr int    MostRounds = 40;
constexpr double Tolerance = 0.01;
constexpr double FinalTolerance = 0.003;
// The last steps along lines, in voxels.
constexpr double FinalLine = 0.04;

/** How many poses go on, each so far from those that are better. */
struct Selection
{
  std::size_t count;
  double      angle;
};
// At 8 mm, of two contrasts, cut off or noisy, what is right may be the hundredth best of the rotations. So more of them go on than
// the paper's three, and the fewer they are the more each is looked at: the three are chosen at 4 mm.
constexpr Selection FineSelection{ 768, 6 * Degree };
constexpr Selection MovedSelection{ 96, 22 * Degree };
constexpr Selection TurnedSelection{ 64, 6 * Degree };
constexpr Selection ValleySelection{ 24, 6 * Degree };
constexpr Selection BestSelection{ BestCount, PerturbedAngle };

FreedomKind
GetKind(int degreesOfFreedom)
{
  switch (degreesOfFreedom)
  {
    case 6:
      return FreedomKind::Rigid;
    case 7:
      return FreedomKind::Similarity;
    case 9:
      return FreedomKind::Scales;
    case 12:
      return FreedomKind::Affine;
    default:
      throw BadInputError("there are no " + std::to_string(degreesOfFreedom) +
                          " degrees of freedom; set 6, 7, 9 or 12, of two dimensions, too");
  }
}

/** Returns how many times as far a pose stretches one direction as another, at the most. */
double
FindStretch(const Pose & pose, int dimension)
{
  const auto end = pose.logScale.begin() + dimension;
  const auto [least, most] = std::minmax_element(pose.logScale.begin(), end);
  double skew = 0;
  for (const double s : pose.skew)
  {
    skew += std::abs(s);
  }
  return std::exp(*most - *least) * (1 + skew);
}

/** The best of some poses, each turned further than an angle from those before. */
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

/** \throws BadInputError for what is out of range. */
void
CheckSettings(const GlobalProblem & problem, const GlobalSettings & settings)
{
  if (problem.dimension < 2 || problem.dimension > 3)
  {
    throw BadInputError("images of " + std::to_string(problem.dimension) + " dimensions; give 2 or 3");
  }
  // Names are of what there is.
  GetName(settings.cost);
  GetName(settings.optimizer);
  GetKind(settings.degreesOfFreedom);
  if (settings.bins != 0 && settings.cost == GlobalCost::CorrelationRatio)
  {
    CheckedBins("a correlation ratio",
                settings.bins,
                CorrelationRatioMetric::LeastBins,
                CorrelationRatioMetric::MostBins);
  }
  if (settings.bins != 0 && (settings.cost == GlobalCost::MattesMutualInformation ||
                             settings.cost == GlobalCost::NormalizedMutualInformation))
  {
    CheckedMattesBins("mutual information", settings.bins);
  }
  for (std::size_t axis = 0; axis < settings.angles.size(); ++axis)
  {
    const AngleRange & range = settings.angles[axis];
    // Of a full circle that somebody made of degrees, the last digit may be another.
    if (!(range[0] <= range[1] && range[1] - range[0] <= 2 * GlobalSettings::Pi + 1e-9 && std::isfinite(range[0])))
    {
      throw BadInputError("the search angles about axis " + std::to_string(axis) + " are from " +
                          NameNumber(range[0] / Degree) + " to " + NameNumber(range[1] / Degree) +
                          " degrees; give a range from the smaller to the larger one, of 360 at most");
    }
  }
  if (!(settings.finestEdge >= 0 && std::isfinite(settings.finestEdge)))
  {
    throw BadInputError("the finest spacing is " + NameLength(settings.finestEdge) +
                        "; set a length above 0, such as 1 for a head, or 0 for one that follows from the images");
  }
  if (!(settings.leastOverlap >= 0 && settings.leastOverlap <= 1))
  {
    throw BadInputError("the least overlap is " + NameNumber(settings.leastOverlap) +
                        "; set a share from 0 to 1, such as 0.25");
  }
}

/** \throws BadInputError if an image has one voxel along an axis. */
void
CheckHasSlices(const RegisteredImage & image, int dimension, const char * which)
{
  for (int axis = 0; axis < dimension; ++axis)
  {
    if (image.size[static_cast<std::size_t>(axis)] < 2)
    {
      throw BadInputError(std::string("the ") + which + " image has one voxel along axis " + std::to_string(axis) +
                          ": about the others there is nothing to turn; " +
                          (dimension == 3 ? "register images of two dimensions" : "give one that has two or more"));
    }
  }
}
} // namespace

class GlobalRegistration::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Images(MakePasses<ImagePasses>(*m_Queue))
    , m_Lines(MakePasses<LinePasses>(*m_Queue))
    , m_Fixed(*m_Queue, this->GetName())
    , m_Moving(*m_Queue, this->GetName())
    , m_Check(*m_Queue, this->GetName())
  {
    for (int level = 0; level < LevelCount; ++level)
    {
      m_Levels.push_back(std::make_unique<GlobalLevel>(this->GetName(), *m_Queue));
    }
  }

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  GlobalResult
  Register(const GlobalProblem &                               given,
           const GlobalSettings &                              settings,
           const ParallelFor &                                 parallelFor,
           const std::function<void(const GlobalProgress &)> & progress)
  {
    GlobalProblem problem = given;
    const auto    start = Clock::now();
    CheckSettings(problem, settings);
    CheckImage(problem.fixed, "fixed", this->GetName());
    CheckImage(problem.moving, "moving", this->GetName());
    CheckHasSlices(problem.fixed, problem.dimension, "fixed");
    CheckHasSlices(problem.moving, problem.dimension, "moving");
    m_Queue->CheckIsUsable();
    m_Queue->parallelFor = parallelFor;
    m_Queue->statistics = {};
    m_Settings = settings;
    this->CountInEdges(problem);
    m_Kind = GetKind(settings.degreesOfFreedom);
    m_ParallelFor = parallelFor;
    m_Progress = progress;
    m_Result = {};
    this->BeginStage("levels");
    problem.fixed = m_Fixed.Make(*m_Images, problem.fixed, "fixed", settings.fixedRange, m_Result.warnings);
    problem.moving = m_Moving.Make(*m_Images, problem.moving, "moving", settings.movingRange, m_Result.warnings);
    this->MakeImages(problem);
    this->MakeFrame(problem);
    this->EndStage(0);
    const Pose began = problem.initial ? RestrictPose(m_Frame, FindPose(m_Frame, *problem.initial), m_Kind) : Pose();
    const PosedCost best = this->SearchAt1mm(this->SearchAt2mm(this->SearchAt4mm(this->SearchAt8mm(problem))), began);
    this->BringResult(best);
    // What comes now is of no stage.
    m_Progress = {};
    this->FindWarnings(problem.dimension, began, best);
    m_Queue->GiveStagingBack();
    m_Result.milliseconds = MillisecondsSince(start);
    return m_Result;
  }

  void
  SetTiming(bool on)
  {
    m_IsTimed = on;
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->statistics;
    for (const auto & level : m_Levels)
    {
      statistics = Add(statistics, level->GetStatistics());
    }
    statistics.deviceBytes +=
      static_cast<std::int64_t>(m_Fixed.GetDeviceBytes() + m_Moving.GetDeviceBytes() + m_Check.GetDeviceBytes());
    statistics.evaluateMilliseconds = m_Result.milliseconds;
    return statistics;
  }

private:
  const std::string &
  GetName() const
  {
    return m_Backend->GetDescription().name;
  }

  /** Has all lengths counted in edges of the images' shortest voxels, until the result is brought: then the same voxels come to the same,
   *  to the last bit mostly, however long they are. Completes settings. */
  void
  CountInEdges(GlobalProblem & problem)
  {
    const double usual = FindUsualEdge({ problem.fixed, problem.moving }, problem.dimension);
    m_Unit =
      std::min(FindShortestEdge(problem.fixed, problem.dimension), FindShortestEdge(problem.moving, problem.dimension));
    m_Settings.finestEdge = (m_Settings.finestEdge > 0 ? m_Settings.finestEdge : usual) / m_Unit;
    const auto count = [this](Vector3 & lengths) {
      std::for_each(lengths.begin(), lengths.end(), [this](double & length) { length /= m_Unit; });
    };
    for (RegisteredImage * image : { &problem.fixed, &problem.moving })
    {
      count(image->indexToPoint.offset);
      // A third axis of two dimensions has no length.
      for (std::size_t n = 0; n < image->indexToPoint.matrix.size(); ++n)
      {
        image->indexToPoint.matrix[n] /= n % 3 < static_cast<std::size_t>(problem.dimension) ? m_Unit : 1.0;
      }
    }
    if (problem.initial)
    {
      count(problem.initial->offset);
    }
  }

  /** As many as are set, or as the samples fill: where they are few, a cost by chance would be lower the fewer overlap. */
  int
  GetBins(int level) const
  {
    constexpr int least = 32;
    const bool    isRatio = m_Settings.cost == GlobalCost::CorrelationRatio;
    const int     bins = m_Settings.bins > 0 ? m_Settings.bins : (isRatio ? 256 : 64);
    const int     ofLevel = std::max(std::min(bins, least), bins >> std::max(0, level - At2mm));
    if (m_Settings.bins > 0)
    {
      return ofLevel;
    }
    const auto   samples = static_cast<double>(this->GetLevel(level).GetVoxelCount());
    const double filled = isRatio ? samples / 16 : std::sqrt(samples / 8) + 2 * kernels::HistogramPadding;
    return static_cast<int>(std::clamp<double>(filled, 2 * kernels::HistogramPadding + 1, ofLevel));
  }

  GlobalLevel &
  GetLevel(int number) const
  {
    return *m_Levels[static_cast<std::size_t>(number)];
  }

  /** The finest level of the images, the others of that one. */
  void
  MakeImages(const GlobalProblem & problem)
  {
    const LevelMaker maker{ *m_Queue, *m_Images, *m_Lines };
    RegisteredImage  fixed = problem.fixed;
    RegisteredImage  moving = problem.moving;
    for (int level = 0; level < LevelCount; ++level)
    {
      GlobalLevel & made = this->GetLevel(level);
      made.MakeImages(maker, fixed, moving, problem.dimension, std::ldexp(m_Settings.finestEdge, level));
      if (level == 0)
      {
        fixed = made.GetFixed();
        moving = made.GetMoving();
      }
      else
      {
        made.NarrowRanges();
      }
      made.SetCost(m_Settings.cost, this->GetBins(level), m_IsTimed);
    }
    // So many voxels are not looked through on the host.
    this->GetLevel(At1mm).TakeRanges(this->GetLevel(At2mm));
  }

  void
  MakeFrame(const GlobalProblem & problem)
  {
    const GlobalLevel & level = this->GetLevel(At8mm);
    const ImageMass     fixed = FindMass(*m_Queue, level.GetFixed(), "fixed");
    const ImageMass     moving = FindMass(*m_Queue, level.GetMoving(), "moving");
    // At 8 mm what lies beside a mask shines into it.
    CheckVaries(*m_Queue, problem.fixed, "fixed");
    CheckVaries(*m_Queue, problem.moving, "moving");
    // Of a small moving image, such as some slices of a head, that much of it.
    m_SmallerShare = std::min(1.0, moving.volume / fixed.volume);
    m_LeastOverlap = m_Settings.leastOverlap * m_SmallerShare;
    m_Unrelated = level.FindUnrelated(fixed.values, moving.values);
    m_Frame = {};
    m_Frame.dimension = problem.dimension;
    m_Frame.fixedCentre = fixed.centre;
    m_Frame.movingCentre = moving.centre;
    m_Frame.radius = std::max(fixed.radius, level.GetEdge());
    m_Frame.axes = FindAxes(problem.fixed.indexToPoint);
    m_Gradients = GradientMoments(level.GetFixed(), fixed, m_ParallelFor);
  }

  /** \param what is done at a level, behind its edge. */
  void
  BeginStage(int level, const std::string & what = "")
  {
    this->BeginStage(NameLength(m_Unit * this->GetLevel(level).GetEdge()) + what);
  }

  void
  BeginStage(const std::string & name)
  {
    m_Stage = {};
    m_Stage.name = name;
    m_StageStart = Clock::now();
    for (const auto & level : m_Levels)
    {
      level->CountInto(m_Stage);
    }
    this->TellProgress();
  }

  void
  EndStage(double cost)
  {
    m_Stage.cost = cost;
    m_Stage.milliseconds = MillisecondsSince(m_StageStart);
    m_Result.stages.push_back(m_Stage);
  }

  void
  TellProgress() const
  {
    if (m_Progress)
    {
      // The first stage makes the levels, and finds no cost.
      const std::size_t done = m_Result.stages.size();
      m_Progress({ m_Stage.name.c_str(),
                   static_cast<double>(done) / (this->SearchesAngles() ? SearchStageCount : StageCount),
                   done > 1 ? m_Result.stages.back().cost : std::numeric_limits<double>::quiet_NaN() });
    }
  }

  /** \param leastOverlap see GlobalSettings. */
  GlobalLevel &
  BeginLevel(int number, double leastOverlap, int stride = 1)
  {
    GlobalLevel & level = this->GetLevel(number);
    level.Begin(m_Frame, leastOverlap, m_Unrelated, stride, m_ParallelFor, [this] { this->TellProgress(); });
    return level;
  }

  /** Whether there is more than one rotation, or one that is not none. */
  bool
  SearchesAngles() const
  {
    const std::size_t first = m_Frame.dimension == 3 ? 0 : 2;
    return std::any_of(m_Settings.angles.begin() + static_cast<std::ptrdiff_t>(first),
                       m_Settings.angles.end(),
                       [](const AngleRange & range) { return range[0] != 0 || range[1] != 0; });
  }

  /** Those of the search, made anew only for other angles. */
  void
  MakeSearchedRotations()
  {
    std::array<AngleRange, 3> angles = m_Settings.angles;
    if (m_Frame.dimension == 2)
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

  /** Where it begins: as the initial map says, or with the centres of mass on each other. A search among rotations begins at both, unless
   *  they are next to each other: from a start that is half a head off, lines lead elsewhere. */
  std::vector<Pose>
  MakeStarts(const GlobalProblem & problem, GlobalLevel & level) const
  {
    if (!problem.initial)
    {
      return { Pose() };
    }
    const Pose start = RestrictPose(m_Frame, FindPose(m_Frame, *problem.initial), m_Kind);
    Pose       centred = start;
    centred.translation = {};
    if (level.FindCosts({ start }).front().overlap <= 0.5 * m_LeastOverlap)
    {
      return { centred };
    }
    const auto & t = start.translation;
    const bool   isNext = std::hypot(t[0], t[1], t[2]) < level.GetEdge();
    return this->SearchesAngles() && !isNext ? std::vector<Pose>{ start, centred } : std::vector<Pose>{ start };
  }

  /** A start, turned further. */
  static Pose
  Turn(const Pose & start, const Matrix3 & rotation)
  {
    Pose pose = start;
    pose.rotation = Multiply(rotation, start.rotation);
    return pose;
  }

  /** A freedom of that kind, without what the result is not to have. */
  Freedom
  MakeFreedomWithin(FreedomKind kind) const
  {
    const bool isRigid = m_Kind == FreedomKind::Rigid;
    return MakeFreedom(m_Frame,
                       !isRigid                                   ? kind
                       : kind == FreedomKind::TranslationAndScale ? FreedomKind::Translation
                                                                  : FreedomKind::Rigid);
  }

  /** The same, balanced around a pose. */
  Freedom
  MakeFreedomWithin(FreedomKind kind, const Pose & pose) const
  {
    return BalanceFreedom(m_Frame, this->MakeFreedomWithin(kind), pose, m_Gradients);
  }

  /** The best of each fine rotation. What the coarse rotation next to it has found may lead it astray: that is looked at, its
   *  translation alone, and none.
   *  \param coarse of each start, each coarse rotation. */
  std::vector<PosedCost>
  FindFine(GlobalLevel & level, const std::vector<Pose> & starts, const std::vector<PosedCost> & coarse) const
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
        if (m_Kind != FreedomKind::Rigid)
        {
          pose.logScale = next.logScale;
          fine.push_back(pose);
        }
      }
    }
    const std::vector<PosedCost> costs = level.FindCosts(fine);
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
  SearchAt8mm(const GlobalProblem & problem)
  {
    this->BeginStage(At8mm, this->SearchesAngles() ? ": coarse rotations" : "");
    // What overlaps little has a low cost by chance: here, where nothing is certain yet, more is asked for than later.
    GlobalLevel & level = this->BeginLevel(At8mm, std::min(1.0, 2 * m_LeastOverlap));
    const double  edge = level.GetEdge();
    const auto    starts = this->MakeStarts(problem, level);
    const Freedom moves = this->MakeFreedomWithin(FreedomKind::TranslationAndScale);
    const Freedom turns = this->MakeFreedomWithin(FreedomKind::Similarity);
    if (!this->SearchesAngles())
    {
      std::vector<PosedCost> poses{ { starts.front(), 0, 0 } };
      SearchLines(level, turns, { edge, 0.5 * edge }, poses);
      this->EndStage(poses.front().cost);
      return poses;
    }
    this->MakeSearchedRotations();
    std::vector<PosedCost> poses;
    for (const Pose & start : starts)
    {
      for (const Matrix3 & rotation : m_Coarse)
      {
        poses.push_back({ Turn(start, rotation), 0, 0 });
      }
    }
    SearchLines(level, moves, { 2 * edge, edge, 0.5 * edge }, poses);
    this->EndStage(GetBest(poses).cost);

    this->BeginStage(At8mm, ": fine rotations");
    const std::vector<PosedCost> fine = this->FindFine(level, starts, poses);
    poses.insert(poses.end(), fine.begin(), fine.end());
    poses = ChooseApart(poses, FineSelection);
    this->EndStage(poses.front().cost);

    this->BeginStage(At8mm, ": translations");
    SearchLines(level, moves, { edge }, poses);
    poses = ChooseApart(poses, MovedSelection);
    this->EndStage(poses.front().cost);

    this->BeginStage(At8mm, ": best rotations");
    SearchLines(level, turns, { edge, 0.5 * edge }, poses);
    poses = ChooseApart(poses, TurnedSelection);
    this->EndStage(poses.front().cost);
    return poses;
  }

  /** The three best, and around each: turned both ways about each axis, and of other scales. */
  std::vector<PosedCost>
  Perturb(std::vector<PosedCost> poses) const
  {
    const std::size_t count = poses.size();
    for (std::size_t n = 0; n < count; ++n)
    {
      for (std::size_t axis = m_Frame.dimension == 3 ? 0 : 2; axis < 3; ++axis)
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
        if (m_Kind != FreedomKind::Rigid)
        {
          poses.push_back(poses[n]);
          const double along = std::log(scale) * m_Frame.radius;
          poses.back().pose =
            MovePose(poses[n].pose, { MakeFreedom(m_Frame, FreedomKind::TranslationAndScale).back() }, &along);
        }
      }
    }
    return poses;
  }

  PosedCost
  SearchAt4mm(std::vector<PosedCost> poses)
  {
    const bool isThinned = poses.size() > 1;
    this->BeginStage(At4mm, isThinned ? Thinned : "");
    GlobalLevel & level = this->BeginLevel(At4mm, m_LeastOverlap, isThinned ? 2 : 1);
    const double  edge = level.GetEdge();
    const Freedom turns = this->MakeFreedomWithin(FreedomKind::Similarity);
    if (isThinned)
    {
      SearchLines(level, turns, { edge, 0.5 * edge }, poses);
      poses = ChooseApart(poses, ValleySelection);
      // Lines along parameters that hang on each other end in valleys: along derivatives they are followed.
      this->Descend(level, turns, 0.5 * edge, poses, { { 4, 12 }, { 4, 1 } });
      poses = ChooseApart(poses, BestSelection);
      level.Thin(1);
      this->EndStage(poses.front().cost);
      this->BeginStage(At4mm);
    }
    if (this->SearchesAngles())
    {
      poses = this->Perturb(poses);
    }
    this->Descend(level, turns, 0.5 * edge, poses, { { 4, 12 }, { 4, 4 }, { MostRounds, 1 } });
    const PosedCost best = GetBest(poses);
    this->EndStage(best.cost);
    return best;
  }

  PosedCost
  SearchAt2mm(PosedCost best)
  {
    this->BeginStage(At2mm);
    GlobalLevel &          level = this->BeginLevel(At2mm, m_LeastOverlap);
    std::vector<PosedCost> poses{ best };
    for (const FreedomKind kind : { FreedomKind::Similarity, FreedomKind::Scales, FreedomKind::Affine })
    {
      if (kind <= std::max(m_Kind, FreedomKind::Similarity))
      {
        this->Descend(level,
                      this->MakeFreedomWithin(kind, poses.front().pose),
                      0.5 * level.GetEdge(),
                      poses,
                      { { MostRounds, 1 } });
      }
    }
    this->EndStage(poses.front().cost);
    return poses.front();
  }

  PosedCost
  SearchAt1mm(PosedCost best, const Pose & start)
  {
    this->BeginStage(At1mm, Thinned);
    GlobalLevel & level = this->BeginLevel(At1mm, m_LeastOverlap, 2);
    // Where coarser levels have led away from a better start, it is gone on from there.
    const std::vector<PosedCost> both = level.FindCosts({ best.pose, start });
    best = both[1].overlap > 0 && both[1].cost < both[0].cost ? both[1] : both[0];
    const Freedom          freedom = this->MakeFreedomWithin(m_Kind, best.pose);
    const double           firstStep = 0.25 * level.GetEdge();
    std::vector<PosedCost> poses{ best };
    if (m_Settings.optimizer == GlobalOptimizer::Lines)
    {
      // Of few voxels lines are short work: a second time they end where the first ones have changed what others see.
      this->Descend(level, freedom, firstStep, poses, {});
      this->Descend(level, freedom, firstStep, poses, {});
      this->BeginLastStage(level, poses);
      SearchLines(level, freedom, { FinalLine * level.GetShortEdge() }, poses);
    }
    else
    {
      QuasiNewtonSearch search(level, freedom, firstStep, FinalTolerance * level.GetShortEdge(), poses);
      search.Advance(MostRounds);
      this->BeginLastStage(level, poses);
      search.Resume();
      search.Advance(MostRounds);
    }
    this->EndStage(poses.front().cost);
    return poses.front();
  }

  void
  BeginLastStage(GlobalLevel & level, const std::vector<PosedCost> & poses)
  {
    this->EndStage(poses.front().cost);
    this->BeginStage(At1mm);
    level.Thin(1);
  }

  /** So many rounds, after which so many of the best are left. */
  struct Heat
  {
    int         rounds;
    std::size_t count;
  };

  /** Local searches, by the optimizer that is set. */
  void
  Descend(GlobalLevel &             level,
          const Freedom &           freedom,
          double                    firstStep,
          std::vector<PosedCost> &  poses,
          const std::vector<Heat> & heats) const
  {
    if (m_Settings.optimizer == GlobalOptimizer::Lines)
    {
      SearchLines(level, freedom, firstStep, FinalLine * level.GetShortEdge(), poses);
      return;
    }
    QuasiNewtonSearch search(level, freedom, firstStep, Tolerance * level.GetShortEdge(), poses);
    for (const Heat & heat : heats)
    {
      search.Advance(heat.rounds);
      search.KeepBest(heat.count);
    }
  }

  /** \throws BadInputError if nothing overlaps. */
  void
  BringResult(const PosedCost & best)
  {
    if (!(best.overlap > 0))
    {
      throw BadInputError(
        "no voxel of the fixed image comes to lie in the moving one, wherever it is moved to; give larger "
        "masks, or images of the same thing");
    }
    m_Result.pointMap = MakePointMap(m_Frame, best.pose);
    m_Result.centre = m_Frame.fixedCentre;
    for (auto * lengths : { &m_Result.pointMap.offset, &m_Result.centre })
    {
      std::for_each(lengths->begin(), lengths->end(), [this](double & length) { length *= m_Unit; });
    }
    m_Result.rotation = best.pose.rotation;
    std::transform(best.pose.logScale.begin(), best.pose.logScale.end(), m_Result.scales.begin(), [](double s) {
      return std::exp(s);
    });
    m_Result.skews = best.pose.skew;
    m_Result.cost = best.cost;
    m_Result.overlap = best.overlap;
  }

  /** What is said of a result that may be wrong. */
  void
  FindWarnings(int dimension, const Pose & start, const PosedCost & best)
  {
    const LevelMaker    maker{ *m_Queue, *m_Images, *m_Lines };
    const GlobalLevel & level = this->GetLevel(At2mm);
    TransformChain      found;
    found.dimension = dimension;
    found.first = MakePointMap(m_Frame, best.pose);
    Agreement agreement = m_Check.Find(maker, level.GetFixed(), level.GetMoving(), found, m_ParallelFor);
    agreement.overlap = best.overlap;
    // Whoever asks for less than usual expects less.
    const bool expectsLess = m_Settings.leastOverlap < GlobalSettings().leastOverlap;
    AgreementCheck::AddWarnings(agreement,
                                expectsLess ? m_LeastOverlap
                                            : std::max(m_LeastOverlap, AgreementCheck::UsualOverlap * m_SmallerShare),
                                m_Result.warnings);
    const double stretch = FindStretch(best.pose, dimension);
    if (stretch > MostStretch)
    {
      m_Result.warnings.push_back(
        "what was found stretches one direction " + NameNumber(stretch) +
        " times as much as another, as images of one thing hardly want it: they are in a wrong place, or of different "
        "things; look at the result, begin nearer to the right place, or with a rigid stage");
    }
    const PosedCost began = this->GetLevel(At1mm).FindCosts({ start }).front();
    // Of what it is below that of unrelated images.
    const double known = 1e-3 * std::abs(m_Unrelated - best.cost);
    if (began.overlap > 0 && began.cost < best.cost - known)
    {
      m_Result.warnings.push_back(
        "the cost has risen from " + NameNumber(began.cost) + ", where it began, to " + NameNumber(best.cost) +
        ": a coarser level has led away; begin there with a smaller finest spacing, or another cost");
    }
    else if (agreement.IsDoubtful() && began.cost - best.cost < known)
    {
      m_Result.warnings.push_back(
        "nothing better was found than where it began; begin nearer to the right place, or search among all "
        "rotations");
    }
  }

  std::shared_ptr<Backend>                    m_Backend;
  std::shared_ptr<Queue>                      m_Queue;
  std::unique_ptr<ImagePasses>                m_Images;
  std::unique_ptr<LinePasses>                 m_Lines;
  RangedImage                                 m_Fixed;
  RangedImage                                 m_Moving;
  AgreementCheck                              m_Check;
  std::vector<std::unique_ptr<GlobalLevel>>   m_Levels; // the finest first
  GlobalSettings                              m_Settings;
  FreedomKind                                 m_Kind = FreedomKind::Affine;
  bool                                        m_IsTimed = false;
  ParallelFor                                 m_ParallelFor;
  std::function<void(const GlobalProgress &)> m_Progress;
  double                                      m_Unit = 1; // mm
  PoseFrame                                   m_Frame;
  GradientMoments                             m_Gradients; // of the fixed image at 8 mm
  double                                      m_LeastOverlap = 0;
  double                                      m_SmallerShare = 1; // of the fixed image, what the moving one could cover
  double                                      m_Unrelated = 0; // cost of images that have nothing to do with each other
  std::array<AngleRange, 3>                   m_Angles{};
  std::vector<Matrix3>                        m_Coarse;
  std::vector<Matrix3>                        m_Fine;
  std::vector<std::size_t>                    m_Nearest; // of the coarse ones, to each fine one
  GlobalResult                                m_Result;
  GlobalStageResult                           m_Stage;
  Clock::time_point                           m_StageStart;
};

GlobalRegistration::GlobalRegistration(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

GlobalRegistration::~GlobalRegistration()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
GlobalRegistration::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
GlobalRegistration::GetHeldBytes() const
{
  return static_cast<std::size_t>(m_Implementation->GetStatistics().deviceBytes);
}

GlobalResult
GlobalRegistration::Register(const GlobalProblem &                               problem,
                             const GlobalSettings &                              settings,
                             const ParallelFor &                                 parallelFor,
                             const std::function<void(const GlobalProgress &)> & progress)
{
  return m_Implementation->Register(problem, settings, parallelFor, progress);
}

void
GlobalRegistration::SetTiming(bool on)
{
  m_Implementation->SetTiming(on);
}

EvaluationStatistics
GlobalRegistration::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
