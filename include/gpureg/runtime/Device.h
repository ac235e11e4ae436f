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

/** A device that computes: "cuda:0", "opencl:0" or "host". */
struct DeviceDescription
{
  std::string name;
  /** One line: the model, what runs it, its memory. */
  std::string description;
  /** Bytes of memory; of the host, what is physically there. */
  std::size_t memorySize;
};

/** Every device of this machine, best first: CUDA, OpenCL GPUs, host threads, OpenCL on the CPU
 *  (which runs the GPU's kernels, but not faster than the host's own). Never empty.
 *  The first call looks for drivers; no device is initialised or given memory.
 *  A driver that is there but fails is left out, and GetDeviceComplaints() says why. */
GPURegistration_EXPORT
std::vector<DeviceDescription>
GetAvailableDevices();

/** That of a name, for which no other driver than its own is looked for; nothing if there is none. */
GPURegistration_EXPORT
std::optional<DeviceDescription>
FindDevice(const std::string & deviceName);

/** The first one of GetAvailableDevices(). Drivers whose devices come behind it are not looked for, which may take longer than a
 *  registration. */
GPURegistration_EXPORT
DeviceDescription
FindBestDevice();

/** Why a driver found no device, one line each: for messages to people. */
GPURegistration_EXPORT
std::vector<std::string>
GetDeviceComplaints();

/** Whether this process was forked from one that had looked for other devices than the host: then it has the host alone. */
GPURegistration_EXPORT
bool
IsChildWithoutDevices();

/** Bounds what this process may allocate on a device, in bytes; 0 (the default) for no bound but the
 *  device's own. What is allocated already stays.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
SetMemoryLimit(const std::string & deviceName, std::size_t bytes);

/** Bytes of a device's memory that the engine holds now, in all its objects; staging memory on the host
 *  is not counted.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetMemoryInUse(const std::string & deviceName);

/** The most that it has held at once, since the process began or it was asked to count from now on.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetMostMemoryInUse(const std::string & deviceName);
GPURegistration_EXPORT
void
CountMostMemoryFromNow(const std::string & deviceName);

/** Bounds the pinned host memory that this process holds to copy to and from a device, in bytes; 256 MiB unless it is set.
 *  What goes beyond is copied from ordinary memory, which takes longer.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
SetPinnedMemoryLimit(const std::string & deviceName, std::size_t bytes);

/** That bound.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetPinnedMemoryLimit(const std::string & deviceName);

/** Bytes of pinned host memory that the engine holds now for a device.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetPinnedMemoryInUse(const std::string & deviceName);

/** Bounds what the engines that wait for work (EngineUser) keep of their last inputs, in bytes: of a device, and of the
 *  host for it. Unless it is set, a quarter of a GPU's memory, and a sixteenth of the host's for what computes there.
 *  0: an input is sent anew each time.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
SetIdleMemoryLimit(const std::string & deviceName, std::size_t bytes);

/** That bound.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetIdleMemoryLimit(const std::string & deviceName);

/** What they keep now.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::size_t
GetIdleMemoryInUse(const std::string & deviceName);

/** Gives back what they keep, and the pinned memory that no engine uses now.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
void
ReleaseIdleMemory(const std::string & deviceName);

/** Whether a device computes in double precision.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
bool
HasDoubles(const std::string & deviceName);

} // namespace gpureg

#endif
