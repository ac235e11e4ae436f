// SPDX-License-Identifier: Apache-2.0
// Handles Python's signals during the engine's work, and calls a caller's progress function between two iterations or batches.
#ifndef gpureg_python_Cancel_h
#define gpureg_python_Cancel_h

#include "gpureg/core/ParallelFor.h"

#include <nanobind/nanobind.h>

namespace gpureg
{
namespace python
{

/** Has Python handle its signals. The caller holds the GIL.
 * \throws nanobind::python_error if a handler, such as that of Ctrl-C, raises. */
void
CheckSignals();

/** Makes a parallel-for as MakeParallelFor() does, whose loops throw nanobind::python_error when a signal's handler raises, such as that
 *  of Ctrl-C. Python handles signals on its main thread: there loops look at them ten times a second, between two tasks. The caller holds
 *  the GIL; the loops run without it. */
ParallelFor
MakeInterruptibleParallelFor();

/** Calls a caller's progress function, if there is one. Without a function it takes the GIL on Python's main thread alone, where signals
 *  are handled: if other threads run Python's code, the GIL comes only after their switch interval, each time. */
class Reporter
{
public:
  /** The caller holds the GIL.
   *  \param progress the function, or None. It must outlive this. */
  explicit Reporter(const nanobind::object & progress);

  /** Calls the function with some values. The caller does not hold the GIL, which the call takes.
   *  \throws nanobind::python_error if a signal or the function raises: this ends the engine's work. */
  template <typename... TValues>
  void
  operator()(TValues... values) const
  {
    this->Call([&](const nanobind::object & progress) { progress(values...); });
  }

  /** Calls call(progress), which makes the values and calls the function. */
  template <typename TCall>
  void
  Call(const TCall & call) const
  {
    if (!m_IsNeeded)
    {
      return;
    }
    const nanobind::gil_scoped_acquire held;
    CheckSignals();
    if (!m_Progress.is_none())
    {
      call(m_Progress);
    }
  }

private:
  const nanobind::object & m_Progress;
  const bool               m_IsNeeded;
};

} // namespace python
} // namespace gpureg

#endif
