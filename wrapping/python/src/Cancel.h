// SPDX-License-Identifier: Apache-2.0
// During the engine's work: Python's signals; and between two of its rounds, a caller's progress function.
#ifndef gpureg_python_Cancel_h
#define gpureg_python_Cancel_h

#include "gpureg/core/ParallelFor.h"

#include <nanobind/nanobind.h>

namespace gpureg
{
namespace python
{

/** Has Python look at its signals. \throws nanobind::python_error if one of them, such as Ctrl-C's, raises. With the GIL. */
void
CheckSignals();

/** MakeParallelFor(), whose loops end by nanobind::python_error when a signal raises, such as Ctrl-C's. On Python's main thread, whose
 *  signals are, it is looked at them ten times a second, between two tasks of a loop. With the GIL; its loops run without. */
ParallelFor
MakeInterruptibleParallelFor();

/** Tells a caller's function, or none, how far the engine's work is. Without a function, Python's lock is asked for on Python's main
 *  thread alone, whose signals are: where other threads run Python's code, it comes only after their switch interval, in each round. */
class Reporter
{
public:
  /** With the GIL.
   *  \param progress the function, or None. It must outlive this. */
  explicit Reporter(const nanobind::object & progress);

  /** Calls the function with some values. Without the GIL, which it takes meanwhile.
   *  \throws nanobind::python_error if a signal or the function raises: this ends the engine's work. */
  template <typename... TValues>
  void
  operator()(TValues... values) const
  {
    this->Call([&](const nanobind::object & progress) { progress(values...); });
  }

  /** The same of a function, call(progress), that makes the values and calls it. */
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
