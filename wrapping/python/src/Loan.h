// SPDX-License-Identifier: Apache-2.0
// Lends engines, which the whole process shares, to calls from Python.
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

/** Borrows an idle engine, or makes one. An engine that is not given back, because its work has failed, is destroyed with this. */
template <typename TEngine>
class Loan
{
public:
  /** Borrows an engine. \throws Error if there is no such device. */
  explicit Loan(const std::string & device)
  {
    const nanobind::gil_scoped_release released;
    m_Engine = TakeEngine<TEngine>(device, {}, nullptr);
  }

  /** Returns the engine. \throws BadInputError after GiveBack(). */
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

  /** Gives the engine back for the next call, within SetIdleMemoryLimit. \throws BadInputError if it was given back before. */
  void
  GiveBack()
  {
    static_cast<void>(**this);
    const nanobind::gil_scoped_release released;
    StoreIdleEngine(std::move(m_Engine), nullptr);
  }

private:
  std::unique_ptr<TEngine> m_Engine;
};

/** Adds the class of an engine's loans to the module. */
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
