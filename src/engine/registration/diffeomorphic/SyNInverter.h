// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNInverter_h
#define gpureg_SyNInverter_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"

#include <cstddef>

namespace gpureg
{

/** Inverts fields as itk::InvertDisplacementFieldImageFilter does for itk::SyNImageRegistrationMethod: at most 20 iterations, to a mean
 *  error of 0.001 voxels or a largest one of 0.1. The test is the device's. The host enqueues as many iterations as it expects, and then
 *  asks whether they were enough: iterations that find nothing to do would cost their launches. */
class SyNInverter
{
public:
  /** queue must outlive it. */
  explicit SyNInverter(Queue & queue)
    : m_Queue(queue)
  {}

  /** Improves inverse, which holds the estimate to begin with, and waits. field, inverse: float[3] a voxel, mm; lengths: an array of float,
   *  one a voxel, which is overwritten.
   *  \param expected how many iterations to enqueue at first
   *  \return the number of iterations */
  int
  Invert(const kernels::FieldGrid & grid,
         FieldReducer &             reducer,
         const Memory &             field,
         Memory &                   inverse,
         Memory &                   lengths,
         int                        expected);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_State) + SizeOf(m_Found);
  }

private:
  Queue &       m_Queue;
  MemoryPointer m_State; // kernels::InversionState
  MemoryPointer m_Found; // float[2]: the largest error and the sum of all
};

} // namespace gpureg

#endif
