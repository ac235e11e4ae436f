// SPDX-License-Identifier: Apache-2.0
// CUB's radix sort, in a file of its own, since it takes the compiler longer than the code around it.
#include "cuda/metric/histogram/CudaSort.h"

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>

namespace gpureg
{

namespace
{
constexpr int IndexLanes = 256;

__global__ void
WriteIndicesKernel(kernels::u32 * indices, kernels::u32 count)
{
  const kernels::u32 n = blockIdx.x * IndexLanes + threadIdx.x;
  if (n < count)
  {
    indices[n] = n;
  }
}

std::size_t
RoundedUp(std::size_t bytes)
{
  constexpr std::size_t Alignment = 256;
  return (bytes + Alignment - 1) / Alignment * Alignment;
}
} // namespace

void
SortIndices(CudaQueue &          queue,
            const kernels::u16 * keys,
            std::uint32_t        count,
            kernels::u16 *       sortedKeys,
            kernels::u32 *       indices,
            MemoryPointer &      scratch)
{
  const CudaDeviceScope scope(queue.GetDevice());
  std::size_t           sortBytes = 0;
  const auto            sort = [&](void * memory, const kernels::u32 * unsorted) {
    CheckCuda(cub::DeviceRadixSort::SortPairs(
                memory, sortBytes, keys, sortedKeys, unsorted, indices, count, 0, 16, queue.GetStream()),
              "sorting the samples",
              queue.GetDeviceName());
  };
  sort(nullptr, nullptr); // returns only the size of the scratch memory
  const std::size_t indexBytes = RoundedUp(count * sizeof(kernels::u32));
  ReserveExactly(queue, scratch, indexBytes + sortBytes);
  auto * const unsorted = AddressOf<kernels::u32>(scratch);
  queue.Launch("numbering the samples",
               WriteIndicesKernel,
               dim3((count + IndexLanes - 1) / IndexLanes),
               IndexLanes,
               0,
               unsorted,
               kernels::u32{ count });
  sort(AddressOf<char>(scratch) + indexBytes, unsorted);
}

} // namespace gpureg
