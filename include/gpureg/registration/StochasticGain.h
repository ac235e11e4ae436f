// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_StochasticGain_h
#define gpureg_StochasticGain_h

#include <algorithm>
#include <cmath>

namespace gpureg
{

/** Computes step lengths along noisy gradients (Klein 2009): gamma(t) = a/(t + A)^alpha. The time t advances by f(x) = f_min + (f_max -
 *  f_min)/(1 - (f_max/f_min)·exp(-x/omega)), where x is minus the inner product of the last two gradients; f(0) = 0. */
struct StochasticGain
{
  double gain = 1;     // a
  double offset = 20;  // A
  double exponent = 1; // alpha
  double sigmoidMaximum = 1;
  double sigmoidMinimum = -0.8;
  double sigmoidScale = 1; // omega

  double
  GetStep(double time) const
  {
    return gain / std::pow(time + offset, exponent);
  }

  /** Returns f(x). */
  double
  GetAdvance(double x) const
  {
    // If the exponential overflows, f is at its minimum.
    return sigmoidMinimum +
           (sigmoidMaximum - sigmoidMinimum) / (1.0 - (sigmoidMaximum / sigmoidMinimum) * std::exp(-x / sigmoidScale));
  }

  /** Returns the next time, if the last two gradients have this inner product. */
  double
  Advance(double time, double innerProduct) const
  {
    return std::max(0.0, time + this->GetAdvance(-innerProduct));
  }
};

} // namespace gpureg

#endif
