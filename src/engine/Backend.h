// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Backend_h
#define gpureg_Backend_h

#include "Queue.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** What a process holds on one device, and may. */
class MemoryAccount
{
public:
  /** \throws Error with the numbers if the limit would be passed. */
  void
  Charge(std::size_t bytes, const std::string & deviceName);
  void
  Release(std::size_t bytes);

  /** What is left of so many bytes, within the limit. */
  std::size_t
  GetRoom(std::size_t bytes) const;

  std::atomic<std::size_t> limit{ 0 };
  std::atomic<std::size_t> inUse{ 0 };
};

/** Best first. OpenCL on a CPU runs the GPU's kernels, but not faster than the host's own code. */
enum class DeviceRank
{
  Cuda,
  OpenCLOnGpu,
  Host,
  OpenCLOnCpu
};

/** One device of one kind. Making one initialises nothing; its first queue does. */
class Backend
{
public:
  Backend(DeviceDescription description, DeviceRank rank)
    : m_Description(std::move(description))
    , m_Rank(rank)
  {}
  virtual ~Backend() = default;

  const DeviceDescription &
  GetDescription() const
  {
    return m_Description;
  }

  DeviceRank
  GetRank() const
  {
    return m_Rank;
  }

  MemoryAccount &
  GetMemoryAccount()
  {
    return m_MemoryAccount;
  }

  virtual std::unique_ptr<Queue>
  CreateQueue() = 0;

private:
  DeviceDescription m_Description;
  DeviceRank        m_Rank;
  MemoryAccount     m_MemoryAccount;
};

/** A kind's devices, and why there are none. */
struct BackendList
{
  std::vector<std::shared_ptr<Backend>> backends;
  std::vector<std::string>              complaints;
};

BackendList
FindHostBackends();
BackendList
FindCudaBackends();
BackendList
FindOpenCLBackends();

/** \throws Error if there is no such device; the message lists those there are. */
std::shared_ptr<Backend>
GetBackend(const std::string & deviceName);

} // namespace gpureg

#endif
