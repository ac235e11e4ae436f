// SPDX-License-Identifier: Apache-2.0
#ifndef TestDevices_h
#define TestDevices_h

#include "itkGPUDevice.h"

#include "gpureg/runtime/Device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Returns every device of this machine, best first. */
inline std::vector<std::string>
GetAllDeviceNames()
{
  std::vector<std::string> names;
  for (const itk::GPUDevice & device : itk::GPUDevice::GetAvailable())
  {
    names.push_back(device.GetName());
  }
  return names;
}

/** Returns the devices on which tests run, in the same order: those that GPUREG_TEST_DEVICES names, separated by commas, such as
 *  "host,cuda:0"; or every device of this machine if the variable is not set, or empty.
 *  \throws std::runtime_error if it names a device that this machine does not have. */
inline std::vector<std::string>
GetDeviceNames()
{
  std::vector<std::string> names = GetAllDeviceNames();
  const char * const       text = std::getenv("GPUREG_TEST_DEVICES");
  if (text == nullptr || *text == '\0')
  {
    return names;
  }
  const auto isIn = [](const std::vector<std::string> & list, const std::string & name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::vector<std::string> wanted;
  std::istringstream       stream(text);
  for (std::string name; std::getline(stream, name, ',');)
  {
    if (!isIn(names, name))
    {
      std::string message = "GPUREG_TEST_DEVICES names \"" + name + "\", but the devices of this machine are:";
      for (const std::string & other : names)
      {
        message += ' ' + other;
      }
      throw std::runtime_error(message);
    }
    wanted.push_back(name);
  }
  names.erase(std::remove_if(names.begin(), names.end(), [&](const std::string & name) { return !isIn(wanted, name); }),
              names.end());
  return names;
}

/** Returns a device's name for a test's name, in which GoogleTest allows no colon: "cuda:0" → "cuda_0". */
inline std::string
GetTestName(const ::testing::TestParamInfo<std::string> & info)
{
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

/** Frees the idle memory of filters and metrics at the end of a program, so that leaks show. */
class ReleaseOfIdleMemory : public ::testing::Environment
{
public:
  void
  TearDown() override
  {
    for (const std::string & name : GetAllDeviceNames())
    {
      gpureg::ReleaseIdleMemory(name);
    }
  }
};

inline ::testing::Environment * const releaseOfIdleMemory =
  ::testing::AddGlobalTestEnvironment(new ReleaseOfIdleMemory);

/** A test that runs once on each device. */
class DeviceTest : public ::testing::TestWithParam<std::string>
{
protected:
  itk::GPUDevice
  GetDevice() const
  {
    return itk::GPUDevice::FromName(GetParam());
  }
};

} // namespace gpuregtest

#endif
