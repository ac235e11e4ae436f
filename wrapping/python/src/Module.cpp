// SPDX-License-Identifier: Apache-2.0
#include "Bindings.h"

NB_MODULE(_engine, module)
{
  // Objects of modules that are kept until the interpreter's end are no leaks.
  nanobind::set_leak_warnings(false);
  gpureg::python::AddErrors(module);
  gpureg::python::AddDevices(module);
  gpureg::python::AddDeviceArrays(module);
  gpureg::python::AddVolumes(module);
  gpureg::python::AddSides(module);
  gpureg::python::AddPlans(module);
  gpureg::python::AddChains(module);
  gpureg::python::AddPairs(module);
  gpureg::python::AddGlobal(module);
  gpureg::python::AddFreeForm(module);
  gpureg::python::AddDiffeomorphic(module);
  gpureg::python::AddFields(module);
  gpureg::python::AddResample(module);
  gpureg::python::AddWindowed(module);
  gpureg::python::AddMeasure(module);
}
