// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include "gpureg/core/Error.h"

#include "engine/registration/Agreement.h"
#include "engine/registration/Information.h"
#include "engine/registration/LevelSamples.h"
#include "engine/registration/RegistrationCore.h"
#include "engine/registration/free_form/ControlSteps.h"
#include "engine/transform/ControlVectors.h"
#include "engine/transform/InitialChain.h"
#include "engine/registration/free_form/FreeFormChecks.h"
#include "engine/registration/free_form/FreeFormCost.h"
#include "engine/registration/free_form/FreeFormDescent.h"
#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/registration/free_form/FreeFormLevel.h"
#include "engine/registration/free_form/FreeFormPairs.h"
#include "engine/registration/free_form/FreeFormPlan.h"
#include "engine/core/Matrix3.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/image/SummarizeImage.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace gpureg
{

class FreeFormRegistration::Implementation : public PlannedRegistration<FreeFormProblem, FreeFormSettings>
{
public:
  explicit Implementation(const std::string & deviceName)
    : PlannedRegistration(deviceName)
    , m_Check(*m_Queue, this->GetName())
  {
    m_Queue->KeepLargerArrays();
  }

  FreeFormResult
  Register(FreeFormProblem                                       problem,
           const FreeFormSettings &                              given,
           const ParallelFor &                                   parallelFor,
           const std::function<void(const FreeFormProgress &)> & progress)
  {
    const auto start = Clock::now();
    this->CheckOnDevice(problem, given);
    MarkAsOneSource(problem.initial, ++m_RegistrationNumber);
    this->FreeIfShort(ImagesAre::OnDevice, problem, given);
    m_IsRegistered = false;
    FreeFormResult result;
    Operate(*m_Queue, parallelFor, [&] {
      this->LimitImages(given, problem, result.warnings);
      const MaskShares       shares{ this->ComputeMaskShare(problem.fixed), this->ComputeMaskShare(problem.moving) };
      const FreeFormSettings settings = CompleteSettings(problem, given, shares);
      this->ReserveLevel(problem, settings);
      m_Level->coarseSize = {};
      for (int halvings = settings.levels - 1; halvings >= 0; --halvings)
      {
        result.levels.push_back(this->RegisterLevel(problem, settings, halvings, parallelFor, progress));
        const std::int64_t voxels = CountLevelVoxels(problem, shares, halvings);
        result.levels.back().voxels = settings.samples > 0 ? std::min(voxels, settings.samples) : voxels;
      }
      this->DownloadPoints(problem, result);
      this->FindWarnings(problem, shares, parallelFor, result);
    });
    result.leastVoxels = ComputeLeastVoxels(problem, given);
    m_IsRegistered = true;
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  void
  MakeRoom(const FreeFormProblem & problem, const FreeFormSettings & settings)
  {
    PlannedRegistration::MakeRoom(problem, settings);
    m_IsRegistered = false;
  }

  void
  TakeDisplacements(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                    const ParallelFor &                                                    parallelFor)
  {
    if (!m_IsRegistered)
    {
      throw BadInputError("there is no deformation: register first");
    }
    Operate(*m_Queue, parallelFor, [&] {
      SampleSet & samples = m_Level->core.samples;
      Enqueue(*m_Queue, m_IsTimed, [&samples] { samples.Move(); });
      DownloadArray(*m_Queue,
                    samples.GetArrays().displacement.GetDisplacements(),
                    3 * sizeof(float),
                    samples.GetCount(),
                    [&take](std::int64_t first, std::int64_t count, const void * in) {
                      take(first, count, static_cast<const float *>(in));
                    });
    });
  }

  EvaluationStatistics
  GetStatistics() const override
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    statistics.deviceBytes = (m_Level ? m_Level->GetDeviceBytes() : 0) +
                             static_cast<std::int64_t>(m_Ranged.GetDeviceBytes() + m_Check.GetDeviceBytes());
    return statistics;
  }

private:
  using Level = FreeFormLevel;

  void
  Check(const FreeFormProblem &  problem,
        const FreeFormSettings & settings,
        const CheckEachImage &   checkImage) const override
  {
    CheckSettings(problem, settings);
    ForEachImage(ListPairs(problem, settings), checkImage);
  }

  MemoryPlan
  MakePlan(const FreeFormProblem & problem, const FreeFormSettings & settings, bool hasChanges) const override
  {
    return (hasChanges ? &PlanFreeFormWithChanges : &PlanFreeForm)(m_Backend, m_Queue, problem, settings);
  }

  void
  ReleaseArrays() override
  {
    m_IsRegistered = false;
    m_Level.reset();
    m_Check.Release();
  }

  /** Returns the share of an image's voxels that lies inside its mask; 1 without a mask. */
  double
  ComputeMaskShare(const RegisteredImage & image)
  {
    if (image.mask == nullptr)
    {
      return 1;
    }
    const DeviceImage & mask = *image.mask;
    return std::clamp(SummarizeImage(*m_Queue, mask.GetPrecision(), mask.GetCount(), *mask.GetMemory()).mean, 0.0, 1.0);
  }

  /** Replaces each image by a copy whose values are limited to its range.
   *  \throws BadInputError if an image is constant, OutOfMemoryError if there is too little memory with the copies */
  void
  LimitImages(const FreeFormSettings & settings, FreeFormProblem & problem, std::vector<std::string> & warnings)
  {
    SetPairs(this->LimitRanges(ListPairs(problem, settings), problem, settings, warnings), problem);
    for (const WeighedPair & pair : ListWeighedPairs(problem, settings))
    {
      WithPairNamed(pair.number, [&] {
        CheckVaries(*m_Queue, pair.pair.fixed, "fixed");
        CheckVaries(*m_Queue, pair.pair.moving, "moving");
      });
    }
  }

  /** Makes the level's object, unless the last registration's one fits the settings. */
  void
  ReserveLevel(const FreeFormProblem & problem, const FreeFormSettings & settings)
  {
    const std::vector<SimilaritySettings> others = ListFurtherSimilarities(problem, settings);
    const bool isThere = m_Level && GetSimilarity(m_LevelSettings) == GetSimilarity(settings) &&
                         m_LevelOthers == others && m_LevelSettings.samples == settings.samples &&
                         m_LevelSettings.seed == settings.seed;
    if (!isThere)
    {
      m_Level.reset();
      m_LevelSettings = settings;
      m_LevelOthers = others;
      m_Level = std::make_unique<Level>(settings, others, m_Backend, m_Queue);
    }
  }

  FreeFormLevelResult
  RegisterLevel(const FreeFormProblem &                               problem,
                const FreeFormSettings &                              settings,
                int                                                   halvings,
                const ParallelFor &                                   parallelFor,
                const std::function<void(const FreeFormProgress &)> & progress)
  {
    const auto start = Clock::now();
    Level &    level = *m_Level;
    this->MakeImages(problem, settings, halvings, parallelFor, level);
    level.grid = MakeFreeFormGrid(problem, settings, halvings);
    level.finestEdge = ComputeShortestEdge(problem.fixed, problem.dimension);
    level.edge = std::ldexp(level.finestEdge, halvings);
    FreeFormCost cost(problem, settings, CountFreeFormSlots(settings), level);
    this->BeginWithPoints(level);
    FreeFormLevelResult result;
    result.costs = Descend(settings, cost, level, [&](int iteration) {
      if (progress)
      {
        const int done = settings.levels - 1 - halvings;
        const int known = std::min(iteration, CountFreeFormSlots(settings));
        progress({ done,
                   settings.levels,
                   iteration,
                   (done + static_cast<double>(iteration) / settings.iterations) / settings.levels,
                   [&cost, known] {
                     return known > 0 ? cost.Download(known).back() : std::numeric_limits<double>::quiet_NaN();
                   } });
      }
    });
    if (halvings == 0)
    {
      // Displacements are then computed at all voxels.
      cost.TakeAllVoxels();
    }
    else
    {
      this->StorePoints(level);
    }
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  /** Makes a level's images and their summaries. */
  void
  MakeImages(const FreeFormProblem &  problem,
             const FreeFormSettings & settings,
             int                      halvings,
             const ParallelFor &      parallelFor,
             Level &                  level)
  {
    const LevelMaker maker{ *m_Queue, *m_Lines, true };
    const auto       make = [&](const RegisteredImage & image, const char * name, auto & made, auto & mask) {
      return MakeLevelImage(maker, image, name, ComputeLevelFactors(problem, image, halvings), made, mask);
    };
    const std::vector<WeighedPair> pairs = ListWeighedPairs(problem, settings);
    for (std::size_t place = 0; place < pairs.size(); ++place)
    {
      FreeFormPairLevel & pair = level.GetPair(place);
      WithPairNamed(pairs[place].number, [&] {
        const LevelImage fixed = make(pairs[place].pair.fixed, "fixed", pair.fixed, pair.fixedMask);
        const LevelImage moving = make(pairs[place].pair.moving, "moving", pair.moving, pair.movingMask);
        pair.similarity->SetImages(fixed, moving, problem.dimension, halvings, parallelFor);
        const bool isCoarsest = halvings == settings.levels - 1;
        if (isCoarsest && pairs.size() > 1 && pairs[place].pair.similarity.kind == SimilarityKind::MeanSquares)
        {
          pair.unrelatedSquare =
            ComputeUnrelatedSquare(DownloadValues(*m_Queue, *fixed.image), DownloadValues(*m_Queue, *moving.image));
        }
      });
    }
  }

  /** Sets the control points to those of the level before, refined; at the first level to 0. */
  void
  BeginWithPoints(Level & level)
  {
    const std::int64_t count = CountOf(level.grid.size);
    Memory &           points = level.core.samples.GetControlPoints().GetPoints();
    const auto         clear = [&](Memory & vectors) {
      ForEachItem<kernels::ClearVectorKernel>(*m_Queue, count, Output<kernels::float4>(vectors));
    };
    clear(*level.firstMeans);
    clear(*level.secondMeans);
    if (CountOf(level.coarseSize) == 0)
    {
      clear(points);
      return;
    }
    kernels::Refinement a{};
    a.dimension = level.grid.dimension;
    std::copy(level.coarseSize.begin(), level.coarseSize.end(), a.coarse);
    std::copy(level.grid.size.begin(), level.grid.size.end(), a.fine);
    RefineControlPoints(*m_Queue, a, *level.coarsePoints, points);
  }

  /** Copies the control points for the next level. */
  void
  StorePoints(Level & level)
  {
    const std::size_t bytes = sizeof(kernels::float4) * static_cast<std::size_t>(CountOf(level.grid.size));
    Reserve(*m_Queue, level.coarsePoints, bytes);
    m_Queue->Copy(*level.coarsePoints, level.core.samples.GetControlPoints().GetPoints(), bytes);
    level.coarseSize = level.grid.size;
  }

  void
  DownloadPoints(const FreeFormProblem & problem, FreeFormResult & result)
  {
    Level & level = *m_Level;
    result.size = level.grid.size;
    result.smallestDeterminant = this->ComputeSmallestDeterminant();
    result.gridToPoint = Compose(problem.fixed.indexToPoint, level.grid.toImage);
    result.points =
      DownloadControlVectors<double>(*m_Queue, level.core.samples.GetControlPoints().GetPoints(), CountOf(result.size));
    const auto isFinite = [](const auto & point) {
      return std::all_of(point.begin(), point.end(), [](double x) { return std::isfinite(x); });
    };
    if (!std::all_of(result.points.begin(), result.points.end(), isFinite) ||
        !std::isfinite(result.smallestDeterminant))
    {
      throw BadInputError(
        "the deformation has grown beyond all numbers: take a shorter first step, or a smaller weight of its "
        "penalties");
    }
  }

  /** Adds warnings about a result that may be wrong. */
  void
  FindWarnings(const FreeFormProblem & problem,
               const MaskShares &      shares,
               const ParallelFor &     parallelFor,
               FreeFormResult &        result)
  {
    DisplacementGrid spline;
    spline.order = FreeFormOrder;
    spline.size = result.size;
    spline.toGrid = InvertMap(result.gridToPoint);
    spline.vectors = [&result](std::int64_t first, std::int64_t count, double * out) {
      for (auto point = result.points.begin() + first; point != result.points.begin() + first + count; ++point)
      {
        out = std::copy(point->begin(), point->end(), out);
      }
    };
    TransformChain found;
    found.dimension = problem.dimension;
    found.Append(std::move(spline));
    found.Append(problem.initial.first);
    found.steps.insert(found.steps.end(), problem.initial.steps.begin(), problem.initial.steps.end());
    const LevelMaker maker{ *m_Queue, *m_Lines };
    const Agreement  agreement = m_Check.Find(maker, problem.fixed, problem.moving, found, parallelFor);
    // The share of the fixed image's voxels, inside its mask, that the moving image could cover.
    const double inMask = shares.fixed * static_cast<double>(CountOf(problem.fixed.size));
    const double covered = static_cast<double>(CountLevelVoxels(problem, shares, 0)) / std::max(1.0, inMask);
    AgreementCheck::AddWarnings(agreement, AgreementCheck::UsualOverlap * std::min(1.0, covered), result.warnings);
    const std::vector<double> & costs = result.levels.back().costs;
    if (costs.size() > 1 && costs.back() > costs.front() + 1e-3 * std::abs(costs.front()))
    {
      result.warnings.push_back("the cost has risen at the finest level, from " + std::to_string(costs.front()) +
                                " to " + std::to_string(costs.back()) + ": take a shorter first step");
    }
  }

  /** Returns the smallest Jacobian determinant of the deformation alone, over the finest grid's control points. */
  double
  ComputeSmallestDeterminant()
  {
    Level & level = *m_Level;
    // The costs have been downloaded, so the first slot is free.
    level.penalties.ComputeValue(PenaltyKind::Jacobian,
                                 level.core.samples.GetControlPoints().GetPoints(),
                                 *level.penaltyValues,
                                 0);
    std::vector<char> value(level.penalties.GetValueBytes());
    m_Queue->Download(value.data(), *level.penaltyValues, value.size());
    return level.penalties.ReadValue(value.data()).smallestDeterminant;
  }

  AgreementCheck         m_Check;
  std::unique_ptr<Level> m_Level;
  FreeFormSettings       m_LevelSettings;
  // The similarities of further pairs.
  std::vector<SimilaritySettings> m_LevelOthers;
  bool                            m_IsRegistered = false;
  std::uintptr_t                  m_RegistrationNumber = 0;
};

FreeFormRegistration::FreeFormRegistration(const std::string & deviceName)
  : RegistrationEngine(std::make_unique<Implementation>(deviceName))
{}

FreeFormRegistration::~FreeFormRegistration() = default;

FreeFormRegistration::Implementation &
FreeFormRegistration::GetImplementation() const
{
  return static_cast<Implementation &>(this->GetCore());
}

MemoryPlan
FreeFormRegistration::GetPlan(const FreeFormProblem & problem, const FreeFormSettings & settings) const
{
  return this->GetImplementation().GetPlan(problem, settings);
}

void
FreeFormRegistration::MakeRoom(const FreeFormProblem & problem, const FreeFormSettings & settings)
{
  this->GetImplementation().MakeRoom(problem, settings);
}

FreeFormResult
FreeFormRegistration::Register(const FreeFormProblem &                               problem,
                               const FreeFormSettings &                              settings,
                               const ParallelFor &                                   parallelFor,
                               const std::function<void(const FreeFormProgress &)> & progress)
{
  return this->GetImplementation().Register(problem, settings, parallelFor, progress);
}

void
FreeFormRegistration::TakeDisplacements(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor)
{
  this->GetImplementation().TakeDisplacements(take, parallelFor);
}

} // namespace gpureg
