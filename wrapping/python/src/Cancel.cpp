// SPDX-License-Identifier: Apache-2.0
#include "Cancel.h"

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
} // namespace

void
CheckSignals()
{
  if (PyErr_CheckSignals() != 0)
  {
    throw nb::python_error();
  }
}

Reporter::Reporter(const nb::object & progress)
  : m_Progress(progress)
  , m_IsNeeded(!progress.is_none() || IsMainThread())
{}

} // namespace python
} // namespace gpureg
