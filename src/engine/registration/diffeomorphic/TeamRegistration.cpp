// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/diffeomorphic/TeamRegistration.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"
#include "engine/registration/diffeomorphic/TeamChecks.h"
#include "engine/registration/diffeomorphic/TeamDivision.h"
#include "engine/registration/diffeomorphic/TeamRoom.h"

#include "gpureg/core/Error.h"
#include "gpureg/runtime/EngineUser.h"

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace gpureg
{

namespace
{
/** Keeps an engine for others, or frees it where that is not possible, such as in a forked process. */
void
StoreOrFree(std::unique_ptr<DiffeomorphicRegistration> engine) noexcept
{
  try
  {
    StoreIdleEngine(std::move(engine), nullptr);
  }
  catch (...)
  {
    // The engine is gone.
  }
}

/** Runs work(0) to work(count - 1), each in a thread, of which the first one is the caller's. Calls stop() and throws Error if a thread
 *  cannot be started. */
template <typename TWork, typename TStop>
void
RunTogether(std::size_t count, const TWork & work, const TStop & stop)
{
  struct Joined : std::vector<std::thread>
  {
    ~Joined()
    {
      for (std::thread & thread : *this)
      {
        thread.join();
      }
    }
  } threads;
  threads.reserve(count);
  try
  {
    for (std::size_t n = 1; n < count; ++n)
    {
      threads.emplace_back([&work, n] { work(n); });
    }
  }
  catch (const std::system_error & error)
  {
    stop();
    throw Error(std::string("a thread for a further device cannot be started: ") + error.what());
  }
  work(0);
}
} // namespace

class TeamRegistration::Implementation
{
public:
  explicit Implementation(const std::vector<std::string> & deviceNames)
  {
    if (deviceNames.empty())
    {
      throw BadInputError("no device is named, of those that are to register together");
    }
    for (const std::string & name : deviceNames)
    {
      m_Engines.push_back(TakeEngine<DiffeomorphicRegistration>(name, {}, nullptr));
      m_Engines.back()->SetTiming(false); // whatever the engine was used for before
    }
  }

  ~Implementation()
  {
    // Engines that have failed are not used by others.
    for (std::unique_ptr<DiffeomorphicRegistration> & engine : m_Engines)
    {
      if (!m_HasFailed)
      {
        StoreOrFree(std::move(engine));
      }
    }
  }
  Implementation(const Implementation &) = delete;
  Implementation &
  operator=(const Implementation &) = delete;

  std::size_t
  CountDevices() const
  {
    return m_Engines.size();
  }

  DiffeomorphicResult
  Register(const std::vector<DiffeomorphicProblem> &                  problems,
           const DiffeomorphicSettings &                              given,
           const ParallelFor &                                        parallelFor,
           const std::function<void(const DiffeomorphicProgress &)> & progress,
           const std::function<void(const DiffeomorphicProgress &)> & levelDone)
  {
    const DiffeomorphicSettings settings = given; // no callback may change them
    this->Check(problems, settings);
    const Use use(*this, OnError::DropEngines);
    m_Voxels = 0;
    m_HasRegistered = false;
    this->MakeRoomWhereShared(problems, settings, ImagesAre::OnDevice);
    m_Scheme = settings.scheme;
    DiffeomorphicResult result;
    this->WorkTogether([&](DiffeomorphicRegistration & engine, std::size_t n) {
      const bool isFirst = n == 0;
      auto       its = engine.Register(
        problems[n], settings, parallelFor, isFirst ? progress : nullptr, isFirst ? levelDone : nullptr);
      if (isFirst)
      {
        result = std::move(its);
      }
    });
    m_Voxels = result.levels.back().voxels;
    m_HasRegistered = true;
    return result;
  }

  std::vector<MemoryPlan>
  GetPlans(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings)
  {
    this->Check(problems, settings);
    const Use use(*this, OnError::KeepEngines);
    return this->MakePlans(problems, settings);
  }

  void
  MakeRoom(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings)
  {
    this->Check(problems, settings);
    const Use          use(*this, OnError::KeepEngines);
    const TeamDivision division(m_Engines.size(), settings.scheme);
    m_Voxels = 0;
    m_HasRegistered = false;
    this->MakeRoomWhereShared(problems, settings, ImagesAre::OnNoDevice);
    for (std::size_t n = 0; n < m_Engines.size(); ++n)
    {
      const Membership membership(*m_Engines[n], division.GetPlace(n));
      m_Engines[n]->MakeRoom(problems[n], settings);
    }
  }

  void
  TakeDisplacements(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
                    const ParallelFor &                                                    parallelFor,
                    DeformationField                                                       field)
  {
    const Use use(*this, OnError::DropEngines);
    this->CheckIsRegistered();
    // The first device has all voxels, unless the level is cut.
    std::int64_t taken = 0;
    for (auto engine = m_Engines.begin(); taken < m_Voxels; ++engine)
    {
      (*engine)->TakeDisplacements(take, parallelFor, field);
      taken += (*engine)->CountVoxels();
    }
  }

  std::shared_ptr<const DeviceField>
  GetField(const ParallelFor & parallelFor, DeformationField field)
  {
    const Use use(*this, OnError::DropEngines);
    this->CheckIsRegistered();
    if (m_Engines.front()->CountVoxels() == m_Voxels)
    {
      return m_Engines.front()->GetField(parallelFor, field);
    }
    std::shared_ptr<const DeviceField> whole;
    this->WorkTogether([&](DiffeomorphicRegistration & engine, std::size_t n) {
      auto its = engine.GetField(parallelFor, field);
      if (n == 0)
      {
        whole = std::move(its);
      }
    });
    return whole;
  }

  InverseErrors
  TakeInverse(const std::function<void(std::int64_t, std::int64_t, const float *)> & take,
              const ParallelFor &                                                    parallelFor)
  {
    const Use use(*this, OnError::DropEngines);
    this->CheckIsRegistered();
    return m_Engines.front()->TakeInverse(take, parallelFor);
  }

  InverseOnDevice
  GetInverse(const ParallelFor & parallelFor)
  {
    const Use use(*this, OnError::DropEngines);
    this->CheckIsRegistered();
    return m_Engines.front()->GetInverse(parallelFor);
  }

  std::int64_t
  CountVoxels() const
  {
    return m_Voxels;
  }

  EvaluationStatistics
  GetStatistics(std::size_t device) const
  {
    this->CheckIsIdle();
    if (device >= m_Engines.size())
    {
      throw BadInputError("there is no device number " + std::to_string(device) + " of " +
                          std::to_string(m_Engines.size()));
    }
    // An engine may have been another user's before.
    return m_HasRegistered ? m_Engines[device]->GetStatistics() : EvaluationStatistics{};
  }

private:
  void
  CheckIsIdle() const
  {
    if (m_IsUsed)
    {
      throw BadInputError("a team of devices is at work: call this when its function has returned");
    }
  }

  /** Says what becomes of the engines where a function fails: a plan leaves them as they are. */
  enum class OnError
  {
    KeepEngines,
    DropEngines
  };

  /** Keeps others from using the team for as long as the object lives. */
  class Use
  {
  public:
    Use(Implementation & team, OnError onError)
      : m_Team(team)
      , m_OnError(onError)
      , m_Exceptions(std::uncaught_exceptions())
    {
      m_Team.CheckIsIdle();
      m_Team.m_IsUsed = true;
    }
    ~Use()
    {
      m_Team.m_IsUsed = false;
      m_Team.m_HasFailed =
        m_Team.m_HasFailed || (m_OnError == OnError::DropEngines && std::uncaught_exceptions() > m_Exceptions);
    }
    Use(const Use &) = delete;
    Use &
    operator=(const Use &) = delete;

  private:
    Implementation & m_Team;
    OnError          m_OnError;
    int              m_Exceptions;
  };

  void
  CheckIsRegistered() const
  {
    if (m_Voxels == 0)
    {
      throw BadInputError("there is no deformation: register first");
    }
  }

  void
  Check(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings) const
  {
    this->CheckIsIdle();
    if (problems.size() != m_Engines.size())
    {
      throw BadInputError(std::to_string(m_Engines.size()) + " devices take as many problems, and not " +
                          std::to_string(problems.size()));
    }
    for (const DiffeomorphicProblem & problem : problems)
    {
      CheckAreAlike(problems.front(), problem);
      CheckIsForTeams(problem, settings, m_Engines.size());
    }
  }

  /** Gives an engine its place among the team's for as long as the object lives. */
  class Membership
  {
  public:
    Membership(DiffeomorphicRegistration & engine, const TeamPlace & place)
      : m_Engine(engine)
    {
      m_Engine.SetPlace(place);
    }
    ~Membership()
    {
      m_Engine.SetPlace({});
    }
    Membership(const Membership &) = delete;
    Membership &
    operator=(const Membership &) = delete;

  private:
    DiffeomorphicRegistration & m_Engine;
  };

  std::vector<MemoryPlan>
  MakePlans(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings)
  {
    const TeamDivision      division(m_Engines.size(), settings.scheme);
    std::vector<MemoryPlan> plans;
    for (std::size_t n = 0; n < m_Engines.size(); ++n)
    {
      const Membership membership(*m_Engines[n], division.GetPlace(n));
      plans.push_back(m_Engines[n]->GetPlan(problems[n], settings));
    }
    return plans;
  }

  /** Makes room on devices that are named more than once: an engine regards its own part alone. */
  void
  MakeRoomWhereShared(const std::vector<DiffeomorphicProblem> & problems,
                      const DiffeomorphicSettings &             settings,
                      ImagesAre                                 images)
  {
    if (AreShared(ListDevices(m_Engines)))
    {
      MakeRoomTogether(m_Engines, this->MakePlans(problems, settings), images);
    }
  }

  /** Runs work(engine, n) of all devices at once, as a team, and throws the error of the one that has failed. */
  template <typename TWork>
  void
  WorkTogether(const TWork & work)
  {
    TeamDivision                    division(m_Engines.size(), m_Scheme);
    std::vector<std::exception_ptr> errors(m_Engines.size());
    division.ShareRoom(ListDevices(m_Engines));
    const auto workOfOne = [&](std::size_t n) {
      try
      {
        const Membership membership(*m_Engines[n], division.GetPlace(n));
        work(*m_Engines[n], n);
      }
      catch (const TeamHasFailed &)
      {
        // The member that has failed keeps the error.
      }
      catch (...)
      {
        errors[n] = std::current_exception();
        division.Fail();
      }
    };
    RunTogether(m_Engines.size(), workOfOne, [&division] { division.Fail(); });
    for (const std::exception_ptr & error : errors)
    {
      if (error)
      {
        std::rethrow_exception(error);
      }
    }
  }

  TeamEngines         m_Engines;
  DiffeomorphicScheme m_Scheme = DiffeomorphicScheme::Greedy; // of the last one
  std::int64_t        m_Voxels = 0;
  bool                m_HasRegistered = false;
  bool                m_HasFailed = false;
  bool                m_IsUsed = false;
};

TeamRegistration::TeamRegistration(const std::vector<std::string> & deviceNames)
  : m_Implementation(std::make_unique<Implementation>(deviceNames))
{}

TeamRegistration::~TeamRegistration() = default;

std::size_t
TeamRegistration::CountDevices() const
{
  return m_Implementation->CountDevices();
}

DiffeomorphicResult
TeamRegistration::Register(const std::vector<DiffeomorphicProblem> &                  problems,
                           const DiffeomorphicSettings &                              settings,
                           const ParallelFor &                                        parallelFor,
                           const std::function<void(const DiffeomorphicProgress &)> & progress,
                           const std::function<void(const DiffeomorphicProgress &)> & levelDone)
{
  return m_Implementation->Register(problems, settings, parallelFor, progress, levelDone);
}

std::vector<MemoryPlan>
TeamRegistration::GetPlans(const std::vector<DiffeomorphicProblem> & problems,
                           const DiffeomorphicSettings &             settings) const
{
  return m_Implementation->GetPlans(problems, settings);
}

void
TeamRegistration::MakeRoom(const std::vector<DiffeomorphicProblem> & problems, const DiffeomorphicSettings & settings)
{
  m_Implementation->MakeRoom(problems, settings);
}

void
TeamRegistration::TakeDisplacements(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor,
  DeformationField                                                                      field)
{
  m_Implementation->TakeDisplacements(take, parallelFor, field);
}

std::shared_ptr<const DeviceField>
TeamRegistration::GetField(const ParallelFor & parallelFor, DeformationField field)
{
  return m_Implementation->GetField(parallelFor, field);
}

InverseErrors
TeamRegistration::TakeInverse(
  const std::function<void(std::int64_t first, std::int64_t count, const float * in)> & take,
  const ParallelFor &                                                                   parallelFor)
{
  return m_Implementation->TakeInverse(take, parallelFor);
}

InverseOnDevice
TeamRegistration::GetInverse(const ParallelFor & parallelFor)
{
  return m_Implementation->GetInverse(parallelFor);
}

std::int64_t
TeamRegistration::CountVoxels() const
{
  return m_Implementation->CountVoxels();
}

EvaluationStatistics
TeamRegistration::GetStatistics(std::size_t device) const
{
  return m_Implementation->GetStatistics(device);
}

} // namespace gpureg
