// SPDX-License-Identifier: Apache-2.0
#include "Cancel.h"

namespace gpureg
{
namespace python
{

void
CheckSignals()
{
  if (PyErr_CheckSignals() != 0)
  {
    throw nanobind::python_error();
  }
}

} // namespace python
} // namespace gpureg
