// SPDX-License-Identifier: Apache-2.0
#include "CudaQueue.h"

#include "MattesPasses.h"

namespace gpureg
{

namespace
{
class CudaBackend : public Backend
{
public:
  CudaBackend(int device, const cudaDeviceProp & properties)
    : Backend({ "cuda:" + std::to_string(device),
                std::string(properties.name) + ", compute capability " + std::to_string(properties.major) + "." +
                  std::to_string(properties.minor) + ", " + std::to_string(properties.totalGlobalMem >> 30) + " GiB",
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
  for (int device = 0; device < count; ++device)
  {
    cudaDeviceProp    properties;
    const std::string name = "cuda:" + std::to_string(device);
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    {
      list.complaints.push_back(name + ": " + cudaGetErrorString(cudaGetLastError()));
    }
    else if (10 * properties.major + properties.minor < 75)
    {
      list.complaints.push_back(name + ": " + properties.name + " has compute capability " +
                                std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                                ", and 7.5 is the least that is supported");
    }
    else
    {
      list.backends.push_back(std::make_shared<CudaBackend>(device, properties));
    }
  }
  return list;
}

} // namespace gpureg
