// SPDX-License-Identifier: Apache-2.0
// Tests of a CUDA device alone: exhausted device memory, a lost device, errors besides other work, the caller's current device and context,
// volumes of more than 2^31 voxels; and the message if there is no device.
#include "cuda/runtime/CudaError.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/metric/histogram/MattesMetric.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace gpureg;

void
RunOnThreads(std::int64_t count, const std::function<void(std::int64_t)> & body)
{
  std::atomic<std::int64_t> next{ 0 };
  std::vector<std::thread>  threads;
  for (unsigned int t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
  {
    threads.emplace_back([&] {
      for (std::int64_t task = next++; task < count; task = next++)
      {
        body(task);
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}

constexpr int Bins = 32;

/** Returns a value in the histogram's range [0, Bins - 4] that differs from voxel to voxel. */
float
ValueAt(std::int64_t voxel)
{
  return static_cast<float>(voxel % 1009) * (static_cast<float>(Bins - 4) / 1008.0f);
}

MovingImage
MakeMovingSide(const Size & size)
{
  MovingImage side;
  side.size = size;
  side.values = [](std::int64_t first, std::int64_t count, void * out) {
    for (std::int64_t i = 0; i < count; ++i)
    {
      static_cast<float *>(out)[i] = ValueAt(first + i);
    }
  };
  side.differenceStep = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
  side.inverseSpacing = { 1, 1, 1 };
  return side;
}

FixedSamples
MakeFixedSide(const Size & size)
{
  FixedSamples side;
  side.virtualSize = size;
  side.bins = [](std::int64_t first, std::int64_t count, void * out) {
    for (std::int64_t i = 0; i < count; ++i)
    {
      static_cast<std::uint16_t *>(out)[i] = static_cast<std::uint16_t>(2 + (first + i) % (Bins - 4));
    }
  };
  return side;
}

/** Evaluates a metric at the far end of a volume of movingSize. */
std::vector<std::uint64_t>
EvaluateFarEnd(MattesMetric & metric, const Size & movingSize, const Size & virtualSize)
{
  SampleMapping mapping;
  for (int d = 0; d < 3; ++d)
  {
    mapping.toMoving.offset[d] = movingSize[d] - virtualSize[d];
  }
  return metric.Evaluate(mapping, Forces::None, false, RunOnThreads).histogram;
}

/** Makes a metric on a device, evaluates it once, and deletes it. */
std::vector<std::uint64_t>
EvaluateOn(const std::string & deviceName)
{
  const Size   size{ 32, 32, 32 };
  MattesMetric metric(deviceName, Bins);
  metric.SetFixedSamples(MakeFixedSide(size), RunOnThreads);
  metric.SetMovingImage(MakeMovingSide(size), RunOnThreads);
  return EvaluateFarEnd(metric, size, size);
}

/** Returns a function of the driver, with which contexts can be queried without making one. */
template <typename TFunction>
TFunction *
GetDriverFunction(const char * name)
{
  void * const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<TFunction *>(driver != nullptr ? dlsym(driver, name) : nullptr);
}

/** Returns the calling thread's context; null if it has none. */
CUcontext
GetCurrentContext()
{
  CUcontext context = nullptr;
  EXPECT_EQ(GetDriverFunction<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&context), CUDA_SUCCESS);
  return context;
}

/** Returns true if the device has a context, no matter which code of this process made it. */
bool
HasContext(int device)
{
  unsigned int flags = 0;
  int          isActive = -1;
  EXPECT_EQ(GetDriverFunction<decltype(cuDevicePrimaryCtxGetState)>(
              "cuDevicePrimaryCtxGetState")(device, &flags, &isActive),
            CUDA_SUCCESS);
  return isActive != 0;
}

class CudaBackendTest : public testing::Test
{
protected:
  void
  SetUp() override
  {
    const std::vector<DeviceDescription> devices = GetAvailableDevices();
    if (std::none_of(devices.begin(), devices.end(), [](const auto & device) { return device.name == "cuda:0"; }))
    {
      GTEST_SKIP() << "no CUDA device on this machine";
    }
  }

  /** Frees the idle pinned memory, which a sanitizer would report as a leak. */
  void
  TearDown() override
  {
    for (const DeviceDescription & device : GetAvailableDevices())
    {
      ReleaseIdleMemory(device.name);
    }
  }
};

__global__ void
Trap()
{
  __trap();
}

/** The message for a user who requests CUDA on a machine without it: CUDA's own message is the one for an old driver. */
TEST(CudaComplaintsTest, ReportThatThereIsNoDriver)
{
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr)
  {
    GTEST_SKIP() << "this machine has a driver";
  }
  const std::vector<std::string> complaints = GetDeviceComplaints();
  EXPECT_EQ(std::count(complaints.begin(), complaints.end(), "CUDA: no NVIDIA driver is installed"), 1);
}

TEST_F(CudaBackendTest, OutOfDeviceMemoryIsReportedWithNumbersAndTheObjectStillWorks)
{
  const Size   size{ 256, 256, 256 }; // quads of 256 MiB
  MattesMetric metric("cuda:0", Bins);
  metric.SetFixedSamples(MakeFixedSide({ 32, 32, 32 }), RunOnThreads);

  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  void * hog = nullptr;
  ASSERT_EQ(cudaMalloc(&hog, free - (std::size_t{ 128 } << 20)), cudaSuccess);
  const std::size_t before = GetMemoryInUse("cuda:0");
  try
  {
    metric.SetMovingImage(MakeMovingSide(size), RunOnThreads);
    cudaFree(hog);
    FAIL() << "256 MiB were found where 128 MiB were left";
  }
  catch (const Error & error)
  {
    EXPECT_NE(std::string(error.what()).find("out of memory on cuda:0: 268435456 bytes asked for"), std::string::npos)
      << error.what();
  }
  EXPECT_EQ(GetMemoryInUse("cuda:0"), before);
  EXPECT_THROW(EvaluateFarEnd(metric, size, { 32, 32, 32 }), Error) << "an incomplete object gave a result";

  ASSERT_EQ(cudaFree(hog), cudaSuccess);
  metric.SetMovingImage(MakeMovingSide(size), RunOnThreads);
  const std::vector<std::uint64_t> histogram = EvaluateFarEnd(metric, size, { 32, 32, 32 });
  EXPECT_GT(*std::max_element(histogram.begin(), histogram.end()), 0u);
}

TEST_F(CudaBackendTest, ACallersCurrentDeviceStaysCurrent)
{
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  const int other = count - 1; // another one than 0, if there is one
  ASSERT_EQ(cudaSetDevice(other), cudaSuccess);
  const CUcontext context = GetCurrentContext();
  {
    MattesMetric metric("cuda:0", Bins);
    metric.SetFixedSamples(MakeFixedSide({ 32, 32, 32 }), RunOnThreads);
    metric.SetMovingImage(MakeMovingSide({ 32, 32, 32 }), RunOnThreads);
    EvaluateFarEnd(metric, { 32, 32, 32 }, { 32, 32, 32 });
    int current = -1;
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, other);
  }
  EXPECT_EQ(GetCurrentContext(), context);
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, other);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(CudaBackendTest, AThreadWithoutAContextHasNoneAfterwards)
{
  std::thread([] {
    EXPECT_EQ(GetCurrentContext(), nullptr);
    EXPECT_NO_THROW(EvaluateOn("cuda:0"));
    EXPECT_EQ(GetCurrentContext(), nullptr);
  }).join();
}

/** Runs until stop is set, 10 seconds at most. */
__global__ void
RunUntilStopped(const volatile int * stop)
{
  const auto now = [] {
    unsigned long long nanoseconds = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  for (const unsigned long long start = now(); *stop == 0 && now() - start < 10000000000ull;)
  {
    __nanosleep(1000);
  }
}

TEST_F(CudaBackendTest, AnErrorIsReportedOnceWhileAnotherStreamIsBusy)
{
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  int * stop = nullptr;
  ASSERT_EQ(cudaHostAlloc(&stop, sizeof(*stop), cudaHostAllocMapped), cudaSuccess);
  *static_cast<volatile int *>(stop) = 0;
  cudaStream_t busy = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking), cudaSuccess);
  RunUntilStopped<<<1, 1, 0, busy>>>(stop);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);

  const cudaError_t status = cudaSetDevice(-1);
  ASSERT_EQ(status, cudaErrorInvalidDevice);
  EXPECT_THROW(CheckCuda(status, "choosing a device", "cuda:0"), Error);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "the error is reported by the next call";
  EXPECT_EQ(cudaStreamQuery(busy), cudaErrorNotReady) << "another stream was waited for";

  *static_cast<volatile int *>(stop) = 1;
  EXPECT_EQ(cudaStreamSynchronize(busy), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(busy), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(stop), cudaSuccess);
}

/** Exits with 0 if a metric whose device was lost reports that and is destroyed, and the host still computes. */
void
LoseTheDevice()
{
  bool isExplained = false;
  {
    MattesMetric metric("cuda:0", Bins);
    metric.SetFixedSamples(MakeFixedSide({ 32, 32, 32 }), RunOnThreads);
    metric.SetMovingImage(MakeMovingSide({ 32, 32, 32 }), RunOnThreads);
    EvaluateFarEnd(metric, { 32, 32, 32 }, { 32, 32, 32 });
    Trap<<<1, 1>>>();
    cudaDeviceSynchronize();
    try
    {
      EvaluateFarEnd(metric, { 32, 32, 32 }, { 32, 32, 32 });
    }
    catch (const Error & error)
    {
      fprintf(stderr, "%s\n", error.what());
      isExplained = std::string(error.what()).find("the device is gone for this process") != std::string::npos;
    }
  }
  const std::vector<std::uint64_t> histogram = EvaluateOn("host");
  const bool                       computed = *std::max_element(histogram.begin(), histogram.end()) > 0;
  std::_Exit(isExplained && computed ? 0 : 1);
}

/** Tests that each run in a process of their own, in which nothing has used a device. */
class CudaBackendDeathTest : public CudaBackendTest
{
protected:
  void
  SetUp() override
  {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    CudaBackendTest::SetUp();
  }
};

/** Exits with 0 if listing the devices has initialized none of them. */
void
ListDevices()
{
  bool hasNone = !GetAvailableDevices().empty();
  int  count = 0;
  cudaGetDeviceCount(&count);
  for (int device = 0; device < count; ++device)
  {
    hasNone = hasNone && !HasContext(device);
  }
  std::_Exit(hasNone ? 0 : 1);
}

TEST_F(CudaBackendDeathTest, ListingDevicesMakesNoContext)
{
  EXPECT_EXIT(ListDevices(), testing::ExitedWithCode(0), "");
}

/** Returns true if a call throws an Error that does not report a lost device. */
template <typename TCall>
bool
ThrowsOnce(const TCall & call)
{
  try
  {
    call();
  }
  catch (const Error & error)
  {
    return std::string(error.what()).find("the device is gone") == std::string::npos;
  }
  return false;
}

/** Exits with 0 if errors on a thread without a context are reported, and there is no context on any device afterwards. */
void
HandleErrorsWithoutAContext()
{
  bool passed = ThrowsOnce([] { CheckCuda(cudaErrorMemoryAllocation, "allocating memory", "cuda:0"); });
  passed = ThrowsOnce([] { CheckDriver(CUDA_ERROR_OUT_OF_MEMORY, "making a context", 0); }) && passed;
  passed = GetCurrentContext() == nullptr && passed;
  int count = 0;
  cudaGetDeviceCount(&count);
  for (int device = 0; device < count; ++device)
  {
    passed = !HasContext(device) && passed;
  }
  std::_Exit(passed ? 0 : 1);
}

TEST_F(CudaBackendDeathTest, HandlingAnErrorMakesNoContext)
{
  EXPECT_EXIT(HandleErrorsWithoutAContext(), testing::ExitedWithCode(0), "");
}

/** Exits with 0 if a metric on the second device does not touch the first one, which a new thread uses by default. */
void
UseTheSecondDevice()
{
  EvaluateOn("cuda:1");
  std::_Exit(HasContext(1) && !HasContext(0) && GetCurrentContext() == nullptr ? 0 : 1);
}

TEST_F(CudaBackendDeathTest, UsingTheSecondDeviceMakesNoContextOnTheFirst)
{
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  if (count < 2)
  {
    GTEST_SKIP() << "needs two CUDA devices, and this machine has one";
  }
  EXPECT_EXIT(UseTheSecondDevice(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaBackendDeathTest, ALostDeviceIsReportedAndTheHostStillWorks)
{
  EXPECT_EXIT(LoseTheDevice(), testing::ExitedWithCode(0), "the device is gone for this process");
}

TEST_F(CudaBackendTest, AVolumeOfMoreThanTwoToThe31VoxelsIsReadAtItsFarEnd)
{
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  const Size         size{ 1301, 1299, 1297 };
  const std::int64_t voxels = std::int64_t{ size[0] } * size[1] * size[2];
  ASSERT_GT(voxels, std::int64_t{ 1 } << 31);
  if (free < static_cast<std::size_t>(voxels) * 16 + (std::size_t{ 1 } << 30))
  {
    GTEST_SKIP() << "needs " << (voxels * 16 >> 30) + 1 << " GiB of device memory, " << (free >> 30) << " are free";
  }
  const Size   corner{ 33, 31, 29 };
  MattesMetric metric("cuda:0", Bins);
  metric.SetFixedSamples(MakeFixedSide(corner), RunOnThreads);
  metric.SetMovingImage(MakeMovingSide(size), RunOnThreads);
  const std::vector<std::uint64_t> histogram = EvaluateFarEnd(metric, size, corner);

  // That corner as a volume of its own.
  MovingImage small = MakeMovingSide(corner);
  small.values = [&](std::int64_t first, std::int64_t count, void * out) {
    for (std::int64_t i = 0; i < count; ++i)
    {
      const std::int64_t x = (first + i) % corner[0] + size[0] - corner[0];
      const std::int64_t y = (first + i) / corner[0] % corner[1] + size[1] - corner[1];
      const std::int64_t z = (first + i) / corner[0] / corner[1] + size[2] - corner[2];
      static_cast<float *>(out)[i] = ValueAt((z * size[1] + y) * size[0] + x);
    }
  };
  metric.SetMovingImage(small, RunOnThreads);
  const std::vector<std::uint64_t> expected = EvaluateFarEnd(metric, corner, corner);
  EXPECT_EQ(histogram, expected);
}

} // namespace
