// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SignalHandlers_h
#define gpureg_SignalHandlers_h

#include <utility>
#include <vector>

#include <signal.h>

namespace gpureg
{

/** Restores at its end what the process did with each signal at its beginning: handled it, ignored it, or neither.
 *
 *  A driver whose compiler is LLVM, such as PoCL's, handles nearly all signals from the call that finds its devices on. A program would
 *  lose its own handlers, and where it ignores a signal, two threads that get it at once would end it: the handler is of one use.
 *  SIGFPE is left to the driver, whose kernels may divide by zero.
 *  A handler that another thread sets meanwhile is lost. */
class SignalHandlers
{
public:
  SignalHandlers();
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers &) = delete;
  SignalHandlers &
  operator=(const SignalHandlers &) = delete;

private:
  /** Holds signals, and what the process does with each. */
  std::vector<std::pair<int, struct sigaction>> m_Actions;
};

} // namespace gpureg

#endif
