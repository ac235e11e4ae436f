// SPDX-License-Identifier: Apache-2.0
// How a level's control points go down along its cost.
#ifndef gpureg_FreeFormDescent_h
#define gpureg_FreeFormDescent_h

#include "engine/registration/free_form/FreeFormCost.h"

#include <functional>
#include <vector>

namespace gpureg
{

/** Costs that a descent needs kept at once. */
int
CountFreeFormSlots(const FreeFormSettings & settings);

/** Whether, after so many iterations, the mean of the last ones' costs is hardly below that of as many before; of those that had a
 *  sample. Costs are waited for only where they decide when to end. */
bool
HasConverged(const FreeFormSettings & settings, FreeFormCost & cost, int done);

/** By the optimizer that the settings name, from where the points are.
 *  \param onIteration called with each iteration's number, before it.
 *  \return the cost before each iteration. */
std::vector<double>
Descend(const FreeFormSettings &         settings,
        FreeFormCost &                   cost,
        ControlStepPasses &              steps,
        FreeFormLevel &                  level,
        const std::function<void(int)> & onIteration);

} // namespace gpureg

#endif
