// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldReducer_h
#define gpureg_FieldReducer_h

#include "engine/field/FieldKernels.h"
#include "engine/runtime/MemoryLedger.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpureg
{

/** Cuts count numbers into interleaved strips for a first launch, so many that they fill a GPU. They do not depend on the device, as a sum's
 *  rounding would. */
kernels::Strips
CutIntoStrips(std::int64_t count);

/** Holds results of parts of an array, float: as many maxima, and as many sums behind them. */
struct FieldPartials
{
  const Memory * memory;
  int            count;
};

/** Computes sums and maxima over a device's arrays; the results stay on the device. On one device their bits are the same for any number of
 *  threads. */
class FieldReducer
{
public:
  /** queue must outlive it. */
  explicit FieldReducer(Queue & queue);

  /** Writes the largest of count numbers, from number first on, to result[slot]. numbers, result: float. */
  void
  ComputeLargest(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot);

  /** Writes the largest absolute value of the first count numbers to result[slot]. numbers, result: float. */
  void
  ComputeLargestMagnitude(const Memory & numbers, std::int64_t count, Memory & result, std::int64_t slot);

  /** Writes the sum of count numbers, from number first on, to result[slot]. numbers, result: float. */
  void
  Sum(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot);

  /** Returns an array for count numbers, float, which a kernel writes and a reduction reads next: one of each block of voxels. */
  Memory &
  GetPartials(std::int64_t count);

  /** Returns the largest number of each of some parts of the first count numbers, and their sums, for a kernel that joins them: 64 parts at
   *  most. They stay until the next reduction. numbers: float. */
  FieldPartials
  ComputeLargestAndSumOfParts(const Memory & numbers, std::int64_t count);

  /** Writes the largest of the first count numbers, and their sum, to result[0] and result[1]. numbers, result: float. */
  void
  ComputeLargestAndSum(const Memory & numbers, std::int64_t count, Memory & result);

  /** Frees all arrays. */
  void
  Release()
  {
    m_Partials.reset();
    m_Strips.reset();
    m_Joined.reset();
  }

  /** Writes down the arrays of reductions, which all have one size, and that of GetPartials() for count numbers.
   *  \param name what their names begin with */
  static void
  Plan(std::int64_t count, const std::string & name, MemoryLedger & ledger);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Partials) + SizeOf(m_Strips) + SizeOf(m_Joined);
  }

private:
  void
  Reserve();
  template <typename TKernel>
  void
  Reduce(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot);
  void
  ReduceToLargestAndSum(const Memory & from, std::int64_t addends, const kernels::Strips & strips, Memory & to);
  /** Joins the results of count strips, in m_Strips, to few, by reduce(from, strips, to). */
  template <typename TReduce>
  FieldPartials
  JoinToFew(std::int64_t count, const TReduce & reduce);

  Queue &       m_Queue;
  MemoryPointer m_Partials;
  // float: two numbers a strip.
  MemoryPointer m_Strips;
  MemoryPointer m_Joined;
};

} // namespace gpureg

#endif
