// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GlobalPlan_h
#define gpureg_GlobalPlan_h

#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/global/GlobalRegistration.h"

namespace gpureg
{

class Queue;

/** Plans a registration, without changes that would hold less. The settings have been checked. */
MemoryPlan
PlanGlobal(Queue & queue, const GlobalProblem & problem, const GlobalSettings & settings);

/** Plans it with the changes that would hold less. */
MemoryPlan
PlanGlobalWithChanges(Queue & queue, const GlobalProblem & problem, const GlobalSettings & settings);

} // namespace gpureg

#endif
