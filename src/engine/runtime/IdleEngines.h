// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_IdleEngines_h
#define gpureg_IdleEngines_h

#include "engine/runtime/Fork.h"

#include "gpureg/runtime/EngineUser.h"

#include <atomic>
#include <cstdint>
#include <list>

namespace gpureg
{

/** Stores the idle engines of one device, of all types. Safe to use from several threads. */
class IdleEngines
{
public:
  /** The largest number of idle engines, of all types together. */
  static constexpr std::size_t MostEngines = 8;

  /** \param limit the most bytes that the idle engines may hold together */
  explicit IdleEngines(std::size_t limit)
    : m_Limit(limit)
  {}

  /** See TakeIdleEngine. */
  std::unique_ptr<Engine>
  Take(const std::type_info & type, const Key & key, const void * user);

  /** See StoreIdleEngine. */
  void
  Keep(std::unique_ptr<Engine> engine, const void * user);

  /** Frees the engines that this user used last. */
  void
  Drop(const void * user);

  /** Frees all idle engines. Returns true if any of them held memory. Waits until other threads have finished freeing. */
  bool
  DropAll();

  /** Returns a number that changes whenever engines have been freed. */
  std::uint64_t
  CountFrees() const
  {
    return m_Frees;
  }

  void
  SetLimit(std::size_t bytes);

  std::size_t
  GetLimit() const;

  std::size_t
  GetHeldBytes() const;

private:
  struct Idle
  {
    std::unique_ptr<Engine> engine;
    const void *            user;
  };
  using List = std::list<Idle>;

  /** Moves engines to surplus, the longest idle first, until their number and their bytes are within the limits. */
  void
  TakeSurplus(List & surplus);
  std::size_t
  CountHeldBytes() const;
  void
  Free(List & list);

  // The thread that frees engines holds this mutex, and locks it before the other one: while the driver frees memory, other threads can
  // still take engines.
  ForkSafeMutex              m_FreeingMutex;
  std::atomic<std::uint64_t> m_Frees{ 0 };

  mutable ForkSafeMutex m_Mutex;
  std::size_t           m_Limit;
  List                  m_Engines; // the engine that was used last comes first
};

} // namespace gpureg

#endif
