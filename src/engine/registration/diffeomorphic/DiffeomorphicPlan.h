// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicPlan_h
#define gpureg_DiffeomorphicPlan_h

#include "engine/registration/diffeomorphic/SchemeSteps.h"

#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <functional>
#include <memory>

namespace gpureg
{

/** Makes the steps of a scheme, which reserve nothing before their first level. Returns null for a scheme that the devices of a team are
 *  not divided for. */
using MakeSchemeSteps = std::function<std::unique_ptr<SchemeSteps>(DiffeomorphicScheme scheme)>;

/** Plans a registration by any scheme, without changes that would hold less. The settings have been checked.
 *  \param makeSteps makes steps that are used for planning alone */
MemoryPlan
PlanScheme(const DiffeomorphicProblem &  problem,
           const DiffeomorphicSettings & settings,
           const MakeSchemeSteps &       makeSteps);

/** Plans it with these changes. */
MemoryPlan
PlanDiffeomorphic(const DiffeomorphicProblem &  problem,
                  const DiffeomorphicSettings & settings,
                  const MakeSchemeSteps &       makeSteps);

} // namespace gpureg

#endif
