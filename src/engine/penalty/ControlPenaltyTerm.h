// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlPenaltyTerm_h
#define gpureg_ControlPenaltyTerm_h

#include "engine/penalty/ControlPenaltyPasses.h"

#include "gpureg/penalty/ControlPenalty.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpureg
{

/** Adds penalties of control points, which lie on a queue's device, to an optimiser's cost and gradient. Functions enqueue work and do not
 *  wait. They write values to slots of an array on the device, one slot per evaluation, so that all values can be downloaded at once.
 *
 *  \code
 *  ControlPenaltyTerm term(queue);
 *  term.SetGrid(grid);
 *  MemoryPointer values = queue.Allocate(iterations * term.GetValueBytes());
 *  for (std::int64_t i = 0; i < iterations; ++i) // gradient holds the similarity's gradient
 *  {
 *    term.ComputeValueAndGradient(PenaltyKind::BendingEnergy, *points, *values, i, alpha, GradientUse::Adds, *gradient);
 *    …
 *  }
 *  queue.Download(host.data(), *values, iterations * term.GetValueBytes());
 *  const double value = term.ReadValue(host.data() + i * term.GetValueBytes()).value;
 *  \endcode
 *
 *  Every function that enqueues throws Error where the device reports a failure. */
class ControlPenaltyTerm
{
public:
  /** Below this determinant the Jacobian penalty continues as its tangent. */
  static constexpr double LeastDeterminant = 0.01;

  enum class GradientUse
  {
    Replaces,
    Adds
  };

  /** \param scratch an array that the term shares with other terms of the queue, and enlarges where necessary; null for an array of its
   *  own. queue and scratch must outlive the term. */
  explicit ControlPenaltyTerm(Queue & queue, MemoryPointer * scratch = nullptr);
  ~ControlPenaltyTerm();

  /** Sets the grid of all points. Reserves the memory of evaluations, 96 bytes per node, so that evaluations allocate nothing.
   *  \throws BadInputError if the grid has fewer than 3 control points along an axis (except for one along z in two dimensions), an axis of
   *  length 0, axes that do not span space, or steps outside of 1e-6 to 1e6 mm; Error if memory is short. After an error there is no
   *  grid. */
  void
  SetGrid(const ControlGrid & grid);

  /** Sets the grid without reserving anything, and returns the bytes that evaluations need. */
  std::size_t
  Plan(const ControlGrid & grid);

  /** Returns the size of a slot in bytes, a multiple of 8. The size depends on the grid and the kind of device only. */
  std::size_t
  GetValueBytes() const;

  /** Writes a penalty's value to a slot of values, which begins at byte slot·GetValueBytes().
   *  \param points float4[z][y][x]: x, y and z of a displacement in mm, and 0; in two dimensions z is 0
   *  \throws BadInputError if there is no grid */
  void
  ComputeValue(PenaltyKind kind, const Memory & points, Memory & values, std::int64_t slot);

  /** Writes a penalty's value to a slot as ComputeValue() does, and computes the derivative with respect to each displacement. gradient,
   *  float4[z][y][x], is replaced by factor times the derivative, or factor times the derivative is added to it. gradient must not be
   *  points. */
  void
  ComputeValueAndGradient(PenaltyKind    kind,
                          const Memory & points,
                          Memory &       values,
                          std::int64_t   slot,
                          double         factor,
                          GradientUse    use,
                          Memory &       gradient);

  /** Returns the value in a slot that was copied to the host. The grid must not have changed since. A value is not finite if displacements
   *  are not finite, or are too large to be squared. */
  PenaltyValue
  ReadValue(const void * slot) const;

  /** Returns how many bytes on the device the term owns. */
  std::size_t
  GetSize() const
  {
    return SizeOf(m_OwnNodeDerivatives);
  }

private:
  void
  ComputeEnergies(
    PenaltyKind kind, const Memory & points, Memory & values, std::int64_t slot, Memory * nodeDerivatives);

  Queue &                               m_Queue;
  std::unique_ptr<ControlPenaltyPasses> m_Passes;
  kernels::ControlPenaltyArguments      m_Arguments{}; // has no nodes while there is no grid
  MemoryPointer                         m_OwnNodeDerivatives;
  MemoryPointer &                       m_NodeDerivatives;
};

} // namespace gpureg

#endif
