// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/MemoryLedger.h"

#include <algorithm>

namespace gpureg
{

void
MemoryLedger::Reserve(const std::string & array, std::size_t bytes)
{
  if (this->GetSize(array) < bytes)
  {
    this->Set(array, bytes);
  }
}

void
MemoryLedger::ReserveExactly(const std::string & array, std::size_t bytes)
{
  if (m_KeepsLarger && bytes > 0)
  {
    this->Reserve(array, bytes);
  }
  else
  {
    this->Set(array, bytes);
  }
}

void
MemoryLedger::Free(const std::string & array)
{
  this->Set(array, 0);
}

void
MemoryLedger::FreeAll(const std::string & beginning)
{
  for (auto & [name, bytes] : m_Arrays)
  {
    if (name.rfind(beginning, 0) == 0)
    {
      m_Held -= bytes;
      bytes = 0;
    }
  }
}

void
MemoryLedger::Touch(const std::string & array, std::size_t bytes)
{
  this->Set(array, bytes);
  this->Set(array, 0);
}

std::size_t
MemoryLedger::GetSize(const std::string & array) const
{
  const auto found = m_Arrays.find(array);
  return found == m_Arrays.end() ? 0 : found->second;
}

void
MemoryLedger::Set(const std::string & array, std::size_t bytes)
{
  std::size_t & its = m_Arrays[array];
  m_Held = m_Held - its + bytes;
  its = bytes;
  m_MostOfLevel = std::max(m_MostOfLevel, m_Held);
  if (m_Held > m_Most)
  {
    m_Most = m_Held;
    m_ArraysOfMost = m_Arrays;
  }
}

} // namespace gpureg
