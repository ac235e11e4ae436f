// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Device_h
#define gpureg_Device_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

/** Describes a device that computes: "cuda:0", "opencl:0" or "host". */
struct DeviceDescription
{
  std::string name;
  /** One line: the model, the driver, and the memory. */
  std::string description;
  /** Bytes of memory; for the host, the physical memory. */
  std::size_t memorySize;
};

/** Returns every device of this machine, best first: CUDA GPUs, OpenCL GPUs, the host's threads, OpenCL on the CPU (which runs the GPU
 *  kernels, but no faster than the host's own code). The list is never empty. The first call looks for drivers; it neither initialises
 *  a device nor takes memory on one. A driver that is installed but fails is left out, and GetDeviceComplaints() says why. */
GPURegistration_EXPORT
std::vector<DeviceDescription>
GetAvailableDevices();

/** Returns the device with a name; empty if there is none. Looks for no driver but the one that the name belongs to. */
GPURegistration_EXPORT
std::optional<DeviceDescription>
FindDevice(const std::string & deviceName);

/** Returns the first device of GetAvailableDevices(). Does not look for the drivers of devices that would come after it, since that may
 *  take longer than a registration. */
GPURegistration_EXPORT
DeviceDescription
FindBestDevice();

/** Starts a device's driver, which the first engine on the device would do otherwise; CUDA takes up to half a second. Does nothing where it
 *  was started before. May run in a thread beside other work.
 *  \throws Error if there is no such device or it does not start. */
GPURegistration_EXPORT
void
StartDevice(const std::string & deviceName);

/** Returns one line for each driver that found no device, saying why, for messages to users. */
GPURegistration_EXPORT
std::vector<std::string>
GetDeviceComplaints();

/** Returns true if this process was forked from one that had looked for devices other than the host. Such a process has only the host. */
GPURegistration_EXPORT
bool
IsChildWithoutDevices();

/** Limits what this process may allocate on a device, in bytes; 0, the default, leaves only the device's own limit. Memory that is
 *  already allocated stays allocated.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
SetMemoryLimit(const std::string & deviceName, std::size_t bytes);

/** Returns the bytes of a device's memory that the engine holds now, in all its objects, without staging memory on the host.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetMemoryInUse(const std::string & deviceName);

/** Returns the most bytes that the engine has held on a device at once, since the process began or CountMostMemoryFromNow() was called.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetMostMemoryInUse(const std::string & deviceName);
GPURegistration_EXPORT
void
CountMostMemoryFromNow(const std::string & deviceName);

/** Limits the pinned host memory that this process holds for copies to and from a device, in bytes. Default: 256 MiB. Copies beyond the
 *  limit use pageable memory, which takes longer.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
SetPinnedMemoryLimit(const std::string & deviceName, std::size_t bytes);

/** Returns the limit that SetPinnedMemoryLimit() set, or its default.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetPinnedMemoryLimit(const std::string & deviceName);

/** Returns the bytes of pinned host memory that the engine holds now for a device.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetPinnedMemoryInUse(const std::string & deviceName);

/** Limits what idle engines (EngineUser) store of their last inputs, in bytes: on a device, and on the host for that device. Default: a
 *  quarter of a GPU's memory, or a sixteenth of the host's memory for devices that compute in it. With 0 inputs are uploaded each time.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
SetIdleMemoryLimit(const std::string & deviceName, std::size_t bytes);

/** Returns the limit that SetIdleMemoryLimit() set, or its default.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetIdleMemoryLimit(const std::string & deviceName);

/** Returns the bytes that idle engines store now of their last inputs.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetIdleMemoryInUse(const std::string & deviceName);

/** Frees what idle engines store, and the pinned memory that no engine uses now.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
ReleaseIdleMemory(const std::string & deviceName);

/** Returns true if a device computes in double precision.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
bool
HasDoubles(const std::string & deviceName);

} // namespace gpureg

#endif
