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
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess)
    {
      list.backends.push_back(std::make_shared<CudaBackend>(device, properties));
    }
    else
    {
      list.complaints.push_back("cuda:" + std::to_string(device) + ": " + cudaGetErrorString(cudaGetLastError()));
    }
  }
  return list;
}

} // namespace gpureg
