// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Fork_h
#define gpureg_Fork_h

#include <atomic>
#include <mutex>
#include <thread>

namespace gpureg
{

/** How often this process, or one that it comes from, was forked since the first call: neither CUDA nor OpenCL goes on in
 *  a child, and PoCL would wait there for threads that are the parent's. What belongs to a device and is of an earlier
 *  count must not be touched, nor freed. */
unsigned int
GetForkCount();

/** For messages. */
constexpr char WhyNotInAChild[] = "this process was forked from one that had looked for devices, and neither CUDA nor "
                                  "OpenCL goes on after that; compute "
                                  "on the host, or start processes anew (in Python: multiprocessing's \"spawn\")";

/** A mutex that no other thread holds while the process is forked, so that the child does not find it locked. The thread
 *  that forks may hold it, as where a driver that it looks for forks to start a program. */
class ForkSafeMutex
{
public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex &) = delete;
  ForkSafeMutex &
  operator=(const ForkSafeMutex &) = delete;

  void
  lock()
  {
    m_Mutex.lock();
    m_Holder = std::this_thread::get_id();
  }

  bool
  try_lock()
  {
    const bool isLocked = m_Mutex.try_lock();
    if (isLocked)
    {
      m_Holder = std::this_thread::get_id();
    }
    return isLocked;
  }

  void
  unlock()
  {
    m_Holder = std::thread::id();
    m_Mutex.unlock();
  }

  bool
  IsHeldByThisThread() const
  {
    return m_Holder == std::this_thread::get_id();
  }

private:
  std::mutex                   m_Mutex;
  std::atomic<std::thread::id> m_Holder{};
};

} // namespace gpureg

#endif
