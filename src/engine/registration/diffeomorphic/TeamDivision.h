// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TeamDivision_h
#define gpureg_TeamDivision_h

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/registration/diffeomorphic/SchemeSteps.h"
#include "engine/registration/diffeomorphic/TeamRoom.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Divides a registration among devices. By SyN, devices 0, 2, 4 and so on move the fixed image, and the others the moving image; both
 *  halves cut the fields of their side into slabs. By the greedy scheme all devices cut the deformation into slabs. */
class TeamDivision
{
public:
  /** \param devices their number, which is even for SyN unless it is 1 */
  TeamDivision(std::size_t devices, DiffeomorphicScheme scheme);

  const TeamPlace &
  GetPlace(std::size_t device) const
  {
    return m_Places[device];
  }

  /** Lets the devices, of these names, make room together while they register, if one is named more than once. */
  void
  ShareRoom(const std::vector<std::string> & names);

  /** Makes all devices throw TeamHasFailed where they wait for others, now and later. */
  void
  Fail();

private:
  TeamMember *
  Join(DeviceTeam & team, std::size_t number);

  std::vector<std::unique_ptr<DeviceTeam>> m_OfSlabs; // one a side
  std::vector<std::unique_ptr<DeviceTeam>> m_OfSides; // one a slab
  std::vector<std::unique_ptr<TeamMember>> m_Members;
  std::unique_ptr<SharedRoom>              m_Room;
  std::vector<TeamPlace>                   m_Places;
};

} // namespace gpureg

#endif
