// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Fork_h
#define gpureg_Fork_h

#include <mutex>

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

/** A mutex that no other thread holds while the process is forked, so that the child does not find it locked. */
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
  }

  bool
  try_lock()
  {
    return m_Mutex.try_lock();
  }

  void
  unlock()
  {
    m_Mutex.unlock();
  }

private:
  std::mutex m_Mutex;
};

} // namespace gpureg

#endif
