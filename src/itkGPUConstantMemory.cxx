// SPDX-License-Identifier: Apache-2.0
#include "GPURegistrationDetail/core/itkGPUConstantMemory.h"

#include <algorithm>
#include <iterator>

namespace itk
{
namespace GPURegistrationDetail
{

namespace
{
thread_local const ConstantMemory * current = nullptr;

bool
AreSame(const gpureg::MemoryRange & one, const gpureg::MemoryRange & other)
{
  return one.begin == other.begin && one.bytes == other.bytes;
}
} // namespace

ConstantMemory::ConstantMemory()
  : m_Before(current)
{
  current = this;
}

ConstantMemory::~ConstantMemory()
{
  current = m_Before;
}

void
ConstantMemory::Add(const Finder & find)
{
  m_Ranges.push_back(find());
  m_Finders.push_back(find);
}

void
ConstantMemory::Seal(const gpureg::ParallelFor & parallelFor)
{
  m_Hash = gpureg::HashContent(m_Ranges, parallelFor);
}

bool
ConstantMemory::HasChanged(const gpureg::ParallelFor & parallelFor) const
{
  const auto isThere = [](const gpureg::MemoryRange & range, const Finder & find) { return AreSame(range, find()); };
  return !std::equal(m_Ranges.begin(), m_Ranges.end(), m_Finders.begin(), isThere) ||
         gpureg::HashContent(m_Ranges, parallelFor) != m_Hash;
}

void
ConstantMemory::Clear()
{
  m_Ranges.clear();
  m_Finders.clear();
}

std::vector<gpureg::MemoryRange>
ConstantMemory::GetVariable(const std::vector<gpureg::MemoryRange> & memory)
{
  const auto isConstant = [](const gpureg::MemoryRange & range) {
    for (const ConstantMemory * one = current; one != nullptr; one = one->m_Before)
    {
      const auto is = [&range](const gpureg::MemoryRange & other) { return AreSame(range, other); };
      if (std::any_of(one->m_Ranges.begin(), one->m_Ranges.end(), is))
      {
        return true;
      }
    }
    return false;
  };
  std::vector<gpureg::MemoryRange> variable;
  std::remove_copy_if(memory.begin(), memory.end(), std::back_inserter(variable), isConstant);
  return variable;
}

} // namespace GPURegistrationDetail
} // namespace itk
