// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/field/FieldSmoother.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/image/RangedImage.h"
#include "engine/registration/diffeomorphic/DiffeomorphicChecks.h"
#include "engine/registration/diffeomorphic/FieldForces.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Throttle.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/FixedPoint.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace gpureg
{

namespace
{
// A determinant that is less counts as this one in the deviation of the logarithms.
constexpr float LeastDeterminant = 1e-3F;
} // namespace

class DiffeomorphicRegistration::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Lines(MakePasses<LinePasses>(*m_Queue))
    , m_RangedFixed(*m_Queue, this->GetName())
    , m_RangedMoving(*m_Queue, this->GetName())
    , m_Fixed(*m_Queue, this->GetName(), &m_Scratch)
    , m_Moving(*m_Queue, this->GetName(), &m_Scratch)
    , m_FixedMask(*m_Queue, this->GetName(), &m_Scratch)
    , m_MovingMask(*m_Queue, this->GetName(), &m_Scratch)
    , m_Reducer(*m_Queue)
    , m_UpdateSmoother(*m_Queue)
    , m_FieldSmoother(*m_Queue)
  {
    m_Queue->KeepLargerArrays();
  }

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  DiffeomorphicResult
  Register(DiffeomorphicProblem                                       problem,
           const DiffeomorphicSettings &                              settings,
           const ParallelFor &                                        parallelFor,
           const std::function<void(const DiffeomorphicProgress &)> & progress)
  {
    const auto start = Clock::now();
    CheckSettings(problem, settings);
    CheckImage(problem.fixed, "fixed", this->GetName());
    CheckImage(problem.moving, "moving", this->GetName());
    m_Voxels = 0;
    DiffeomorphicResult result;
    Operate(*m_Queue, parallelFor, [&] {
      problem.fixed = m_RangedFixed.Make(problem.fixed, "fixed", settings.fixedRange, result.warnings);
      problem.moving = m_RangedMoving.Make(problem.moving, "moving", settings.movingRange, result.warnings);
      CheckVaries(*m_Queue, problem.fixed, "fixed");
      CheckVaries(*m_Queue, problem.moving, "moving");
      m_Grid = {};
      this->ReserveForces({ settings.similarity, settings.bins, settings.radius });
      const int levels = static_cast<int>(settings.iterations.size());
      for (int number = 0; number < levels; ++number)
      {
        result.levels.push_back(this->RegisterLevel(problem, settings, number, parallelFor, progress));
      }
      this->MeasureFolding(result);
    });
    m_Voxels = kernels::CountFieldVoxels(&m_Grid);
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  void
  TakeDisplacements(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                    const ParallelFor &                                                    parallelFor)
  {
    if (m_Voxels == 0)
    {
      throw BadInputError("there is no deformation: register first");
    }
    Operate(*m_Queue, parallelFor, [&] {
      DownloadArray(*m_Queue,
                    *m_Field,
                    3 * sizeof(float),
                    m_Voxels,
                    [&take](std::int64_t first, std::int64_t count, const void * in) {
                      take(first, count, static_cast<const float *>(in));
                    });
    });
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    std::size_t bytes = m_RangedFixed.GetDeviceBytes() + m_RangedMoving.GetDeviceBytes() + m_Reducer.GetDeviceBytes() +
                        m_UpdateSmoother.GetDeviceBytes() + m_FieldSmoother.GetDeviceBytes() +
                        (m_Forces ? m_Forces->GetDeviceBytes() : 0);
    for (const ImageLevel * image : { &m_Fixed, &m_Moving, &m_FixedMask, &m_MovingMask })
    {
      bytes += image->GetDeviceBytes();
    }
    for (const MemoryPointer * array :
         { &m_Scratch[0], &m_Scratch[1], &m_Field, &m_First, &m_Second, &m_Factors, &m_Longest, &m_Values })
    {
      bytes += SizeOf(*array);
    }
    statistics.deviceBytes = static_cast<std::int64_t>(bytes);
    return statistics;
  }

private:
  const std::string &
  GetName() const
  {
    return m_Backend->GetDescription().name;
  }

  DiffeomorphicLevelResult
  RegisterLevel(const DiffeomorphicProblem &                               problem,
                const DiffeomorphicSettings &                              settings,
                int                                                        number,
                const ParallelFor &                                        parallelFor,
                const std::function<void(const DiffeomorphicProgress &)> & progress)
  {
    const auto       start = Clock::now();
    const int        levels = static_cast<int>(settings.iterations.size());
    const int        iterations = settings.iterations[static_cast<std::size_t>(number)];
    const double     edge = std::ldexp(FindShortestEdge(problem.fixed, problem.dimension), levels - 1 - number);
    const LevelMaker maker{ *m_Queue, *m_Lines };
    const LevelImage fixed = MakeLevelImage(
      maker, problem.fixed, "fixed", FindFactors(problem.fixed, problem.dimension, edge), m_Fixed, m_FixedMask);
    const LevelImage moving = MakeLevelImage(
      maker, problem.moving, "moving", FindFactors(problem.moving, problem.dimension, edge), m_Moving, m_MovingMask);
    this->BeginLevel(fixed, problem.dimension, settings);
    m_Forces->SetImages(m_Grid, fixed, moving, problem.initial.first, number, parallelFor);
    Reserve(*m_Queue, m_Values, sizeof(float) * static_cast<std::size_t>(std::max(1, iterations)));
    Throttle throttle(*m_Queue);
    for (int t = 0; t < iterations; ++t)
    {
      if (progress)
      {
        const double done = (number + static_cast<double>(t) / iterations) / levels;
        progress({ number, levels, t, done, [this, t] {
                    return t > 0 ? this->DownloadCosts(t).back() : std::numeric_limits<double>::quiet_NaN();
                  } });
      }
      this->Iterate(settings, t);
      throttle.EndStep();
    }
    DiffeomorphicLevelResult result;
    result.costs = this->DownloadCosts(iterations);
    result.voxels = kernels::CountFieldVoxels(&m_Grid);
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  /** Makes the forces of a similarity, unless they are there. */
  void
  ReserveForces(const SimilaritySettings & similarity)
  {
    if (!m_Forces || !(similarity == m_Similarity))
    {
      m_Forces.reset();
      m_Forces = MakeFieldForces(m_Backend, m_Queue, similarity);
      m_Similarity = similarity;
    }
  }

  /** Sets the level's grid, and brings the field to it: that of the level before, or zeros. */
  void
  BeginLevel(const LevelImage & fixed, int dimension, const DiffeomorphicSettings & settings)
  {
    const kernels::FieldGrid coarse =
      std::exchange(m_Grid,
                    MakeFieldGrid(dimension, fixed.image->GetSize(), fixed.toPoint.matrix, GetSpacing(fixed.toPoint)));
    const IndexMap     coarseToPoint = std::exchange(m_ToPoint, fixed.toPoint);
    const std::int64_t voxels = kernels::CountFieldVoxels(&m_Grid);
    const std::size_t  bytes = 3 * sizeof(float) * static_cast<std::size_t>(voxels);
    Reserve(*m_Queue, m_First, bytes);
    Reserve(*m_Queue, m_Second, bytes);
    Reserve(*m_Queue, m_Longest, sizeof(float));
    if (!m_Factors)
    {
      Reserve(*m_Queue, m_Factors, kernels::CompositionFactors * sizeof(float));
      UploadArray(*m_Queue, *m_Factors, std::vector<float>(kernels::CompositionFactors, 1.0F));
    }
    if (coarse.dimension == 0)
    {
      Reserve(*m_Queue, m_Field, bytes);
      ForEachItem<kernels::ClearElementKernel>(*m_Queue, 3 * voxels, Output<float>(*m_Field));
    }
    else
    {
      kernels::FieldResampling a{};
      a.toField = ToFixedMap(Compose(InvertMap(coarseToPoint), m_ToPoint));
      a.grid = m_Grid;
      a.fieldGrid = coarse;
      ForEachItem<kernels::ResampleFieldKernel>(
        *m_Queue, voxels, Precision::Single, a, Input<RealNumber>(*m_Field), Output<RealNumber>(*m_First));
      Reserve(*m_Queue, m_Field, bytes);
      std::swap(m_Field, m_First);
    }
    m_UpdateSmoother.Set(settings.updateSigma, m_Grid);
    m_FieldSmoother.Set(settings.fieldSigma, m_Grid);
  }

  void
  Iterate(const DiffeomorphicSettings & settings, int slot)
  {
    const std::int64_t voxels = kernels::CountFieldVoxels(&m_Grid);
    m_Forces->Enqueue(m_Reducer, *m_Field, *m_Second, *m_First, *m_Values, slot);
    m_UpdateSmoother.SmoothAndMeasure(*m_First, *m_Second, *m_First, m_Reducer, *m_Longest);
    kernels::LongestVector longest{};
    longest.length = static_cast<float>(settings.step);
    longest.slot = kernels::FactorOfInner;
    ForEachItem<kernels::FindScaleFactorKernel>(
      *m_Queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
    ForEachItem<kernels::ComposeFieldsKernel>(*m_Queue,
                                              voxels,
                                              Precision::Single,
                                              m_Grid,
                                              Input<float>(*m_Factors),
                                              Input<RealNumber>(*m_Field),
                                              Input<RealNumber>(*m_First),
                                              Output<RealNumber>(*m_Second));
    m_FieldSmoother.Smooth(*m_Second, *m_First, *m_Field);
  }

  /** Returns the costs of the level's first count iterations. */
  std::vector<double>
  DownloadCosts(int count)
  {
    std::vector<float> values(static_cast<std::size_t>(count));
    if (count > 0)
    {
      m_Queue->Download(values.data(), *m_Values, sizeof(float) * values.size());
    }
    bool                hasVoxels = false;
    std::vector<double> costs;
    for (const float value : values)
    {
      if (!std::isfinite(value))
      {
        throw BadInputError(
          "the deformation has grown beyond all numbers: take a shorter step, or a larger fieldSigma");
      }
      const std::optional<double> cost = m_Forces->FindCost(value);
      hasVoxels = hasVoxels || cost;
      costs.push_back(cost.value_or(0.0));
    }
    if (!costs.empty() && !hasVoxels)
    {
      throw BadInputError(
        "no voxel of the fixed image is mapped into the moving image, or all of them are outside of a mask: begin "
        "with a transform that brings them together");
    }
    return costs;
  }

  /** Computes how the deformation changes volumes, from its Jacobian at each voxel. */
  void
  MeasureFolding(DiffeomorphicResult & result)
  {
    const std::int64_t voxels = kernels::CountFieldVoxels(&m_Grid);
    Reserve(*m_Queue, m_First, kernels::JacobianNumbers * sizeof(float) * static_cast<std::size_t>(voxels));
    ForEachItem<kernels::DescribeJacobianKernel>(
      *m_Queue, voxels, m_Grid, LeastDeterminant, voxels, Input<float>(*m_Field), Output<float>(*m_First));
    Reserve(*m_Queue, m_Values, 4 * sizeof(float));
    for (int n = 0; n < kernels::JacobianNumbers; ++n)
    {
      if (n == kernels::JacobianNegative)
      {
        m_Reducer.FindLargest(*m_First, n * voxels, voxels, *m_Values, n);
      }
      else
      {
        m_Reducer.Sum(*m_First, n * voxels, voxels, *m_Values, n);
      }
    }
    float numbers[kernels::JacobianNumbers];
    m_Queue->Download(numbers, *m_Values, sizeof(numbers));
    const double mean = numbers[kernels::JacobianLogarithm] / static_cast<double>(voxels);
    const double squares = numbers[kernels::JacobianLogarithmSquare] / static_cast<double>(voxels);
    result.smallestDeterminant = -numbers[kernels::JacobianNegative];
    result.foldedVoxels = std::llround(numbers[kernels::JacobianFolded]);
    result.logDeterminantDeviation = std::sqrt(std::max(0.0, squares - mean * mean));
    if (result.foldedVoxels > 0)
    {
      result.warnings.push_back("the deformation folds at " + std::to_string(result.foldedVoxels) +
                                " voxels: take a larger fieldSigma, or a shorter step");
    }
  }

  std::shared_ptr<Backend>     m_Backend;
  std::shared_ptr<Queue>       m_Queue;
  std::unique_ptr<LinePasses>  m_Lines;
  RangedImage                  m_RangedFixed;
  RangedImage                  m_RangedMoving;
  ImageLevel::Scratch          m_Scratch;
  ImageLevel                   m_Fixed;
  ImageLevel                   m_Moving;
  ImageLevel                   m_FixedMask;
  ImageLevel                   m_MovingMask;
  FieldReducer                 m_Reducer;
  FieldSmoother                m_UpdateSmoother;
  FieldSmoother                m_FieldSmoother;
  std::unique_ptr<FieldForces> m_Forces;
  SimilaritySettings           m_Similarity; // that the forces are of
  // The current level's grid; of dimension 0 before the first level.
  kernels::FieldGrid m_Grid{};
  IndexMap           m_ToPoint;
  // float[3] a voxel: the field, and two arrays for its updates.
  MemoryPointer m_Field;
  MemoryPointer m_First;
  MemoryPointer m_Second;
  // float: see kernels::ComposeFields; the length of the longest vector; the value of each iteration: see FieldForces.
  MemoryPointer m_Factors;
  MemoryPointer m_Longest;
  MemoryPointer m_Values;
  // Voxels of the last registration's field; 0 if there is none.
  std::int64_t m_Voxels = 0;
};

DiffeomorphicRegistration::DiffeomorphicRegistration(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

DiffeomorphicRegistration::~DiffeomorphicRegistration()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
DiffeomorphicRegistration::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
DiffeomorphicRegistration::GetHeldBytes() const
{
  return static_cast<std::size_t>(m_Implementation->GetStatistics().deviceBytes);
}

DiffeomorphicResult
DiffeomorphicRegistration::Register(const DiffeomorphicProblem &                               problem,
                                    const DiffeomorphicSettings &                              settings,
                                    const ParallelFor &                                        parallelFor,
                                    const std::function<void(const DiffeomorphicProgress &)> & progress)
{
  return m_Implementation->Register(problem, settings, parallelFor, progress);
}

void
DiffeomorphicRegistration::TakeDisplacements(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor)
{
  m_Implementation->TakeDisplacements(take, parallelFor);
}

EvaluationStatistics
DiffeomorphicRegistration::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
