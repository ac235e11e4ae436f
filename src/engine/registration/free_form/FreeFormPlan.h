// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormPlan_h
#define gpureg_FreeFormPlan_h

#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include <memory>

namespace gpureg
{

class Backend;
class Queue;

/** Plans a registration, without changes that would hold less. The settings have been checked. */
MemoryPlan
PlanFreeForm(const std::shared_ptr<Backend> & backend,
             const std::shared_ptr<Queue> &   queue,
             const FreeFormProblem &          problem,
             const FreeFormSettings &         settings);

/** Plans it with the changes that would hold less. */
MemoryPlan
PlanFreeFormWithChanges(const std::shared_ptr<Backend> & backend,
                        const std::shared_ptr<Queue> &   queue,
                        const FreeFormProblem &          problem,
                        const FreeFormSettings &         settings);

} // namespace gpureg

#endif
