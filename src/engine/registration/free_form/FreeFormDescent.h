// SPDX-License-Identifier: Apache-2.0
// The optimisation of a level's control points.
#ifndef gpureg_FreeFormDescent_h
#define gpureg_FreeFormDescent_h

#include "engine/registration/free_form/FreeFormCost.h"

#include <functional>
#include <vector>

namespace gpureg
{

/** Returns the number of costs that a descent stores at once. */
int
CountFreeFormSlots(const FreeFormSettings & settings);

/** Returns true if the mean cost of the last iterations is hardly lower than that of as many iterations before. Ignores iterations without
 *  samples. Waits for the costs only after an iteration that may be the last one. \param done the number of iterations so far */
bool
HasConverged(const FreeFormSettings & settings, FreeFormCost & cost, int done);

/** Optimises the points by the optimizer of the settings, from their current positions.
 *  \param onIteration called with the number of each iteration before it begins
 *  \return the cost before each iteration */
std::vector<double>
Descend(const FreeFormSettings &         settings,
        FreeFormCost &                   cost,
        FreeFormLevel &                  level,
        const std::function<void(int)> & onIteration);

} // namespace gpureg

#endif
