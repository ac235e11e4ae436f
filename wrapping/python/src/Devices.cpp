// SPDX-License-Identifier: Apache-2.0
#include "Bindings.h"
#include "Threads.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/runtime/HardwareId.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace gpureg
{
namespace python
{

void
AddDevices(nb::module_ & module)
{
  nb::class_<DeviceDescription>(module, "DeviceDescription")
    .def_ro("name", &DeviceDescription::name)
    .def_ro("description", &DeviceDescription::description)
    .def_ro("memory", &DeviceDescription::memorySize);
  nb::class_<EvaluationStatistics>(module, "Statistics")
    .def_ro("bytes_up", &EvaluationStatistics::bytesUp)
    .def_ro("bytes_down", &EvaluationStatistics::bytesDown);
  module.def("devices", &GetAvailableDevices);
  module.def("find_device", &FindDevice, nb::call_guard<nb::gil_scoped_release>());
  module.def("best_device", &FindBestDevice, nb::call_guard<nb::gil_scoped_release>());
  module.def("start_device", &StartDevice, nb::call_guard<nb::gil_scoped_release>());
  module.def("hardware_id", &GetHardwareId);
  module.def("device_complaints", &GetDeviceComplaints);
  module.def("has_doubles", &HasDoubles);
  module.def("set_memory_limit", &SetMemoryLimit);
  module.def("memory_in_use", &GetMemoryInUse);
  module.def("most_memory_in_use", &GetMostMemoryInUse);
  module.def("count_most_memory_from_now", &CountMostMemoryFromNow);
  module.def("set_idle_memory_limit", &SetIdleMemoryLimit);
  module.def("idle_memory_limit", &GetIdleMemoryLimit);
  module.def("idle_memory_in_use", &GetIdleMemoryInUse);
  module.def("release_idle_memory", &ReleaseIdleMemory);
  module.def("thread_count", &GetThreadCount);
  module.def("set_thread_count", &SetThreadCount);
}

} // namespace python
} // namespace gpureg
