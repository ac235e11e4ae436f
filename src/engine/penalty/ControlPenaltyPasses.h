// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlPenaltyPasses_h
#define gpureg_ControlPenaltyPasses_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Determinant.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/penalty/ControlPenalties.h"
#include "kernels/penalty/ControlPenaltyGradient.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** Computes the penalties of a free-form deformation on one device. Files of this name implement it: src/host for the host, src/engine for
 *  all other devices. Every member throws Error where the device reports a failure. */
class ControlPenaltyPasses
{
public:
  virtual ~ControlPenaltyPasses() = default;

  /** Returns how many pairs of floats ComputeEnergies() writes. The number depends on the grid and the kind of device only. */
  virtual std::int64_t
  CountPartials(const kernels::ControlPenaltyArguments & a) const = 0;

  /** Computes the nodes' energies and, if nodeDerivatives is not null, each node's partial derivatives; see kernels::CountNodeDerivatives.
   *  \param points float4[z][y][x]
   *  \param partials from pair firstPartial on: the sum of the energies of some nodes, and the smallest determinant of these nodes, float
   *  each */
  virtual void
  ComputeEnergies(const kernels::ControlPenaltyArguments & a,
                  const Memory &                           points,
                  Memory &                                 partials,
                  std::int64_t                             firstPartial,
                  Memory *                                 nodeDerivatives) = 0;

  /** Computes the energies' derivative with respect to the control points. gradient, float4[z][y][x], is replaced by factor times the
   *  derivative, or factor times the derivative is added to it. */
  virtual void
  CollectGradient(const kernels::ControlPenaltyArguments & a,
                  const Memory &                           nodeDerivatives,
                  float                                    factor,
                  bool                                     adds,
                  Memory &                                 gradient) = 0;
};

GPUREG_DECLARE_PASSES(ControlPenaltyPasses);

} // namespace gpureg

#endif
