// SPDX-License-Identifier: Apache-2.0
#ifndef TestDevices_h
#define TestDevices_h

#include "itkGPUDevice.h"

#include "gpureg/Device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Every device of this machine, found when the program starts. */
inline std::vector<std::string>
GetDeviceNames()
{
  std::vector<std::string> names;
  for (const itk::GPUDevice & device : itk::GPUDevice::GetAvailable())
  {
    names.push_back(device.GetName());
  }
  return names;
}

/** "cuda:0" → "cuda_0": GoogleTest allows no colon in a test's name. */
inline std::string
GetTestName(const ::testing::TestParamInfo<std::string> & info)
{
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

/** What waits for the next filter or metric is given back at a program's end, so that what leaks shows. */
class ReleaseOfIdleMemory : public ::testing::Environment
{
public:
  void
  TearDown() override
  {
    for (const std::string & name : GetDeviceNames())
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
