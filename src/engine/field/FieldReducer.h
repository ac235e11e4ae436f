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

/** Cuts count numbers into interleaved strips for a first launch, so many that they fill a GPU. They do not depend on the device, as a
 *  sum's rounding would. */
kernels::Strips
CutIntoStrips(std::int64_t count);

/** Holds the results of `count` parts of an array: their maxima, and behind them their sums, float. */
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
  /** queue must outlive this object. */
  explicit FieldReducer(Queue & queue);

  /** Writes the largest of count numbers, from number first on, to result[slot]. numbers, result: float. */
  void
  ComputeLargest(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot);

  /** Writes the largest absolute value of count numbers, from number first on, to result[slot]. numbers, result: float. */
  void
  ComputeLargestMagnitude(
    const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot);

  /** Writes the sum of count numbers, from number first on, to result[slot]. numbers, result: float. */
  void
  Sum(const Memory & numbers, std::int64_t first, std::int64_t count, Memory & result, std::int64_t slot);

  /** Returns an array of count floats. A kernel writes one of each block of voxels there, and a reduction reads them next. */
  Memory &
  GetPartials(std::int64_t count);

  /** Cuts the first count numbers into at most 64 parts, and returns each part's largest number and sum, for a kernel that joins them. The
   *  result is valid until the next reduction. numbers: float. */
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

  /** Adds to a plan the arrays of reductions, which all have one size, and the array that GetPartials() returns for count numbers.
   *  \param name the beginning of the arrays' names */
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
  /** Reduces the results of count strips, which are in m_Strips, to a few numbers, by calls of reduce(from, strips, to). */
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
