// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlPenaltyPasses_h
#define gpureg_ControlPenaltyPasses_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/penalty/ControlPenalties.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** The penalties of a free-form deformation on one device. src/host, cuda and opencl each have it in a file of this name.
 *  Every member throws Error where the device reports a failure. */
class ControlPenaltyPasses
{
public:
  virtual ~ControlPenaltyPasses() = default;

  /** Pairs of floats that the energies of a grid's nodes are summed up to, by the grid and the kind of device alone. */
  virtual std::int64_t
  CountPartials(const kernels::ControlPenaltyArguments & a) const = 0;

  /** Finds the nodes' energies, and, where stresses is not null, what they have of kernels::CountStresses.
   *  \param points float4 [z][y][x].
   *  \param partials the sum of some nodes' energies and their smallest determinant, float each, from pair firstPartial on. */
  virtual void
  FindEnergies(const kernels::ControlPenaltyArguments & a,
               const Memory &                           points,
               Memory &                                 partials,
               std::int64_t                             firstPartial,
               Memory *                                 stresses) = 0;

  /** The energies' derivative by control points: gradient, float4 [z][y][x], becomes factor times that, or has it added. */
  virtual void
  CollectGradient(const kernels::ControlPenaltyArguments & a,
                  const Memory &                           stresses,
                  float                                    factor,
                  bool                                     adds,
                  Memory &                                 gradient) = 0;
};

GPUREG_DECLARE_PASSES(ControlPenaltyPasses);

} // namespace gpureg

#endif
