// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldReducer.h"

#include "engine/field/FieldKernels.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>

namespace gpureg
{

namespace
{
// The strips that all voxels are cut into, and those that these are cut into: some lanes for each of a GPU's, and a warp's few.
constexpr std::int64_t Strips = std::int64_t{ 1 } << 15;
constexpr std::int64_t JoinedStrips = std::int64_t{ 1 } << 7;
} // namespace

FieldReducer::FieldReducer(Queue & queue)
  : m_Queue(queue)
{}

void
FieldReducer::Reserve()
{
  gpureg::Reserve(m_Queue, m_Strips, 2 * Strips * sizeof(float));
  gpureg::Reserve(m_Queue, m_Joined, 2 * JoinedStrips * sizeof(float));
}

void
FieldReducer::FindLongest(const kernels::FieldGrid & grid, const Memory & field, Memory & result, std::int64_t slot)
{
  this->Reserve();
  const std::int64_t count = kernels::CountFieldVoxels(&grid);
  const std::int64_t strips = std::min(count, Strips);
  ForEachItem<kernels::FindLongestOfStripKernel>(
    m_Queue, strips, grid, Input<float>(field), count, strips, Output<float>(*m_Strips));
  this->Join<kernels::FindLargestOfStripKernel>(strips, result, slot);
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

void
FieldReducer::FindLargestAndSum(const Memory & numbers, std::int64_t count, Memory & result)
{
  this->Reserve();
  const std::int64_t strips = std::min(count, Strips);
  const std::int64_t joined = std::min(strips, JoinedStrips);
  const auto         reduce =
    [this](const Memory & from, std::int64_t addends, std::int64_t number, std::int64_t into, Memory & to) {
      ForEachItem<kernels::FindLargestAndSumOfStripKernel>(m_Queue,
                                                           into,
                                                           Input<float>(from),
                                                           Input<float>(from, addends),
                                                           number,
                                                           into,
                                                           Output<float>(to),
                                                           Output<float>(to, into));
    };
  reduce(numbers, 0, count, strips, *m_Strips);
  reduce(*m_Strips, strips, strips, joined, *m_Joined);
  reduce(*m_Joined, joined, joined, 1, result);
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
  const std::int64_t joined = std::min(strips, JoinedStrips);
  ForEachItem<TKernel>(m_Queue, joined, Input<float>(*m_Strips), strips, joined, Output<float>(*m_Joined));
  ForEachItem<TKernel>(m_Queue, 1, Input<float>(*m_Joined), joined, std::int64_t{ 1 }, Output<float>(result, slot));
}

} // namespace gpureg
