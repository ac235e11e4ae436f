// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_AdamSteps_h
#define gpureg_AdamSteps_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Adam.h"

#include <cmath>

namespace gpureg
{

/** Returns the step of Adam behind which t others lie.
 *  \param length the length of a step if the gradient does not change
 *  \param secondDecay the decay of the mean of the gradient's square
 *  \param epsilon added to the denominator, in the gradient's unit */
inline kernels::AdamStep
MakeAdamStep(double length, int t, double secondDecay, double epsilon)
{
  constexpr double  FirstDecay = 0.9;
  kernels::AdamStep a{};
  a.length = static_cast<float>(length);
  a.firstDecay = static_cast<float>(FirstDecay);
  a.secondDecay = static_cast<float>(secondDecay);
  // Uses the decays as kernels store them, because 1 - 0.999 loses digits.
  a.firstCorrection = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(a.firstDecay), t + 1)));
  a.secondCorrection = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(a.secondDecay), t + 1)));
  a.epsilon = static_cast<float>(epsilon);
  return a;
}

} // namespace gpureg

#endif
