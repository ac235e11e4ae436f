// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RecursiveFilter_h
#define gpureg_RecursiveFilter_h

#include "engine/filter/LinePasses.h"

#include "gpureg/filter/RecursiveGaussian.h"

#include <memory>

namespace gpureg
{

/** Applies recursive filters along the axes of a volume on a queue's device, in place. The volume is
 *  real[size[2]][size[1]][size[0]][components], float or double by the precision; arithmetic is in double precision.
 *
 *  \code
 *  RecursiveFilter(queue).MakeSplineCoefficients(volume, size, 1, Precision::Single, 3);
 *  \endcode
 *
 *  Members enqueue their work and do not wait. Every member throws Error where memory is short, or the device has no doubles. */
class RecursiveFilter
{
public:
  static constexpr std::size_t DefaultMaximumSize = std::size_t{ 256 } << 20;

  /** queue must outlive the filter. */
  explicit RecursiveFilter(Queue & queue);
  ~RecursiveFilter();

  /** Applies a recursive Gaussian along one axis. */
  void
  ApplyGaussian(Memory &                  volume,
                const Size &              size,
                int                       components,
                Precision                 precision,
                int                       axis,
                const RecursiveGaussian & weights);

  /** Replaces samples by the coefficients of the spline that interpolates them (Unser 1999), along every axis of more than one voxel, as
   *  itk::BSplineDecompositionImageFilter does. Orders 0 and 1 leave the volume unchanged.
   *  \throws Error unless order is 0 to 5 */
  void
  MakeSplineCoefficients(Memory & volume, const Size & size, int components, Precision precision, int order);

  /** Replaces samples by spline coefficients along one axis. */
  void
  MakeSplineCoefficients(Memory & volume, const Size & size, int components, Precision precision, int order, int axis);

  /** Limits the memory for the states of lines; lines are filtered in as many launches as the limit requires. One line of a spline needs
   *  GetSplineLineBytes(). */
  void
  SetMaximumSize(std::size_t bytes)
  {
    m_MaximumSize = bytes;
    if (GetSize() > bytes)
    {
      Release();
    }
  }
  std::size_t
  GetSplineLineBytes(int length) const;

  /** Returns the bytes of the states that ApplyGaussian() stores for later calls. */
  std::size_t
  CountGaussianBytes(const Size & size, int components, int axis) const;

  /** Returns how many bytes are stored for later calls. */
  std::size_t
  GetSize() const
  {
    return SizeOf(m_States);
  }

  /** Frees the states. */
  void
  Release()
  {
    m_States.reset();
  }

private:
  /** Returns how many lines are filtered by one launch. */
  std::int64_t
  ComputeBatch(int kind, const LineShape & shape) const;
  void
  Recurse(int kind, kernels::RecursionArguments & a, const LineShape & shape, Precision precision, Memory & volume);

  Queue &                     m_Queue;
  std::unique_ptr<LinePasses> m_Passes;
  MemoryPointer               m_States;
  std::size_t                 m_MaximumSize = DefaultMaximumSize;
};

} // namespace gpureg

#endif
