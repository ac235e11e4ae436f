// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/global/GlobalRegistration.h"

#include "gpureg/core/Error.h"

#include "engine/registration/Agreement.h"
#include "engine/registration/Information.h"
#include "engine/registration/RegistrationCore.h"
#include "engine/runtime/Operation.h"
#include "engine/registration/global/GlobalChecks.h"
#include "engine/registration/global/GlobalMass.h"
#include "engine/registration/global/GlobalPairs.h"
#include "engine/registration/global/GlobalPlan.h"
#include "engine/registration/global/GlobalSearch.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/core/NumberNames.h"

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
// A linear map that stretches one direction more than this factor relative to another causes a warning.
constexpr double MostStretch = 1.4;

/** Returns the largest factor by which a pose stretches one direction relative to another. */
double
ComputeStretch(const Pose & pose, int dimension)
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

} // namespace

class GlobalRegistration::Implementation : public PlannedRegistration<GlobalProblem, GlobalSettings>
{
public:
  explicit Implementation(const std::string & deviceName)
    : PlannedRegistration(deviceName)
    , m_Check(*m_Queue, this->GetName())
  {
    this->MakeLevels();
  }

  GlobalResult
  Register(const GlobalProblem &                               problem,
           const GlobalSettings &                              settings,
           const ParallelFor &                                 parallelFor,
           const std::function<void(const GlobalProgress &)> & progress)
  {
    const auto start = Clock::now();
    this->CheckOnDevice(problem, settings);
    this->FreeIfShort(ImagesAre::OnDevice, problem, settings);
    Operate(*m_Queue, parallelFor, [&] { this->Search(problem, settings, parallelFor, progress); });
    m_Result.milliseconds = MillisecondsSince(start);
    return m_Result;
  }

  EvaluationStatistics
  GetStatistics() const override
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    for (const auto & level : m_Levels)
    {
      statistics = Add(statistics, level->GetStatistics());
    }
    statistics.deviceBytes += static_cast<std::int64_t>(m_Ranged.GetDeviceBytes() + m_Check.GetDeviceBytes());
    statistics.evaluateMilliseconds = m_Result.milliseconds;
    return statistics;
  }

private:
  /** Registers the images of a checked problem. Sets the result. */
  void
  Search(const GlobalProblem &                               problem,
         const GlobalSettings &                              settings,
         const ParallelFor &                                 parallelFor,
         const std::function<void(const GlobalProgress &)> & progress)
  {
    m_Input.settings = settings;
    m_Input.initial = problem.initial;
    std::vector<FurtherPair> pairs = ListPairs(problem, settings);
    this->CountInEdges(pairs, problem.dimension);
    m_Input.kind = GetPoseKind(settings.degreesOfFreedom);
    m_Input.parallelFor = parallelFor;
    // Without costs that can be thinned the last stage is left out.
    const bool isThinned = std::any_of(pairs.begin(), pairs.end(), [](const FurtherPair & pair) {
      return !Describe(pair.similarity.kind).HasNeighborhoods();
    });
    m_Stages.Restart(GlobalSearch::CountStages(settings, problem.dimension) - (isThinned ? 0 : 1), m_Unit, progress);
    m_Result = {};
    m_Stages.Begin("levels");
    m_Pairs = WeighPairs(this->LimitRanges(std::move(pairs), problem, settings, m_Result.warnings), FirstPair::IsKept);
    this->MakeImages(problem.dimension);
    this->MakeFrame(problem.dimension);
    m_Stages.End(0);
    const Pose      began = m_Search.ComputeStart();
    const PosedCost best = m_Search.Find(began);
    m_Stages.StopReporting();
    this->MakeResult(best);
    this->FindWarnings(problem.dimension, began, best);
  }

  void
  Check(const GlobalProblem &  problem,
        const GlobalSettings & settings,
        const CheckEachImage & checkImage) const override
  {
    CheckSettings(problem, settings);
    ForEachImage(ListPairs(problem, settings), [&](const RegisteredImage & image, const char * which) {
      checkImage(image, which);
      CheckHasSlices(image, problem.dimension, which);
    });
  }

  MemoryPlan
  MakePlan(const GlobalProblem & problem, const GlobalSettings & settings, bool hasChanges) const override
  {
    return (hasChanges ? &PlanGlobalWithChanges : &PlanGlobal)(*m_Queue, problem, settings);
  }

  void
  ReleaseArrays() override
  {
    this->MakeLevels();
    m_Check.Release();
  }

  void
  MakeLevels()
  {
    for (auto & level : m_Levels)
    {
      level = std::make_unique<GlobalLevel>(this->GetName(), *m_Queue);
    }
  }

  /** Makes the shortest edge of the images' voxels the unit of all lengths until the result is converted back. Images with equal voxels
   *  then have equal results, mostly to the last bit, whatever the voxels' size is. Completes the settings. */
  void
  CountInEdges(std::vector<FurtherPair> & pairs, int dimension)
  {
    const double finest = ComputeFinestEdge(pairs, dimension, m_Input.settings);
    m_Unit = std::numeric_limits<double>::infinity();
    for (const FurtherPair & pair : pairs)
    {
      m_Unit =
        std::min({ m_Unit, ComputeShortestEdge(pair.fixed, dimension), ComputeShortestEdge(pair.moving, dimension) });
    }
    m_Input.settings.finestEdge = finest / m_Unit;
    const auto count = [this](Vector3 & lengths) {
      std::for_each(lengths.begin(), lengths.end(), [this](double & length) { length /= m_Unit; });
    };
    for (FurtherPair & pair : pairs)
    {
      for (RegisteredImage * image : { &pair.fixed, &pair.moving })
      {
        count(image->indexToPoint.offset);
        // In two dimensions the third axis has no length.
        for (std::size_t n = 0; n < image->indexToPoint.matrix.size(); ++n)
        {
          image->indexToPoint.matrix[n] /= n % 3 < static_cast<std::size_t>(dimension) ? m_Unit : 1.0;
        }
      }
    }
    if (m_Input.initial)
    {
      count(m_Input.initial->offset);
    }
  }

  /** Returns the number of bins of a pair at a level, 0 for a cost without bins: fewer at coarse levels, and, unless the caller has set it,
   *  no more than the samples fill. With too few samples per bin, a smaller overlap would have a lower cost by chance. */
  int
  GetBins(int level, std::size_t place) const
  {
    constexpr int                 least = 32;
    const SimilaritySettings &    settings = m_Pairs[place].pair.similarity;
    const SimilarityDescription & cost = Describe(settings.kind);
    if (!cost.HasBins())
    {
      return 0;
    }
    const int bins = settings.bins > 0 ? settings.bins : cost.bins.usual;
    const int ofLevel = std::max(std::min(bins, least), bins >> std::max(0, level - At2mm));
    if (settings.bins > 0)
    {
      return ofLevel;
    }
    const auto   samples = static_cast<double>(this->GetLevel(level).GetPair(place).GetVoxelCount());
    const double filled =
      cost.HasJointHistogram() ? std::sqrt(samples / 8) + 2 * kernels::HistogramPadding : samples / 16;
    return static_cast<int>(std::clamp<double>(filled, 2 * kernels::HistogramPadding + 1, ofLevel));
  }

  GlobalLevel &
  GetLevel(int number) const
  {
    return *m_Levels[static_cast<std::size_t>(number)];
  }

  /** Makes the finest level from the images, and each coarser level from the level before. */
  void
  MakeImages(int dimension)
  {
    const LevelMaker         maker{ *m_Queue, *m_Lines };
    std::vector<WeighedPair> pairs = m_Pairs;
    for (int level = 0; level < static_cast<int>(m_Levels.size()); ++level)
    {
      GlobalLevel & made = this->GetLevel(level);
      made.MakeImages(maker, pairs, dimension, std::ldexp(m_Input.settings.finestEdge, level));
      for (std::size_t place = 0; place < pairs.size(); ++place)
      {
        GlobalPairLevel & pair = made.GetPair(place);
        if (level == 0)
        {
          pairs[place].pair.fixed = pair.GetFixed();
          pairs[place].pair.moving = pair.GetMoving();
        }
        else
        {
          pair.NarrowRanges();
        }
        const SimilaritySettings & cost = m_Pairs[place].pair.similarity;
        pair.SetCost({ cost.kind, this->GetBins(level, place), cost.radius }, m_IsTimed);
      }
    }
    // The finest level has too many voxels to examine on the host.
    for (std::size_t place = 0; place < pairs.size(); ++place)
    {
      this->GetLevel(At1mm).GetPair(place).TakeRanges(this->GetLevel(At2mm).GetPair(place));
    }
  }

  /** Makes the frame of poses from the first pair's images, and the share of each pair. */
  void
  MakeFrame(int dimension)
  {
    const GlobalLevel & level = this->GetLevel(At8mm);
    m_Input.shares.clear();
    for (std::size_t place = 0; place < m_Pairs.size(); ++place)
    {
      WithPairNamed(m_Pairs[place].number, [&] {
        const RegisteredImage image = level.GetPair(place).GetFixed();
        const ImageMass       fixed = ComputeMass(*m_Queue, image, "fixed");
        const ImageMass       moving = ComputeMass(*m_Queue, level.GetPair(place).GetMoving(), "moving");
        // At 8 mm, values beside a mask blend into it.
        CheckVaries(*m_Queue, m_Pairs[place].pair.fixed, "fixed");
        CheckVaries(*m_Queue, m_Pairs[place].pair.moving, "moving");
        // A small moving image, such as some slices of a head, can cover only a part of the fixed image.
        const double smallerShare = std::min(1.0, moving.volume / fixed.volume);
        m_Input.shares.push_back(this->MakeShare(m_Pairs[place].pair, fixed, moving, smallerShare));
        if (place == 0)
        {
          m_SmallerShare = smallerShare;
          m_Input.frame = {};
          m_Input.frame.dimension = dimension;
          m_Input.frame.fixedCentre = fixed.centre;
          m_Input.frame.movingCentre = moving.centre;
          m_Input.frame.radius = std::max(fixed.radius, level.GetEdge());
          m_Input.frame.axes = ComputeAxes(m_Pairs[place].pair.fixed.indexToPoint);
          m_Input.gradients = GradientSums(image, fixed, m_Input.parallelFor);
        }
      });
    }
  }

  PairShare
  MakeShare(const FurtherPair & pair, const ImageMass & fixed, const ImageMass & moving, double smallerShare) const
  {
    PairShare share;
    share.unrelated = ComputeUnrelatedCost(pair.similarity.kind, fixed.values, moving.values);
    share.leastOverlap = m_Input.settings.leastOverlap * smallerShare;
    share.weight = pair.weight;
    share.isOfSeveral = m_Pairs.size() > 1;
    return share;
  }

  /** \throws BadInputError if the images do not overlap */
  void
  MakeResult(const PosedCost & best)
  {
    for (std::size_t place = 0; place < m_Pairs.size() && !(best.overlap > 0); ++place)
    {
      WithPairNamed(m_Pairs[place].number, [&] { this->CheckOverlaps(place, best.pose); });
    }
    m_Result.pointMap = MakePointMap(m_Input.frame, best.pose);
    m_Result.centre = m_Input.frame.fixedCentre;
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
    m_Result.stages = m_Stages.GetResults();
  }

  /** \throws BadInputError if the images of a pair do not overlap at a pose */
  void
  CheckOverlaps(std::size_t place, const Pose & pose) const
  {
    GlobalPairLevel & pair = this->GetLevel(At1mm).GetPair(place);
    if (!(pair.ComputeCosts(m_Input.frame, { pose }, m_Input.parallelFor).front().overlap > 0))
    {
      throw BadInputError(
        "no voxel of the fixed image comes to lie in the moving one, wherever it is moved to; give larger "
        "masks, or images of the same thing");
    }
  }

  /** Adds warnings about a result that may be wrong. The first pair shows whether images agree. */
  void
  FindWarnings(int dimension, const Pose & start, const PosedCost & best)
  {
    const LevelMaker        maker{ *m_Queue, *m_Lines };
    const GlobalPairLevel & level = this->GetLevel(At2mm).GetPair(0);
    TransformChain          found;
    found.dimension = dimension;
    found.first = MakePointMap(m_Input.frame, best.pose);
    Agreement agreement = m_Check.Find(maker, level.GetFixed(), level.GetMoving(), found, m_Input.parallelFor);
    agreement.overlap = best.overlap;
    const double leastOverlap = m_Input.shares.front().leastOverlap;
    // A caller who asks for less overlap than usual expects less.
    const bool expectsLess = m_Input.settings.leastOverlap < GlobalSettings().leastOverlap;
    AgreementCheck::AddWarnings(agreement,
                                expectsLess ? leastOverlap
                                            : std::max(leastOverlap, AgreementCheck::UsualOverlap * m_SmallerShare),
                                m_Result.warnings);
    const double stretch = ComputeStretch(best.pose, dimension);
    if (stretch > MostStretch)
    {
      m_Result.warnings.push_back(
        "what was found stretches one direction " + NameNumber(stretch) +
        " times as much as another, as images of one thing hardly want it: they are in a wrong place, or of different "
        "things; look at the result, begin nearer to the right place, or with a rigid stage");
    }
    const PosedCost began = this->GetLevel(At1mm).ComputeCosts({ start }).front();
    // Relative to how far the cost lies below that of unrelated images.
    const double known = 1e-3 * std::abs(this->GetLevel(At1mm).GetUnrelatedCost() - best.cost);
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

  AgreementCheck           m_Check;
  GlobalLevels             m_Levels;
  GlobalStages             m_Stages{ m_Levels };
  GlobalSearchInput        m_Input;
  GlobalSearch             m_Search{ m_Levels, m_Stages, m_Input };
  double                   m_Unit = 1;         // in mm
  double                   m_SmallerShare = 1; // the share of the fixed image that the moving image could cover
  std::vector<WeighedPair> m_Pairs;            // those that are compared
  GlobalResult             m_Result;
};

GlobalRegistration::GlobalRegistration(const std::string & deviceName)
  : RegistrationEngine(std::make_unique<Implementation>(deviceName))
{}

GlobalRegistration::~GlobalRegistration() = default;

GlobalRegistration::Implementation &
GlobalRegistration::GetImplementation() const
{
  return static_cast<Implementation &>(this->GetCore());
}

MemoryPlan
GlobalRegistration::GetPlan(const GlobalProblem & problem, const GlobalSettings & settings) const
{
  return this->GetImplementation().GetPlan(problem, settings);
}

void
GlobalRegistration::MakeRoom(const GlobalProblem & problem, const GlobalSettings & settings)
{
  this->GetImplementation().MakeRoom(problem, settings);
}

GlobalResult
GlobalRegistration::Register(const GlobalProblem &                               problem,
                             const GlobalSettings &                              settings,
                             const ParallelFor &                                 parallelFor,
                             const std::function<void(const GlobalProgress &)> & progress)
{
  return this->GetImplementation().Register(problem, settings, parallelFor, progress);
}

} // namespace gpureg
