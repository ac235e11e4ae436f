// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNInverter_h
#define gpureg_SyNInverter_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/registration/diffeomorphic/SideSlab.h"

#include <array>
#include <cstddef>

namespace gpureg
{

/** Inverts fields as itk::InvertDisplacementFieldImageFilter does for itk::SyNImageRegistrationMethod: at most 20 iterations, to a mean
 *  error of 0.001 voxels or a largest one of 0.1. A side of the registration has a field and its inverse: the field is inverted, from the
 *  last inverse on, and then the inverse, from the field on. The tests are the device's: the host enqueues as many iterations of all
 *  inversions as it expects, and asks once whether they were enough: iterations that find nothing to do would cost their launches. Where
 *  several devices move a side, each iteration waits for the errors of all, and the host judges them. */
class SyNInverter
{
public:
  /** workspace and slab must outlive this object. \param slab the planes that this device inverts */
  SyNInverter(SchemeWorkspace & workspace, SideSlab & slab)
    : m_Queue(*workspace.queue)
    , m_Workspace(workspace)
    , m_Slab(slab)
  {}

  /** Begins the level that the slab has begun. */
  void
  BeginLevel();

  /** Enqueues both inversions of a side. Where the level is cut, they have ended when this returns, and the side's other devices were
   *  waited for.
   *  \param side 0 or 1
   *  \param field,inverse must live until Finish()
   *  Overwrites the workspace's first array. */
  void
  Enqueue(std::size_t side, SideField & field, SideField & inverse);

  /** Waits for the inversions of the sides that were enqueued on this level, and does what they lack. Overwrites the workspace's first
   *  array. */
  void
  Finish();

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_States) + SizeOf(m_Errors);
  }

private:
  struct Inversion
  {
    SideField * field = nullptr;
    SideField * inverse = nullptr;
    int         expected = 1; // iterations
  };

  /** Clears the state of an inversion, or makes it follow that of the inversion before. */
  void
  ClearState(std::size_t number);

  void
  Begin(std::size_t number);

  void
  Iterate(std::size_t number, int iterations);

  /** Inverts a field whose planes several devices have. Waits for them. */
  void
  InvertTogether(std::size_t number);

  /** Enqueues the parts of an iteration: the errors' lengths, which go to the workspace's first array; whether it is the last one; its
   *  step. */
  void
  MeasureErrors(std::size_t number);
  void
  Judge(std::size_t number);
  void
  TakeStep(std::size_t number);

  /** Does what Judge() does from the errors of all slabs, on the host. Waits for the side's other devices. */
  void
  JudgeTogether(std::size_t number);

  kernels::InversionRule
  MakeRule(int parts) const;

  void
  UploadState(std::size_t number);

  void
  DownloadStates();

  Queue &           m_Queue;
  SchemeWorkspace & m_Workspace;
  SideSlab &        m_Slab;
  // Each side has two inversions behind each other: of its field, and of the field's inverse.
  std::array<Inversion, 4>               m_Inversions;
  std::array<kernels::InversionState, 4> m_StatesOnHost{};
  MemoryPointer                          m_States; // kernels::InversionState: of each inversion
  MemoryPointer                          m_Errors; // float: the largest error of the own planes, and the sum
};

} // namespace gpureg

#endif
