// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Fork.h"

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

/** Lists all ForkSafeMutexes. Never deleted, because a process may fork while its static objects are destroyed. */
struct MutexList
{
  std::mutex                   mutex;
  std::vector<ForkSafeMutex *> members;
  std::vector<ForkSafeMutex *> lockedForFork;
};

MutexList &
GetList()
{
  static auto & list = *new MutexList;
  return list;
}

/** Locks all mutexes that this thread does not hold. Returns false if another thread holds one of them. */
bool
TryToLock(MutexList & list)
{
  for (ForkSafeMutex * const member : list.members)
  {
    if (!member->IsHeldByThisThread())
    {
      if (!member->try_lock())
      {
        return false;
      }
      list.lockedForFork.push_back(member);
    }
  }
  return true;
}

void
UnlockAll()
{
  MutexList & list = GetList();
  for (ForkSafeMutex * const member : list.lockedForFork)
  {
    member->unlock();
  }
  list.lockedForFork.clear();
  list.mutex.unlock();
}

/** Locks either all mutexes or none at a time, because a thread that holds one of them may be about to make another one. */
void
LockAll()
{
  for (;;)
  {
    GetList().mutex.lock();
    if (TryToLock(GetList()))
    {
      return;
    }
    UnlockAll();
    std::this_thread::yield();
  }
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
