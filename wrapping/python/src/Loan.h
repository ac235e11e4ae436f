// SPDX-License-Identifier: Apache-2.0
// Engines for calls from Python, of those that all of a process shares.
#ifndef gpureg_python_Loan_h
#define gpureg_python_Loan_h

#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/Error.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>

namespace gpureg
{
namespace python
{

/** An engine that was idle, or a new one. One that is not given back, because its work has failed, goes with this. */
template <typename TEngine>
class Loan
{
public:
  /** \throws Error if there is no such device. */
  explicit Loan(const std::string & device)
  {
    const nanobind::gil_scoped_release released;
    m_Engine = TakeEngine<TEngine>(device, {}, nullptr);
  }

  /** \throws BadInputError behind GiveBack(). */
  TEngine &
  operator*() const
  {
    if (!m_Engine)
    {
      throw BadInputError("an engine that was given back is asked to work; borrow another one");
    }
    return *m_Engine;
  }
  TEngine *
  operator->() const
  {
    return &**this;
  }

  /** Lets it wait for the next call, within SetIdleMemoryLimit. \throws BadInputError if that was done before. */
  void
  GiveBack()
  {
    static_cast<void>(**this);
    const nanobind::gil_scoped_release released;
    KeepIdleEngine(std::move(m_Engine), nullptr);
  }

private:
  std::unique_ptr<TEngine> m_Engine;
};

/** The class by which Python has loans of an engine. */
template <typename TEngine>
nanobind::class_<Loan<TEngine>>
AddLoan(nanobind::module_ & module, const char * name)
{
  return nanobind::class_<Loan<TEngine>>(module, name)
    .def(nanobind::init<const std::string &>())
    .def("give_back", &Loan<TEngine>::GiveBack)
    .def_prop_ro("statistics", [](const Loan<TEngine> & engine) { return engine->GetStatistics(); });
}

} // namespace python
} // namespace gpureg

#endif
