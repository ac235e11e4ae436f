// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLBackend.h"

#include "opencl/runtime/OpenCLError.h"
#include "opencl/runtime/OpenCLLoader.h"
#include "opencl/runtime/OpenCLQueue.h"
#include "opencl/runtime/SignalHandlers.h"

#include <algorithm>

namespace gpureg
{

namespace
{
using DeviceList = std::vector<std::unique_ptr<OpenCLDevice>>;

/** Adds the usable devices of a platform, and a complaint for each other device. */
void
FindDevices(const cl::Platform & platform, DeviceList & devices, std::vector<std::string> & complaints)
{
  std::string where = "OpenCL";
  try
  {
    where = "OpenCL, " + platform.getInfo<CL_PLATFORM_NAME>();
    std::vector<cl::Device> handles;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &handles);
    for (const cl::Device & handle : handles)
    {
      try
      {
        devices.push_back(std::make_unique<OpenCLDevice>(handle));
      }
      catch (const Error & error)
      {
        complaints.push_back(where + ", " + handle.getInfo<CL_DEVICE_NAME>() + ": " + error.what());
      }
      catch (const cl::Error & error)
      {
        complaints.push_back(where + ": " + DescribeOpenCLError(error));
      }
    }
  }
  catch (const cl::Error & error)
  {
    complaints.push_back(where + ": " + DescribeOpenCLError(error));
  }
}

/** Returns every device of every platform. The program's handlers of signals stay (see SignalHandlers.h). The devices are never destroyed:
 *  some drivers shut down before a library's static objects are destroyed, and crash when they are then asked to release a context. */
DeviceList &
FindAllDevices(std::vector<std::string> & complaints)
{
  static DeviceList &  devices = *new DeviceList;
  const SignalHandlers ofProgram;
  try
  {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform & platform : platforms)
    {
      FindDevices(platform, devices, complaints);
    }
  }
  catch (const cl::Error & error)
  {
    complaints.push_back("OpenCL: " + DescribeOpenCLError(error));
  }
  catch (const Error & error)
  {
    complaints.push_back(std::string("OpenCL: ") + error.what());
  }
  std::stable_sort(devices.begin(), devices.end(), [](const auto & a, const auto & b) {
    return a->IsGpu() > b->IsGpu();
  });
  return devices;
}
} // namespace

OpenCLBackend::OpenCLBackend(OpenCLDevice & device)
  : Backend({ device.GetName(), device.GetDescription(), device.GetMemorySize() },
            device.IsGpu() ? DeviceRank::OpenCLOnGpu : DeviceRank::OpenCLOnCpu)
  , m_Device(device)
{}

std::unique_ptr<Queue>
OpenCLBackend::CreateQueue()
{
  return std::make_unique<OpenCLQueue>(*this);
}

std::string
OpenCLBackend::GetDriverVersion() const
{
  return CheckOpenCL(m_Device.GetName(), [&] { return m_Device.GetHandle().getInfo<CL_DRIVER_VERSION>(); });
}

StagingPointer
OpenCLBackend::MakePinned(std::size_t bytes)
{
  return CheckOpenCL(m_Device.GetName(), [&] { return std::make_unique<OpenCLStaging>(m_Device, bytes); });
}

BackendList
FindOpenCLBackends()
{
  BackendList list;
  if (!GetOpenCLLoaderComplaint().empty())
  {
    list.complaints.push_back("OpenCL: " + GetOpenCLLoaderComplaint());
    return list;
  }
  for (const auto & device : FindAllDevices(list.complaints))
  {
    device->SetName("opencl:" + std::to_string(list.backends.size()));
    list.backends.push_back(std::make_shared<OpenCLBackend>(*device));
  }
  return list;
}

} // namespace gpureg
