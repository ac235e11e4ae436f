// SPDX-License-Identifier: Apache-2.0
#include "Fork.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <pthread.h>

namespace gpureg
{

namespace
{
std::atomic<unsigned int> forkCount{ 0 };

/** All that there are. Never deleted: a process may fork while its static objects go. */
struct MutexList
{
  std::mutex                   mutex;
  std::vector<ForkSafeMutex *> members;
};

MutexList &
GetList()
{
  static auto & list = *new MutexList;
  return list;
}

void
UnlockFirst(std::size_t count)
{
  auto & members = GetList().members;
  std::for_each(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count), [](ForkSafeMutex * member) {
    member->unlock();
  });
}

/** All or none at a time: a thread that holds one of them may be about to make another. */
void
LockAll()
{
  for (;;)
  {
    GetList().mutex.lock();
    auto &     members = GetList().members;
    const auto held =
      std::find_if(members.begin(), members.end(), [](ForkSafeMutex * member) { return !member->try_lock(); });
    if (held == members.end())
    {
      return;
    }
    UnlockFirst(static_cast<std::size_t>(held - members.begin()));
    GetList().mutex.unlock();
    std::this_thread::yield();
  }
}

void
UnlockAll()
{
  UnlockFirst(GetList().members.size());
  GetList().mutex.unlock();
}

void
UnlockAllInChild()
{
  ++forkCount;
  UnlockAll();
}

void
WatchForks()
{
  static const int watches = pthread_atfork(&LockAll, &UnlockAll, &UnlockAllInChild);
  static_cast<void>(watches);
}
} // namespace

unsigned int
GetForkCount()
{
  WatchForks();
  return forkCount;
}

ForkSafeMutex::ForkSafeMutex()
{
  WatchForks();
  const std::lock_guard<std::mutex> lock(GetList().mutex);
  GetList().members.push_back(this);
}

ForkSafeMutex::~ForkSafeMutex()
{
  const std::lock_guard<std::mutex> lock(GetList().mutex);
  auto &                            members = GetList().members;
  members.erase(std::remove(members.begin(), members.end(), this), members.end());
}

} // namespace gpureg
