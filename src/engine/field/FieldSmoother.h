// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldSmoother_h
#define gpureg_FieldSmoother_h

#include "engine/core/Range.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/filter/RecursiveFilter.h"
#include "engine/runtime/Queue.h"

#include <cstddef>

namespace gpureg
{

/** Says what smoothing makes of a field's border. */
enum class FieldBorder
{
  /** The border is smoothed as if the field continued beyond it. */
  Smoothed,
  /** The border is set to 0, and a part of the field stays unsmoothed where sigma is short, as itk::SyNImageRegistrationMethod has it: see
   *  ComputeUnsmoothedShare(). */
  Zero
};

/** Says how a Gaussian is computed. */
enum class GaussianKind
{
  /** By sums of neighbours with the weights of a discrete Gaussian, whose time grows with sigma. */
  Discrete,
  /** By recursions along lines (Deriche 1993), forwards and backwards, whose time does not: as itk::RecursiveGaussianImageFilter. It is for
   *  devices with double precision, and for FieldBorder::Smoothed. */
  Recursive
};

/** Smooths fields by a Gaussian, which continues the field beyond the grid's edge. */
class FieldSmoother
{
public:
  /** queue must outlive this object. */
  explicit FieldSmoother(Queue & queue)
    : m_Queue(queue)
    , m_Recursion(queue)
  {}

  /** Sets the Gaussian's standard deviation, in voxels, and the grid, all planes of which are measured. 0: Smooth() copies the field,
   *  its border included. */
  void
  Set(double                     sigma,
      const kernels::FieldGrid & grid,
      FieldBorder                border = FieldBorder::Smoothed,
      GaussianKind               kind = GaussianKind::Discrete);

  /** Makes SmoothAndMeasure() measure these planes alone: see LocateBlocks(). */
  void
  SetMeasuredPlanes(const Range & planes)
  {
    m_MeasuredPlanes = planes;
  }

  /** Says whether a part of the field stays unsmoothed, which is read when the rest is done. */
  bool
  HasUnsmoothedShare() const
  {
    return m_Smoothing.kept > 0;
  }

  /** Enqueues the smoothing of field into smoothed. first, second: arrays of the same size, which are overwritten: first is not field, and
   *  second neither first nor smoothed. smoothed may be field or first; second may be field, unless the border is zero. */
  void
  Smooth(const Memory & field, Memory & first, Memory & second, Memory & smoothed);

  /** Enqueues the smoothing as Smooth() does, and writes the length of the longest smoothed vector, in voxels, to longest[0]. longest:
   *  float. */
  void
  SmoothAndMeasure(
    const Memory & field, Memory & first, Memory & second, Memory & smoothed, FieldReducer & reducer, Memory & longest);

  /** Returns the bytes that recursions along the axes of a grid store. */
  std::size_t
  CountStateBytes(const kernels::FieldGrid & grid) const;

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Weights) + m_Recursion.GetSize();
  }

private:
  void
  Enqueue(const kernels::FieldSmoothing & a,
          const Memory &                  field,
          Memory &                        first,
          Memory &                        second,
          Memory &                        smoothed,
          Memory *                        parts);

  /** Enqueues the recursions along all axes, in place. */
  void
  Recurse(Memory & field);

  Queue &                 m_Queue;
  RecursiveFilter         m_Recursion;
  GaussianKind            m_Kind = GaussianKind::Discrete;
  double                  m_Sigma = 0;
  kernels::FieldGrid      m_Grid{};
  Range                   m_MeasuredPlanes;
  kernels::FieldSmoothing m_Smoothing{};
  MemoryPointer           m_Weights; // float: of all axes, behind each other
};

} // namespace gpureg

#endif
