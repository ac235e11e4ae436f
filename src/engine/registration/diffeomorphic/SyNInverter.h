// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNInverter_h
#define gpureg_SyNInverter_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"

#include <array>
#include <cstddef>

namespace gpureg
{

/** Inverts fields as itk::InvertDisplacementFieldImageFilter does for itk::SyNImageRegistrationMethod: at most 20 iterations, to a mean
 *  error of 0.001 voxels or a largest one of 0.1. A side of the registration has a field and its inverse: the field is inverted, from the
 *  last inverse on, and then the inverse, from the field on. The tests are the device's. The host enqueues as many iterations of all
 *  inversions as it expects, and asks once whether they were enough: iterations that find nothing to do would cost their launches. */
class SyNInverter
{
public:
  /** queue must outlive this object. */
  explicit SyNInverter(Queue & queue)
    : m_Queue(queue)
  {}

  /** Sets the grid of the fields. */
  void
  BeginLevel(const kernels::FieldGrid & grid);

  /** Enqueues both inversions of a side.
   *  \param side 0 or 1
   *  \param field,inverse float[3] a voxel, mm; must live until Finish()
   *  \param lengths an array of float, one a voxel, which is overwritten */
  void
  Enqueue(std::size_t side, Memory & field, Memory & inverse, FieldReducer & reducer, Memory & lengths);

  /** Waits for the inversions of the sides that were enqueued on this level, and does what they lack. lengths: as for Enqueue(). */
  void
  Finish(FieldReducer & reducer, Memory & lengths);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_States);
  }

private:
  struct Inversion
  {
    const Memory * field = nullptr;
    Memory *       inverse = nullptr;
    int            expected = 1; // iterations
  };

  void
  Begin(std::size_t number, FieldReducer & reducer, Memory & lengths);

  void
  Iterate(std::size_t number, int iterations, FieldReducer & reducer, Memory & lengths);

  void
  DownloadStates();

  Queue &            m_Queue;
  kernels::FieldGrid m_Grid{};
  // Each side has two inversions behind each other: of its field, and of the field's inverse.
  std::array<Inversion, 4>               m_Inversions;
  std::array<kernels::InversionState, 4> m_Downloaded{};
  MemoryPointer                          m_States; // kernels::InversionState: of each inversion
};

} // namespace gpureg

#endif
