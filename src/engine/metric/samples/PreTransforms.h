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

/** Grids before a linear transform that is optimised, on a device: what they move samples by, which stays as long as they and
 *  the samples do, and the sums of forces about where they lead. */
class PreTransforms
{
public:
  using Sums = std::array<double, kernels::ForceSumCount>;

  /** queue must outlive it. */
  explicit PreTransforms(Queue & queue);
  ~PreTransforms();

  /** Sends what is not there yet. grid leads from virtual indices to points.
   *  \param toMoves of displacements in mm, where they are precise, to what Move() makes.
   *  \param isPrecise whether displacements are kept in fixed point, too: see src/kernels/metric/samples/PreciseGrid.h. */
  void
  SetGrids(const ChainedGrid & grid, const MovedSamples & samples, const Matrix3 & toMoves, bool isPrecise);

  /** Enqueues what makes displacement, float[3] a sample in mm, unless it has been made of the same; or, where they are precise,
   *  i64[3] a sample: these, toMoves times. */
  void
  Move(Memory & displacement);

  /** Others write where displacements were. */
  void
  Forget()
  {
    m_IsMade = false;
  }

  /** Enqueues what sums forces, float[3] a sample, about a centre: see src/kernels/metric/samples/ForceSums.h.
   *  \param displacement what Move() has made.
   *  \throws BadInputError if what is affine of the grids has no inverse. */
  void
  SumForces(const Memory & forces, const Memory & displacement, const Vector3 & centre);

  /** The same of forces of other samples than those that are moved. */
  void
  SumForcesAt(const MovedSamples & places, const Memory & forces, const Vector3 & centre);

  /** What they were summed to. */
  Sums
  DownloadSums();

  std::int64_t
  GetDeviceBytes() const;

private:
  kernels::PreTransformArguments
  MakeArguments(const MovedSamples & samples) const;
  void
  MovePrecisely(const MovedSamples & samples, MemoryPointer & precise, MemoryPointer & displacement);
  void
  Sum(const MovedSamples & samples, const Memory & forces, const Memory & displacement, const Vector3 & centre);

  Queue &                             m_Queue;
  std::unique_ptr<PreTransformPasses> m_Passes;
  ChainArrays                         m_Arrays;
  ChainOnDevice                       m_Chain;
  MovedSamples                        m_Samples;
  Matrix3                             m_FromVirtual{}; // what is affine of the grids, from virtual indices to points
  Matrix3                             m_ToMoves{};
  int                                 m_GroupCount = 0;
  MemoryPointer                       m_Partials;     // float [m_GroupCount][2·ForceSumCount]
  MemoryPointer                       m_Precise;      // i64[3] a sample, in units of 2^-32 mm
  MemoryPointer                       m_Displacement; // the same in floats
  MemoryPointer                       m_PrecisePlaces;
  MemoryPointer                       m_PlaceDisplacement;
  // What displacements were made of.
  bool                            m_IsMade = false;
  bool                            m_IsPrecise = false;
  std::uint64_t                   m_VectorStamp = 0;
  std::vector<kernels::ChainPart> m_Parts;
};

} // namespace gpureg

#endif
