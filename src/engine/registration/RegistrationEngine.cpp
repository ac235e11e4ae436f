// SPDX-License-Identifier: Apache-2.0
#include "gpureg/registration/RegistrationEngine.h"

#include "engine/registration/RegistrationCore.h"

#include <utility>

namespace gpureg
{

RegistrationEngine::RegistrationEngine(std::unique_ptr<RegistrationCore> core)
  : m_Core(std::move(core))
{}

RegistrationEngine::~RegistrationEngine()
{
  FreeUnlessForked(m_Core);
}

const std::string &
RegistrationEngine::GetDeviceName() const
{
  return m_Core->GetName();
}

std::size_t
RegistrationEngine::GetHeldBytes() const
{
  return static_cast<std::size_t>(m_Core->GetStatistics().deviceBytes);
}

void
RegistrationEngine::SetTiming(bool on)
{
  m_Core->SetTiming(on);
}

EvaluationStatistics
RegistrationEngine::GetStatistics() const
{
  return m_Core->GetStatistics();
}

} // namespace gpureg
