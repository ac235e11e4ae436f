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

/** Is the base class of objects that compute on one device, and keep some of its memory between operations. */
class GPURegistration_EXPORT Engine
{
public:
  virtual ~Engine();

  virtual const std::string &
  GetDeviceName() const = 0;

  /** Returns the bytes that the engine keeps until its next operation, on the device and on the host for the device. */
  virtual std::size_t
  GetHeldBytes() const = 0;

  /** Returns true if the next operation could reuse what was made from this key. An engine that keeps nothing of its inputs returns
   *  false. */
  virtual bool
  Holds(const Key & key) const;
};

/** Returns the idle engine of a type that suits a user best: one that holds data with this key, else the one that this user used last,
 *  else, if as many engines are idle as may be, the one that has been idle the longest. Returns null if the caller should make another
 *  engine. */
GPURegistration_EXPORT
std::unique_ptr<Engine>
TakeIdleEngine(const std::string & deviceName, const std::type_info & type, const Key & key, const void * user);

/** Keeps an engine for the next user. Frees the engines that have been idle the longest if there are too many, or if they hold too much
 *  memory (SetIdleMemoryLimit()). */
GPURegistration_EXPORT
void
StoreIdleEngine(std::unique_ptr<Engine> engine, const void * user);

/** Frees the idle engines that a user used last. */
GPURegistration_EXPORT
void
DropIdleEngines(const void * user) noexcept;

/** Returns an idle engine, see TakeIdleEngine(), or a new one. */
template <typename TEngine>
std::unique_ptr<TEngine>
TakeEngine(const std::string & deviceName, const Key & key, const void * user)
{
  std::unique_ptr<Engine> engine = TakeIdleEngine(deviceName, typeid(TEngine), key, user);
  return engine ? std::unique_ptr<TEngine>(static_cast<TEngine *>(engine.release()))
                : std::make_unique<TEngine>(deviceName);
}

/** Lets an object compute on a device now and then. All users in a process share the engines of a device: there are as many engines as
 *  threads that compute at the same time, and a few idle ones. */
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

  /** Calls work with an engine. If work throws, the engine is not used again.
   *  \param deviceName the device to compute on.
   *  \param key identifies what work hopes to find on the device; may be empty.
   *  \param work a function of the engine.
   *  \throws Error if there is no such device, and whatever work throws. */
  template <typename TWork>
  void
  Run(const std::string & deviceName, const Key & key, const TWork & work)
  {
    std::unique_ptr<TEngine> engine = this->Take(deviceName, key);
    work(*engine);
    this->Keep(std::move(engine));
  }

  /** Takes an engine, for work that ends elsewhere; Keep() gives the engine back, if the work has not failed. */
  std::unique_ptr<TEngine>
  Take(const std::string & deviceName, const Key & key)
  {
    return TakeEngine<TEngine>(deviceName, key, this);
  }
  void
  Keep(std::unique_ptr<TEngine> engine)
  {
    StoreIdleEngine(std::move(engine), this);
  }
};

} // namespace gpureg

#endif
