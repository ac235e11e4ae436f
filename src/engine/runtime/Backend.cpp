// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Backend.h"

#include "engine/runtime/Fork.h"

#include <utility>

namespace gpureg
{

Backend::Backend(DeviceDescription description, DeviceRank rank)
  : m_Description(std::move(description))
  , m_Rank(rank)
  , m_ForkCount(GetForkCount())
  , m_StagingPool([this](std::size_t bytes) { return MakePinned(bytes); })
  , m_IdleEngines(m_Description.memorySize / (rank == DeviceRank::Cuda || rank == DeviceRank::OpenCLOnGpu ? 4 : 16))
{}

DeviceKind
Backend::GetKind() const
{
  switch (m_Rank)
  {
    case DeviceRank::Cuda:
      return DeviceKind::Cuda;
    case DeviceRank::Host:
      return DeviceKind::Host;
    default:
      return DeviceKind::OpenCL;
  }
}

MemoryPointer
Backend::Borrow(const BorrowedMemory &, std::size_t)
{
  throw UnsupportedError(
    m_Description.name +
    " reads no memory that another context has made; hand in what the host has, or use another device");
}

bool
Backend::IsUsable() const
{
  return m_Rank == DeviceRank::Host || m_ForkCount == GetForkCount();
}

void
Backend::CheckIsUsable() const
{
  if (!IsUsable())
  {
    throw DeviceLostError(m_Description.name + ": " + WhyNotInAChild);
  }
}

} // namespace gpureg
