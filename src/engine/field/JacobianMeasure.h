// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JacobianMeasure_h
#define gpureg_JacobianMeasure_h

#include "engine/core/Range.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/Queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gpureg
{

/** Describes how a deformation changes volumes, over all voxels of its grid. */
struct VolumeChanges
{
  double       smallestDeterminant = 1;
  std::int64_t foldedVoxels = 0; // whose determinant is 0 or less
  double       logDeterminantDeviation = 0;
};

/** Holds sums over Jacobian determinants. Sums of two regions are added; `mostNegative` is their larger one. */
struct JacobianSums
{
  double voxels = 0;
  double folded = 0;
  double logarithms = 0;
  double squaresOfLogarithms = 0;
  double mostNegative = -std::numeric_limits<double>::infinity(); // minus the smallest determinant

  VolumeChanges
  Summarize() const;
};

/** Measures the Jacobian determinants of deformations x + u(x): see kernels/field/FieldJacobian.h. */
class JacobianMeasure
{
public:
  /** queue must outlive this object. */
  explicit JacobianMeasure(Queue & queue)
    : m_Queue(queue)
  {}

  /** Waits for the numbers of a field, float[3] a voxel, mm. scratch: an array, not the field, which is overwritten; its size limits
   *  how many voxels are described at a time. */
  VolumeChanges
  Measure(const kernels::FieldGrid & grid, const Memory & field, FieldReducer & reducer, MemoryPointer & scratch)
  {
    return this->Add(grid, { 0, kernels::CountFieldVoxels(&grid) }, field, reducer, scratch).Summarize();
  }

  /** Waits for the sums over a range of a grid's voxels; otherwise as Measure(). */
  JacobianSums
  Add(const kernels::FieldGrid & grid,
      const Range &              range,
      const Memory &             field,
      FieldReducer &             reducer,
      MemoryPointer &            scratch);

  /** Returns the bytes that Measure() reserves in scratch for a field of so many voxels: see CountMeasureBytes(). */
  static std::size_t
  CountScratchBytes(std::int64_t voxels);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Numbers);
  }

private:
  using Numbers = std::array<float, kernels::JacobianNumbers>;

  /** Returns the sums, and the maximum, of the numbers of JacobianNumbers over so many voxels from the first one on. */
  Numbers
  Describe(const kernels::FieldGrid & grid,
           const Memory &             field,
           std::int64_t               first,
           std::int64_t               voxels,
           FieldReducer &             reducer,
           Memory &                   scratch);

  Queue &       m_Queue;
  MemoryPointer m_Numbers; // float: of all voxels together
};

} // namespace gpureg

#endif
