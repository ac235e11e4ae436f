// SPDX-License-Identifier: Apache-2.0
#include "Cancel.h"
#include "Threads.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
bool
IsMainThread()
{
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("get_ident")().equal(threading.attr("main_thread")().attr("ident"));
}

/** Looks at Python's signals now and then, on the thread that made it. */
class SignalWatch
{
public:
  /** Looks at signals before a task. Any thread may call it, without the GIL. \throws nanobind::python_error if a signal's handler
   *  raises. */
  void
  Look()
  {
    // Only the owner's tasks count, so the members below are not shared between threads.
    if (std::this_thread::get_id() != m_Owner || --m_TasksLeft > 0)
    {
      return;
    }
    const Clock::time_point now = Clock::now();
    m_Stride = now - m_LastLook < ShortStride ? std::min(2 * m_Stride, MostTasks) : 1;
    m_TasksLeft = m_Stride;
    m_LastLook = now;
    if (now < m_Next)
    {
      return;
    }
    {
      const nb::gil_scoped_acquire held;
      CheckSignals();
    }
    m_Next = Clock::now() + Interval;
  }

private:
  using Clock = std::chrono::steady_clock;

  // A task may take less than a microsecond, and reading the clock takes time: it is read once for many short tasks, and for each long
  // one.
  static constexpr int                       MostTasks = 64;
  static constexpr std::chrono::microseconds ShortStride{ 100 };

  // If other threads run Python's code, the GIL comes after their switch interval of 5 ms: at most a twentieth of the time is lost.
  static constexpr std::chrono::milliseconds Interval{ 100 };

  const std::thread::id m_Owner = std::this_thread::get_id();
  Clock::time_point     m_LastLook = Clock::now();
  Clock::time_point     m_Next = m_LastLook + Interval;
  int                   m_Stride = 1;
  int                   m_TasksLeft = 1;
};
} // namespace

void
CheckSignals()
{
  if (PyErr_CheckSignals() != 0)
  {
    throw nb::python_error();
  }
}

ParallelFor
MakeInterruptibleParallelFor()
{
  const ParallelFor parallelFor = MakeParallelFor();
  if (!IsMainThread())
  {
    return parallelFor;
  }
  return [parallelFor, watch = std::make_shared<SignalWatch>()](std::int64_t                              count,
                                                                const std::function<void(std::int64_t)> & body) {
    parallelFor(count, [&](std::int64_t task) {
      watch->Look();
      body(task);
    });
  };
}

Reporter::Reporter(const nb::object & progress)
  : m_Progress(progress)
  , m_IsNeeded(!progress.is_none() || IsMainThread())
{}

} // namespace python
} // namespace gpureg
