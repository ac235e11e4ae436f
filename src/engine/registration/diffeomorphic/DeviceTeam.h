// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeviceTeam_h
#define gpureg_DeviceTeam_h

#include "engine/metric/SampleParts.h"
#include "engine/registration/diffeomorphic/Slab.h"
#include "engine/runtime/Queue.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

/** The devices that register together. Each has a thread, which is a member: all members make the same calls in the same
 *  order, and wait in them for each other. */
class DeviceTeam
{
public:
  explicit DeviceTeam(std::size_t members)
    : m_Numbers(members)
    , m_Arrays(members)
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
  friend class TeamMember;

  using Bytes = std::vector<char>;

  /** An array that a member shows to others, and what it wants of theirs. */
  struct ShownArray
  {
    const Memory *     memory = nullptr;
    DeviceKind         kind = DeviceKind::Host;
    Slab               slab;
    std::vector<Range> wanted; // planes of the level
    // On the host, where others cannot read the memory: what each member wants of it.
    std::vector<Bytes> copies;
  };

  /** Waits until all members have called. \param what names the meeting; all members must give the same address
   *  \throws std::logic_error if another member has given another one */
  void
  Meet(const char * what);

  /** Says whether each device can read the others' memory. */
  bool
  AreOfOneKind() const;

  std::mutex                       m_Mutex;
  std::condition_variable          m_Changed;
  std::size_t                      m_Arrived = 0;
  std::size_t                      m_Meetings = 0;
  const char *                     m_Meeting = nullptr; // the one that members wait for
  bool                             m_HasFailed = false;
  std::vector<std::vector<double>> m_Numbers;
  std::vector<ShownArray>          m_Arrays;
};

/** One member of a team: what a scheme asks of the other devices. */
class TeamMember : public SampleParts
{
public:
  /** team must outlive this object. \param number from 0 on */
  TeamMember(DeviceTeam & team, int number)
    : m_Team(team)
    , m_Number(number)
  {}

  int
  GetNumber() const
  {
    return m_Number;
  }

  /** Returns the member's planes of a level: see CutSlab(). */
  Slab
  Cut(int planes, int halo) const
  {
    return CutSlab(planes, halo, m_Team.CountMembers(), m_Number);
  }

  /** Returns the sums, or the largest, of all members' numbers. Every member gives as many. */
  std::vector<double>
  Sum(const std::vector<double> & numbers) override;
  double
  FindLargest(double number) override;

  /** Holds the largest of all members' numbers, and the sum of their addends. */
  struct LargestAndSum
  {
    double largest;
    double sum;
  };
  LargestAndSum
  FindLargestAndSum(const LargestAndSum & its);

  /** Returns the number that one member gives. */
  double
  TakeFrom(int member, double number);

  /** Replaces number `slot` of an array of floats by the sum, or the largest, of all members' numbers, or by that of one member. Waits
   *  for the device. */
  void
  SumOnDevice(Queue & queue, Memory & numbers, std::int64_t slot);
  void
  FindLargestOnDevice(Queue & queue, Memory & numbers, std::int64_t slot);
  void
  TakeOnDevice(int member, Queue & queue, Memory & numbers, std::int64_t slot);

  /** Shows an array to the other member of a team of two, and copies bytes of the one that the other member shows. Waits for both devices.
   *  \param shown null shows nothing
   *  \param copy gets the other member's array; null if that shows nothing, or this member does not want it */
  void
  Exchange(Queue & queue, const Memory * shown, Memory * copy, std::size_t bytes);

  /** Copies the neighbours' own planes to the halo of a field of a level that is cut, float[3] a voxel. Waits for all devices. */
  void
  RefreshHalo(Queue & queue, const LevelGrid & level, Memory & field);

  /** Copies others' own planes to so many planes on either side of this member's own ones, as far as there are some. Waits for all devices.
   *  \param level its slab holds all planes, as the field does, float[3] a voxel */
  void
  Surround(Queue & queue, const LevelGrid & level, Memory & field, std::int64_t planes);

  /** Returns planes of a field of a level that is cut, each as its owner has it. Waits for all devices.
   *  \param planes those that this member wants, numbered from the level's first one; null is returned for none */
  MemoryPointer
  CollectPlanes(Queue & queue, const LevelGrid & level, const Memory & field, const Range & planes);

private:
  /** Calls join(joined, its) with the numbers of each member behind the first one, in their order. */
  template <typename TJoin>
  std::vector<double>
  Join(const std::vector<double> & numbers, const TJoin & join);

  template <typename TJoin>
  void
  JoinOnDevice(Queue & queue, Memory & numbers, std::int64_t slot, const TJoin & join);

  /** Shows an array, and says what is wanted of others'. Waits for the device, and for all members. */
  DeviceTeam::ShownArray &
  Show(Queue & queue, const Memory * memory, const Slab & slab, const std::vector<Range> & wanted);

  /** Copies to the host what each other member wants of this member's own planes. */
  void
  CopyWanted(Queue & queue, const LevelGrid & level, const Memory & field, DeviceTeam::ShownArray & shown);

  /** Copies wanted planes of a field, which others own, to an array of float[3] a voxel, which begins with the level's plane `first`.
   *  \param target may be null if nothing is wanted */
  void
  CopyPlanes(Queue &                    queue,
             const LevelGrid &          level,
             const Memory &             field,
             const std::vector<Range> & wanted,
             Memory *                   target,
             std::int64_t               first);

  DeviceTeam & m_Team;
  int          m_Number;
};

} // namespace gpureg

#endif
