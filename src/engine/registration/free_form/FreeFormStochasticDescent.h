// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormStochasticDescent_h
#define gpureg_FreeFormStochasticDescent_h

#include "engine/registration/free_form/FreeFormCost.h"

#include <functional>
#include <vector>

namespace gpureg
{

/** Adaptive stochastic gradient descent (Klein 2009): see StochasticGain, and Descend() for the rest. */
std::vector<double>
DescendStochastically(const FreeFormSettings &         settings,
                      FreeFormCost &                   cost,
                      ControlStepPasses &              steps,
                      FreeFormLevel &                  level,
                      const std::function<void(int)> & onIteration);

} // namespace gpureg

#endif
