// SPDX-License-Identifier: Apache-2.0
#include "gpureg/FreeFormRegistration.h"

#include "gpureg/Error.h"

#include "ControlStepPasses.h"
#include "ControlVectors.h"
#include "FreeFormChecks.h"
#include "FreeFormCost.h"
#include "FreeFormDescent.h"
#include "FreeFormGeometry.h"
#include "FreeFormLevel.h"
#include "SummarizeImage.h"

#include <algorithm>
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

} // namespace

class FreeFormRegistration::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Images(m_Queue->CreateImagePasses())
    , m_Lines(m_Queue->CreateLinePasses())
    , m_Steps(m_Queue->CreateControlStepPasses())
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  FreeFormResult
  Register(const FreeFormProblem &                               problem,
           const FreeFormSettings &                              settings,
           const ParallelFor &                                   parallelFor,
           const std::function<void(const FreeFormProgress &)> & progress)
  {
    const auto start = Clock::now();
    CheckSettings(problem, settings);
    CheckImage(problem.fixed, "fixed", this->GetName());
    CheckImage(problem.moving, "moving", this->GetName());
    m_Last = nullptr;
    m_Queue->CheckIsUsable();
    m_Queue->parallelFor = parallelFor;
    m_Queue->statistics = {};
    if (!this->HasLevelsFor(settings))
    {
      this->MakeLevels(settings);
    }
    FreeFormResult result;
    for (int level = settings.levels - 1; level >= 0; --level)
    {
      result.levels.push_back(this->RegisterLevel(problem, settings, level, parallelFor, progress));
    }
    this->BringPoints(problem, settings, result);
    m_Queue->GiveStagingBack();
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  void
  TakeDisplacements(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                    const ParallelFor &                                                    parallelFor)
  {
    if (m_Last == nullptr)
    {
      throw BadInputError("there is no deformation: register first");
    }
    Operate(*m_Queue, parallelFor, [&] {
      SampleSet & samples = m_Last->core.samples;
      Enqueue(*m_Queue, m_IsTimed, [&samples] { samples.Move(); });
      DrainArray(*m_Queue,
                 *samples.GetArrays().displacement,
                 3 * sizeof(float),
                 samples.GetCount(),
                 [&take](std::int64_t first, std::int64_t count, const void * in) {
                   take(first, count, static_cast<const float *>(in));
                 });
    });
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
      statistics.deviceBytes += level->GetDeviceBytes();
    }
    return statistics;
  }

private:
  using Level = FreeFormLevel;

  const std::string &
  GetName() const
  {
    return m_Backend->GetDescription().name;
  }

  /** Whether the last registration's are as these settings have them. */
  bool
  HasLevelsFor(const FreeFormSettings & settings) const
  {
    return m_Levels.size() == static_cast<std::size_t>(settings.levels) &&
           m_LevelSettings.similarity == settings.similarity && m_LevelSettings.bins == settings.bins &&
           m_LevelSettings.radius == settings.radius && m_LevelSettings.samples == settings.samples &&
           m_LevelSettings.seed == settings.seed;
  }

  void
  MakeLevels(const FreeFormSettings & settings)
  {
    m_Levels.clear();
    m_LevelSettings = settings;
    for (int level = 0; level < settings.levels; ++level)
    {
      m_Levels.push_back(std::make_unique<Level>(settings, m_Backend, m_Queue));
    }
  }

  FreeFormLevelResult
  RegisterLevel(const FreeFormProblem &                               problem,
                const FreeFormSettings &                              settings,
                int                                                   number,
                const ParallelFor &                                   parallelFor,
                const std::function<void(const FreeFormProgress &)> & progress)
  {
    const auto start = Clock::now();
    Level &    level = *m_Levels[static_cast<std::size_t>(number)];
    this->MakeImages(problem, number, parallelFor, level);
    level.grid = MakeLevelGrid(problem, settings, number);
    level.edge = std::ldexp(FindShortestEdge(problem.fixed, problem.dimension), number);
    FreeFormCost cost(problem, settings, CountFreeFormSlots(settings), *m_Steps, level);
    this->BeginWithPoints(level, problem.dimension);
    m_Last = &level;
    FreeFormLevelResult result;
    result.costs = Descend(settings, cost, *m_Steps, level, [&](int iteration) {
      if (progress)
      {
        const int done = settings.levels - 1 - number;
        progress(
          { number, iteration, (done + static_cast<double>(iteration) / settings.iterations) / settings.levels });
      }
    });
    if (number == 0)
    {
      // For who asks for displacements.
      cost.TakeAllVoxels();
    }
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  /** A level's images, and what is known of them. \throws BadInputError if one has no two values, or one that is not finite. */
  void
  MakeImages(const FreeFormProblem & problem, int number, const ParallelFor & parallelFor, Level & level)
  {
    const double edge = std::ldexp(std::min(FindShortestEdge(problem.fixed, problem.dimension),
                                            FindShortestEdge(problem.moving, problem.dimension)),
                                   number);
    const auto   make = [&](const FreeFormImage & image, const char * which, ImageLevel & made, ImageLevel & mask) {
      const Size factors = number == 0 ? Size{ 1, 1, 1 } : FindFactors(image, problem.dimension, edge);
      made.Make(*image.image, image.size, factors, *m_Lines);
      if (image.mask != nullptr)
      {
        mask.Make(*image.mask, image.size, factors, *m_Lines);
      }
      LevelImage result;
      result.image = &made;
      result.summary = this->Summarize(made, which);
      result.mask = image.mask != nullptr ? &mask : nullptr;
      result.toPoint = Compose(image.indexToPoint, made.GetToImage());
      return result;
    };
    const LevelImage fixed = make(problem.fixed, "fixed", level.fixed, level.fixedMask);
    const LevelImage moving = make(problem.moving, "moving", level.moving, level.movingMask);
    level.similarity->SetImages(fixed, moving, problem.dimension, number, parallelFor);
  }

  ImageSummary
  Summarize(const ImageLevel & image, const char * which)
  {
    const ImageSummary summary =
      SummarizeImage(*m_Queue, *m_Images, image.GetPrecision(), image.GetCount(), *image.GetMemory());
    if (summary.notFinite > 0)
    {
      throw BadInputError(std::string("the ") + which + " image has " + std::to_string(summary.notFinite) +
                          " values that are infinite or not a number; replace them first");
    }
    if (!(summary.maximum > summary.minimum))
    {
      throw BadInputError(std::string("the ") + which + " image is constant: there is nothing to register");
    }
    return summary;
  }

  /** With those of the level before, refined; at the first one with none that moves anything. */
  void
  BeginWithPoints(Level & level, int dimension)
  {
    const std::int64_t count = CountOf(level.grid.size);
    Memory &           points = level.core.samples.GetControlPoints().GetPoints();
    m_Steps->Clear(count, *level.firstMeans);
    m_Steps->Clear(count, *level.secondMeans);
    if (m_Last == nullptr)
    {
      m_Steps->Clear(count, points);
      return;
    }
    kernels::Refinement a{};
    a.dimension = dimension;
    std::copy(m_Last->grid.size.begin(), m_Last->grid.size.end(), a.coarse);
    std::copy(level.grid.size.begin(), level.grid.size.end(), a.fine);
    m_Steps->Refine(a, m_Last->core.samples.GetControlPoints().GetPoints(), points);
  }

  void
  BringPoints(const FreeFormProblem & problem, const FreeFormSettings & settings, FreeFormResult & result)
  {
    const Level & level = *m_Levels.front();
    result.size = level.grid.size;
    result.smallestDeterminant = this->FindSmallestDeterminant(settings);
    result.gridToPoint = Compose(problem.fixed.indexToPoint, level.grid.toImage);
    result.points =
      BringControlVectors<double>(*m_Queue, m_Last->core.samples.GetControlPoints().GetPoints(), CountOf(result.size));
  }

  /** Over the finest grid's control points, of the deformation alone. */
  double
  FindSmallestDeterminant(const FreeFormSettings & settings)
  {
    Level &            level = *m_Levels.front();
    const std::int64_t slot =
      std::int64_t{ CountFreeFormSlots(settings) } * static_cast<std::int64_t>(GetPenalties(settings).size());
    level.penalties.FindValue(PenaltyKind::Jacobian,
                              level.core.samples.GetControlPoints().GetPoints(),
                              *level.penaltyValues,
                              slot);
    const std::size_t bytes = level.penalties.GetValueBytes();
    std::vector<char> values(level.penaltyValues->GetSize());
    m_Queue->Download(values.data(), *level.penaltyValues, values.size());
    return level.penalties.ReadValue(values.data() + bytes * static_cast<std::size_t>(slot)).smallestDeterminant;
  }

  std::shared_ptr<Backend>            m_Backend;
  std::shared_ptr<Queue>              m_Queue;
  std::unique_ptr<ImagePasses>        m_Images;
  std::unique_ptr<LinePasses>         m_Lines;
  std::unique_ptr<ControlStepPasses>  m_Steps;
  std::vector<std::unique_ptr<Level>> m_Levels; // the finest first
  FreeFormSettings                    m_LevelSettings;
  Level *                             m_Last = nullptr; // whose control points are the deformation
  bool                                m_IsTimed = false;
};

FreeFormRegistration::FreeFormRegistration(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

FreeFormRegistration::~FreeFormRegistration()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
FreeFormRegistration::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

FreeFormResult
FreeFormRegistration::Register(const FreeFormProblem &                               problem,
                               const FreeFormSettings &                              settings,
                               const ParallelFor &                                   parallelFor,
                               const std::function<void(const FreeFormProgress &)> & progress)
{
  return m_Implementation->Register(problem, settings, parallelFor, progress);
}

void
FreeFormRegistration::TakeDisplacements(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor)
{
  m_Implementation->TakeDisplacements(take, parallelFor);
}

void
FreeFormRegistration::SetTiming(bool on)
{
  m_Implementation->SetTiming(on);
}

EvaluationStatistics
FreeFormRegistration::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
