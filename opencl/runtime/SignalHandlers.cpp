// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/SignalHandlers.h"

namespace gpureg
{

SignalHandlers::SignalHandlers()
{
  for (int number = 1; number < NSIG; ++number)
  {
    struct sigaction action = {};
    // There is no action for signals that the C library keeps for itself.
    if (number != SIGFPE && sigaction(number, nullptr, &action) == 0)
    {
      m_Actions.emplace_back(number, action);
    }
  }
}

SignalHandlers::~SignalHandlers()
{
  for (const auto & [number, before] : m_Actions)
  {
    struct sigaction now = {};
    if (sigaction(number, nullptr, &now) == 0 &&
        (now.sa_handler != before.sa_handler || now.sa_flags != before.sa_flags))
    {
      sigaction(number, &before, nullptr);
    }
  }
}

} // namespace gpureg
