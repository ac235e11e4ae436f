// SPDX-License-Identifier: Apache-2.0
#include "itkGPUDevice.h"

#include "itkGPUError.h"

#include "engine/runtime/Fork.h"

#include "gpureg/runtime/Device.h"
#include "itkMacro.h"

#include <cstdlib>
#include <memory>
#include <mutex>

namespace itk
{

namespace
{
gpureg::ForkSafeMutex      defaultMutex;
std::unique_ptr<GPUDevice> chosenDefault;
} // namespace

GPUDevice::GPUDevice(std::string name, std::string description, std::size_t memorySize)
  : m_Name(std::move(name))
  , m_Description(std::move(description))
  , m_MemorySize(memorySize)
{}

GPUDevice::GPUDevice()
  : GPUDevice(GetDefault())
{}

std::vector<GPUDevice>
GPUDevice::GetAvailable()
{
  std::vector<GPUDevice> devices;
  for (const gpureg::DeviceDescription & found : gpureg::GetAvailableDevices())
  {
    devices.push_back(GPUDevice(found.name, found.description, found.memorySize));
  }
  return devices;
}

GPUDevice
GPUDevice::FromName(const std::string & name)
{
  if (const auto found = gpureg::FindDevice(name))
  {
    return GPUDevice(found->name, found->description, found->memorySize);
  }
  std::string names;
  for (const GPUDevice & device : GetAvailable())
  {
    names += (names.empty() ? "" : ", ") + device.GetName();
  }
  std::string complaints;
  for (const std::string & complaint : gpureg::GetDeviceComplaints())
  {
    complaints += "\n  " + complaint;
  }
  if (gpureg::IsChildWithoutDevices())
  {
    itkSpecializedMessageExceptionMacro(GPUDeviceLostError, "The device \"" << name << "\" is not here:" << complaints);
  }
  itkSpecializedMessageExceptionMacro(GPUBadInputError,
                                      "There is no device \"" << name << "\" on this machine. There are: " << names
                                                              << '.' << complaints);
}

void
GPUDevice::SetDefault(const GPUDevice & device)
{
  const std::lock_guard<gpureg::ForkSafeMutex> lock(defaultMutex);
  chosenDefault = std::make_unique<GPUDevice>(device);
}

GPUDevice
GPUDevice::GetDefault()
{
  if (gpureg::IsChildWithoutDevices())
  {
    return GetAvailable().front();
  }
  {
    const std::lock_guard<gpureg::ForkSafeMutex> lock(defaultMutex);
    if (chosenDefault)
    {
      return *chosenDefault;
    }
  }
  const char * const wish = std::getenv("ITK_GPU_DEVICE");
  if (wish == nullptr || *wish == '\0')
  {
    const gpureg::DeviceDescription best = gpureg::FindBestDevice();
    return GPUDevice(best.name, best.description, best.memorySize);
  }
  try
  {
    return FromName(wish);
  }
  catch (ExceptionObject & e)
  {
    e.SetDescription("The environment variable ITK_GPU_DEVICE asks for a device that is not there. " +
                     std::string(e.GetDescription()));
    throw;
  }
}

} // namespace itk
