// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ChainOnDevice_h
#define gpureg_ChainOnDevice_h

#include "engine/transform/ChainArrays.h"
#include "engine/transform/FoldedChain.h"
#include "engine/runtime/Queue.h"
#include "engine/transform/PlaneRange.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpureg
{

/** A folded chain's parts and their vectors on a device. Those of the first grid may be there in parts: which of its
 *  planes rows of the output need is known exactly, since nothing has been displaced before it. */
class ChainOnDevice
{
public:
  /** queue and arrays, which it fills, must outlive it. */
  ChainOnDevice(Queue & queue, ChainArrays & arrays)
    : m_Queue(queue)
    , m_Arrays(arrays)
  {}

  /** grid must stay as it is while rows are loaded.
   *  \param isPrecise vectors are kept in fixed point: i64[3], see src/kernels/metric/samples/PreciseGrid.h. */
  void
  SetChain(const ChainedGrid & grid, bool isPrecise = false);

  const FoldedChain &
  GetFolded() const
  {
    return m_Folded;
  }

  /** What the first grid takes, 0 without any; the vectors of the others; and the parts. */
  int
  CountPlanes() const;
  std::size_t
  GetPlaneBytes() const;
  std::size_t
  GetOtherVectorBytes() const;
  std::size_t
  GetPartBytes() const;

  /** The planes of the first grid that so many rows at a time need at most. */
  int
  CountPlanesForRows(std::int64_t rowCount) const;

  /** From now on so many planes of the first grid are there at a time, and GetReach is wanted, or not: all vectors are
   *  looked at for it. */
  void
  SetPlanes(int planes, bool wantsReach);

  /** Has on the device what these rows need. */
  void
  Load(const RowRange & rows);

  /** Has on the device how the parts' fields change: DisplacementGrid::jacobians, from one grid's units to the next one's. To be
   *  called after Load, of whole grids. */
  void
  LoadJacobians();

  /** The largest displacement of the loaded parts, by axis, in voxels of the input; infinite if a vector is not
   *  finite. */
  std::array<double, 3>
  GetReach() const;

  /** Another number after vectors have been sent. */
  std::uint64_t
  GetVectorStamp() const
  {
    return m_VectorStamp;
  }

  /** Bytes on the device. */
  std::size_t
  GetSize() const
  {
    return SizeOf(m_Arrays.parts) + SizeOf(m_Arrays.vectors) + SizeOf(m_Arrays.jacobians);
  }

  void
  Release();

private:
  /** Of all grids' vectors; without a key if that of one is not known. */
  Source
  GetSource() const;
  int
  GetPlaneAxis() const;
  std::int64_t
  CountVectorsOfPlane() const;
  std::size_t
  GetVectorBytes() const;
  PlaneRange
  FindPlanesOf(const RowRange & rows) const;
  void
  UploadParts();
  /** Vectors first … + count - 1 of a part's grid, to the array's from target on. */
  void
  UploadVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count);

  Queue &                            m_Queue;
  ChainArrays &                      m_Arrays;
  const ChainedGrid *                m_Grid = nullptr;
  FoldedChain                        m_Folded;
  ResidentSource                     m_Resident; // of the vectors
  bool                               m_HasVectors = false;
  std::uint64_t                      m_VectorStamp = 0;
  bool                               m_HasParts = false;
  bool                               m_HasJacobians = false;
  bool                               m_IsPrecise = false;
  bool                               m_WantsReach = false;
  int                                m_Planes = 0;
  PlaneRange                         m_Loaded;
  std::vector<std::array<double, 3>> m_Largest; // component of a part's vectors
};

} // namespace gpureg

#endif
