// SPDX-License-Identifier: Apache-2.0
#include "Threads.h"

#include "gpureg/core/Error.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace gpureg
{
namespace python
{

namespace
{
/** One loop. Each thread that works on it takes the next task until there is none. */
class Loop
{
public:
  Loop(std::int64_t count, const std::function<void(std::int64_t)> & body)
    : m_Count(count)
    , m_Body(body)
  {}

  /** Runs tasks until there are no more. */
  void
  Work()
  {
    for (std::int64_t task = m_Next++; task < m_Count; task = m_Next++)
    {
      this->Do(task);
      if (++m_Done == m_Count)
      {
        const std::lock_guard<std::mutex> lock(m_Mutex);
        m_AllDone.notify_all();
      }
    }
  }

  /** Waits for the tasks that other threads run. \throws what one of the tasks has thrown. */
  void
  Wait()
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    m_AllDone.wait(lock, [this] { return m_Done == m_Count; });
    if (m_Failure)
    {
      std::rethrow_exception(m_Failure);
    }
  }

private:
  void
  Do(std::int64_t task)
  {
    if (m_HasFailed)
    {
      return;
    }
    try
    {
      m_Body(task);
    }
    catch (...)
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_Failure = m_HasFailed ? m_Failure : std::current_exception();
      m_HasFailed = true;
    }
  }

  const std::int64_t                        m_Count;
  const std::function<void(std::int64_t)> & m_Body;
  std::atomic<std::int64_t>                 m_Next{ 0 };
  std::atomic<std::int64_t>                 m_Done{ 0 };
  std::atomic<bool>                         m_HasFailed{ false };
  std::exception_ptr                        m_Failure;
  std::mutex                                m_Mutex;
  std::condition_variable                   m_AllDone;
};

/** A pool of threads that wait for loops to run. A pool that has run a loop is never destroyed: its threads end with the process. */
class Pool
{
public:
  void
  Run(const std::shared_ptr<Loop> & loop, int helpers)
  {
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      for (; m_Threads < helpers; ++m_Threads)
      {
        std::thread([this] { this->Serve(); }).detach();
      }
      for (int helper = 0; helper < helpers; ++helper)
      {
        m_Loops.push_back(loop);
      }
    }
    m_IsNeeded.notify_all();
    loop->Work();
    loop->Wait();
  }

private:
  void
  Serve()
  {
    for (;;)
    {
      std::shared_ptr<Loop> loop;
      {
        std::unique_lock<std::mutex> lock(m_Mutex);
        m_IsNeeded.wait(lock, [this] { return !m_Loops.empty(); });
        loop = std::move(m_Loops.front());
        m_Loops.pop_front();
      }
      loop->Work();
    }
  }

  std::mutex                        m_Mutex;
  std::condition_variable           m_IsNeeded;
  std::deque<std::shared_ptr<Loop>> m_Loops;
  int                               m_Threads = 0;
};

std::atomic<int> chosenCount{ 0 };

/** The pool of one process. */
struct OwnedPool
{
  explicit OwnedPool(pid_t process)
    : owner(process)
  {}

  const pid_t owner;
  Pool        pool;
};

/** Returns the process's pool. A forked child has none of its parent's threads, and gets a pool of its own. No thread waits here for
 *  another one: a child would wait forever for a thread that its parent alone has. */
Pool &
GetPool()
{
  static std::atomic<OwnedPool *> current{ nullptr };
  const pid_t                     self = getpid();
  OwnedPool *                     found = current;
  if (found == nullptr || found->owner != self)
  {
    auto made = std::make_unique<OwnedPool>(self);
    // If the exchange fails, another thread of this process was first, and found is its pool.
    if (current.compare_exchange_strong(found, made.get()))
    {
      found = made.release();
    }
  }
  return found->pool;
}

/** Reads a number of threads. \throws BadInputError if the text is no whole number, or below 0. */
int
ReadThreadCount(const std::string & text)
{
  int                count = 0;
  const char * const end = text.data() + text.size();
  const auto         read = std::from_chars(text.data(), end, count);
  if (read.ec != std::errc() || read.ptr != end || count < 0)
  {
    throw BadInputError("GPUREG_THREADS=" + text +
                        " is no number of threads. Set 1 or more, or 0 for as many as there are.");
  }
  return count;
}

int
ComputeThreadCount()
{
  const char * const text = std::getenv("GPUREG_THREADS");
  const int          wanted = text != nullptr && *text != '\0' ? ReadThreadCount(text) : 0;
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}
} // namespace

int
GetThreadCount()
{
  const int count = chosenCount;
  return count > 0 ? count : ComputeThreadCount();
}

void
SetThreadCount(int count)
{
  if (count < 0)
  {
    throw BadInputError(std::to_string(count) +
                        " threads are not possible. Set 1 or more, or 0 for as many as there are.");
  }
  chosenCount = count;
}

ParallelFor
MakeParallelFor()
{
  const int threads = GetThreadCount();
  return [threads](std::int64_t count, const std::function<void(std::int64_t)> & body) {
    const auto helpers = static_cast<int>(std::min<std::int64_t>(threads, count) - 1);
    if (helpers <= 0)
    {
      for (std::int64_t task = 0; task < count; ++task)
      {
        body(task);
      }
      return;
    }
    GetPool().Run(std::make_shared<Loop>(count, body), helpers);
  };
}

} // namespace python
} // namespace gpureg
