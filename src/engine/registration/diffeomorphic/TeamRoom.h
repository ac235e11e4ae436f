// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TeamRoom_h
#define gpureg_TeamRoom_h

#include "engine/registration/MemoryPlanning.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"

#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Lets the engines of a team make sure that each device has room for all parts that are on it, while they register: where an engine finds
 *  out that it will hold more than its plan said. Each engine has a thread. */
class SharedRoom
{
public:
  /** \param devices the name of each engine's device */
  explicit SharedRoom(std::vector<std::string> devices);

  /** Must be called by every engine of the team, and waits for the others.
   *  \param engine its number
   *  \param holdsMore whether this engine will hold more; if none will, nothing is done
   *  \param makePlan returns the engine's plan, with changes, whose images are on the device
   *  \param release frees what the engine keeps of its last registration; it is called if the memory is short
   *  \throws OutOfMemoryError as CheckFits() does, of the parts together; TeamHasFailed if another engine has failed */
  void
  MakeRoom(std::size_t                         engine,
           bool                                holdsMore,
           const std::function<MemoryPlan()> & makePlan,
           const std::function<void()> &       release);

  /** Makes engines throw TeamHasFailed where they wait for others, now and later. */
  void
  Fail()
  {
    m_Team.Fail();
  }

private:
  std::vector<std::string> m_Devices;
  DeviceTeam               m_Team;
  std::vector<MemoryPlan>  m_Plans;
};

using TeamEngines = std::vector<std::unique_ptr<DiffeomorphicRegistration>>;

/** Returns the name of each engine's device. */
std::vector<std::string>
ListDevices(const TeamEngines & engines);

/** Returns whether a device is named more than once. */
bool
AreShared(const std::vector<std::string> & devices);

/** Makes sure that each device that several engines of a team share has room for all of their parts together: replaces them by engines that
 *  keep nothing of their last registration, if the memory is short.
 *  \param plans each engine's plan, with its changes
 *  \param images whether the memory in use has the images already
 *  \throws OutOfMemoryError as CheckFits() does, of the parts together. */
void
MakeRoomTogether(TeamEngines & engines, const std::vector<MemoryPlan> & plans, ImagesAre images);

} // namespace gpureg

#endif
