// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SlabTeam_h
#define gpureg_SlabTeam_h

#include "engine/registration/diffeomorphic/Slab.h"
#include "engine/runtime/Queue.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace gpureg
{

struct LevelGrid;

/** Is thrown by a member of a team of which another member has failed. */
class TeamHasFailed : public std::runtime_error
{
public:
  TeamHasFailed()
    : std::runtime_error("another device has failed")
  {}
};

/** The devices that register one pair of images, each on a slab. Each has a thread, which is a member: all members make the same calls in the
 *  same order, and wait in them for each other. */
class SlabTeam
{
public:
  explicit SlabTeam(std::size_t members)
    : m_Numbers(members)
    , m_Fields(members)
  {}

  int
  CountMembers() const
  {
    return static_cast<int>(m_Numbers.size());
  }

  /** Makes calls that wait for a member throw TeamHasFailed, now and later. */
  void
  Fail();

private:
  friend class SlabMember;

  /** A field that a member shows to its neighbours. */
  struct ShownField
  {
    const Memory *    memory = nullptr;
    DeviceKind        kind = DeviceKind::Host;
    Slab              slab;
    std::vector<char> edges[2]; // first and last own planes, on the host, where neighbours cannot read the memory
  };

  /** Waits until all members have called. */
  void
  Meet();

  /** Says whether each device can read the others' memory. */
  bool
  AreOfOneKind() const;

  std::mutex                       m_Mutex;
  std::condition_variable          m_Changed;
  std::size_t                      m_Arrived = 0;
  std::size_t                      m_Meetings = 0;
  bool                             m_HasFailed = false;
  std::vector<std::vector<double>> m_Numbers;
  std::vector<ShownField>          m_Fields;
};

/** One member of a team: what a scheme asks of the other devices. */
class SlabMember
{
public:
  /** team must outlive it. \param number from 0 on */
  SlabMember(SlabTeam & team, int number)
    : m_Team(team)
    , m_Number(number)
  {}

  /** Returns the member's planes of a level: see CutSlab(). */
  Slab
  Cut(int planes, int halo) const
  {
    return CutSlab(planes, halo, m_Team.CountMembers(), m_Number);
  }

  /** Returns the sums, and the largest, of all members' numbers. Every member gives as many. */
  std::vector<double>
  Sum(const std::vector<double> & numbers);
  double
  FindLargest(double number);

  /** Replaces number `slot` of an array of floats by the sum, or the largest, of all members' numbers. Waits for the device. */
  void
  SumOnDevice(Queue & queue, Memory & numbers, std::int64_t slot);
  void
  FindLargestOnDevice(Queue & queue, Memory & numbers, std::int64_t slot);

  /** Copies the neighbours' own planes to the halo of a field, float[3] a voxel. Waits for the device. */
  void
  RefreshHalo(Queue & queue, const LevelGrid & level, Memory & field);

private:
  template <typename TJoin>
  std::vector<double>
  Join(const std::vector<double> & numbers, const TJoin & join);

  template <typename TJoin>
  void
  JoinOnDevice(Queue & queue, Memory & numbers, std::int64_t slot, const TJoin & join);

  /** Copies the own planes that neighbours have as halos to the host. */
  void
  ShowEdges(Queue & queue, const LevelGrid & level, const Memory & field);

  SlabTeam & m_Team;
  int        m_Number;
};

} // namespace gpureg

#endif
