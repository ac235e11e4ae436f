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

/** Stores the input of a resampler, or its B-spline coefficients, on the device: as a whole, or as the one or two slabs that were used
 *  last. With two buffers, the next slab is uploaded while the last one is read. Loaded slabs stay as long as the input's source is proved
 *  unchanged.
 *
 *  The coefficients of an input that is cut are computed once and stored on the host: first slabs are filtered along the axes that lie in
 *  the cut's planes, then slabs of the axis before are filtered along the cut axis. The coefficients have the same bits as those of a whole
 *  input, because the recursion along a line does not depend on other lines. */
class InputSlabs
{
public:
  /** queue must outlive this object. */
  explicit InputSlabs(Queue & queue);

  /** Returns a cut into one slab along the slowest axis that has more than one plane. The margin is what interpolation reads around a
   *  slab. */
  static SlabCut
  MakeWholeCut(const ResampleInput & input);

  /** Returns true if the device reads the input's memory in place. */
  bool
  IsThere(const ResampleInput & input) const;

  /** Returns how many bytes the states of the coefficients' recursion take beside a slab: at most most bytes, but enough for one line. */
  std::size_t
  GetStateBytes(const ResampleInput & input, std::size_t most) const;
  static std::size_t
  GetLeastSlabBytes(const ResampleInput & input);

  /** Sets the input and the plan of the slabs that Load() uploads. input must not change while slabs are loaded. */
  void
  SetInput(const ResampleInput & input, const ResamplePlan & plan);

  /** Uploads a slab of the input to GetMemory(), unless it is on the device. The slab stays for the work that is enqueued until
   *  MarkRead(). */
  void
  Load(int slab);
  void
  MarkRead()
  {
    m_Queue.MarkRead(static_cast<int>(m_Loaded.GetLast()));
  }

  /** Returns which slabs are on the device. */
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

  /** Returns the buffers of slabs; they are null if the input is read in place. */
  const std::array<MemoryPointer, 2> &
  GetBuffers() const
  {
    return m_Buffers;
  }
  /** Returns the number of bytes on the device beside the buffers. */
  std::size_t
  GetStateSize() const
  {
    return m_Recursion.GetSize();
  }

  void
  Release();

  /** Returns true if the source that SetInput() received last begins with this key. */
  bool
  Holds(const Key & key) const;

  /** Returns the number of bytes on the host: the coefficients of a cut input. */
  std::size_t
  GetHostSize() const
  {
    return m_Coefficients.size();
  }

private:
  /** Returns the input's memory as memory of the device, or null where it is not. */
  MemoryPointer
  Wrap(const ResampleInput & input) const;
  void
  MakeCoefficients();
  /** Uploads planes of a volume along an axis, filters them along other axes, and downloads them to m_Coefficients. */
  void
  FilterPlanes(int axis, const PlaneRange & planes, const std::vector<int> & filtered, const Filler & values);

  Queue &                      m_Queue;
  RecursiveFilter              m_Recursion;
  const ResampleInput *        m_Input = nullptr;
  ResidentSource               m_Resident;
  SlabCut                      m_Cut;
  LoadedSlabs                  m_Loaded;
  std::array<MemoryPointer, 2> m_Buffers;
  MemoryPointer                m_Wrapped;         // the input's own memory, where the host is the device
  const Memory *               m_There = nullptr; // the memory that is read in place, or null
  /** float or double; the coefficients of an input that is cut. */
  std::vector<char> m_Coefficients;
};

} // namespace gpureg

#endif
