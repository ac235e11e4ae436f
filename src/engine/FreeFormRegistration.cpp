// SPDX-License-Identifier: Apache-2.0
#include "gpureg/FreeFormRegistration.h"

#include "gpureg/Error.h"

#include "ControlStepPasses.h"
#include "ControlVectors.h"
#include "FreeFormChecks.h"
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
// Of Adam, as its authors have them.
constexpr double FirstDecay = 0.9;
constexpr double SecondDecay = 0.999;
constexpr double Epsilon = 1e-8;

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
    if (m_Levels.size() != static_cast<std::size_t>(settings.levels) || m_Bins != settings.bins)
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
      samples.Move();
      DrainArray(*m_Queue,
                 *samples.GetArrays().displacement,
                 3 * sizeof(float),
                 samples.GetCount(),
                 [&take](std::int64_t first, std::int64_t count, const void * in) {
                   take(first, count, static_cast<const float *>(in));
                 });
    });
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

  void
  MakeLevels(const FreeFormSettings & settings)
  {
    m_Levels.clear();
    m_Bins = settings.bins;
    for (int level = 0; level < settings.levels; ++level)
    {
      m_Levels.push_back(std::make_unique<Level>(m_Backend, m_Queue));
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
    this->MakeImages(problem, number, level);
    this->SetImages(settings, parallelFor, level);
    level.grid = MakeLevelGrid(problem, settings, number);
    this->Prepare(problem, settings, number, level);
    this->BeginWithPoints(problem, level);
    m_Last = &level;
    for (int t = 0; t < settings.iterations; ++t)
    {
      if (progress)
      {
        const int done = settings.levels - 1 - number;
        progress({ number, t, (done + static_cast<double>(t) / settings.iterations) / settings.levels });
      }
      this->EnqueueIteration(settings, t, level);
    }
    FreeFormLevelResult result;
    result.costs = this->BringCosts(settings, level);
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  void
  MakeImages(const FreeFormProblem & problem, int number, Level & level)
  {
    const double edge = std::ldexp(std::min(FindShortestEdge(problem.fixed, problem.dimension),
                                            FindShortestEdge(problem.moving, problem.dimension)),
                                   number);
    const auto   make = [&](const FreeFormImage & image, ImageLevel & made) {
      const Size factors = number == 0 ? Size{ 1, 1, 1 } : FindFactors(image, problem.dimension, edge);
      made.Make(*image.image, image.size, factors, *m_Lines);
    };
    make(problem.fixed, level.fixed);
    make(problem.moving, level.moving);
  }

  /** The range of a level's values. \throws BadInputError if there is none. */
  ValueScale
  FindScale(const ImageLevel & image, const char * which)
  {
    const ImageSummary summary =
      SummarizeImage(*m_Queue, *m_Images, image.GetPrecision(), image.GetCount(), *image.GetMemory());
    if (summary.notFinite > 0)
    {
      throw BadInputError(std::string("the ") + which + " image has " + std::to_string(summary.notFinite) +
                          " values that are infinite or not a number; replace them first");
    }
    ValueScale scale;
    scale.minimum = summary.minimum;
    scale.range = summary.maximum - summary.minimum;
    scale.largest = scale.range;
    if (!(scale.range > 0))
    {
      throw BadInputError(std::string("the ") + which + " image is constant: there is nothing to register");
    }
    return scale;
  }

  void
  SetImages(const FreeFormSettings & settings, const ParallelFor & parallelFor, Level & level)
  {
    const double     inner = GetMattesRangeEnd(settings.bins);
    const ValueScale fixedScale = this->FindScale(level.fixed, "fixed");
    FixedSamples     samples;
    samples.virtualSize = level.fixed.GetSize();
    samples.scale = fixedScale;
    samples.sampled.emplace();
    samples.sampled->image = &level.fixed;
    samples.sampled->size = level.fixed.GetSize();
    samples.sampled->isOneGrid = true;
    samples.sampled->minimum = fixedScale.minimum;
    samples.sampled->bins.emplace();
    samples.sampled->bins->first = kernels::HistogramPadding;
    for (int edge = 1; edge < settings.bins - 2 * kernels::HistogramPadding; ++edge)
    {
      samples.sampled->bins->edges.push_back(fixedScale.minimum + fixedScale.range * edge / inner);
    }
    level.core.samples.SetFixed(samples, parallelFor);

    MovingImage moving;
    moving.size = level.moving.GetSize();
    moving.image = &level.moving;
    moving.scale = this->FindScale(level.moving, "moving");
    moving.unit = moving.scale.range / inner;
    moving.gradientOfInterpolation = true;
    level.core.samples.SetMoving(moving, level.core.readsQuads, parallelFor);
    level.core.queue->parallelFor = parallelFor;
  }

  void
  Prepare(const FreeFormProblem & problem, const FreeFormSettings & settings, int number, Level & level)
  {
    const IndexMap pointToMoving =
      Compose(InvertMap(Compose(problem.moving.indexToPoint, level.moving.GetToImage())), problem.initial);
    SampleMapping mapping;
    mapping.toMoving = Compose(pointToMoving, Compose(problem.fixed.indexToPoint, level.fixed.GetToImage()));
    mapping.displacementToIndex = pointToMoving.matrix;
    mapping.spline.emplace();
    mapping.spline->dimension = problem.dimension;
    mapping.spline->grid.order = FreeFormOrder;
    mapping.spline->grid.size = level.grid.size;
    mapping.spline->grid.toGrid = Compose(InvertMap(level.grid.toImage), level.fixed.GetToImage());
    level.evaluation.Prepare(mapping,
                             Forces::OfEachSample,
                             GetMattesNeeds(settings.bins),
                             [&](kernels::MattesArguments & a) {
                               SetMattesArguments(level.core.samples.GetMoving(), settings.bins, a);
                               a.normalized = 1;
                             });
    m_DisplacementToIndex = mapping.displacementToIndex;
    const std::size_t bytes = sizeof(kernels::float4) * static_cast<std::size_t>(CountOf(level.grid.size));
    ControlGrid       grid;
    grid.size = level.grid.size;
    grid.dimension = problem.dimension;
    grid.indexToPhysical = Compose(problem.fixed.indexToPoint, level.grid.toImage).matrix;
    level.penalties.SetGrid(grid);
    for (std::size_t c = 0; c < 3; ++c)
    {
      const double step = level.grid.toImage.matrix[4 * c] * GetSpacing(problem.fixed)[c];
      for (std::size_t row = 0; row < 3; ++row)
      {
        grid.indexToPhysical[3 * row + c] /= step;
      }
    }
    level.bending.SetGrid(grid);
    level.edge = std::ldexp(FindShortestEdge(problem.fixed, problem.dimension), number);
    ReserveExactly(*m_Queue,
                   level.penaltyValues,
                   level.penalties.GetValueBytes() *
                     (static_cast<std::size_t>(settings.iterations) * GetPenalties(settings).size() + 1));
    for (MemoryPointer * array : { &level.gathered, &level.penalty, &level.firstMeans, &level.secondMeans })
    {
      ReserveExactly(*m_Queue, *array, bytes);
    }
    ReserveExactly(*m_Queue, level.values, static_cast<std::size_t>(settings.iterations) * sizeof(float));
  }

  /** With those of the level before, refined; at the first one with none that moves anything. */
  void
  BeginWithPoints(const FreeFormProblem & problem, Level & level)
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
    a.dimension = problem.dimension;
    std::copy(m_Last->grid.size.begin(), m_Last->grid.size.end(), a.coarse);
    std::copy(level.grid.size.begin(), level.grid.size.end(), a.fine);
    m_Steps->Refine(a, m_Last->core.samples.GetControlPoints().GetPoints(), points);
  }

  void
  EnqueueIteration(const FreeFormSettings & settings, int t, Level & level)
  {
    level.core.samples.Move();
    level.evaluation.EnqueuePasses(Forces::OfEachSample);
    ControlPoints & points = level.core.samples.GetControlPoints();
    points.Gather(level.evaluation.GetForces(), Transpose(m_DisplacementToIndex), *level.gathered);

    const double      pi = std::acos(-1.0);
    kernels::AdamStep a{};
    a.length =
      static_cast<float>(settings.firstStep * level.edge * 0.5 * (1.0 + std::cos(pi * t / settings.iterations)));
    // Forces are of values whose Parzen windows are counted in the histogram's units.
    a.similarity = static_cast<float>(GetSimilarityWeight(settings) * level.evaluation.GetCountUnit());
    a.firstDecay = static_cast<float>(FirstDecay);
    a.secondDecay = static_cast<float>(SecondDecay);
    a.firstCorrection = static_cast<float>(1.0 / (1.0 - std::pow(FirstDecay, t + 1)));
    a.secondCorrection = static_cast<float>(1.0 / (1.0 - std::pow(SecondDecay, t + 1)));
    a.epsilon = static_cast<float>(Epsilon);
    a.hasPenalty = this->EnqueuePenalties(settings, t, level);
    AdamArrays arrays;
    arrays.penalty = level.penalty.get();
    arrays.gathered = level.gathered.get();
    arrays.firstMeans = level.firstMeans.get();
    arrays.secondMeans = level.secondMeans.get();
    arrays.points = &points.GetPoints();
    arrays.evaluated = &level.evaluation.GetTable();
    arrays.evaluatedPlace = std::int64_t{ settings.bins } * settings.bins;
    arrays.values = level.values.get();
    arrays.valuePlace = t;
    m_Steps->MoveByAdam(a, CountOf(level.grid.size), arrays);
  }

  /** Those that have a weight. False if none has. */
  bool
  EnqueuePenalties(const FreeFormSettings & settings, int t, Level & level)
  {
    using Use = ControlPenaltyTerm::GradientUse;
    bool         isFirst = true;
    std::int64_t slot = t;
    for (const WeightedPenalty & penalty : GetPenalties(settings))
    {
      if (penalty.weight > 0)
      {
        ControlPenaltyTerm & term = level.GetTerm(penalty.kind);
        term.FindValueAndGradient(penalty.kind,
                                  level.core.samples.GetControlPoints().GetPoints(),
                                  *level.penaltyValues,
                                  slot,
                                  penalty.weight * level.GetUnit(penalty.kind),
                                  isFirst ? Use::Replaces : Use::Adds,
                                  *level.penalty);
        isFirst = false;
      }
      slot += settings.iterations;
    }
    return !isFirst;
  }

  /** Penalties' parts of the costs are added. */
  void
  AddPenalties(const FreeFormSettings & settings, const Level & level, std::vector<double> & costs)
  {
    const std::size_t bytes = level.penalties.GetValueBytes();
    std::vector<char> values(bytes * (costs.size() * GetPenalties(settings).size()));
    m_Queue->Download(values.data(), *level.penaltyValues, values.size());
    const char * slot = values.data();
    for (const WeightedPenalty & penalty : GetPenalties(settings))
    {
      for (double & cost : costs)
      {
        cost += penalty.weight > 0
                  ? penalty.weight * level.GetUnit(penalty.kind) * level.penalties.ReadValue(slot).value
                  : 0.0;
        slot += bytes;
      }
    }
  }

  std::vector<double>
  BringCosts(const FreeFormSettings & settings, const Level & level)
  {
    std::vector<float> values(static_cast<std::size_t>(settings.iterations));
    m_Queue->Download(values.data(), *level.values, sizeof(float) * values.size());
    // The entropies of no samples are not numbers, or 0.
    if (!(values.front() > 0))
    {
      throw BadInputError("no voxel of the fixed image is mapped into the moving image: begin with a transform that "
                          "brings them together");
    }
    std::vector<double> costs;
    for (const float value : values)
    {
      costs.push_back(-GetSimilarityWeight(settings) * value);
    }
    this->AddPenalties(settings, level, costs);
    return costs;
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
      std::int64_t{ settings.iterations } * static_cast<std::int64_t>(GetPenalties(settings).size());
    level.penalties.FindValue(PenaltyKind::Jacobian,
                              level.core.samples.GetControlPoints().GetPoints(),
                              *level.penaltyValues,
                              slot);
    const std::size_t bytes = level.penalties.GetValueBytes();
    std::vector<char> values(level.penaltyValues->GetSize());
    m_Queue->Download(values.data(), *level.penaltyValues, values.size());
    return level.penalties.ReadValue(values.data() + bytes * static_cast<std::size_t>(slot)).smallestDeterminant;
  }

  static Matrix3
  Transpose(const Matrix3 & m)
  {
    return { m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8] };
  }

  std::shared_ptr<Backend>            m_Backend;
  std::shared_ptr<Queue>              m_Queue;
  std::unique_ptr<ImagePasses>        m_Images;
  std::unique_ptr<LinePasses>         m_Lines;
  std::unique_ptr<ControlStepPasses>  m_Steps;
  std::vector<std::unique_ptr<Level>> m_Levels; // the finest first
  int                                 m_Bins = 0;
  Matrix3                             m_DisplacementToIndex{};
  Level *                             m_Last = nullptr; // whose control points are the deformation
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

EvaluationStatistics
FreeFormRegistration::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
