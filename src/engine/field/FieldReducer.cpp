// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldReducer.h"

#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

namespace
{
// The most strips that all numbers are cut into, which fill a GPU.
constexpr std::int64_t MostStrips = std::int64_t{ 1 } << 15;

// The fewest numbers of a strip, unless there are less: small grids need fewer launches then.
constexpr std::int64_t LeastOfStrip = 16;

// How many strips' results are joined to one. A lane joins them one after the other, in some microseconds for so many.
constexpr std::int64_t Joint = std::int64_t{ 1 } << 6;

/** Cuts count numbers into at most `most` interleaved strips, which do not depend on the device, as a sum's rounding would. */
kernels::Strips
CutIntoStrips(std::int64_t count, std::int64_t most)
{
  return { count, static_cast<int>(std::min(count, most)), 1 };
}
} // namespace

kernels::Strips
CutIntoStrips(std::int64_t count)
{
  return CutIntoStrips(count, std::min(MostStrips, (count + LeastOfStrip - 1) / LeastOfStrip));
}

FieldReducer::FieldReducer(Queue & queue)
  : m_Queue(queue)
{}

void
FieldReducer::Reserve()
{
  gpureg::Reserve(m_Queue, m_Strips, 2 * MostStrips * sizeof(float));
  gpureg::Reserve(m_Queue, m_Joined, 2 * MostStrips / Joint * sizeof(float));
}

void
FieldReducer::Plan(std::int64_t count, const std::string & name, MemoryLedger & ledger)
{
  ledger.Reserve(name + "strips", (2 * MostStrips + 2 * MostStrips / Joint) * sizeof(float));
  ledger.Reserve(name + "parts", static_cast<std::size_t>(count) * sizeof(float));
}

Memory &
FieldReducer::GetPartials(std::int64_t count)
{
  gpureg::Reserve(m_Queue, m_Partials, static_cast<std::size_t>(count) * sizeof(float));
  return *m_Partials;
}

void
FieldReducer::ComputeLargest(
  const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reduce<kernels::ComputeLargestOfStripKernel>(numbers, first, count, result, slot);
}

void
FieldReducer::ComputeLargestMagnitude(
  const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reduce<kernels::ComputeLargestMagnitudeOfStripKernel>(numbers, first, count, result, slot);
}

void
FieldReducer::Sum(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reduce<kernels::SumStripKernel>(numbers, first, count, result, slot);
}

FieldPartials
FieldReducer::ComputeLargestAndSumOfParts(const Memory & numbers, std::int64_t count)
{
  this->Reserve();
  const kernels::Strips strips = CutIntoStrips(count);
  this->ReduceToLargestAndSum(numbers, 0, strips, *m_Strips);
  return this->JoinToFew(strips.number, [this](const Memory & from, const kernels::Strips & joined, Memory & to) {
    this->ReduceToLargestAndSum(from, joined.count, joined, to);
  });
}

void
FieldReducer::ComputeLargestAndSum(const Memory & numbers, std::int64_t count, Memory & result)
{
  const FieldPartials parts = this->ComputeLargestAndSumOfParts(numbers, count);
  this->ReduceToLargestAndSum(*parts.memory, parts.count, CutIntoStrips(parts.count, 1), result);
}

void
FieldReducer::ReduceToLargestAndSum(const Memory &          from,
                                    std::int64_t            addends,
                                    const kernels::Strips & strips,
                                    Memory &                to)
{
  ForEachItem<kernels::ComputeLargestAndSumOfStripKernel>(m_Queue,
                                                          strips.number,
                                                          strips,
                                                          Input<float>(from),
                                                          Input<float>(from, addends),
                                                          Output<float>(to),
                                                          Output<float>(to, strips.number));
}

template <typename TKernel>
void
FieldReducer::Reduce(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot)
{
  this->Reserve();
  const kernels::Strips strips = CutIntoStrips(count);
  ForEachItem<TKernel>(m_Queue, strips.number, strips, Input<float>(numbers, first), Output<float>(*m_Strips));
  const auto reduce = [this](const Memory & from, const kernels::Strips & joined, Memory & to, std::int64_t itsSlot) {
    ForEachItem<TKernel>(m_Queue, joined.number, joined, Input<float>(from), Output<float>(to, itsSlot));
  };
  const FieldPartials parts =
    this->JoinToFew(strips.number, [&reduce](const Memory & from, const kernels::Strips & joined, Memory & to) {
      reduce(from, joined, to, 0);
    });
  reduce(*parts.memory, CutIntoStrips(parts.count, 1), result, slot);
}

template <typename TReduce>
FieldPartials
FieldReducer::JoinToFew(std::int64_t count, const TReduce & reduce)
{
  Memory * from = m_Strips.get();
  Memory * to = m_Joined.get();
  while (count > Joint)
  {
    const kernels::Strips strips = CutIntoStrips(count, (count + Joint - 1) / Joint);
    reduce(*from, strips, *to);
    count = strips.number;
    std::swap(from, to);
  }
  return { from, static_cast<int>(count) };
}

} // namespace gpureg
