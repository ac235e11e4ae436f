// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUConstantMemory_h
#define itkGPUConstantMemory_h

#include "GPURegistrationExport.h"

#include "gpureg/core/ParallelFor.h"
#include "gpureg/image/Source.h"

#include "itkMacro.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Names memory that nobody changes, on this thread and as long as an object of this class lives: images and points that ITK's code made
 *  and hands out as constant. This module's classes then need no proof that it is unchanged. Objects end in the reverse of the order in
 *  which they begin. */
class GPURegistration_EXPORT ConstantMemory
{
public:
  ConstantMemory();
  ~ConstantMemory();
  ITK_DISALLOW_COPY_AND_MOVE(ConstantMemory);

  /** Finds the memory of an object, which the function keeps alive, so that the memory has no other use. */
  using Finder = std::function<gpureg::MemoryRange()>;

  /** Adds the memory that find() returns. */
  void
  Add(const Finder & find);

  /** Computes a hash of what was added, for HasChanged(). */
  void
  Seal(const gpureg::ParallelFor & parallelFor);

  /** Returns true if what was added before Seal() has been changed all the same, or is elsewhere. */
  bool
  HasChanged(const gpureg::ParallelFor & parallelFor) const;

  /** Removes all memory that was added. */
  void
  Clear();

  /** Returns the ranges of memory that are not known to be constant. */
  static std::vector<gpureg::MemoryRange>
  GetVariable(const std::vector<gpureg::MemoryRange> & memory);

private:
  std::vector<gpureg::MemoryRange> m_Ranges;
  std::vector<Finder>              m_Finders; // one for each range
  std::uint64_t                    m_Hash{ 0 };
  const ConstantMemory * const     m_Before; // what this thread had before
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
