// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "engine/registration/RegistrationCore.h"
#include "engine/registration/diffeomorphic/DeformationOutput.h"
#include "engine/registration/diffeomorphic/DiffeomorphicChecks.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPlan.h"
#include "engine/registration/diffeomorphic/GreedyScheme.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"
#include "engine/registration/diffeomorphic/SyNScheme.h"
#include "engine/registration/diffeomorphic/TeamRoom.h"
#include "engine/registration/diffeomorphic/VelocityScheme.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Throttle.h"
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
  : public PlannedRegistration<DiffeomorphicProblem, DiffeomorphicSettings>
{
public:
  explicit Implementation(const std::string & deviceName)
    : PlannedRegistration(deviceName)
    , m_Workspace(this->MakeWorkspace())
    , m_Output(m_Workspace)
  {
    m_Queue->KeepLargerArrays();
  }

  DiffeomorphicResult
  Register(DiffeomorphicProblem          problem,
           const DiffeomorphicSettings & settings,
           const ParallelFor &           parallelFor,
           const ProgressFunction &      progress,
           const ProgressFunction &      levelDone)
  {
    const auto start = Clock::now();
    m_Output.Clear();
    this->CheckOnDevice(problem, settings);
    this->FreeIfShort(ImagesAre::OnDevice, problem, settings);
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
      m_Output.Clear();
      throw;
    }
    m_IsRegistering = false;
    result.milliseconds = MillisecondsSince(start);
    return result;
  }

  void
  MakeRoom(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings)
  {
    m_Output.Clear();
    PlannedRegistration::MakeRoom(problem, settings);
  }

  void
  TakeDisplacements(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                    const ParallelFor &                                                    parallelFor,
                    DeformationField                                                       field)
  {
    Operate(*m_Queue, parallelFor, [&] { m_Output.Pass(m_Output.MakeField(field), take); });
  }

  std::shared_ptr<const DeviceField>
  GetField(const ParallelFor & parallelFor, DeformationField field)
  {
    return Operate(*m_Queue, parallelFor, [&] {
      return m_Output.GiveAway(m_Output.MakeField(field), m_IsRegistering);
    });
  }

  InverseErrors
  TakeInverse(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
              const ParallelFor &                                                    parallelFor)
  {
    return Operate(*m_Queue, parallelFor, [&] {
      InverseErrors errors;
      m_Output.Pass(m_Output.MakeInverse(errors), take);
      return errors;
    });
  }

  InverseOnDevice
  GetInverse(const ParallelFor & parallelFor)
  {
    return Operate(*m_Queue, parallelFor, [&] {
      InverseOnDevice inverse;
      inverse.field = m_Output.GiveAway(m_Output.MakeInverse(inverse.errors), m_IsRegistering);
      return inverse;
    });
  }

  std::int64_t
  CountVoxels() const
  {
    return m_Output.CountVoxels();
  }

  /** Says what this engine is among those of a team. */
  void
  SetPlace(const TeamPlace & place)
  {
    m_Workspace.team = place;
  }

  EvaluationStatistics
  GetStatistics() const override
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    statistics.deviceBytes = static_cast<std::int64_t>(this->CountHeldBytes());
    return statistics;
  }

private:
  SchemeWorkspace
  MakeWorkspace() const
  {
    return { m_Backend, m_Queue, *m_Lines, this->GetName(), FieldReducer(*m_Queue), {}, {}, {}, {} };
  }

  void
  Check(const DiffeomorphicProblem &  problem,
        const DiffeomorphicSettings & settings,
        const CheckEachImage &        checkImage) const override
  {
    ForEachImage(ListPairs(problem, settings), checkImage);
    CheckSettings(problem, settings);
  }

  MemoryPlan
  MakePlan(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, bool hasChanges) const override
  {
    SchemeWorkspace workspace = this->MakeWorkspace();
    workspace.team = m_Workspace.team;
    const bool isOfTeam = workspace.team.slabs != nullptr || workspace.team.sides != nullptr;
    return (hasChanges ? &PlanDiffeomorphic : &PlanScheme)(problem, settings, [&](DiffeomorphicScheme scheme) {
      return isOfTeam && scheme != settings.scheme ? nullptr : MakeScheme(scheme, workspace);
    });
  }

  /** Makes room as other methods do, but for engines of a team that share a device, which do it together. */
  void
  MakeRoomForCopies(const DiffeomorphicProblem & its, const DiffeomorphicSettings & ranged, bool areCopied) override
  {
    const TeamPlace & place = m_Workspace.team;
    if (place.room != nullptr)
    {
      place.room->MakeRoom(
        place.number, areCopied, [&] { return this->MakePlan(its, ranged, true); }, [this] { this->Release(); });
    }
    else
    {
      PlannedRegistration::MakeRoomForCopies(its, ranged, areCopied);
    }
  }

  void
  ReleaseArrays() override
  {
    m_Scheme.reset();
    m_Workspace.Release();
  }

  std::size_t
  CountHeldBytes() const
  {
    return m_Workspace.GetDeviceBytes() + m_Output.GetDeviceBytes() + m_Ranged.GetDeviceBytes() +
           (m_Scheme ? m_Scheme->GetDeviceBytes() : 0);
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
      m_Output.BeginLevel(*m_Scheme); // which may have all its planes now
      m_Output.MeasureFolding(result);
    }
    else
    {
      m_Output.Clear();
    }
  }

  /** Replaces the images of all pairs by those whose values lie in their ranges. */
  void
  LimitValues(DiffeomorphicProblem &        problem,
              const DiffeomorphicSettings & settings,
              std::vector<std::string> &    warnings)
  {
    const std::vector<FurtherPair> pairs = this->LimitRanges(ListPairs(problem, settings), problem, settings, warnings);
    for (std::size_t number = 0; number < pairs.size(); ++number)
    {
      WithPairNamed(number, [&] {
        CheckVaries(*m_Queue, pairs[number].fixed, "fixed");
        CheckVaries(*m_Queue, pairs[number].moving, "moving");
      });
    }
    SetPairs(pairs, problem);
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
    m_Output.BeginLevel(*m_Scheme);
    const LevelGrid & level = m_Scheme->GetLevel();
    Throttle          throttle(*m_Queue);
    int               t = 0;
    const auto        report = [&](const ProgressFunction & to, double ofLevel) {
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

  SchemeWorkspace              m_Workspace;
  DiffeomorphicScheme          m_SchemeName = DiffeomorphicScheme::Greedy;
  std::unique_ptr<SchemeSteps> m_Scheme;
  DeformationOutput            m_Output;
  std::uintptr_t               m_Registrations = 0;
  bool                         m_IsRegistering = false;
};

DiffeomorphicRegistration::DiffeomorphicRegistration(const std::string & deviceName)
  : RegistrationEngine(std::make_unique<Implementation>(deviceName))
{}

DiffeomorphicRegistration::~DiffeomorphicRegistration() = default;

DiffeomorphicRegistration::Implementation &
DiffeomorphicRegistration::GetImplementation() const
{
  return static_cast<Implementation &>(this->GetCore());
}

MemoryPlan
DiffeomorphicRegistration::GetPlan(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings) const
{
  return this->GetImplementation().GetPlan(problem, settings);
}

void
DiffeomorphicRegistration::MakeRoom(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings)
{
  this->GetImplementation().MakeRoom(problem, settings);
}

DiffeomorphicResult
DiffeomorphicRegistration::Register(const DiffeomorphicProblem &                               problem,
                                    const DiffeomorphicSettings &                              settings,
                                    const ParallelFor &                                        parallelFor,
                                    const std::function<void(const DiffeomorphicProgress &)> & progress,
                                    const std::function<void(const DiffeomorphicProgress &)> & levelDone)
{
  return this->GetImplementation().Register(problem, settings, parallelFor, progress, levelDone);
}

void
DiffeomorphicRegistration::TakeDisplacements(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor,
  DeformationField                                                                      field)
{
  this->GetImplementation().TakeDisplacements(take, parallelFor, field);
}

InverseErrors
DiffeomorphicRegistration::TakeInverse(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor)
{
  return this->GetImplementation().TakeInverse(take, parallelFor);
}

std::shared_ptr<const DeviceField>
DiffeomorphicRegistration::GetField(const ParallelFor & parallelFor, DeformationField field)
{
  return this->GetImplementation().GetField(parallelFor, field);
}

InverseOnDevice
DiffeomorphicRegistration::GetInverse(const ParallelFor & parallelFor)
{
  return this->GetImplementation().GetInverse(parallelFor);
}

std::int64_t
DiffeomorphicRegistration::CountVoxels() const
{
  return this->GetImplementation().CountVoxels();
}

void
DiffeomorphicRegistration::SetPlace(const TeamPlace & place)
{
  this->GetImplementation().SetPlace(place);
}

} // namespace gpureg
