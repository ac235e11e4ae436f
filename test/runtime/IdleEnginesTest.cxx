// SPDX-License-Identifier: Apache-2.0
// Tests a device's idle engines: which user gets which one, and the memory that they hold together.
#include "engine/runtime/IdleEngines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace gpuregtest
{
namespace
{
using gpureg::IdleEngines;
using gpureg::Key;

/** An engine that holds a number of bytes, made from a source with a key. */
template <int VType>
class FakeEngine : public gpureg::Engine
{
public:
  FakeEngine(Key key, std::size_t bytes)
    : m_Key(std::move(key))
    , m_Bytes(bytes)
  {
    ++alive;
  }
  ~FakeEngine() override
  {
    --alive;
  }
  const std::string &
  GetDeviceName() const override
  {
    static const std::string name = "fake";
    return name;
  }
  std::size_t
  GetHeldBytes() const override
  {
    return m_Bytes;
  }
  bool
  Holds(const Key & key) const override
  {
    return key == m_Key;
  }

  static int alive;

private:
  Key         m_Key;
  std::size_t m_Bytes;
};

template <int VType>
int FakeEngine<VType>::alive = 0;

using ResamplerType = FakeEngine<0>;
using FilterType = FakeEngine<1>;

/** Returns the first number of the key of the engine that a user gets; -1 if there is none. The engine is idle again afterwards. */
int
Use(IdleEngines & idle, const Key & key, const void * user)
{
  std::unique_ptr<gpureg::Engine> engine = idle.Take(typeid(ResamplerType), key, user);
  if (!engine)
  {
    return -1;
  }
  int number = 0;
  while (!engine->Holds({ static_cast<std::uintptr_t>(number) }))
  {
    ++number;
  }
  idle.Keep(std::move(engine), user);
  return number;
}

const int users[20] = {};

TEST(IdleEngines, AUserGetsTheOneThatHoldsItsInput)
{
  IdleEngines idle(1000);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 1 }, 10), &users[1]);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 2 }, 10), &users[2]);
  EXPECT_EQ(Use(idle, { 2 }, &users[1]), 2);
  EXPECT_EQ(Use(idle, { 1 }, &users[5]), 1);
}

TEST(IdleEngines, ElseTheOneThatItUsedLast)
{
  IdleEngines idle(1000);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 1 }, 10), &users[1]);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 2 }, 10), &users[2]);
  EXPECT_EQ(Use(idle, { 7 }, &users[1]), 1);
  EXPECT_EQ(Use(idle, {}, &users[2]), 2);
  EXPECT_EQ(Use(idle, { 7 }, &users[3]), -1) << "another engine may be made";
}

TEST(IdleEngines, OrWhereThereAreEnoughTheOneThatHasBeenIdleTheLongest)
{
  IdleEngines idle(1000);
  for (std::uintptr_t n = 0; n < IdleEngines::MostEngines; ++n)
  {
    EXPECT_EQ(Use(idle, { 50 }, &users[15]), -1);
    idle.Keep(std::make_unique<ResamplerType>(Key{ n }, 10), &users[n]);
  }
  EXPECT_EQ(Use(idle, { 50 }, &users[15]), 0);
  EXPECT_EQ(Use(idle, { 50 }, &users[16]), 1);
}

TEST(IdleEngines, OneOfAnotherTypeServesNobody)
{
  IdleEngines idle(1000);
  idle.Keep(std::make_unique<FilterType>(Key{ 1 }, 10), &users[1]);
  EXPECT_EQ(Use(idle, { 1 }, &users[1]), -1);
}

TEST(IdleEngines, HoldAtMostTheLimit)
{
  IdleEngines idle(100);
  for (std::uintptr_t n = 0; n < 5; ++n)
  {
    idle.Keep(std::make_unique<ResamplerType>(Key{ n }, 40), &users[n]);
    EXPECT_LE(idle.GetHeldBytes(), 100u);
  }
  EXPECT_EQ(ResamplerType::alive, 2);
  EXPECT_EQ(Use(idle, { 4 }, nullptr), 4) << "those that were used last are kept";
  EXPECT_EQ(Use(idle, { 3 }, nullptr), 3);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 9 }, 101), &users[9]);
  EXPECT_EQ(idle.GetHeldBytes(), 80u) << "an engine that exceeds the limit by itself replaces no other";
  EXPECT_EQ(ResamplerType::alive, 2);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 1 }, 100), &users[1]);
  EXPECT_EQ(ResamplerType::alive, 1);
  idle.SetLimit(99);
  EXPECT_EQ(ResamplerType::alive, 0);
}

TEST(IdleEngines, AreFewOfAllTypesTogether)
{
  IdleEngines idle(1000);
  for (std::uintptr_t n = 0; n < IdleEngines::MostEngines; ++n)
  {
    idle.Keep(std::make_unique<ResamplerType>(Key{ n }, 1), &users[n]);
    idle.Keep(std::make_unique<FilterType>(Key{ n }, 1), &users[n]);
  }
  EXPECT_EQ(ResamplerType::alive + FilterType::alive, static_cast<int>(IdleEngines::MostEngines));
  const std::uint64_t frees = idle.CountFrees();
  EXPECT_TRUE(idle.DropAll());
  EXPECT_EQ(idle.CountFrees(), frees + 1);
  EXPECT_FALSE(idle.DropAll());
  EXPECT_EQ(idle.CountFrees(), frees + 1);
  EXPECT_EQ(ResamplerType::alive + FilterType::alive, 0);
}

TEST(IdleEngines, GoWithTheirUser)
{
  IdleEngines idle(1000);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 1 }, 10), &users[1]);
  idle.Keep(std::make_unique<ResamplerType>(Key{ 2 }, 10), &users[2]);
  idle.Keep(std::make_unique<FilterType>(Key{ 3 }, 10), &users[1]);
  idle.Drop(&users[1]);
  EXPECT_EQ(ResamplerType::alive, 1);
  EXPECT_EQ(FilterType::alive, 0);
  EXPECT_EQ(idle.GetHeldBytes(), 10u);
}

} // namespace
} // namespace gpuregtest
