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

/** Looks at Python's signals from time to time, on the thread that it was made on. */
class SignalWatch
{
public:
  /** Before each task. \throws nanobind::python_error if a signal raises. Without the GIL; on any thread. */
  void
  Look()
  {
    // Only the owner's tasks count, however many threads there are: nothing behind this line is shared.
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

  // Tasks may be of less than a microsecond, and to ask for the time is not free: so it is asked for each so many short ones, and for
  // each long one.
  static constexpr int                       MostTasks = 64;
  static constexpr std::chrono::microseconds ShortStride{ 100 };

  // Where other threads run Python's code, its lock comes only after their switch interval, of 5 ms: so a twentieth is lost at most.
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
