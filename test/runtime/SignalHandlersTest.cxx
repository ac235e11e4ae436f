// SPDX-License-Identifier: Apache-2.0
// Tests that what a process does with signals is restored.
#include "opencl/runtime/SignalHandlers.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

namespace gpuregtest
{
namespace
{
void
HandleOwn(int)
{}

void
HandleDrivers(int, siginfo_t *, void *)
{}

struct sigaction
GetAction(int number)
{
  struct sigaction action = {};
  EXPECT_EQ(sigaction(number, nullptr, &action), 0);
  return action;
}

/** Sets a handler as LLVM does. */
void
SetDrivers(int number)
{
  struct sigaction action = {};
  action.sa_sigaction = HandleDrivers;
  action.sa_flags = SA_NODEFER | SA_RESETHAND | SA_ONSTACK | SA_SIGINFO;
  EXPECT_EQ(sigaction(number, &action, nullptr), 0);
}

TEST(SignalHandlers, AreRestored)
{
  // Restores at the end what the tests' process did before.
  const gpureg::SignalHandlers ofProcess;
  struct sigaction             own = {};
  own.sa_handler = HandleOwn;
  own.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &own, nullptr), 0);
  ASSERT_NE(std::signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  ASSERT_NE(std::signal(SIGUSR2, SIG_DFL), SIG_ERR);
  const auto beforeFpe = GetAction(SIGFPE);

  auto handlers = std::make_unique<gpureg::SignalHandlers>();
  for (const int number : { SIGUSR1, SIGXFSZ, SIGUSR2, SIGFPE })
  {
    SetDrivers(number);
  }
  handlers.reset();

  EXPECT_EQ(GetAction(SIGUSR1).sa_handler, HandleOwn);
  EXPECT_EQ(GetAction(SIGUSR1).sa_flags & (SA_RESTART | SA_RESETHAND | SA_SIGINFO), SA_RESTART);
  EXPECT_EQ(GetAction(SIGXFSZ).sa_handler, SIG_IGN);
  EXPECT_EQ(GetAction(SIGUSR2).sa_handler, SIG_DFL);
  EXPECT_EQ(GetAction(SIGFPE).sa_sigaction, HandleDrivers) << "it is the driver's";
  EXPECT_EQ(sigaction(SIGFPE, &beforeFpe, nullptr), 0);
}

/** A handler that nobody replaced stays as it is, with its mask and flags. */
TEST(SignalHandlers, ThatNobodyReplacesStay)
{
  const gpureg::SignalHandlers ofProcess;
  struct sigaction             own = {};
  own.sa_handler = HandleOwn;
  sigaddset(&own.sa_mask, SIGHUP);
  ASSERT_EQ(sigaction(SIGUSR1, &own, nullptr), 0);
  {
    const gpureg::SignalHandlers handlers;
  }
  const struct sigaction after = GetAction(SIGUSR1);
  EXPECT_EQ(after.sa_handler, HandleOwn);
  EXPECT_EQ(sigismember(&after.sa_mask, SIGHUP), 1);
}

} // namespace
} // namespace gpuregtest
