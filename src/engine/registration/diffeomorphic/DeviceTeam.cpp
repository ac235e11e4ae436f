// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DeviceTeam.h"

#include "engine/registration/diffeomorphic/LevelGrid.h"

#include <algorithm>
#include <functional>

namespace gpureg
{

namespace
{
/** Holds where a range of a grid's planes begins, and its size, in bytes, for float[3] a voxel. */
struct PlaneBytes
{
  PlaneBytes(const kernels::FieldGrid & grid, const Range & planes)
    : first(CountOf(grid, planes.first))
    , count(CountOf(grid, planes.count))
  {}

  std::size_t first;
  std::size_t count;

private:
  static std::size_t
  CountOf(const kernels::FieldGrid & grid, std::int64_t planes)
  {
    return 3 * sizeof(float) * static_cast<std::size_t>(planes * grid.size[0] * grid.size[1]);
  }
};

/** Copies bytes of a device's memory to the host, and waits for them. */
void
DownloadBytes(Queue & queue, const Memory & memory, std::size_t first, std::size_t count, void * target)
{
  queue.MarkMade(0);
  queue.StartDownload(target, memory, count, first, 0);
  queue.Finish();
}

constexpr const char JoinsNumbers[] = "numbers are joined";
constexpr const char ShowsArrays[] = "arrays are shown";
constexpr const char HasCopied[] = "copies have been made";
} // namespace

void
DeviceTeam::Fail()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_HasFailed = true;
  m_Changed.notify_all();
}

void
DeviceTeam::Meet(const char * what)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  const std::size_t            meeting = m_Meetings;
  if (m_Arrived == 0)
  {
    m_Meeting = what;
  }
  else if (m_Meeting != what && !m_HasFailed)
  {
    throw std::logic_error("the members of a team make different calls");
  }
  if (++m_Arrived == m_Numbers.size())
  {
    m_Arrived = 0;
    ++m_Meetings;
    m_Changed.notify_all();
  }
  m_Changed.wait(lock, [&] { return m_Meetings != meeting || m_HasFailed; });
  if (m_HasFailed)
  {
    throw TeamHasFailed();
  }
}

bool
DeviceTeam::AreOfOneKind() const
{
  // Memory of an OpenCL device belongs to the device's context.
  return std::all_of(m_Arrays.begin(), m_Arrays.end(), [this](const ShownArray & array) {
    return array.kind == m_Arrays.front().kind && array.kind != DeviceKind::OpenCL;
  });
}

template <typename TJoin>
std::vector<double>
TeamMember::Join(const std::vector<double> & numbers, const TJoin & join)
{
  m_Team.m_Numbers[static_cast<std::size_t>(m_Number)] = numbers;
  m_Team.Meet(JoinsNumbers);
  std::vector<double> joined = m_Team.m_Numbers.front();
  for (std::size_t member = 1; member < m_Team.m_Numbers.size(); ++member)
  {
    const std::vector<double> & its = m_Team.m_Numbers[member];
    if (its.size() != joined.size())
    {
      throw std::logic_error("the members of a team make different calls");
    }
    join(joined, its);
  }
  m_Team.Meet(JoinsNumbers);
  return joined;
}

std::vector<double>
TeamMember::Sum(const std::vector<double> & numbers)
{
  return this->Join(numbers, [](std::vector<double> & joined, const std::vector<double> & its) {
    std::transform(joined.begin(), joined.end(), its.begin(), joined.begin(), std::plus<double>());
  });
}

double
TeamMember::FindLargest(double number)
{
  return this->FindLargestAndSum({ number, 0 }).largest;
}

TeamMember::LargestAndSum
TeamMember::FindLargestAndSum(const LargestAndSum & its)
{
  const auto join = [](std::vector<double> & joined, const std::vector<double> & next) {
    joined[0] = std::max(joined[0], next[0]);
    joined[1] += next[1];
  };
  const std::vector<double> joined = this->Join({ its.largest, its.sum }, join);
  return { joined[0], joined[1] };
}

template <typename TJoin>
void
TeamMember::JoinOnDevice(Queue & queue, Memory & numbers, std::int64_t slot, const TJoin & join)
{
  const std::size_t first = sizeof(float) * static_cast<std::size_t>(slot);
  float             number = 0;
  DownloadBytes(queue, numbers, first, sizeof(number), &number);
  number = static_cast<float>(join(number));
  queue.Upload(numbers, first, &number, sizeof(number));
  queue.Finish();
}

void
TeamMember::SumOnDevice(Queue & queue, Memory & numbers, std::int64_t slot)
{
  this->JoinOnDevice(queue, numbers, slot, [this](double number) { return this->Sum({ number }).front(); });
}

void
TeamMember::FindLargestOnDevice(Queue & queue, Memory & numbers, std::int64_t slot)
{
  this->JoinOnDevice(queue, numbers, slot, [this](double number) { return this->FindLargest(number); });
}

double
TeamMember::TakeFrom(int member, double number)
{
  return this->Sum({ m_Number == member ? number : 0.0 }).front();
}

void
TeamMember::TakeOnDevice(int member, Queue & queue, Memory & numbers, std::int64_t slot)
{
  this->JoinOnDevice(queue, numbers, slot, [this, member](double number) { return this->TakeFrom(member, number); });
}

DeviceTeam::ShownArray &
TeamMember::Show(Queue & queue, const Memory * memory, const Slab & slab, const std::vector<Range> & wanted)
{
  DeviceTeam::ShownArray & shown = m_Team.m_Arrays[static_cast<std::size_t>(m_Number)];
  shown.memory = memory;
  shown.kind = queue.GetKind();
  shown.slab = slab;
  shown.wanted = wanted;
  shown.copies.resize(m_Team.m_Arrays.size());
  queue.Finish();
  m_Team.Meet(ShowsArrays);
  return shown;
}

void
TeamMember::Exchange(Queue & queue, const Memory * shown, Memory * copy, std::size_t bytes)
{
  DeviceTeam::ShownArray &       own = this->Show(queue, shown, {}, {});
  const auto                     otherNumber = static_cast<std::size_t>(1 - m_Number);
  const DeviceTeam::ShownArray & other = m_Team.m_Arrays[otherNumber];
  const bool                     isDirect = m_Team.AreOfOneKind();
  if (!isDirect)
  {
    if (shown != nullptr)
    {
      own.copies[otherNumber].resize(bytes);
      DownloadBytes(queue, *shown, 0, bytes, own.copies[otherNumber].data());
    }
    m_Team.Meet(HasCopied);
  }
  if (copy != nullptr)
  {
    if (isDirect)
    {
      queue.Copy(*copy, *other.memory, bytes);
    }
    else
    {
      queue.Upload(*copy, 0, other.copies[static_cast<std::size_t>(m_Number)].data(), bytes);
    }
    queue.Finish();
  }
  m_Team.Meet(HasCopied);
}

void
TeamMember::RefreshHalo(Queue & queue, const LevelGrid & level, Memory & field)
{
  const Slab & slab = level.slab;
  this->CopyPlanes(queue,
                   level,
                   field,
                   { { slab.held.first, slab.own.first - slab.held.first },
                     { slab.own.GetEnd(), slab.held.GetEnd() - slab.own.GetEnd() } },
                   &field,
                   slab.held.first);
}

void
TeamMember::Surround(Queue & queue, const LevelGrid & level, Memory & field, std::int64_t planes)
{
  const Range & own = level.slab.own;
  const Range   all{ 0, level.slab.planes };
  this->CopyPlanes(queue,
                   level,
                   field,
                   { Intersect(all, { own.first - planes, planes }), Intersect(all, { own.GetEnd(), planes }) },
                   &field,
                   0);
}

MemoryPointer
TeamMember::CollectPlanes(Queue & queue, const LevelGrid & level, const Memory & field, const Range & planes)
{
  MemoryPointer collected;
  if (planes.count > 0)
  {
    collected = queue.Allocate(PlaneBytes(level.grid, planes).count);
  }
  this->CopyPlanes(queue, level, field, { planes }, collected.get(), planes.first);
  return collected;
}

void
TeamMember::CopyWanted(Queue & queue, const LevelGrid & level, const Memory & field, DeviceTeam::ShownArray & shown)
{
  for (std::size_t member = 0; member < m_Team.m_Arrays.size(); ++member)
  {
    DeviceTeam::Bytes & copies = shown.copies[member];
    copies.clear();
    for (const Range & wanted : m_Team.m_Arrays[member].wanted)
    {
      const Range planes = Intersect(wanted, shown.slab.own);
      if (planes.count > 0 && member != static_cast<std::size_t>(m_Number))
      {
        const PlaneBytes  bytes(level.grid, { planes.first - shown.slab.held.first, planes.count });
        const std::size_t before = copies.size();
        copies.resize(before + bytes.count);
        DownloadBytes(queue, field, bytes.first, bytes.count, copies.data() + before);
      }
    }
  }
}

void
TeamMember::CopyPlanes(Queue &                    queue,
                       const LevelGrid &          level,
                       const Memory &             field,
                       const std::vector<Range> & wanted,
                       Memory *                   target,
                       std::int64_t               first)
{
  DeviceTeam::ShownArray & shown = this->Show(queue, &field, level.slab, wanted);
  const bool               isDirect = m_Team.AreOfOneKind();
  if (!isDirect)
  {
    this->CopyWanted(queue, level, field, shown);
    m_Team.Meet(HasCopied);
  }
  for (const DeviceTeam::ShownArray & from : m_Team.m_Arrays)
  {
    std::size_t copied = 0;
    for (const Range & range : wanted)
    {
      const Range planes = Intersect(range, from.slab.own);
      if (planes.count == 0)
      {
        continue;
      }
      const PlaneBytes to(level.grid, { planes.first - first, planes.count });
      const PlaneBytes its(level.grid, { planes.first - from.slab.held.first, planes.count });
      if (isDirect || &from == &shown)
      {
        queue.CopyBytes(*target, to.first, *from.memory, its.first, to.count);
      }
      else
      {
        queue.Upload(*target, to.first, from.copies[static_cast<std::size_t>(m_Number)].data() + copied, to.count);
      }
      copied += to.count;
    }
  }
  queue.Finish();
  m_Team.Meet(HasCopied);
}

} // namespace gpureg
