// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/CudaDeviceScope.h"

#include "cuda/runtime/CudaDriver.h"
#include "cuda/runtime/CudaError.h"

#include "gpureg/core/Error.h"

#include <atomic>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
/** Functions of the driver. */
struct Driver
{
  Driver()
  {
    Find("cuDeviceGet", &deviceGet);
    Find("cuDevicePrimaryCtxRetain", &retain);
    Find("cuDevicePrimaryCtxGetState", &getState);
    Find("cuCtxGetCurrent", &getCurrent);
    Find("cuCtxPushCurrent", &push);
    Find("cuCtxPopCurrent", &pop);
  }

  decltype(&cuDeviceGet)                deviceGet = nullptr;
  decltype(&cuDevicePrimaryCtxRetain)   retain = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) getState = nullptr;
  decltype(&cuCtxGetCurrent)            getCurrent = nullptr;
  decltype(&cuCtxPushCurrent)           push = nullptr;
  decltype(&cuCtxPopCurrent)            pop = nullptr;

private:
  template <typename TFunction>
  static void
  Find(const char * name, TFunction * function)
  {
    CheckCuda(FindDriverFunction(name, function), name, "cuda");
    if (*function == nullptr)
    {
      throw UnsupportedError(std::string("the CUDA driver has no function ") + name + "; install a newer one");
    }
  }
};

const Driver &
GetDriver()
{
  static const Driver driver;
  return driver;
}

/** Returns the primary context of a device, which the runtime uses, too; null if this library has not used it yet. */
std::atomic<CUcontext> &
GetContext(int device)
{
  // Never deleted: static objects of other files still use it at the end of the program.
  static auto & contexts = *[] {
    int count = 0;
    CheckCuda(cudaGetDeviceCount(&count), "counting devices", "cuda");
    return new std::vector<std::atomic<CUcontext>>(static_cast<std::size_t>(count));
  }();
  return contexts.at(static_cast<std::size_t>(device));
}
} // namespace

void
RetainCudaContext(int device)
{
  CUdevice  handle = 0;
  CUcontext context = nullptr;
  CheckDriver(GetDriver().deviceGet(&handle, device), "asking for the device", device);
  CheckDriver(GetDriver().retain(&context, handle), "making a context", device);
  GetContext(device) = context;
}

bool
HasCudaContext(int device)
{
  CUdevice     handle = 0;
  unsigned int flags = 0;
  int          isActive = 0;
  CheckDriver(GetDriver().deviceGet(&handle, device), "asking for the device", device);
  CheckDriver(GetDriver().getState(handle, &flags, &isActive), "asking for the device's context", device);
  return isActive != 0;
}

CudaDeviceScope::CudaDeviceScope(int device)
{
  if (GetContext(device) == nullptr)
  {
    RetainCudaContext(device);
  }
  const CUcontext context = GetContext(device);
  CUcontext       current = nullptr;
  CheckDriver(GetDriver().getCurrent(&current), "asking for the current context", device);
  if (current != context)
  {
    CheckDriver(GetDriver().push(context), "making the device current", device);
    m_IsPushed = true;
  }
}

CudaDeviceScope::~CudaDeviceScope()
{
  if (m_IsPushed)
  {
    CUcontext ours = nullptr;
    GetDriver().pop(&ours);
  }
}

} // namespace gpureg
