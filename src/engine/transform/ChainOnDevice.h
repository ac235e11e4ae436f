// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ChainOnDevice_h
#define gpureg_ChainOnDevice_h

#include "engine/transform/ChainArrays.h"
#include "engine/transform/MergedChain.h"
#include "engine/runtime/Queue.h"
#include "engine/transform/PlaneRange.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpureg
{

/** Stores the parts of a merged chain and their vectors on a device. The first grid may be loaded plane by plane: no displacement comes
 *  before it, so the planes that rows of the output need are known exactly. */
class ChainOnDevice
{
public:
  /** queue and arrays must outlive this object, which fills arrays. */
  ChainOnDevice(Queue & queue, ChainArrays & arrays)
    : m_Queue(queue)
    , m_Arrays(arrays)
  {}

  /** Sets the chain. grid must not change while rows are loaded.
   *  \param isFixedPoint stores vectors in fixed point, as i64[3]; see src/kernels/metric/samples/FixedPointGrid.h */
  void
  SetChain(const ChainedGrid & grid, bool isFixedPoint = false);

  const MergedChain &
  GetMerged() const
  {
    return m_Merged;
  }

  /** Returns the number of planes of the first grid, or 0 if there is no grid. */
  int
  CountPlanes() const;
  std::size_t
  GetPlaneBytes() const;
  std::size_t
  GetOtherVectorBytes() const;
  std::size_t
  GetPartBytes() const;

  /** Returns the largest number of planes of the first grid that rowCount rows at a time need. */
  int
  CountPlanesForRows(std::int64_t rowCount) const;

  /** Sets how many planes of the first grid are loaded at a time. If wantsReach is true, all vectors are searched for the largest ones when
   *  they are uploaded, as GetReach() requires. */
  void
  SetPlanes(int planes, bool wantsReach);

  /** Uploads what the rows need, unless it is on the device already. The vectors of a field on the device are packed there. */
  void
  Load(const RowRange & rows);

  /** Uploads the Jacobian of each part's field, DisplacementGrid::jacobians, converted from the units of its grid to those of the next one.
   *  To be called after Load(); the grids must be loaded as a whole. */
  void
  LoadJacobians();

  /** Returns the largest displacement of the loaded parts along each axis, in voxels of the input. It is infinite if a vector is not
   *  finite. */
  std::array<double, 3>
  GetReach() const;

  /** Returns a number that changes whenever vectors are uploaded. */
  std::uint64_t
  GetVectorStamp() const
  {
    return m_VectorStamp;
  }

  /** Returns the number of bytes on the device. */
  std::size_t
  GetSize() const
  {
    return SizeOf(m_Arrays.parts) + SizeOf(m_Arrays.vectors) + SizeOf(m_Arrays.jacobians);
  }

  void
  Release();

private:
  /** Returns the source of all grids' vectors; without a key if one grid's source has none. */
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
  /** Uploads vectors first … first + count - 1 of a part's grid to the array of vectors, beginning at vector target. */
  void
  UploadVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count);
  /** Makes the same of a field on the device. */
  void
  PackVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count);
  /** Writes the vectors of a part's grid to the array of vectors by one or the other. */
  void
  MakeVectors(std::size_t part, std::int64_t target, std::int64_t first, std::int64_t count);

  Queue &                            m_Queue;
  ChainArrays &                      m_Arrays;
  const ChainedGrid *                m_Grid = nullptr;
  MergedChain                        m_Merged;
  ResidentSource                     m_Resident; // of the vectors
  bool                               m_HasVectors = false;
  std::uint64_t                      m_VectorStamp = 0;
  bool                               m_HasParts = false;
  bool                               m_HasJacobians = false;
  bool                               m_IsFixedPoint = false;
  bool                               m_WantsReach = false;
  int                                m_Planes = 0;
  PlaneRange                         m_Loaded;
  std::vector<std::array<double, 3>> m_Largest; // the largest component of each part's vectors, per axis
};

} // namespace gpureg

#endif
