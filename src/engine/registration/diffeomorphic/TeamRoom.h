// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TeamRoom_h
#define gpureg_TeamRoom_h

#include "engine/registration/MemoryPlanning.h"

#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <memory>
#include <vector>

namespace gpureg
{

using TeamEngines = std::vector<std::unique_ptr<DiffeomorphicRegistration>>;

/** Returns whether several engines of a team are on one device. */
bool
ShareDevices(const TeamEngines & engines);

/** Makes sure that each device that several engines of a team share has room for all of their parts together: replaces them by engines that
 *  keep nothing of their last registration, if the memory is short.
 *  \param plans each engine's plan, with its changes
 *  \param images whether the memory in use has the images already
 *  \throws OutOfMemoryError as CheckFits() does, of the parts together. */
void
MakeRoomTogether(TeamEngines & engines, const std::vector<MemoryPlan> & plans, ImagesAre images);

} // namespace gpureg

#endif
