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

/** The engines of one device that wait for work, those of all types. Safe to use from several threads. */
class IdleEngines
{
public:
  /** Of all types together. */
  static constexpr std::size_t MostEngines = 8;

  /** \param limit bytes that they may hold together */
  explicit IdleEngines(std::size_t limit)
    : m_Limit(limit)
  {}

  /** See TakeIdleEngine. */
  std::unique_ptr<Engine>
  Take(const std::type_info & type, const Key & key, const void * user);

  /** See KeepIdleEngine. */
  void
  Keep(std::unique_ptr<Engine> engine, const void * user);

  /** Frees those that this user used last, … */
  void
  Drop(const void * user);

  /** … or all of them. Returns whether any held memory. Waits for what another thread is freeing. */
  bool
  DropAll();

  /** Another number after some have been freed. */
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

  /** Moves those that are too many, or hold too much, to another list. */
  void
  TakeSurplus(List & surplus);
  std::size_t
  CountHeldBytes() const;
  void
  Free(List & list);

  // Held by the thread that frees engines, and locked before the other mutex: the driver may take its time, and meanwhile other threads
  // can have engines.
  ForkSafeMutex              m_FreeingMutex;
  std::atomic<std::uint64_t> m_Frees{ 0 };

  mutable ForkSafeMutex m_Mutex;
  std::size_t           m_Limit;
  List                  m_Engines; // the one used last comes first
};

} // namespace gpureg

#endif
