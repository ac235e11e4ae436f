// SPDX-License-Identifier: Apache-2.0
// Translates the engine's errors to Python's exceptions.
#include "Bindings.h"

#include "gpureg/core/Error.h"

#include <exception>
#include <string>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
// These live until the process ends.
PyObject * errorType = nullptr;
PyObject * badInputType = nullptr;
PyObject * outOfMemoryType = nullptr;
PyObject * deviceType = nullptr;
PyObject * deviceLostType = nullptr;
PyObject * unsupportedType = nullptr;

PyObject *
AddType(nb::module_ & module, const char * name, const char * text, PyObject * base, PyObject * second)
{
  const nb::object  bases = second != nullptr ? nb::object(nb::make_tuple(nb::handle(base), nb::handle(second)))
                                              : nb::object(nb::make_tuple(nb::handle(base)));
  const std::string fullName = std::string("gpuregistration.") + name;
  PyObject * const  type = PyErr_NewExceptionWithDoc(fullName.c_str(), text, bases.ptr(), nullptr);
  if (type == nullptr)
  {
    throw nb::python_error();
  }
  module.attr(name) = nb::handle(type);
  return type;
}

void
Translate(const std::exception_ptr & error, void *)
{
  try
  {
    std::rethrow_exception(error);
  }
  catch (const OutOfMemoryError & e)
  {
    PyErr_SetString(outOfMemoryType, e.what());
  }
  catch (const DeviceLostError & e)
  {
    PyErr_SetString(deviceLostType, e.what());
  }
  catch (const BadInputError & e)
  {
    PyErr_SetString(badInputType, e.what());
  }
  catch (const UnsupportedError & e)
  {
    PyErr_SetString(unsupportedType, e.what());
  }
  catch (const Error & e)
  {
    PyErr_SetString(deviceType, e.what());
  }
}
} // namespace

void
AddErrors(nb::module_ & module)
{
  errorType = AddType(module, "Error", "Base class of this package's errors.", PyExc_Exception, nullptr);
  badInputType =
    AddType(module, "BadInputError", "An argument is wrong, on every device.", errorType, PyExc_ValueError);
  outOfMemoryType =
    AddType(module, "OutOfMemoryError", "A device, or the host, has too little memory.", errorType, PyExc_MemoryError);
  deviceType = AddType(module, "DeviceError", "A device does not exist, or fails.", errorType, PyExc_RuntimeError);
  deviceLostType =
    AddType(module, "DeviceLostError", "The device computes nothing more for this process.", deviceType, nullptr);
  unsupportedType = AddType(module,
                            "UnsupportedError",
                            "This device, or the engine, cannot compute the result.",
                            errorType,
                            PyExc_RuntimeError);
  nb::register_exception_translator(Translate, nullptr);
}

} // namespace python
} // namespace gpureg
