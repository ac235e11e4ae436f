// SPDX-License-Identifier: Apache-2.0
#include "Cancel.h"
#include "Threads.h"

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

// Of one loop, on all its threads together.
constexpr std::int64_t MostLooks = 64;

/** Looks at Python's signals from time to time, on the thread that it was made on. */
class SignalWatch
{
public:
  /** \throws nanobind::python_error if a signal raises. Without the GIL; on any thread. */
  void
  Look()
  {
    if (std::this_thread::get_id() != m_Owner || Clock::now() < m_Next)
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

  // Where other threads run Python's code, its lock comes only after their switch interval, of 5 ms: so a twentieth is lost at most.
  static constexpr std::chrono::milliseconds Interval{ 100 };

  const std::thread::id m_Owner = std::this_thread::get_id();
  Clock::time_point     m_Next = Clock::now() + Interval;
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
    // Tasks may be of less than a microsecond.
    const std::int64_t stride = 1 + count / MostLooks;
    parallelFor(count, [&](std::int64_t task) {
      if (task % stride == 0)
      {
        watch->Look();
      }
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
