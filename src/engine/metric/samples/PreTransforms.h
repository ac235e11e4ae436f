// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PreTransforms_h
#define gpureg_PreTransforms_h

#include "engine/transform/ChainArrays.h"
#include "engine/transform/ChainOnDevice.h"
#include "engine/metric/samples/ControlPoints.h"
#include "engine/metric/samples/PreTransformPasses.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpureg
{

/** Applies the grids before an optimised linear transform, on a device. Stores the samples' displacements as long as neither the grids nor
 *  the samples change, and sums forces about the displaced samples. */
class PreTransforms
{
public:
  using Sums = std::array<double, kernels::ForceSumCount>;

  /** queue must outlive this object. */
  explicit PreTransforms(Queue & queue);
  ~PreTransforms();

  /** Uploads the grids, unless they are on the device. grid maps virtual indices to points.
   *  \param toMoves maps fixed-point displacements in mm to the units that Move() writes
   *  \param isFixedPoint true if displacements are stored in fixed point, too; see src/kernels/metric/samples/FixedPointGrid.h */
  void
  SetGrids(const ChainedGrid & grid, const MovedSamples & samples, const Matrix3 & toMoves, bool isFixedPoint);

  /** Enqueues the computation of displacements, unless displacement holds them already: float[3], one per sample, in mm. In fixed point
   *  they are i64[3], one per sample, multiplied by toMoves. */
  void
  Move(Memory & displacement);

  /** Declares that other work writes to the array of displacements, so that Move() computes them again. */
  void
  Forget()
  {
    m_IsMade = false;
  }

  /** Enqueues the sums of forces about a centre; see src/kernels/metric/samples/ForceSums.h. forces: float[3], one per sample.
   *  \param displacement the array that Move() filled
   *  \throws BadInputError if the affine part of the grids has no inverse */
  void
  SumForces(const Memory & forces, const Memory & displacement, const Vector3 & centre);

  /** Enqueues the sums of forces at other places than the moved samples. */
  void
  SumForcesAt(const MovedSamples & places, const Memory & forces, const Vector3 & centre);

  /** Enqueues the sums of forces about samples that no grid moves. */
  void
  SumForcesUnmoved(const MovedSamples & samples, const Memory & forces, const Vector3 & centre);

  /** Downloads the sums. */
  Sums
  DownloadSums();

  std::int64_t
  GetDeviceBytes() const;

private:
  kernels::PreTransformArguments
  MakeArguments(const MovedSamples & samples) const;
  void
  MoveInFixedPoint(const MovedSamples & samples, MemoryPointer & fixedPointMoves, MemoryPointer & displacement);
  void
  MoveInFloats(const MovedSamples & samples, Memory & displacement);
  /** \param displacement null if no grid moves the samples */
  void
  Sum(const MovedSamples & samples, const Memory & forces, const Memory * displacement, const Vector3 & centre);

  Queue &                             m_Queue;
  std::unique_ptr<PreTransformPasses> m_Passes;
  ChainArrays                         m_Arrays;
  ChainOnDevice                       m_Chain;
  MovedSamples                        m_Samples;
  Matrix3                             m_FromVirtual{}; // the affine part of the grids, from virtual indices to points
  Matrix3                             m_ToMoves{};
  int                                 m_GroupCount = 0;
  MemoryPointer                       m_Partials;        // float[m_GroupCount][2·ForceSumCount]
  MemoryPointer                       m_FixedPointMoves; // i64[3], one per sample, in units of 2^-32 mm
  MemoryPointer                       m_Displacement;    // m_FixedPointMoves as floats
  MemoryPointer                       m_PlacesInFixedPoint;
  MemoryPointer                       m_PlaceDisplacement;
  // The state from which the stored displacements were computed.
  bool                            m_IsMade = false;
  bool                            m_IsFixedPoint = false;
  std::uint64_t                   m_VectorStamp = 0;
  std::vector<kernels::ChainPart> m_Parts;
};

} // namespace gpureg

#endif
