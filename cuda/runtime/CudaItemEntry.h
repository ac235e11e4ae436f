// SPDX-License-Identifier: Apache-2.0
// The entry point of any item kernel (GPUREG_ITEM_KERNEL) in CUDA.
#ifndef gpureg_CudaItemEntry_h
#define gpureg_CudaItemEntry_h

#include "cuda/runtime/CudaQueue.h"

#include "engine/runtime/ForEachItem.h"

namespace gpureg
{

/** Returns the number of the lane's item, which may be beyond the last item. */
__device__ inline kernels::i64
ComputeItem()
{
  return kernels::i64{ blockIdx.x } * blockDim.x + threadIdx.x;
}

template <typename TKernel, typename TReal, typename... TParameters>
__global__ void
__launch_bounds__(GetMostItemLanes(TKernel::itemsOfTask)) RunItem(kernels::i64 count, TParameters... parameters)
{
  const kernels::i64 item = ComputeItem();
  if (item < count)
  {
    TKernel::template Run<TReal>(parameters..., item);
  }
}

/** Runs a kernel's function with a structure, which stays where the launch has put it, so that no lane copies it. */
template <typename TKernel, typename TReal, typename TStructure, typename... TParameters>
__global__ void
__launch_bounds__(GetMostItemLanes(TKernel::itemsOfTask))
  RunItemOf(kernels::i64 count, const __grid_constant__ TStructure structure, TParameters... parameters)
{
  const kernels::i64 item = ComputeItem();
  if (item < count)
  {
    TKernel::template Run<TReal>(&structure, parameters..., item);
  }
}

/** Runs a kernel's function with two structures, which stay where the launch has put them. */
template <typename TKernel, typename TReal, typename TFirst, typename TSecond, typename... TParameters>
__global__ void
__launch_bounds__(GetMostItemLanes(TKernel::itemsOfTask)) RunItemOfTwo(kernels::i64                    count,
                                                                       const __grid_constant__ TFirst  first,
                                                                       const __grid_constant__ TSecond second,
                                                                       TParameters... parameters)
{
  const kernels::i64 item = ComputeItem();
  if (item < count)
  {
    TKernel::template Run<TReal>(&first, &second, parameters..., item);
  }
}

/** Deduces the parameters of the entry points from those of the kernel's function, which ends with the item. n: 0, 1, … for those behind
 *  the structures. */
template <typename TKernel, typename TReal, std::size_t structures, std::size_t... n>
const void *
FindCudaEntry(std::index_sequence<n...>)
{
  using Of = typename item::Parameters<typename TKernel::template Signature<TReal>>::Tuple;
  static_assert(structures <= 2, "entry points have room for so many");
  if constexpr (structures == 2)
  {
    using First = std::remove_const_t<std::remove_pointer_t<std::tuple_element_t<0, Of>>>;
    using Second = std::remove_const_t<std::remove_pointer_t<std::tuple_element_t<1, Of>>>;
    return reinterpret_cast<const void *>(
      &RunItemOfTwo<TKernel, TReal, First, Second, std::tuple_element_t<n + 2, Of>...>);
  }
  else if constexpr (structures == 1)
  {
    using Structure = std::remove_const_t<std::remove_pointer_t<std::tuple_element_t<0, Of>>>;
    return reinterpret_cast<const void *>(&RunItemOf<TKernel, TReal, Structure, std::tuple_element_t<n + 1, Of>...>);
  }
  else
  {
    return reinterpret_cast<const void *>(&RunItem<TKernel, TReal, std::tuple_element_t<n, Of>...>);
  }
}

template <typename TKernel>
const void *
GetCudaEntry(Precision precision)
{
  using Shape = item::Shape<TKernel>;
  constexpr std::make_index_sequence<Shape::others> others;
  if constexpr (TKernel::isOverReal)
  {
    if (precision == Precision::Double)
    {
      return FindCudaEntry<TKernel, double, Shape::structures>(others);
    }
  }
  return FindCudaEntry<TKernel, float, Shape::structures>(others);
}

} // namespace gpureg

/** Defines the entry points of a kernel, which is in the namespace that ends here and begins again. */
#define GPUREG_CUDA_ENTRY(kernel)                                                         \
  GPUREG_NAMESPACE_END                                                                    \
  template const void * gpureg::GetCudaEntry<gpureg::kernels::kernel>(gpureg::Precision); \
  GPUREG_NAMESPACE_BEGIN

#endif
