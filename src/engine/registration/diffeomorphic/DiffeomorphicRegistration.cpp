// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "engine/field/InverseMeasure.h"
#include "engine/field/JacobianMeasure.h"
#include "engine/registration/MemoryPlanning.h"
#include "engine/registration/diffeomorphic/DiffeomorphicChecks.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPlan.h"
#include "engine/registration/diffeomorphic/GreedyScheme.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/registration/diffeomorphic/SyNScheme.h"
#include "engine/registration/diffeomorphic/VelocityScheme.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Throttle.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/InitialChain.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>

namespace gpureg
{

namespace
{
using ProgressFunction = std::function<void(const DiffeomorphicProgress &)>;

std::unique_ptr<SchemeSteps>
MakeScheme(DiffeomorphicScheme scheme, SchemeWorkspace & workspace)
{
  switch (scheme)
  {
    case DiffeomorphicScheme::Greedy:
      return std::make_unique<GreedyScheme>(workspace);
    case DiffeomorphicScheme::SyN:
      return std::make_unique<SyNScheme>(workspace);
    case DiffeomorphicScheme::Velocity:
      return std::make_unique<VelocityScheme>(workspace);
  }
  throw std::logic_error("an unknown scheme");
}
} // namespace

class DiffeomorphicRegistration::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Lines(MakePasses<LinePasses>(*m_Queue))
    , m_Workspace(this->MakeWorkspace())
    , m_Jacobian(*m_Queue)
    , m_Inverse(*m_Queue)
    , m_Ranged(*m_Queue, this->GetName())
  {
    m_Queue->KeepLargerArrays();
  }

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  DiffeomorphicResult
  Register(DiffeomorphicProblem          problem,
           const DiffeomorphicSettings & settings,
           const ParallelFor &           parallelFor,
           const ProgressFunction &      progress,
           const ProgressFunction &      levelDone)
  {
    const auto start = Clock::now();
    m_Voxels = 0;
    ForEachPair(problem, settings, [this](const RegisteredImage & image, const char * which) {
      CheckImage(image, which, this->GetName());
    });
    CheckSettings(problem, settings);
    FreeIfMemoryIsShort(
      *m_Backend,
      *m_Queue,
      this->GetName(),
      [&](bool hasChanges) { return this->MakePlan(hasChanges ? &PlanDiffeomorphic : &PlanScheme, problem, settings); },
      [this] { this->Release(); });
    ++m_Registrations;
    MarkAsOneSource(problem.initial, m_Registrations);
    MarkAsOneSource(problem.fixedInitial, m_Registrations);
    DiffeomorphicResult result;
    m_IsRegistering = true;
    try
    {
      Operate(*m_Queue, parallelFor, [&] { this->RegisterLevels(problem, settings, progress, levelDone, result); });
    }
    catch (...)
    {
      m_IsRegistering = false;
      m_Voxels = 0;
      throw;
    }
    m_IsRegistering = false;
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  MemoryPlan
  GetPlan(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings) const
  {
    ForEachPair(problem, settings, &CheckDescription);
    CheckSettings(problem, settings);
    return this->MakePlan(&PlanDiffeomorphic, problem, settings);
  }

  void
  TakeDisplacements(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                    const ParallelFor &                                                    parallelFor,
                    DeformationField                                                       field)
  {
    Operate(*m_Queue, parallelFor, [&] { this->Pass(this->MakeField(field), take); });
  }

  std::shared_ptr<const DeviceField>
  GetField(const ParallelFor & parallelFor, DeformationField field)
  {
    return Operate(*m_Queue, parallelFor, [&] { return this->GiveAway(this->MakeField(field)); });
  }

  InverseErrors
  TakeInverse(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
              const ParallelFor &                                                    parallelFor)
  {
    return Operate(*m_Queue, parallelFor, [&] {
      InverseErrors errors;
      this->Pass(this->MakeInverse(errors), take);
      return errors;
    });
  }

  InverseOnDevice
  GetInverse(const ParallelFor & parallelFor)
  {
    return Operate(*m_Queue, parallelFor, [&] {
      InverseOnDevice inverse;
      inverse.field = this->GiveAway(this->MakeInverse(inverse.errors));
      return inverse;
    });
  }

  std::int64_t
  CountVoxels() const
  {
    return m_Voxels;
  }

  void
  SetTiming(bool on)
  {
    m_IsTimed = on;
  }

  /** Makes this engine a member of a team; null: it registers alone. */
  void
  SetMember(TeamMember * member)
  {
    m_Workspace.member = member;
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    statistics.deviceBytes = static_cast<std::int64_t>(this->CountHeldBytes());
    return statistics;
  }

private:
  /** Calls check(image, which) for the images of all pairs, and names the pair in errors. */
  template <typename TCheck>
  static void
  ForEachPair(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, const TCheck & check)
  {
    const std::vector<FurtherPair> pairs = ListPairs(problem, settings);
    for (std::size_t number = 0; number < pairs.size(); ++number)
    {
      WithPairNamed(number, [&] {
        check(pairs[number].fixed, "fixed");
        check(pairs[number].moving, "moving");
      });
    }
  }

  SchemeWorkspace
  MakeWorkspace() const
  {
    return { m_Backend, m_Queue, *m_Lines, this->GetName(), FieldReducer(*m_Queue), {}, {}, {}, nullptr };
  }

  void
  CheckIsRegistered() const
  {
    if (m_Voxels == 0)
    {
      throw BadInputError("there is no deformation: register first");
    }
  }

  /** Makes a field of the last registration, which is valid until the scheme's next work. */
  const Memory &
  MakeField(DeformationField field)
  {
    this->CheckIsRegistered();
    if (field < DeformationField::Forward || field > DeformationField::MiddleToMoving)
    {
      throw BadInputError("there is no field of number " + std::to_string(static_cast<int>(field)));
    }
    return m_Scheme->MakeField(field);
  }

  /** Makes the inverse of the last registration's deformation, and measures it. */
  const Memory &
  MakeInverse(InverseErrors & errors)
  {
    this->CheckIsRegistered();
    const kernels::FieldGrid & grid = m_Scheme->GetLevel().grid;
    FieldReducer &             reducer = m_Workspace.reducer;
    MemoryPointer &            scratch = m_Workspace.second;
    const InvertedDeformation  made = m_Scheme->MakeInverse();
    errors = m_Inverse.Measure(grid, made.deformation, made.inverse, reducer, scratch);
    errors.foldedVoxels =
      m_FoldedVoxels ? *m_FoldedVoxels : m_Jacobian.Measure(grid, made.deformation, reducer, scratch).foldedVoxels;
    return made.inverse;
  }

  /** Gives a field, which does not lie in the workspace's second array, away. Behind a registration the workspace's first array holds
   *  nothing else that is needed: it becomes the field's own, and is made again when it is needed. The field lies there, or is copied. */
  std::shared_ptr<const DeviceField>
  GiveAway(const Memory & field)
  {
    const LevelGrid & level = m_Scheme->GetLevel();
    if (!level.slab.IsWhole())
    {
      throw UnsupportedError("a device that has a slab of the deformation has no field of it");
    }
    const std::size_t bytes = CountBytes(level.grid);
    const bool        givesFirst = !m_IsRegistering && SizeOf(m_Workspace.first) == bytes;
    MemoryPointer     given = givesFirst ? std::move(m_Workspace.first) : m_Queue->Allocate(bytes);
    if (given.get() != &field)
    {
      m_Queue->Copy(*given, field, bytes);
    }
    Reserve(*m_Queue, m_Workspace.second, sizeof(float));
    m_Workspace.reducer.ComputeLargestMagnitude(*given, 3 * m_Voxels, *m_Workspace.second, 0);
    float largest = 0;
    m_Queue->Download(&largest, *m_Workspace.second, sizeof(largest));
    const auto & size = level.grid.size;
    return std::make_shared<const DeviceField>(
      m_Backend,
      std::move(given),
      DeviceField::Description{ level.grid.dimension, { size[0], size[1], size[2] }, level.toPoint, largest });
  }

  /** Passes the voxels of a field that are the device's own to take, in chunks. */
  void
  Pass(const Memory & field, const std::function<void(std::int64_t, std::int64_t, const float *)> & take)
  {
    const LevelGrid & level = m_Scheme->GetLevel();
    const Range       held = GetVoxels(level, level.slab.held);
    const Range       own = GetVoxels(level, level.slab.own);
    DownloadArray(
      *m_Queue, field, 3 * sizeof(float), held.count, [&](std::int64_t first, std::int64_t count, const void * in) {
        const std::int64_t begin = std::max(held.first + first, own.first);
        const std::int64_t end = std::min(held.first + first + count, own.GetEnd());
        if (begin < end)
        {
          take(begin, end - begin, static_cast<const float *>(in) + 3 * (begin - held.first - first));
        }
      });
  }

  template <typename TPlan>
  MemoryPlan
  MakePlan(const TPlan & plan, const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings) const
  {
    SchemeWorkspace workspace = this->MakeWorkspace();
    workspace.member = m_Workspace.member;
    return plan(problem, settings, [&workspace](DiffeomorphicScheme scheme) { return MakeScheme(scheme, workspace); });
  }

  void
  Release()
  {
    m_Scheme.reset();
    m_Ranged.Release();
    m_Workspace.Release();
  }

  std::size_t
  CountHeldBytes() const
  {
    return m_Workspace.GetDeviceBytes() + m_Jacobian.GetDeviceBytes() + m_Inverse.GetDeviceBytes() +
           m_Ranged.GetDeviceBytes() + (m_Scheme ? m_Scheme->GetDeviceBytes() : 0);
  }

  const std::string &
  GetName() const
  {
    return m_Backend->GetDescription().name;
  }

  void
  RegisterLevels(DiffeomorphicProblem &        problem,
                 const DiffeomorphicSettings & settings,
                 const ProgressFunction &      progress,
                 const ProgressFunction &      levelDone,
                 DiffeomorphicResult &         result)
  {
    this->LimitValues(problem, settings, result.warnings);
    if (!m_Scheme || m_SchemeName != settings.scheme)
    {
      m_Scheme.reset();
      m_Scheme = MakeScheme(settings.scheme, m_Workspace);
      m_SchemeName = settings.scheme;
    }
    m_Scheme->Begin();
    for (int number = 0; number < static_cast<int>(settings.iterations.size()); ++number)
    {
      result.levels.push_back(this->RegisterLevel(problem, settings, number, progress, levelDone));
    }
    m_Scheme->CollectFields();
    if (m_Scheme->HasDeformation())
    {
      this->MeasureFolding(result);
    }
    else
    {
      m_Voxels = 0;
    }
  }

  /** Replaces the images of all pairs by those whose values lie in their ranges. */
  void
  LimitValues(DiffeomorphicProblem &        problem,
              const DiffeomorphicSettings & settings,
              std::vector<std::string> &    warnings)
  {
    const std::vector<FurtherPair> pairs = m_Ranged.Make(ListPairs(problem, settings), warnings);
    for (std::size_t number = 0; number < pairs.size(); ++number)
    {
      WithPairNamed(number, [&] {
        CheckVaries(*m_Queue, pairs[number].fixed, "fixed");
        CheckVaries(*m_Queue, pairs[number].moving, "moving");
      });
    }
    problem.fixed = pairs.front().fixed;
    problem.moving = pairs.front().moving;
    problem.further.assign(pairs.begin() + 1, pairs.end());
  }

  DiffeomorphicLevelResult
  RegisterLevel(const DiffeomorphicProblem &  problem,
                const DiffeomorphicSettings & settings,
                int                           number,
                const ProgressFunction &      progress,
                const ProgressFunction &      levelDone)
  {
    const auto start = Clock::now();
    const int  most = settings.iterations[static_cast<std::size_t>(number)];
    int        iterations = most;
    m_Scheme->BeginLevel(problem, settings, number);
    m_FoldedVoxels.reset();
    const LevelGrid & level = m_Scheme->GetLevel();
    m_Voxels = GetVoxels(level, level.slab.own).count;
    Throttle   throttle(*m_Queue);
    int        t = 0;
    const auto report = [&](const ProgressFunction & to, double ofLevel) {
      if (to)
      {
        const int levels = static_cast<int>(settings.iterations.size());
        to({ number, levels, t, (number + ofLevel) / levels, [this, t] {
              return t > 0 ? m_Scheme->DownloadCosts(t).back() : std::numeric_limits<double>::quiet_NaN();
            } });
        // levelDone may have changed the settings.
        CheckSettings(problem, settings);
        if (settings.scheme != m_SchemeName)
        {
          throw BadInputError("the scheme has changed during the registration: begin another one");
        }
        const auto index = static_cast<std::size_t>(number);
        iterations = index < settings.iterations.size() ? std::min(most, settings.iterations[index]) : t;
      }
    };
    for (bool goesOn = true; goesOn && t < iterations; ++t)
    {
      report(progress, static_cast<double>(t) / iterations);
      if (t >= iterations)
      {
        break;
      }
      Enqueue(*m_Queue, m_IsTimed, [&] { goesOn = m_Scheme->Iterate(settings, t); });
      throttle.EndStep();
    }
    report(levelDone, 1);
    DiffeomorphicLevelResult result;
    result.costs = m_Scheme->DownloadCosts(t);
    result.voxels = GetVoxels(level, { 0, level.slab.planes }).count;
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  /** Computes how the deformation changes volumes, from its Jacobian at each voxel. */
  VolumeChanges
  MeasureVolumes()
  {
    const LevelGrid & level = m_Scheme->GetLevel();
    JacobianSums      sums = m_Jacobian.Add(level.grid,
                                       GetVoxels(level, level.slab.GetOwnOfHeld()),
                                       m_Scheme->MakeField(DeformationField::Forward),
                                       m_Workspace.reducer,
                                       m_Workspace.second);
    if (TeamMember * const member = GetMemberOf(m_Workspace, level))
    {
      const auto joined = member->Sum({ sums.voxels, sums.folded, sums.logarithms, sums.squaresOfLogarithms });
      sums = { joined[0], joined[1], joined[2], joined[3], member->FindLargest(sums.mostNegative) };
    }
    return sums.Summarize();
  }

  /** Lets the scheme unfold a deformation that folds, and writes down how the last one changes volumes. */
  void
  MeasureFolding(DiffeomorphicResult & result)
  {
    VolumeChanges changes = this->MeasureVolumes();
    while (changes.foldedVoxels > 0 && m_Scheme->Unfold())
    {
      changes = this->MeasureVolumes();
    }
    result.smallestDeterminant = changes.smallestDeterminant;
    result.foldedVoxels = changes.foldedVoxels;
    m_FoldedVoxels = changes.foldedVoxels;
    result.logDeterminantDeviation = changes.logDeterminantDeviation;
    if (result.foldedVoxels > 0)
    {
      result.warnings.push_back("the deformation folds at " + std::to_string(result.foldedVoxels) +
                                " voxels: take a larger fieldSigma, or a shorter step");
    }
  }

  std::shared_ptr<Backend>     m_Backend;
  std::shared_ptr<Queue>       m_Queue;
  std::unique_ptr<LinePasses>  m_Lines;
  SchemeWorkspace              m_Workspace;
  DiffeomorphicScheme          m_SchemeName = DiffeomorphicScheme::Greedy;
  std::unique_ptr<SchemeSteps> m_Scheme;
  JacobianMeasure              m_Jacobian;
  InverseMeasure               m_Inverse;
  RangedPairs                  m_Ranged;
  std::uintptr_t               m_Registrations = 0;
  // Voxels of the current or the last registration's field; 0 if there is none.
  std::int64_t m_Voxels = 0;
  // The number of voxels at which the last registration's deformation folds. It has no value while the deformation changes.
  std::optional<std::int64_t> m_FoldedVoxels;
  bool                        m_IsTimed = false;
  bool                        m_IsRegistering = false;
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

MemoryPlan
DiffeomorphicRegistration::GetPlan(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings) const
{
  return m_Implementation->GetPlan(problem, settings);
}

DiffeomorphicResult
DiffeomorphicRegistration::Register(const DiffeomorphicProblem &                               problem,
                                    const DiffeomorphicSettings &                              settings,
                                    const ParallelFor &                                        parallelFor,
                                    const std::function<void(const DiffeomorphicProgress &)> & progress,
                                    const std::function<void(const DiffeomorphicProgress &)> & levelDone)
{
  return m_Implementation->Register(problem, settings, parallelFor, progress, levelDone);
}

void
DiffeomorphicRegistration::TakeDisplacements(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor,
  DeformationField                                                                      field)
{
  m_Implementation->TakeDisplacements(take, parallelFor, field);
}

InverseErrors
DiffeomorphicRegistration::TakeInverse(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor)
{
  return m_Implementation->TakeInverse(take, parallelFor);
}

std::shared_ptr<const DeviceField>
DiffeomorphicRegistration::GetField(const ParallelFor & parallelFor, DeformationField field)
{
  return m_Implementation->GetField(parallelFor, field);
}

InverseOnDevice
DiffeomorphicRegistration::GetInverse(const ParallelFor & parallelFor)
{
  return m_Implementation->GetInverse(parallelFor);
}

std::int64_t
DiffeomorphicRegistration::CountVoxels() const
{
  return m_Implementation->CountVoxels();
}

void
DiffeomorphicRegistration::SetTiming(bool on)
{
  m_Implementation->SetTiming(on);
}

void
DiffeomorphicRegistration::SetMember(TeamMember * member)
{
  m_Implementation->SetMember(member);
}

EvaluationStatistics
DiffeomorphicRegistration::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
