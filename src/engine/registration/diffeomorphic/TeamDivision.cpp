// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/TeamDivision.h"

namespace gpureg
{

TeamDivision::TeamDivision(std::size_t devices, DiffeomorphicScheme scheme)
{
  const std::size_t sides = scheme == DiffeomorphicScheme::SyN && devices > 1 ? 2 : 1;
  const std::size_t slabs = devices / sides;
  for (std::size_t side = 0; side < sides && slabs > 1; ++side)
  {
    m_OfSlabs.push_back(std::make_unique<DeviceTeam>(slabs));
  }
  for (std::size_t slab = 0; slab < slabs && sides > 1; ++slab)
  {
    m_OfSides.push_back(std::make_unique<DeviceTeam>(sides));
  }
  for (std::size_t device = 0; device < devices; ++device)
  {
    const std::size_t side = device % sides;
    const std::size_t slab = device / sides;
    TeamPlace         place;
    place.slabs = slabs > 1 ? this->Join(*m_OfSlabs[side], slab) : nullptr;
    place.sides = sides > 1 ? this->Join(*m_OfSides[slab], side) : nullptr;
    place.number = device;
    m_Places.push_back(place);
  }
}

void
TeamDivision::ShareRoom(const std::vector<std::string> & names)
{
  if (!AreShared(names))
  {
    return;
  }
  m_Room = std::make_unique<SharedRoom>(names);
  for (TeamPlace & place : m_Places)
  {
    place.room = m_Room.get();
  }
}

void
TeamDivision::Fail()
{
  if (m_Room)
  {
    m_Room->Fail();
  }
  for (const auto * teams : { &m_OfSlabs, &m_OfSides })
  {
    for (const auto & team : *teams)
    {
      team->Fail();
    }
  }
}

TeamMember *
TeamDivision::Join(DeviceTeam & team, std::size_t number)
{
  m_Members.push_back(std::make_unique<TeamMember>(team, static_cast<int>(number)));
  return m_Members.back().get();
}

} // namespace gpureg
