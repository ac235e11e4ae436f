// SPDX-License-Identifier: Apache-2.0
// Functions that each add the functions and classes of one subject to the module.
#ifndef gpureg_python_Bindings_h
#define gpureg_python_Bindings_h

#include <nanobind/nanobind.h>

namespace gpureg
{
namespace python
{

void
AddErrors(nanobind::module_ & module);

void
AddDevices(nanobind::module_ & module);

void
AddDeviceArrays(nanobind::module_ & module);

void
AddSides(nanobind::module_ & module);

void
AddChains(nanobind::module_ & module);

void
AddVolumes(nanobind::module_ & module);

void
AddPairs(nanobind::module_ & module);

void
AddGlobal(nanobind::module_ & module);

void
AddFreeForm(nanobind::module_ & module);

void
AddDiffeomorphic(nanobind::module_ & module);

void
AddFields(nanobind::module_ & module);

void
AddResample(nanobind::module_ & module);

void
AddWindowed(nanobind::module_ & module);

void
AddMeasure(nanobind::module_ & module);

void
AddPlans(nanobind::module_ & module);

} // namespace python
} // namespace gpureg

#endif
