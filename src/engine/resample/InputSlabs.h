// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_InputSlabs_h
#define gpureg_InputSlabs_h

#include "engine/filter/RecursiveFilter.h"
#include "engine/resample/ResamplePlan.h"

#include "gpureg/resample/Resampler.h"

#include <array>
#include <vector>

namespace gpureg
{

/** The input of a resampler on its device, or its B-spline coefficients: whole, or the slabs of it that were used last,
 *  one or two: the next one goes up while the last is read. What is there stays, for as long as it is asked for under
 *  the same key.
 *
 *  The coefficients of an input that is cut are made once, slab by slab along x and y and in columns of slabs along
 *  the cut axis, and kept on the host: the same to the bit, since a line's recursion knows nothing of the others. */
class InputSlabs
{
public:
  /** queue must outlive it. */
  explicit InputSlabs(Queue & queue);

  /** The slowest axis that has more than one plane, whole, with what interpolation reads around a slab. */
  static SlabCut
  MakeWholeCut(const ResampleInput & input);

  /** Whether the device reads an input where it is. */
  bool
  IsThere(const ResampleInput & input) const;

  /** Bytes beside a slab, of at most so many, that making coefficients takes; and those that a slab has at least. */
  std::size_t
  GetStateBytes(const ResampleInput & input, std::size_t most) const;
  static std::size_t
  GetLeastSlabBytes(const ResampleInput & input);

  /** Says what is loaded from now on, as a plan has it. input must stay as it is while slabs are loaded. */
  void
  SetInput(const ResampleInput & input, const ResamplePlan & plan);

  /** Has a slab of it on the device, in GetMemory(), for what is enqueued until MarkRead. */
  void
  Load(int slab);
  void
  MarkRead()
  {
    m_Queue.MarkRead(static_cast<int>(m_Loaded.GetLast()));
  }

  /** The slabs that are there. */
  const LoadedSlabs &
  GetLoaded() const
  {
    return m_Loaded;
  }

  const Memory &
  GetMemory() const
  {
    return m_There != nullptr ? *m_There : *m_Buffers[m_Loaded.GetLast()];
  }

  /** What slabs are in; nothing where the input is read where it is. */
  const std::array<MemoryPointer, 2> &
  GetBuffers() const
  {
    return m_Buffers;
  }
  /** Bytes on the device beside that. */
  std::size_t
  GetStateSize() const
  {
    return m_Recursion.GetSize();
  }

  void
  Release();

  /** Whether the values that SetInput was given last had this key. */
  bool
  Holds(const Key & key) const;

  /** Bytes of the host that are kept beside the device's. */
  std::size_t
  GetHostSize() const
  {
    return m_Coefficients.size();
  }

private:
  /** The input's memory as the device's own; null where it is not. */
  MemoryPointer
  Wrap(const ResampleInput & input) const;
  void
  MakeCoefficients();
  /** Planes of an axis of a volume go up, are filtered along other axes, and come back. */
  void
  FilterPlanes(int axis, const PlaneRange & planes, const std::vector<int> & filtered, const Filler & values);

  Queue &                      m_Queue;
  RecursiveFilter              m_Recursion;
  const ResampleInput *        m_Input = nullptr;
  ResidentSource               m_Resident;
  SlabCut                      m_Cut;
  LoadedSlabs                  m_Loaded;
  std::array<MemoryPointer, 2> m_Buffers;
  MemoryPointer                m_Wrapped;         // the input's own memory, on the host
  const Memory *               m_There = nullptr; // where it is read as it is; else null
  /** float or double, of an input that is cut. */
  std::vector<char> m_Coefficients;
};

} // namespace gpureg

#endif
