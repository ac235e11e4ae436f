// SPDX-License-Identifier: Apache-2.0
#include "gpureg/GlobalRegistration.h"

#include "gpureg/Error.h"
#include "gpureg/TransformChain.h"

#include "Backend.h"
#include "FreeFormGeometry.h"
#include "GlobalDescent.h"
#include "GlobalLevel.h"
#include "GlobalRotations.h"
#include "LevelSamples.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
using Clock = std::chrono::steady_clock;

double
MillisecondsSince(Clock::time_point start)
{
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The finest is 0, of voxels that are so many times as long: 1, 2, 4, 8.
constexpr int LevelCount = 4;
constexpr int Coarsest = LevelCount - 1;

constexpr double Degree = GlobalSettings::Pi / 180;
// Li 2015, section 2.2.
constexpr double      CoarseAngle = 60 * Degree;
constexpr double      FineAngle = 18 * Degree;
constexpr double      PerturbedAngle = 9 * Degree;
constexpr std::size_t BestCount = 3;
// Of the rotations at 8 mm, so many that are further from each other than this go down along all parameters: among them, next to each
// other, would be the same place several times.
constexpr std::size_t StartCount = 24;
constexpr double      Apart = 20 * Degree;

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

/** The best of some poses, each of which is further than an angle from those before. */
std::vector<PosedCost>
ChooseApart(const std::vector<PosedCost> & poses, std::size_t count, double angle)
{
  std::vector<PosedCost> chosen;
  for (const std::size_t n : OrderByCost(poses))
  {
    const bool isNew = std::none_of(chosen.begin(), chosen.end(), [&](const PosedCost & other) {
      return FindAngle(other.pose.rotation, poses[n].pose.rotation) < angle;
    });
    if (isNew && chosen.size() < count)
    {
      chosen.push_back(poses[n]);
    }
  }
  return chosen;
}
} // namespace

class GlobalRegistration::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Images(m_Queue->CreateImagePasses())
    , m_Lines(m_Queue->CreateLinePasses())
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  GlobalResult
  Register(const GlobalProblem &                               problem,
           const GlobalSettings &                              settings,
           const ParallelFor &                                 parallelFor,
           const std::function<void(const GlobalProgress &)> & progress)
  {
    const auto start = Clock::now();
    m_Queue->CheckIsUsable();
    m_Queue->parallelFor = parallelFor;
    m_Queue->statistics = {};
    m_Problem = &problem;
    m_Settings = settings;
    m_Kind = GetKind(settings.degreesOfFreedom);
    m_ParallelFor = parallelFor;
    m_Progress = progress;
    m_Result = {};
    this->MakeLevels();
    this->BeginStage("levels");
    this->MakeImages();
    const PoseFrame frame = this->MakeFrame();
    this->EndStage(0);
    Pose best = this->SearchAt1mm(this->SearchAt2mm(this->SearchAt4mm(this->SearchAt8mm(frame))));
    const IndexMap map = MakePointMap(frame, best);
    m_Result.pointMap = map;
    m_Result.rotation = best.rotation;
    std::transform(best.logScale.begin(), best.logScale.end(), m_Result.scales.begin(), [](double s) { return std::exp(s); });
    m_Result.skews = best.skew;
    m_Result.centre = frame.fixedCentre;
    m_Queue->GiveStagingBack();
    m_Result.milliseconds = MillisecondsSince(start);
    return m_Result;
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->statistics;
    for (const auto & level : m_Levels)
    {
      statistics.deviceBytes += level->GetStatistics().deviceBytes;
    }
    return statistics;
  }

private:
  int
  GetBins(int level) const
  {
    const bool isRatio = m_Settings.cost == GlobalCost::CorrelationRatio;
    const int  bins = m_Settings.bins > 0 ? m_Settings.bins : (isRatio ? 256 : 64);
    constexpr int least = 32;
    return std::max(std::min(bins, least), bins >> std::max(0, level - 1));
  }

  void
  MakeLevels()
  {
    if (m_Levels.empty() || m_LevelSettings.cost != m_Settings.cost || m_LevelSettings.bins != m_Settings.bins)
    {
      m_Levels.clear();
      for (int level = 0; level < LevelCount; ++level)
      {
        m_Levels.push_back(std::make_unique<GlobalLevel>(
          m_Settings.cost, this->GetBins(level), m_Backend->GetDescription().name, *m_Queue));
      }
      m_LevelSettings = m_Settings;
    }
  }

  /** The finest level of the images, the others of that one. */
  void
  MakeImages()
  {
    RegisteredImage fixed = m_Problem->fixed;
    RegisteredImage moving = m_Problem->moving;
    for (int level = 0; level < LevelCount; ++level)
    {
      GlobalLevel & made = *m_Levels[static_cast<std::size_t>(level)];
      made.MakeImages(fixed, moving, m_Problem->dimension, std::ldexp(m_Settings.finestEdge, level), *m_Images, *m_Lines);
      if (level == 0)
      {
        fixed = made.GetFixed();
        moving = made.GetMoving();
      }
    }
  }

  /** What is brighter than the mean of an image, by how much it is. */
  struct Mass
  {
    Vector3 centre{};
    double  radius = 0;
    double  share = 1; // of voxels inside of the mask
  };

  Mass
  FindMass(const RegisteredImage & image, std::vector<double> & values)
  {
    values = BringValues(*m_Queue, *image.image);
    const std::vector<double> mask =
      image.mask != nullptr ? BringValues(*m_Queue, *image.mask) : std::vector<double>(values.size(), 1.0);
    double inside = 0;
    double mean = 0;
    for (std::size_t n = 0; n < values.size(); ++n)
    {
      inside += mask[n] >= 0.5 ? 1 : 0;
      mean += mask[n] >= 0.5 ? values[n] : 0;
    }
    if (!(inside > 0))
    {
      throw BadInputError("a mask leaves no voxel at the coarsest level; set a larger one, or none");
    }
    mean /= inside;
    Mass   mass;
    double sum = 0;
    double squares = 0;
    mass.share = inside / static_cast<double>(values.size());
    std::size_t n = 0;
    for (int z = 0; z < image.size[2]; ++z)
    {
      for (int y = 0; y < image.size[1]; ++y)
      {
        for (int x = 0; x < image.size[0]; ++x, ++n)
        {
          const double weight = mask[n] >= 0.5 ? std::max(0.0, values[n] - mean) : 0.0;
          if (weight > 0)
          {
            Vector3 point = Multiply(image.indexToPoint.matrix, Vector3{ double(x), double(y), double(z) });
            for (std::size_t d = 0; d < 3; ++d)
            {
              point[d] += image.indexToPoint.offset[d];
              mass.centre[d] += weight * point[d];
            }
            squares += weight * (point[0] * point[0] + point[1] * point[1] + point[2] * point[2]);
            sum += weight;
          }
        }
      }
    }
    if (!(sum > 0))
    {
      throw BadInputError("an image is constant inside of its mask; set another one, or none");
    }
    double square = squares / sum;
    for (double & c : mass.centre)
    {
      c /= sum;
      square -= c * c;
    }
    mass.radius = std::sqrt(std::max(square, 0.0));
    return mass;
  }

  PoseFrame
  MakeFrame()
  {
    const GlobalLevel & level = *m_Levels[Coarsest];
    std::vector<double> fixedValues;
    std::vector<double> movingValues;
    const Mass          fixed = this->FindMass(level.GetFixed(), fixedValues);
    const Mass          moving = this->FindMass(level.GetMoving(), movingValues);
    m_Share = fixed.share;
    m_Unrelated = level.FindUnrelated(fixedValues, movingValues);
    PoseFrame frame;
    frame.dimension = m_Problem->dimension;
    frame.fixedCentre = fixed.centre;
    frame.movingCentre = moving.centre;
    frame.radius = std::max(fixed.radius, m_Settings.finestEdge);
    Pose axes;
    {
      PoseFrame plain;
      plain.dimension = frame.dimension;
      IndexMap directions;
      directions.matrix = m_Problem->fixed.indexToPoint.matrix;
      const auto spacing = GetSpacing(m_Problem->fixed.indexToPoint);
      for (std::size_t r = 0; r < 3; ++r)
      {
        for (std::size_t c = 0; c < 3; ++c)
        {
          directions.matrix[3 * r + c] /= spacing[c];
        }
      }
      const auto & m = directions.matrix;
      const double determinant = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                                 m[2] * (m[3] * m[7] - m[4] * m[6]);
      if (determinant < 0)
      {
        for (std::size_t r = 0; r < 3; ++r)
        {
          directions.matrix[3 * r] *= -1;
        }
      }
      frame.axes = FindPose(plain, directions).rotation;
    }
    return frame;
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
  }

  void
  EndStage(double cost)
  {
    m_Stage.cost = cost;
    m_Stage.milliseconds = MillisecondsSince(m_StageStart);
    m_Result.stages.push_back(m_Stage);
  }

  GlobalLevel &
  BeginLevel(int number, const PoseFrame & frame)
  {
    GlobalLevel & level = *m_Levels[static_cast<std::size_t>(number)];
    level.Begin(frame, m_Share, m_Settings.leastOverlap, m_Unrelated, m_ParallelFor, [this] {
      if (m_Progress)
      {
        m_Progress({ m_Stage.name.c_str(), static_cast<double>(m_Result.stages.size()) / 8 });
      }
    });
    return level;
  }

  std::vector<PosedCost>
  SearchAt8mm(const PoseFrame & frame)
  {
    this->BeginStage("8 mm: coarse rotations");
    GlobalLevel & level = this->BeginLevel(Coarsest, frame);
    const double  edge = level.GetEdge();
    const auto    coarse = MakeRotations(m_Settings.angles, CoarseAngle);
    std::vector<PosedCost> poses(coarse.size());
    for (std::size_t n = 0; n < coarse.size(); ++n)
    {
      poses[n].pose.rotation = coarse[n];
    }
    SearchLines(level, MakeFreedom(frame, FreedomKind::TranslationAndScale), { 2 * edge, edge, 0.5 * edge }, poses);
    this->EndStage(poses[OrderByCost(poses).front()].cost);

    this->BeginStage("8 mm: fine rotations");
    const auto        fine = MakeRotations(m_Settings.angles, FineAngle);
    const auto        nearest = FindNearest(coarse, fine);
    std::vector<Pose> finePoses;
    for (std::size_t n = 0; n < fine.size(); ++n)
    {
      Pose pose = poses[nearest[n]].pose;
      pose.rotation = fine[n];
      finePoses.push_back(pose);
    }
    const auto costs = level.FindCosts(finePoses);
    for (std::size_t n = 0; n < fine.size(); ++n)
    {
      poses.push_back({ finePoses[n], costs[n] });
    }
    poses = ChooseApart(poses, StartCount, Apart);
    this->EndStage(poses.front().cost);

    this->BeginStage("8 mm: best");
    SearchLines(level, MakeFreedom(frame, FreedomKind::Similarity), { edge, 0.5 * edge, 0.25 * edge }, poses);
    poses = ChooseApart(poses, BestCount, PerturbedAngle);
    this->EndStage(poses.front().cost);
    return poses;
  }

  std::pair<PoseFrame, std::vector<PosedCost>>
  SearchAt4mm(std::vector<PosedCost> poses)
  {
    this->BeginStage("4 mm");
    const PoseFrame frame = m_Levels[Coarsest]->GetFrame();
    GlobalLevel &   level = this->BeginLevel(2, frame);
    const std::size_t best = poses.size();
    for (std::size_t n = 0; n < best; ++n)
    {
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        for (const double angle : { -PerturbedAngle, PerturbedAngle })
        {
          Vector3 vector{};
          vector[axis] = angle;
          PosedCost turned = poses[n];
          turned.pose.rotation = Multiply(MakeRotation(vector), turned.pose.rotation);
          poses.push_back(turned);
        }
      }
      for (const double factor : { 0.8, 0.9, 1.1, 1.2 })
      {
        PosedCost scaled = poses[n];
        for (double & s : scaled.pose.logScale)
        {
          s += std::log(factor);
        }
        poses.push_back(scaled);
      }
    }
    const double      edge = level.GetEdge();
    QuasiNewtonSearch search(level, MakeFreedom(frame, FreedomKind::Similarity), 0.5 * edge, 0.02 * edge, poses);
    search.Advance(4);
    search.KeepBest(12);
    search.Advance(4);
    search.KeepBest(4);
    search.Advance(30);
    const auto order = OrderByCost(poses);
    this->EndStage(poses[order.front()].cost);
    return { frame, { poses[order.front()] } };
  }

  std::pair<PoseFrame, std::vector<PosedCost>>
  SearchAt2mm(std::pair<PoseFrame, std::vector<PosedCost>> state)
  {
    this->BeginStage("2 mm");
    GlobalLevel & level = this->BeginLevel(1, state.first);
    const double  edge = level.GetEdge();
    for (const FreedomKind kind : { FreedomKind::Similarity, FreedomKind::Scales, FreedomKind::Affine })
    {
      QuasiNewtonSearch search(level, MakeFreedom(state.first, kind), 0.5 * edge, 0.02 * edge, state.second);
      search.Advance(30);
    }
    this->EndStage(state.second.front().cost);
    return state;
  }

  Pose
  SearchAt1mm(std::pair<PoseFrame, std::vector<PosedCost>> state)
  {
    this->BeginStage("1 mm");
    GlobalLevel &     level = this->BeginLevel(0, state.first);
    const double      edge = level.GetEdge();
    QuasiNewtonSearch search(level, MakeFreedom(state.first, m_Kind), 0.25 * edge, 0.01 * edge, state.second);
    search.Advance(30);
    this->EndStage(state.second.front().cost);
    m_Result.cost = state.second.front().cost;
    m_Result.overlap = level.GetOverlap();
    return state.second.front().pose;
  }

  std::shared_ptr<Backend>                  m_Backend;
  std::shared_ptr<Queue>                    m_Queue;
  std::unique_ptr<ImagePasses>              m_Images;
  std::unique_ptr<LinePasses>               m_Lines;
  std::vector<std::unique_ptr<GlobalLevel>> m_Levels; // the finest first
  GlobalSettings                            m_LevelSettings;
  const GlobalProblem *                     m_Problem = nullptr;
  GlobalSettings                            m_Settings;
  FreedomKind                               m_Kind = FreedomKind::Affine;
  ParallelFor                               m_ParallelFor;
  std::function<void(const GlobalProgress &)> m_Progress;
  GlobalResult                              m_Result;
  GlobalStageResult                         m_Stage;
  Clock::time_point                         m_StageStart;
  double                                    m_Share = 1;
  double                                    m_Unrelated = 0;
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

GlobalResult
GlobalRegistration::Register(const GlobalProblem &                               problem,
                             const GlobalSettings &                              settings,
                             const ParallelFor &                                 parallelFor,
                             const std::function<void(const GlobalProgress &)> & progress)
{
  return m_Implementation->Register(problem, settings, parallelFor, progress);
}

EvaluationStatistics
GlobalRegistration::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
