// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalStages.h"

#include "engine/core/NumberNames.h"

#include <cstddef>
#include <limits>
#include <utility>

namespace gpureg
{

void
GlobalStages::Restart(int count, double unit, std::function<void(const GlobalProgress &)> report)
{
  m_Count = count;
  m_Unit = unit;
  m_Report = std::move(report);
  m_Results.clear();
}

void
GlobalStages::Begin(GlobalLevelNumber level, const std::string & what)
{
  this->Begin(NameLength(m_Unit * m_Levels[level]->GetEdge()) + what);
}

void
GlobalStages::Begin(const std::string & name)
{
  m_Stage = {};
  m_Stage.name = name;
  m_Start = Clock::now();
  for (const auto & level : m_Levels)
  {
    level->CountInto(m_Stage);
  }
  this->Report();
}

void
GlobalStages::End(double cost)
{
  m_Stage.cost = cost;
  m_Stage.milliseconds = MillisecondsSince(m_Start);
  m_Results.push_back(m_Stage);
}

void
GlobalStages::Report() const
{
  if (m_Report)
  {
    // The first stage makes the levels, and computes no cost.
    const std::size_t done = m_Results.size();
    m_Report({ m_Stage.name.c_str(),
               static_cast<double>(done) / m_Count,
               done > 1 ? m_Results.back().cost : std::numeric_limits<double>::quiet_NaN() });
  }
}

} // namespace gpureg
