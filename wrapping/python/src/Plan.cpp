// SPDX-License-Identifier: Apache-2.0
// Plans of what registrations hold on a device.
#include "Bindings.h"

#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/runtime/HostMemory.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

void
AddPlans(nb::module_ & module)
{
  nb::class_<PlannedLevel>(module, "PlannedLevel")
    .def_ro("size", &PlannedLevel::size)
    .def_ro("bytes", &PlannedLevel::bytes);
  nb::class_<PlannedArray>(module, "PlannedArray")
    .def_ro("name", &PlannedArray::name)
    .def_ro("bytes", &PlannedArray::bytes);
  nb::class_<PlannedChange>(module, "PlannedChange")
    .def_ro("what", &PlannedChange::what)
    .def_ro("bytes", &PlannedChange::bytes);
  nb::class_<MemoryPlan>(module, "MemoryPlan")
    .def_ro("levels", &MemoryPlan::levels)
    .def_ro("images", &MemoryPlan::images)
    .def_ro("bytes", &MemoryPlan::bytes)
    .def_ro("arrays", &MemoryPlan::arrays)
    .def_ro("changes", &MemoryPlan::changes);
  module.def("get_available_memory", &GetAvailableMemory);
  module.def("get_host_memory_limit", &GetHostMemoryLimit);
  module.def("check_fits", &CheckFits, nb::arg("plan"), nb::arg("device"), nb::arg("available"));
}

} // namespace python
} // namespace gpureg
