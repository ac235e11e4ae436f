// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JacobianMeasure_h
#define gpureg_JacobianMeasure_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Tells how a deformation changes volumes, over all voxels of its grid. */
struct VolumeChanges
{
  double       smallestDeterminant = 1;
  std::int64_t foldedVoxels = 0; // whose determinant is 0 or less
  double       logDeterminantDeviation = 0;
};

/** Measures the Jacobian determinants of deformations x + u(x): see kernels/field/FieldJacobian.h. */
class JacobianMeasure
{
public:
  /** queue must outlive it. */
  explicit JacobianMeasure(Queue & queue)
    : m_Queue(queue)
  {}

  /** Waits for the numbers of a field, float[3] a voxel, mm. scratch: an array, not the field, which is overwritten. */
  VolumeChanges
  Measure(const kernels::FieldGrid & grid, const Memory & field, FieldReducer & reducer, MemoryPointer & scratch);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Numbers);
  }

private:
  Queue &       m_Queue;
  MemoryPointer m_Numbers; // float: of all voxels together
};

} // namespace gpureg

#endif
