// SPDX-License-Identifier: Apache-2.0
// Tests which errors of CUDA stick, and the message for each. Needs no GPU.
#include "cuda/runtime/CudaError.h"

#include "gpureg/core/Error.h"

#include <gtest/gtest.h>

#include <string>

namespace
{
using namespace gpureg;

/** Returns the message of a call's exception; empty if there is none. */
template <typename TCall>
std::string
GetMessage(const TCall & call)
{
  try
  {
    call();
  }
  catch (const Error & error)
  {
    return error.what();
  }
  return "";
}

TEST(CudaErrorTest, AnErrorThatCudasManualSaysStaysSticks)
{
  // "To continue using CUDA, the process must be terminated and relaunched."
  for (const int status : { 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911 })
  {
    EXPECT_TRUE(IsSticking(static_cast<cudaError_t>(status))) << status;
  }
  EXPECT_TRUE(IsSticking(cudaErrorECCUncorrectable));
  EXPECT_TRUE(IsSticking(cudaErrorNvlinkUncorrectable));
}

TEST(CudaErrorTest, AnErrorOfOneCallDoesNotStick)
{
  for (const cudaError_t status : { cudaSuccess,
                                    cudaErrorInvalidValue,
                                    cudaErrorMemoryAllocation,
                                    cudaErrorInitializationError,
                                    cudaErrorInvalidConfiguration,
                                    cudaErrorInvalidResourceHandle,
                                    cudaErrorInvalidDevice,
                                    cudaErrorNoKernelImageForDevice,
                                    cudaErrorNotReady,
                                    cudaErrorLaunchOutOfResources,
                                    // Other code has reset the device: a new context may work.
                                    cudaErrorDeviceUninitialized,
                                    cudaErrorContextIsDestroyed })
  {
    EXPECT_FALSE(IsSticking(status)) << cudaGetErrorName(status);
  }
}

TEST(CudaErrorTest, SaysWhatFailedWhereAndWhatToDo)
{
  EXPECT_NO_THROW(CheckCuda(cudaSuccess, "copying", "cuda:3"));
  EXPECT_NO_THROW(CheckDriver(CUDA_SUCCESS, "copying", 3));
  const std::string once = "cuda:3: copying failed: out of memory (cudaErrorMemoryAllocation); "
                           "use smaller images or another device";
  EXPECT_EQ(GetMessage([] { CheckCuda(cudaErrorMemoryAllocation, "copying", "cuda:3"); }), once);
  EXPECT_EQ(GetMessage([] { CheckDriver(CUDA_ERROR_OUT_OF_MEMORY, "copying", 3); }), once);
  const std::string sticking = "cuda:3: copying failed: an illegal memory access was encountered "
                               "(cudaErrorIllegalAddress); the device is gone for this process: choose another one, or "
                               "start the program again";
  EXPECT_EQ(GetMessage([] { CheckCuda(cudaErrorIllegalAddress, "copying", "cuda:3"); }), sticking);
  EXPECT_EQ(GetMessage([] { CheckDriver(CUDA_ERROR_ILLEGAL_ADDRESS, "copying", 3); }), sticking);
  EXPECT_EQ(
    GetMessage([] { CheckCuda(cudaErrorInvalidValue, "copying", "cuda:3"); }),
    "cuda:3: copying failed: invalid argument (cudaErrorInvalidValue); choose another device if it happens again");
}

TEST(CudaErrorTest, IsOfAKind)
{
  EXPECT_THROW(CheckCuda(cudaErrorMemoryAllocation, "copying", "cuda:3"), OutOfMemoryError);
  EXPECT_THROW(CheckCuda(cudaErrorLaunchFailure, "copying", "cuda:3"), DeviceLostError);
  EXPECT_THROW(CheckCuda(cudaErrorDevicesUnavailable, "copying", "cuda:3"), DeviceLostError);
  EXPECT_THROW(CheckCuda(cudaErrorNoDevice, "copying", "cuda:3"), DeviceLostError);
}
} // namespace
