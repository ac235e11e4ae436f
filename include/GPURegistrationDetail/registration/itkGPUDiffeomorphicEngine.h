// SPDX-License-Identifier: Apache-2.0
// Registers dense deformations for ITK classes that take one device or several.
#ifndef itkGPUDiffeomorphicEngine_h
#define itkGPUDiffeomorphicEngine_h

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/field/FieldInverter.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"
#include "gpureg/registration/diffeomorphic/TeamRegistration.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Registers by gpureg::DiffeomorphicRegistration on one device, and by gpureg::TeamRegistration on several. Its functions are theirs. */
class DiffeomorphicEngine
{
public:
  using Taker = std::function<void(std::int64_t first, std::int64_t count, const float * in)>;
  using OnProgress = std::function<void(const gpureg::DiffeomorphicProgress &)>;

  /** Makes an engine on one device or more. */
  explicit DiffeomorphicEngine(const std::vector<std::string> & deviceNames)
    : m_DeviceNames(deviceNames)
  {
    if (deviceNames.size() == 1)
    {
      m_One = std::make_unique<gpureg::DiffeomorphicRegistration>(deviceNames.front());
    }
    else
    {
      m_Team = std::make_unique<gpureg::TeamRegistration>(deviceNames);
    }
  }

  const std::vector<std::string> &
  GetDeviceNames() const
  {
    return m_DeviceNames;
  }

  /** Returns true if several devices register together. They go by the settings that they begin with, and neither progress nor levelDone
   *  may take a field. */
  bool
  IsTeam() const
  {
    return m_Team != nullptr;
  }

  /** Measures kernel times, if there is one device. */
  void
  SetTiming(bool on)
  {
    if (m_One)
    {
      m_One->SetTiming(on);
    }
  }

  /** Returns the plan of each device. */
  std::vector<gpureg::MemoryPlan>
  GetPlans(const std::vector<gpureg::DiffeomorphicProblem> & problems,
           const gpureg::DiffeomorphicSettings &             settings) const
  {
    return m_Team ? m_Team->GetPlans(problems, settings)
                  : std::vector<gpureg::MemoryPlan>{ m_One->GetPlan(problems.front(), settings) };
  }

  /** Makes sure that each device has room for a registration, whose images are on none yet. */
  void
  MakeRoom(const std::vector<gpureg::DiffeomorphicProblem> & problems, const gpureg::DiffeomorphicSettings & settings)
  {
    m_Team ? m_Team->MakeRoom(problems, settings) : m_One->MakeRoom(problems.front(), settings);
  }

  /** Registers images.
   *  \param problems the problem for each device. */
  gpureg::DiffeomorphicResult
  Register(const std::vector<gpureg::DiffeomorphicProblem> & problems,
           const gpureg::DiffeomorphicSettings &             settings,
           const gpureg::ParallelFor &                       parallelFor,
           const OnProgress &                                progress,
           const OnProgress &                                levelDone = {})
  {
    return m_Team ? m_Team->Register(problems, settings, parallelFor, progress, levelDone)
                  : m_One->Register(problems.front(), settings, parallelFor, progress, levelDone);
  }

  void
  TakeDisplacements(const Taker &               take,
                    const gpureg::ParallelFor & parallelFor,
                    gpureg::DeformationField    field = gpureg::DeformationField::Forward)
  {
    m_Team ? m_Team->TakeDisplacements(take, parallelFor, field) : m_One->TakeDisplacements(take, parallelFor, field);
  }

  gpureg::InverseErrors
  TakeInverse(const Taker & take, const gpureg::ParallelFor & parallelFor)
  {
    return m_Team ? m_Team->TakeInverse(take, parallelFor) : m_One->TakeInverse(take, parallelFor);
  }

  /** Returns the statistics of the first device. */
  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    return m_Team ? m_Team->GetStatistics(0) : m_One->GetStatistics();
  }

private:
  std::vector<std::string>                           m_DeviceNames;
  std::unique_ptr<gpureg::DiffeomorphicRegistration> m_One; // null if there are several devices
  std::unique_ptr<gpureg::TeamRegistration>          m_Team;
};

/** Returns an engine's plan for each device. */
inline std::vector<gpureg::MemoryPlan>
GetPlans(const DiffeomorphicEngine &                       engine,
         const std::vector<gpureg::DiffeomorphicProblem> & problems,
         const gpureg::DiffeomorphicSettings &             settings)
{
  return engine.GetPlans(problems, settings);
}

/** Makes an engine on devices, unless engine is already on these. */
inline void
ReserveEngine(std::unique_ptr<DiffeomorphicEngine> & engine, const std::vector<std::string> & deviceNames)
{
  if (!engine || engine->GetDeviceNames() != deviceNames)
  {
    engine.reset();
    engine = std::make_unique<DiffeomorphicEngine>(deviceNames);
  }
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
