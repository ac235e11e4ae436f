// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlStepPasses_h
#define gpureg_ControlStepPasses_h

#include "Prelude.h"
#include "ControlSteps.h"

#include "Queue.h"

#include <cstdint>

namespace gpureg
{

/** What a step reads and writes: float4, one a control point; … */
struct AdamArrays
{
  /** … but float: from evaluatedPlace on the number of samples, in the histogram's units, and the similarity; … */
  const Memory * evaluated = nullptr;
  std::int64_t   evaluatedPlace = 0;
  /** … and float: values[valuePlace] becomes that similarity. */
  Memory *       values = nullptr;
  std::int64_t   valuePlace = 0;
  const Memory * gathered = nullptr;
  /** Null where there is no penalty. */
  const Memory * penalty = nullptr;
  Memory *       firstMeans = nullptr;
  Memory *       secondMeans = nullptr;
  Memory *       points = nullptr;
};

/** What a registration does to control points on one device. src/host, cuda and opencl each have it in a file of this name. Every
 *  member throws Error where the device reports a failure. */
class ControlStepPasses
{
public:
  virtual ~ControlStepPasses() = default;

  /** Sets the first count vectors to 0. */
  virtual void
  Clear(std::int64_t count, Memory & vectors) = 0;

  virtual void
  MoveByAdam(const kernels::AdamStep & a, std::int64_t count, const AdamArrays & arrays) = 0;

  /** coarse, fine: float4, one a control point. */
  virtual void
  Refine(const kernels::Refinement & a, const Memory & coarse, Memory & fine) = 0;
};

inline std::int64_t
CountFinePoints(const kernels::Refinement & a)
{
  return std::int64_t{ a.fine[0] } * a.fine[1] * a.fine[2];
}

} // namespace gpureg

#endif
