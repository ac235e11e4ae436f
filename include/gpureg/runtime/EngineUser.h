// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_EngineUser_h
#define gpureg_EngineUser_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Key.h"

#include <cstddef>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace gpureg
{

/** What works on one device, and keeps some of its memory between operations. */
class GPURegistration_EXPORT Engine
{
public:
  virtual ~Engine();

  virtual const std::string &
  GetDeviceName() const = 0;

  /** Bytes of the device, and of the host for it, that are kept until the next operation. */
  virtual std::size_t
  GetHeldBytes() const = 0;

  /** Returns whether the next operation finds what was made from this key. An engine that keeps nothing of its inputs holds none. */
  virtual bool
  Holds(const Key & key) const;
};

/** The idle engine of a type that serves a user best: one that holds what has this key, or the one that it used last; or,
 *  where as many are idle as are kept, the one that has been idle the longest. Null: there is to be another one. */
GPURegistration_EXPORT
std::unique_ptr<Engine>
TakeIdleEngine(const std::string & deviceName, const std::type_info & type, const Key & key, const void * user);

/** Keeps an engine for the next user, in the place of those that have been idle the longest if they are too many, or
 *  hold too much (SetIdleMemoryLimit). */
GPURegistration_EXPORT
void
KeepIdleEngine(std::unique_ptr<Engine> engine, const void * user);

/** Frees the idle engines that a user used last. */
GPURegistration_EXPORT
void
DropIdleEngines(const void * user) noexcept;

/** An idle engine, see TakeIdleEngine, or a new one. */
template <typename TEngine>
std::unique_ptr<TEngine>
TakeEngine(const std::string & deviceName, const Key & key, const void * user)
{
  std::unique_ptr<Engine> engine = TakeIdleEngine(deviceName, typeid(TEngine), key, user);
  return engine ? std::unique_ptr<TEngine>(static_cast<TEngine *>(engine.release()))
                : std::make_unique<TEngine>(deviceName);
}

/** Who has something computed now and then. All users in a process share the engines of a device: there are as many as
 *  threads compute at the same time, and a few that are idle. */
template <typename TEngine>
class EngineUser
{
public:
  EngineUser() = default;
  ~EngineUser()
  {
    DropIdleEngines(this);
  }
  EngineUser(const EngineUser &) = delete;
  EngineUser &
  operator=(const EngineUser &) = delete;

  /** Calls work with an engine. One whose work throws is not used again.
   *  \param key of what the work wants to find there; may be empty.
   *  \throws Error if there is no such device, and what work throws. */
  template <typename TWork>
  void
  Run(const std::string & deviceName, const Key & key, const TWork & work)
  {
    std::unique_ptr<TEngine> engine = this->Take(deviceName, key);
    work(*engine);
    this->Keep(std::move(engine));
  }

  /** The same for work that ends elsewhere: an engine, and what gives it back, if its work has not failed. */
  std::unique_ptr<TEngine>
  Take(const std::string & deviceName, const Key & key)
  {
    return TakeEngine<TEngine>(deviceName, key, this);
  }
  void
  Keep(std::unique_ptr<TEngine> engine)
  {
    KeepIdleEngine(std::move(engine), this);
  }
};

} // namespace gpureg

#endif
