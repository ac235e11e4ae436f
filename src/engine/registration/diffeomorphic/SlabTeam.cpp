// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SlabTeam.h"

#include "engine/registration/diffeomorphic/LevelGrid.h"

#include <algorithm>

namespace gpureg
{

namespace
{
/** Returns the bytes of a range of a grid's planes, float[3] a voxel, and where they begin. */
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
} // namespace

void
SlabTeam::Fail()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_HasFailed = true;
  m_Changed.notify_all();
}

void
SlabTeam::Meet()
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  const std::size_t            meeting = m_Meetings;
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
SlabTeam::AreOfOneKind() const
{
  // Memory of an OpenCL device belongs to the device's context.
  return std::all_of(m_Fields.begin(), m_Fields.end(), [this](const ShownField & field) {
    return field.kind == m_Fields.front().kind && field.kind != DeviceKind::OpenCL;
  });
}

template <typename TJoin>
std::vector<double>
SlabMember::Join(const std::vector<double> & numbers, const TJoin & join)
{
  m_Team.m_Numbers[static_cast<std::size_t>(m_Number)] = numbers;
  m_Team.Meet();
  std::vector<double> joined = m_Team.m_Numbers.front();
  for (std::size_t member = 1; member < m_Team.m_Numbers.size(); ++member)
  {
    const std::vector<double> & its = m_Team.m_Numbers[member];
    std::transform(joined.begin(), joined.end(), its.begin(), joined.begin(), join);
  }
  m_Team.Meet();
  return joined;
}

std::vector<double>
SlabMember::Sum(const std::vector<double> & numbers)
{
  return this->Join(numbers, [](double a, double b) { return a + b; });
}

double
SlabMember::FindLargest(double number)
{
  return this->Join({ number }, [](double a, double b) { return std::max(a, b); }).front();
}

template <typename TJoin>
void
SlabMember::JoinOnDevice(Queue & queue, Memory & numbers, std::int64_t slot, const TJoin & join)
{
  const std::size_t first = sizeof(float) * static_cast<std::size_t>(slot);
  float             number = 0;
  DownloadBytes(queue, numbers, first, sizeof(number), &number);
  number = static_cast<float>(join(number));
  queue.Upload(numbers, first, &number, sizeof(number));
  queue.Finish();
}

void
SlabMember::SumOnDevice(Queue & queue, Memory & numbers, std::int64_t slot)
{
  this->JoinOnDevice(queue, numbers, slot, [this](double number) { return this->Sum({ number }).front(); });
}

void
SlabMember::FindLargestOnDevice(Queue & queue, Memory & numbers, std::int64_t slot)
{
  this->JoinOnDevice(queue, numbers, slot, [this](double number) { return this->FindLargest(number); });
}

void
SlabMember::RefreshHalo(Queue & queue, const LevelGrid & level, Memory & field)
{
  const Slab & slab = level.slab;
  if (slab.IsWhole())
  {
    return;
  }
  SlabTeam::ShownField & shown = m_Team.m_Fields[static_cast<std::size_t>(m_Number)];
  shown.memory = &field;
  shown.kind = queue.GetKind();
  shown.slab = slab;
  queue.Finish();
  m_Team.Meet();
  const bool isDirect = m_Team.AreOfOneKind();
  if (!isDirect)
  {
    this->ShowEdges(queue, level, field);
    m_Team.Meet();
  }
  const auto copy = [&](int side, const Range & planes) {
    if (planes.count > 0)
    {
      const auto &     from = m_Team.m_Fields[static_cast<std::size_t>(m_Number + (side == 0 ? -1 : 1))];
      const PlaneBytes to(level.grid, { planes.first - slab.held.first, planes.count });
      const PlaneBytes its(level.grid, { planes.first - from.slab.held.first, planes.count });
      if (isDirect)
      {
        queue.CopyBytes(field, to.first, *from.memory, its.first, to.count);
      }
      else
      {
        // The lower neighbour shows the last planes of its own, as many as the halo of either has.
        queue.Upload(field, to.first, from.edges[1 - side].data(), to.count);
      }
    }
  };
  copy(0, { slab.held.first, slab.own.first - slab.held.first });
  copy(1, { slab.own.GetEnd(), slab.held.GetEnd() - slab.own.GetEnd() });
  queue.Finish();
  m_Team.Meet();
}

void
SlabMember::ShowEdges(Queue & queue, const LevelGrid & level, const Memory & field)
{
  SlabTeam::ShownField & shown = m_Team.m_Fields[static_cast<std::size_t>(m_Number)];
  const Slab &           slab = level.slab;
  const std::int64_t     halo = std::max(slab.own.first - slab.held.first, slab.held.GetEnd() - slab.own.GetEnd());
  const Range            own = slab.GetOwnOfHeld();
  const auto             show = [&](int side, std::int64_t first) {
    const PlaneBytes bytes(level.grid, { first, halo });
    shown.edges[side].resize(bytes.count);
    DownloadBytes(queue, field, bytes.first, bytes.count, shown.edges[side].data());
  };
  if (slab.own.first > slab.held.first)
  {
    show(0, own.first);
  }
  if (slab.held.GetEnd() > slab.own.GetEnd())
  {
    show(1, own.GetEnd() - halo);
  }
}

} // namespace gpureg
