// SPDX-License-Identifier: Apache-2.0
// Plans of what registrations hold on a device.
#include "Bindings.h"

#include "gpureg/image/Outliers.h"
#include "gpureg/registration/MemoryPlan.h"
#include "gpureg/runtime/HostMemory.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

namespace
{
/** Compares what registrations hold with the memory that a device has, as CheckFits() does. changes: bytes by what would be changed */
void
CheckHeld(std::size_t                                              size,
          const std::vector<std::pair<std::string, std::size_t>> & changes,
          const std::string &                                      device,
          std::size_t                                              available)
{
  MemoryPlan plan;
  plan.bytes = size;
  for (const auto & [what, bytes] : changes)
  {
    plan.changes.push_back({ what, bytes });
  }
  CheckFits(plan, device, available);
}
} // namespace

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
  module.def("list_picked_places", &ListPickedPlaces, nb::arg("count"));
  module.def("find_range", &FindRangeWithoutOutliers, nb::arg("sample"), nb::arg("all"));
  module.def("get_host_memory_limit", &GetHostMemoryLimit);
  module.def("check_fits", &CheckHeld, nb::arg("size"), nb::arg("changes"), nb::arg("device"), nb::arg("available"));
}

} // namespace python
} // namespace gpureg
