// SPDX-License-Identifier: Apache-2.0
#include "CudaArchitectures.h"
#include "CudaQueue.h"

#include "CorrelationRatioPasses.h"
#include "MattesPasses.h"

namespace gpureg
{

namespace
{
int
GetCapability(const cudaDeviceProp & properties)
{
  return 10 * properties.major + properties.minor;
}

/** What this library was compiled for: as CMake was told, and as the compiler says. */
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
  {}

  std::unique_ptr<Queue>
  CreateQueue() override
  {
    return std::make_unique<CudaQueue>(*this, m_Device);
  }

private:
  StagingPointer
  MakePinned(std::size_t bytes) override
  {
    return std::make_unique<CudaStaging>(m_Device, GetDescription().name, bytes);
  }

  int m_Device;
};
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
    list.complaints.push_back(std::string("CUDA: ") + cudaGetErrorString(status));
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
