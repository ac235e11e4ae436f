// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldReducer.h"

#include "engine/field/FieldKernels.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

namespace
{
// The most strips that all numbers are cut into: some lanes for each of a GPU's.
constexpr std::int64_t Strips = std::int64_t{ 1 } << 15;
// How many strips are joined to one. A lane joins them one after the other, in some microseconds for so many.
constexpr std::int64_t Joint = std::int64_t{ 1 } << 5;
} // namespace

FieldReducer::FieldReducer(Queue & queue)
  : m_Queue(queue)
{}

void
FieldReducer::Reserve()
{
  gpureg::Reserve(m_Queue, m_Strips, Strips * sizeof(float));
  gpureg::Reserve(m_Queue, m_Joined, Strips / Joint * sizeof(float));
}

Memory &
FieldReducer::GetParts(std::int64_t count)
{
  gpureg::Reserve(m_Queue, m_Parts, static_cast<std::size_t>(count) * sizeof(float));
  return *m_Parts;
}

void
FieldReducer::FindLargest(
  const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reduce<kernels::FindLargestOfStripKernel>(numbers, first, count, result, slot);
}

void
FieldReducer::Sum(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reduce<kernels::SumStripKernel>(numbers, first, count, result, slot);
}

template <typename TKernel>
void
FieldReducer::Reduce(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reserve();
  const std::int64_t strips = std::min(count, Strips);
  ForEachItem<TKernel>(m_Queue, strips, Input<float>(numbers, first), count, strips, Output<float>(*m_Strips));
  this->Join<TKernel>(strips, result, slot);
}

template <typename TKernel>
void
FieldReducer::Join(std::int64_t strips, Memory & result, std::int64_t slot)
{
  Memory * from = m_Strips.get();
  Memory * to = m_Joined.get();
  while (strips > Joint)
  {
    const std::int64_t joined = (strips + Joint - 1) / Joint;
    ForEachItem<TKernel>(m_Queue, joined, Input<float>(*from), strips, joined, Output<float>(*to));
    strips = joined;
    std::swap(from, to);
  }
  ForEachItem<TKernel>(m_Queue, 1, Input<float>(*from), strips, std::int64_t{ 1 }, Output<float>(result, slot));
}

} // namespace gpureg
