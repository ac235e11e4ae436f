// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldReducer.h"

#include "engine/field/FieldKernels.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>

namespace gpureg
{

namespace
{
// The number of strips that all voxels are cut into, which fills a GPU, and of those that the strips' results are cut into.
constexpr int MostStrips = 1 << 15;
constexpr int MostJoinedStrips = 1 << 7;

/** Cuts count numbers into at most `most` strips that do not depend on the device, as a sum's rounding would. */
kernels::Strips
CutIntoStrips(std::int64_t count, int most)
{
  return { count, static_cast<int>(std::min<std::int64_t>(count, most)), 1 };
}
} // namespace

FieldReducer::FieldReducer(Queue & queue)
  : m_Queue(queue)
{}

void
FieldReducer::Reserve()
{
  gpureg::Reserve(m_Queue, m_Strips, MostStrips * sizeof(float));
  gpureg::Reserve(m_Queue, m_Joined, MostJoinedStrips * sizeof(float));
}

void
FieldReducer::FindLongest(const kernels::FieldGrid & grid, const Memory & field, Memory & result, std::int64_t slot)
{
  this->Reserve();
  const kernels::Strips strips = CutIntoStrips(kernels::CountFieldVoxels(&grid), MostStrips);
  ForEachItem<kernels::FindLongestOfStripKernel>(
    m_Queue, strips.number, grid, strips, Input<float>(field), Output<float>(*m_Strips));
  this->Join<kernels::FindLargestOfStripKernel>(strips.number, result, slot);
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
  const kernels::Strips strips = CutIntoStrips(count, MostStrips);
  ForEachItem<TKernel>(m_Queue, strips.number, strips, Input<float>(numbers, first), Output<float>(*m_Strips));
  this->Join<TKernel>(strips.number, result, slot);
}

template <typename TKernel>
void
FieldReducer::Join(std::int64_t count, Memory & result, std::int64_t slot)
{
  const kernels::Strips strips = CutIntoStrips(count, MostJoinedStrips);
  const kernels::Strips all = CutIntoStrips(strips.number, 1);
  ForEachItem<TKernel>(m_Queue, strips.number, strips, Input<float>(*m_Strips), Output<float>(*m_Joined));
  ForEachItem<TKernel>(m_Queue, all.number, all, Input<float>(*m_Joined), Output<float>(result, slot));
}

} // namespace gpureg
