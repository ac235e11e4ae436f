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

/** Penalties of control points that lie on a queue's device: terms of what an optimiser goes down along. Work is enqueued, and
 *  nothing waited for. Values are left in an array of slots on the device, one for each evaluation: they come down when they are
 *  wanted, all at once.
 *
 *  \code
 *  ControlPenaltyTerm term(queue);
 *  term.SetGrid(grid);
 *  MemoryPointer values = queue.Allocate(iterations * term.GetValueBytes());
 *  for (std::int64_t i = 0; i < iterations; ++i) // the similarity's gradient is there already
 *  {
 *    term.FindValueAndGradient(PenaltyKind::BendingEnergy, *points, *values, i, alpha, GradientUse::Adds, *gradient);
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
  /** Below it the Jacobian's penalty goes on as its tangent. */
  static constexpr double LeastDeterminant = 0.01;

  enum class GradientUse
  {
    Replaces,
    Adds
  };

  /** \param scratch an array that it shares with other terms of the queue, and makes larger where it must; null for its own. Both must
   *  outlive it. */
  explicit ControlPenaltyTerm(Queue & queue, MemoryPointer * scratch = nullptr);
  ~ControlPenaltyTerm();

  /** The grid of all points from now on. Reserves what evaluations need, 96 bytes a node, so that they allocate nothing.
   *  \throws BadInputError if it has fewer than 3 control points along an axis (but for z's one in two dimensions), an axis
   *  without a length, axes that do not span space, or steps beyond 1e-6 to 1e6 mm; Error if there is no memory. After that
   *  there is no grid. */
  void
  SetGrid(const ControlGrid & grid);

  /** Of a slot, by the grid and the kind of device alone; a multiple of 8. */
  std::size_t
  GetValueBytes() const;

  /** Leaves a penalty's value in a slot of values, which begins at byte slot·GetValueBytes().
   *  \param points float4 [z][y][x]: x, y and z of a displacement in mm, z's 0 in two dimensions, and 0.
   *  \throws BadInputError if there is no grid. */
  void
  FindValue(PenaltyKind kind, const Memory & points, Memory & values, std::int64_t slot);

  /** The same, and gradient, float4 [z][y][x], becomes factor times the penalty's derivative by each displacement, or has it
   *  added. gradient must not be points. */
  void
  FindValueAndGradient(PenaltyKind    kind,
                       const Memory & points,
                       Memory &       values,
                       std::int64_t   slot,
                       double         factor,
                       GradientUse    use,
                       Memory &       gradient);

  /** From a slot that was copied to the host; while the grid is the same. What is not finite came of displacements that are
   *  not, or are too large to be squared. */
  PenaltyValue
  ReadValue(const void * slot) const;

  /** Bytes of its own that are held on the device. */
  std::size_t
  GetSize() const
  {
    return SizeOf(m_OwnStresses);
  }

private:
  void
  FindEnergies(PenaltyKind kind, const Memory & points, Memory & values, std::int64_t slot, Memory * stresses);

  Queue &                               m_Queue;
  std::unique_ptr<ControlPenaltyPasses> m_Passes;
  kernels::ControlPenaltyArguments      m_Arguments{}; // of no nodes: there is no grid
  MemoryPointer                         m_OwnStresses;
  MemoryPointer &                       m_Stresses;
};

} // namespace gpureg

#endif
