// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormStochasticDescent_h
#define gpureg_FreeFormStochasticDescent_h

#include "engine/registration/free_form/FreeFormCost.h"

#include <functional>
#include <vector>

namespace gpureg
{

/** Optimises by adaptive stochastic gradient descent (Klein 2009). See StochasticGain for the gain, and Descend() for the parameters. */
std::vector<double>
DescendStochastically(const FreeFormSettings &         settings,
                      FreeFormCost &                   cost,
                      FreeFormLevel &                  level,
                      const std::function<void(int)> & onIteration);

} // namespace gpureg

#endif
