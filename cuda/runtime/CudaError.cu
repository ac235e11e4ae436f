// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/CudaError.h"

#include "gpureg/core/Error.h"

namespace gpureg
{

namespace
{
/** Throws an error of the class that belongs to the status. */
[[noreturn]] void
Throw(cudaError_t status, const char * what, const std::string & deviceName)
{
  const std::string message =
    deviceName + ": " + what + " failed: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  if (IsSticking(status))
  {
    throw DeviceLostError(message +
                          "; the device is gone for this process: choose another one, or start the program again");
  }
  if (status == cudaErrorDevicesUnavailable || status == cudaErrorNoDevice)
  {
    throw DeviceLostError(message + "; another process has the device, or it was taken away: choose another one");
  }
  if (status == cudaErrorMemoryAllocation)
  {
    throw OutOfMemoryError(message + "; use smaller images or another device");
  }
  throw Error(message + "; choose another device if it happens again");
}
} // namespace

bool
IsSticking(cudaError_t status)
{
  switch (static_cast<int>(status))
  {
    // A kernel's fault, after which, as CUDA's manual says, "any further CUDA work will return the same error".
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout: // a kernel ran too long on a GPU that drives a screen
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case 721: // cudaErrorTensorMemoryLeak, which older toolkits do not define
    // A fault of the hardware: the driver ends all work of the process on the device.
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case 226: // cudaErrorContained, which older toolkits do not define
    case cudaErrorExternalDevice:
    // The server through which several processes share the GPU has ended this process's work.
    case cudaErrorMpsClientTerminated:
      return true;
    default:
      return false;
  }
}

void
CheckCuda(cudaError_t status, const char * what, const std::string & deviceName)
{
  if (status != cudaSuccess)
  {
    // Clears an error that does not stick, so that it is not reported by the next call.
    cudaGetLastError();
    Throw(status, what, deviceName);
  }
}

void
CheckDriver(CUresult result, const char * what, int device)
{
  if (result != CUDA_SUCCESS)
  {
    Throw(static_cast<cudaError_t>(result), what, "cuda:" + std::to_string(device));
  }
}

} // namespace gpureg
