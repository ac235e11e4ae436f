// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/CudaArchitectures.h"
#include "cuda/runtime/CudaDriver.h"
#include "cuda/runtime/CudaQueue.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>

namespace gpureg
{

namespace
{
int
GetCapability(const cudaDeviceProp & properties)
{
  return 10 * properties.major + properties.minor;
}

/** Returns the code that this library contains, from CMake's list of architectures and from the compiler's. */
std::vector<CudaCode>
GetCompiledCodes()
{
  std::vector<int> compiled;
#ifdef __CUDA_ARCH_LIST__
  for (const int architecture : { __CUDA_ARCH_LIST__ }) // 900 is 9.0
  {
    compiled.push_back(architecture / 10);
  }
#endif
  return GetCudaCodes(GPUREG_CUDA_ARCHITECTURES, compiled);
}

/** Returns the driver's UUID of a device, which for a MIG slice is the slice's own; the runtime may report that of the whole GPU. */
cudaUUID_t
FindUuid(int device, const cudaDeviceProp & properties)
{
  const auto finds = [](const char * name, auto * function) {
    if (FindDriverFunction(name, function) != cudaSuccess)
    {
      cudaGetLastError();
    }
    return *function != nullptr;
  };
  decltype(&cuDeviceGet)     deviceGet = nullptr;
  decltype(&cuDeviceGetUuid) getUuid = nullptr;
  CUdevice                   handle = 0;
  cudaUUID_t                 uuid{};
  const bool                 isFound = finds("cuDeviceGet", &deviceGet) && finds("cuDeviceGetUuid", &getUuid) &&
                       deviceGet(&handle, device) == CUDA_SUCCESS && getUuid(&uuid, handle) == CUDA_SUCCESS;
  return isFound ? uuid : properties.uuid;
}

/** Returns a UUID as nvidia-smi writes it, without the prefix; "" for one of zeros, which stands for none. */
std::string
NameUuid(const cudaUUID_t & uuid)
{
  if (std::all_of(std::begin(uuid.bytes), std::end(uuid.bytes), [](char byte) { return byte == 0; }))
  {
    return "";
  }
  std::string name;
  for (int index = 0; index < 16; ++index)
  {
    char digits[3];
    std::snprintf(digits,
                  sizeof(digits),
                  "%02x",
                  static_cast<unsigned int>(static_cast<unsigned char>(uuid.bytes[index])));
    name += index == 4 || index == 6 || index == 8 || index == 10 ? "-" : "";
    name += digits;
  }
  return name;
}

class CudaBackend : public Backend
{
public:
  CudaBackend(int device, const cudaDeviceProp & properties)
    : Backend({ "cuda:" + std::to_string(device),
                std::string(properties.name) + ", compute capability " + NameCapability(GetCapability(properties)) +
                  ", " + std::to_string(properties.totalGlobalMem >> 30) + " GiB",
                properties.totalGlobalMem },
              DeviceRank::Cuda)
    , m_Device(device)
    , m_HardwareId(NameUuid(FindUuid(device, properties)))
  {}

  std::string
  GetHardwareId() const override
  {
    return m_HardwareId;
  }

  std::unique_ptr<Queue>
  CreateQueue() override
  {
    return std::make_unique<CudaQueue>(*this, m_Device);
  }

  MemoryPointer
  Borrow(const BorrowedMemory & from, std::size_t bytes) override
  {
    const CudaDeviceScope scope(m_Device);
    CheckIsHere(from.address);
    if (from.stream)
    {
      // The host waits, since the code that reads the image has a stream of its own.
      CheckCuda(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(*from.stream)),
                "waiting for the stream of an array",
                GetDescription().name);
    }
    return std::make_unique<CudaMemory>(from.address, bytes);
  }

  bool
  Reaches(const void * address) const override
  {
    // A device without a context holds no memory, and asking it would make a context, of several hundred MiB.
    return HasCudaContext(m_Device) && IsReached(GetAttributes(address));
  }

  /** Returns a stream, made at the first call and never destroyed: when the process ends, the driver may be gone. */
  std::uintptr_t
  GetMeetingStream() override
  {
    const std::lock_guard<ForkSafeMutex> lock(m_MakingStream);
    if (m_MeetingStream == nullptr)
    {
      const CudaDeviceScope scope(m_Device);
      CheckCuda(cudaStreamCreateWithFlags(&m_MeetingStream, cudaStreamNonBlocking),
                "making a stream",
                GetDescription().name);
    }
    return reinterpret_cast<std::uintptr_t>(m_MeetingStream);
  }

private:
  StagingPointer
  MakePinned(std::size_t bytes) override
  {
    return std::make_unique<CudaStaging>(m_Device, GetDescription().name, bytes);
  }

  /** \throws BadInputError unless this device reaches the address. */
  void
  CheckIsHere(const void * address) const
  {
    const cudaPointerAttributes attributes = GetAttributes(address);
    if (IsReached(attributes))
    {
      return;
    }
    const std::string & name = GetDescription().name;
    if (attributes.type != cudaMemoryTypeDevice)
    {
      throw BadInputError("an array that is said to be on " + name + " is not in a GPU's memory; hand in one that is");
    }
    const std::string other = "cuda:" + std::to_string(attributes.device);
    throw BadInputError("an array is on " + other + ", and " + name + " is to compute; copy it to " + name +
                        ", or compute on " + other);
  }

  cudaPointerAttributes
  GetAttributes(const void * address) const
  {
    const CudaDeviceScope scope(m_Device);
    cudaPointerAttributes attributes{};
    const cudaError_t     status = cudaPointerGetAttributes(&attributes, address);
    if (status == cudaErrorInvalidValue)
    {
      // CUDA does not know this memory.
      cudaGetLastError();
      attributes.type = cudaMemoryTypeUnregistered;
      return attributes;
    }
    CheckCuda(status, "asking where an array is", GetDescription().name);
    return attributes;
  }

  /** Returns true if the attributes are of this GPU's memory, or of memory that all GPUs share. */
  bool
  IsReached(const cudaPointerAttributes & attributes) const
  {
    return attributes.type == cudaMemoryTypeManaged ||
           (attributes.type == cudaMemoryTypeDevice && attributes.device == m_Device);
  }

  int           m_Device;
  std::string   m_HardwareId;
  ForkSafeMutex m_MakingStream;
  cudaStream_t  m_MeetingStream = nullptr;
};

/** Returns the reason why there are no devices. CUDA reports a missing driver as one that is too old. */
const char *
DescribeWhyNoDevices(cudaError_t status)
{
  int        version = 0;
  const bool isDriverMissing =
    status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess && version == 0;
  return isDriverMissing ? "no NVIDIA driver is installed" : cudaGetErrorString(status);
}
} // namespace

BackendList
FindCudaBackends()
{
  BackendList       list;
  int               count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess)
  {
    cudaGetLastError();
    list.complaints.push_back(std::string("CUDA: ") + DescribeWhyNoDevices(status));
    return list;
  }
  const std::vector<CudaCode> codes = GetCompiledCodes();
  for (int device = 0; device < count; ++device)
  {
    cudaDeviceProp    properties;
    const std::string name = "cuda:" + std::to_string(device);
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    {
      list.complaints.push_back(name + ": " + cudaGetErrorString(cudaGetLastError()));
      continue;
    }
    const int         capability = GetCapability(properties);
    const std::string why = capability < 75 ? "has compute capability " + NameCapability(capability) +
                                                ", and 7.5 is the least that is supported"
                                            : FindWhyNoCodeRunsOn(codes, capability);
    if (why.empty())
    {
      list.backends.push_back(std::make_shared<CudaBackend>(device, properties));
    }
    else
    {
      list.complaints.push_back(name + ": " + properties.name + " " + why);
    }
  }
  return list;
}

} // namespace gpureg
