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

/** Holds an object that is lent until it is given back. */
template <typename T>
class Lent
{
public:
  /** Returns the object. \throws BadInputError when it has been given back. */
  T &
  operator*() const
  {
    if (!m_Lent)
    {
      throw BadInputError("an engine that was given back is asked to work; borrow another one");
    }
    return *m_Lent;
  }
  T *
  operator->() const
  {
    return &**this;
  }

protected:
  std::unique_ptr<T> m_Lent;
};

/** Borrows an idle engine, or makes one. An engine that is not given back, because its work has failed, is destroyed with this. */
template <typename TEngine>
class Loan : public Lent<TEngine>
{
public:
  /** Borrows an engine. \throws Error if there is no such device. */
  explicit Loan(const std::string & device)
  {
    const nanobind::gil_scoped_release released;
    this->m_Lent = TakeEngine<TEngine>(device, {}, nullptr);
  }

  /** Gives the engine back for the next call, within SetIdleMemoryLimit. \throws BadInputError if it was given back before. */
  void
  GiveBack()
  {
    static_cast<void>(**this);
    const nanobind::gil_scoped_release released;
    StoreIdleEngine(std::move(this->m_Lent), nullptr);
  }
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
