// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Fork_h
#define gpureg_Fork_h

#include <atomic>
#include <mutex>
#include <thread>

namespace gpureg
{

/** Returns how often this process or an ancestor was forked since the first call. Neither CUDA nor OpenCL works in a child, and PoCL would
 *  wait there for threads that only the parent has. An object of a device that was made at an earlier count must be neither used nor
 *  freed. */
unsigned int
GetForkCount();

/** The text of error messages in a child process. */
constexpr char WhyNotInAChild[] = "this process was forked from one that had looked for devices, and neither CUDA nor "
                                  "OpenCL goes on after that; compute "
                                  "on the host, or start new processes (in Python: multiprocessing's \"spawn\")";

/** A mutex that no other thread holds while the process forks, so that the child does not find the mutex locked. The thread that forks may
 *  hold the mutex: a driver may fork to start a program while it is asked for its devices. */
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
