// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DisplacementArray_h
#define gpureg_DisplacementArray_h

#include "engine/runtime/Transfer.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace gpureg
{

/** The array of the samples' displacements. Displacements are computed again for each evaluation, so other work uses the memory in between:
 *  forces overwrite the displacements that they were computed from, and a level's images are scaled there. The array knows what it holds.
 *  A function that expects something else throws std::logic_error. */
class DisplacementArray
{
public:
  /** Makes the array the given number of bytes large. It holds nothing then. */
  void
  Reserve(Queue & queue, std::size_t bytes)
  {
    m_Content = Content::Nothing;
    ReserveExactly(queue, m_Memory, bytes);
  }

  /** Makes the array hold count displacements of elementSize bytes, and uploads them. */
  void
  Upload(Queue & queue, std::size_t elementSize, std::int64_t count, const Filler & filler)
  {
    m_Content = Content::Nothing;
    UploadExactly(queue, m_Memory, elementSize, count, filler);
    m_Content = Content::Displacements;
  }

  /** Returns the reserved memory for work that computes displacements. The array holds them from now on. */
  Memory &
  FillWithDisplacements()
  {
    m_Content = Content::Displacements;
    return *m_Memory;
  }

  const Memory &
  GetDisplacements() const
  {
    return this->Get(Content::Displacements);
  }

  /** Returns the memory for work that reads each sample's displacement and then overwrites it by the sample's force. The array holds forces
   *  from now on. */
  Memory &
  OverwriteByForces()
  {
    this->Get(Content::Displacements);
    m_Content = Content::Forces;
    return *m_Memory;
  }

  Memory &
  GetForces() const
  {
    return this->Get(Content::Forces);
  }

  /** Returns the memory for work that needs some until the next displacements are computed. The array holds nothing then. */
  MemoryPointer &
  Borrow()
  {
    m_Content = Content::Nothing;
    return m_Memory;
  }

  /** Returns the memory as an argument of kernels, which read it only if their samples are displaced; may be null. */
  const MemoryPointer &
  GetMemory() const
  {
    return m_Memory;
  }

private:
  enum class Content
  {
    Nothing,
    Displacements,
    Forces
  };

  Memory &
  Get(Content content) const
  {
    if (m_Content != content)
    {
      throw std::logic_error(content == Content::Forces ? "an array of samples holds no forces: compute them first"
                                                        : "an array of samples holds no displacements: move the "
                                                          "samples first");
    }
    return *m_Memory;
  }

  MemoryPointer m_Memory;
  Content       m_Content = Content::Nothing;
};

} // namespace gpureg

#endif
