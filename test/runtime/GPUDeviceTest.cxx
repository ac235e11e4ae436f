// SPDX-License-Identifier: Apache-2.0
#include "itkGPUDevice.h"

#include "gpureg/runtime/HardwareId.h"

#include "itkMacro.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>

namespace
{
using itk::GPUDevice;

/** Returns the message of a call's exception; empty if there is none. */
template <typename TCall>
std::string
GetMessage(const TCall & call)
{
  try
  {
    call();
  }
  catch (const itk::ExceptionObject & e)
  {
    return e.GetDescription();
  }
  return "";
}

/** Runs a check in a process of its own, in which nothing has requested a device yet. */
template <typename TCheck>
[[noreturn]] void
ExitWith(const TCheck & check)
{
  std::exit(check() ? 0 : 1);
}

class GPUDeviceDeathTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};
} // namespace

TEST(GPUDeviceTest, HostIsAlwaysAvailable)
{
  const auto devices = GPUDevice::GetAvailable();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(std::count_if(devices.begin(), devices.end(), [](const auto & d) { return d.IsHost(); }), 1);
}

TEST(GPUDeviceTest, NamesAreUniqueAndDescribed)
{
  std::set<std::string> names;
  for (const GPUDevice & device : GPUDevice::GetAvailable())
  {
    EXPECT_TRUE(names.insert(device.GetName()).second) << device;
    EXPECT_FALSE(device.GetDescription().empty());
    EXPECT_EQ(device.GetDescription().find('\n'), std::string::npos);
    EXPECT_GT(device.GetMemorySize(), std::size_t{ 1 } << 20);
  }
}

TEST(GPUDeviceTest, CudaComesBeforeTheHost)
{
  std::size_t host = 0, n = 0, lastCuda = 0;
  bool        hasCuda = false;
  for (const GPUDevice & device : GPUDevice::GetAvailable())
  {
    host = device.IsHost() ? n : host;
    if (device.GetName().rfind("cuda:", 0) == 0)
    {
      hasCuda = true;
      lastCuda = n;
    }
    ++n;
  }
  if (!hasCuda)
  {
    GTEST_SKIP() << "this machine has no CUDA device";
  }
  EXPECT_LT(lastCuda, host);
}

/** Ids of CUDA's devices have 32 hexadecimal digits and four hyphens; the others have none. */
TEST(GPUDeviceTest, HardwareIdsDifferBetweenDevices)
{
  std::set<std::string> ids;
  for (const GPUDevice & device : GPUDevice::GetAvailable())
  {
    const std::string id = gpureg::GetHardwareId(device.GetName());
    if (device.GetName().rfind("cuda", 0) != 0)
    {
      EXPECT_EQ(id, "") << device.GetName();
      continue;
    }
    EXPECT_EQ(id.size(), 36u) << id;
    EXPECT_EQ(std::count(id.begin(), id.end(), '-'), 4) << id;
    EXPECT_TRUE(ids.insert(id).second) << id << " belongs to two devices";
  }
  EXPECT_THROW(gpureg::GetHardwareId("cuda:99"), gpureg::Error);
}

TEST(GPUDeviceTest, FromNameGivesTheDeviceOfThatName)
{
  for (const GPUDevice & device : GPUDevice::GetAvailable())
  {
    const GPUDevice same = GPUDevice::FromName(device.GetName());
    EXPECT_EQ(same, device);
    EXPECT_EQ(same.GetDescription(), device.GetDescription());
    EXPECT_EQ(same.GetMemorySize(), device.GetMemorySize());
  }
}

TEST(GPUDeviceTest, UnknownNameListsTheDevicesThereAre)
{
  for (const char * const name : { "cuda:99", "vulkan:0", "", "Host", "cuda:-1", "opencl:" })
  {
    const std::string message = GetMessage([&] { GPUDevice::FromName(name); });
    EXPECT_NE(message.find('"' + std::string(name) + '"'), std::string::npos) << message;
    for (const GPUDevice & device : GPUDevice::GetAvailable())
    {
      EXPECT_NE(message.find(device.GetName()), std::string::npos) << message;
    }
  }
}

TEST(GPUDeviceTest, IsAValue)
{
  static_assert(std::is_copy_constructible<GPUDevice>::value && std::is_copy_assignable<GPUDevice>::value, "");
  const GPUDevice host = GPUDevice::FromName("host");
  GPUDevice       device = GPUDevice::GetAvailable().front();
  const GPUDevice copy = device;
  EXPECT_EQ(copy, device);
  device = host;
  EXPECT_EQ(device, host);
  EXPECT_FALSE(device != host);
  EXPECT_EQ(copy, GPUDevice::GetAvailable().front());

  std::ostringstream text;
  text << host;
  EXPECT_NE(text.str().find("host"), std::string::npos);
  EXPECT_NE(text.str().find(host.GetDescription()), std::string::npos);
}

TEST(GPUDeviceTest, SetDefaultHoldsForObjectsMadeLater)
{
  const GPUDevice before = GPUDevice::GetDefault();
  for (const GPUDevice & device : GPUDevice::GetAvailable())
  {
    GPUDevice::SetDefault(device);
    EXPECT_EQ(GPUDevice::GetDefault(), device);
    EXPECT_EQ(GPUDevice(), device);
  }
  GPUDevice::SetDefault(before);
}

TEST_F(GPUDeviceDeathTest, DefaultIsTheBest)
{
  EXPECT_EXIT(ExitWith([] {
                unsetenv("ITK_GPU_DEVICE");
                return GPUDevice::GetDefault() == GPUDevice::GetAvailable().front();
              }),
              ::testing::ExitedWithCode(0),
              "");
}

TEST_F(GPUDeviceDeathTest, EnvironmentNamesTheDefault)
{
  for (const GPUDevice & device : GPUDevice::GetAvailable())
  {
    EXPECT_EXIT(ExitWith([&] {
                  setenv("ITK_GPU_DEVICE", device.GetName().c_str(), 1);
                  return GPUDevice::GetDefault() == device && GPUDevice() == device;
                }),
                ::testing::ExitedWithCode(0),
                "");
  }
}

TEST_F(GPUDeviceDeathTest, SetDefaultGoesBeforeTheEnvironment)
{
  EXPECT_EXIT(ExitWith([] {
                setenv("ITK_GPU_DEVICE", "no such device", 1);
                GPUDevice::SetDefault(GPUDevice::FromName("host"));
                return GPUDevice::GetDefault().GetName() == "host";
              }),
              ::testing::ExitedWithCode(0),
              "");
}

TEST_F(GPUDeviceDeathTest, EnvironmentThatNamesNoDeviceIsAnError)
{
  EXPECT_EXIT(ExitWith([] {
                setenv("ITK_GPU_DEVICE", "cuda:99", 1);
                const std::string message = GetMessage([] { GPUDevice::GetDefault(); });
                return message.find("ITK_GPU_DEVICE") != std::string::npos &&
                       message.find("cuda:99") != std::string::npos && message.find("host") != std::string::npos;
              }),
              ::testing::ExitedWithCode(0),
              "");
}

TEST_F(GPUDeviceDeathTest, EmptyEnvironmentIsNone)
{
  EXPECT_EXIT(ExitWith([] {
                setenv("ITK_GPU_DEVICE", "", 1);
                return GPUDevice::GetDefault() == GPUDevice::GetAvailable().front();
              }),
              ::testing::ExitedWithCode(0),
              "");
}
