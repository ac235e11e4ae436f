// SPDX-License-Identifier: Apache-2.0
// Between two rounds of the engine's work: Python's signals, and a caller's progress function.
#ifndef gpureg_python_Cancel_h
#define gpureg_python_Cancel_h

#include <nanobind/nanobind.h>

namespace gpureg
{
namespace python
{

/** Has Python look at its signals. \throws nanobind::python_error if one of them, such as Ctrl-C's, raises. With the GIL. */
void
CheckSignals();

/** Calls a function, or none, with some values. Without the GIL, which it takes meanwhile.
 *  \throws nanobind::python_error if a signal or the function raises: this ends the engine's work. */
template <typename... TValues>
void
Report(const nanobind::object & progress, TValues... values)
{
  const nanobind::gil_scoped_acquire held;
  CheckSignals();
  if (!progress.is_none())
  {
    progress(values...);
  }
}

} // namespace python
} // namespace gpureg

#endif
