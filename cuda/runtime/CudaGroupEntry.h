// SPDX-License-Identifier: Apache-2.0
// The entry point of any group kernel (GPUREG_GROUP_KERNEL) in CUDA.
#ifndef gpureg_CudaGroupEntry_h
#define gpureg_CudaGroupEntry_h

#include "cuda/runtime/CudaQueue.h"

#include "engine/runtime/LaunchGroups.h"

#include <algorithm>

namespace gpureg
{

/** Is a list of constants for the compiler. */
template <int... values>
struct CudaConstants
{};

/** The fewest groups that must fit on a multiprocessor, which limits the registers of a lane; 0 leaves them to the compiler.
 *  cuda/CudaTuning.h has those that were measured. */
template <typename TKernel, typename TReal, typename TConstants>
constexpr int leastCudaGroups = 0;

/** Says that the number of lanes is a constant for the compiler, which may then unroll loops over them. */
template <typename TKernel>
constexpr bool knowsCudaLanes = false;

/** Returns a parameter as a kernel's function takes it: a structure by its address, where the launch has put it, so that no lane copies
 *  it. */
template <bool isStructure, typename TParameter>
__device__ __forceinline__ auto
PassParameter(const TParameter & parameter)
{
  if constexpr (isStructure)
  {
    return &parameter;
  }
  else
  {
    return parameter;
  }
}

/** The local memory of kernels whose launches say how much they need. */
extern __shared__ kernels::u64 launchLocalMemory[];

template <typename TKernel, typename TReal, int... constants, std::size_t... n, typename... TParameters>
__device__ __forceinline__ void
RunInGroup(CudaConstants<constants...>, std::index_sequence<n...>, const TParameters &... parameters)
{
  using Shape = group::Shape<TKernel, TReal>;
  if constexpr (Shape::isLocalOfLaunch)
  {
    TKernel::template Run<TReal>(constants...,
                                 PassParameter<Shape::template isStructure<n + sizeof...(constants)>>(parameters)...,
                                 reinterpret_cast<std::tuple_element_t<Shape::end, typename Shape::Of>>(
                                   launchLocalMemory));
  }
  else if constexpr (TKernel::localElements > 0)
  {
    __shared__ std::remove_pointer_t<std::tuple_element_t<Shape::end, typename Shape::Of>>
               local[TKernel::localElements * (TKernel::lanes / 32)];
    TKernel::template Run<TReal>(constants...,
                                 PassParameter<Shape::template isStructure<n + sizeof...(constants)>>(parameters)...,
                                 local);
  }
  else
  {
    TKernel::template Run<TReal>(constants...,
                                 PassParameter<Shape::template isStructure<n + sizeof...(constants)>>(parameters)...);
  }
}

template <typename TKernel, typename TReal, typename TConstants, typename... TParameters>
__global__ void
__launch_bounds__(TKernel::lanes, leastCudaGroups<TKernel, TReal, TConstants>)
  RunGroup(const __grid_constant__ TParameters... parameters)
{
  if constexpr (knowsCudaLanes<TKernel>)
  {
    __builtin_assume(blockDim.x == TKernel::lanes);
  }
  RunInGroup<TKernel, TReal>(TConstants(), std::index_sequence_for<TParameters...>(), parameters...);
}

/** Finds the entry point of a variant of a kernel. */
template <typename TKernel, typename TReal>
struct CudaGroupEntries
{
  using Shape = group::Shape<TKernel, TReal>;
  using Variants = typename TKernel::Variants;

  /** The type that a launch passes for a parameter. */
  template <std::size_t parameter>
  using Passed =
    std::conditional_t<Shape::template isStructure<parameter>,
                       std::remove_const_t<std::remove_pointer_t<std::tuple_element_t<parameter, typename Shape::Of>>>,
                       std::tuple_element_t<parameter, typename Shape::Of>>;

  /** \tparam k 0, 1, … for the constants \tparam n 0, 1, … for the parameters behind them */
  template <std::size_t variant, std::size_t... k, std::size_t... n>
  static const void *
  GetVariant(std::index_sequence<k...>, std::index_sequence<n...>)
  {
    return reinterpret_cast<const void *>(
      &RunGroup<TKernel, TReal, CudaConstants<Variants::values[variant][k]...>, Passed<n + sizeof...(k)>...>);
  }

  /** Returns the entry point of the variant with these constants, or null if none of the variants from one on has them. */
  template <std::size_t variant = 0>
  static const void *
  Find(const int * constants)
  {
    if constexpr (variant < std::extent<std::remove_reference_t<decltype(Variants::values)>>::value)
    {
      if (std::equal(constants, constants + Shape::constants, Variants::values[variant], [](int constant, int value) {
            return value == constant || value == kernels::AnyConstant;
          }))
      {
        return GetVariant<variant>(std::make_index_sequence<Shape::constants>(),
                                   std::make_index_sequence<Shape::end - Shape::constants>());
      }
      return Find<variant + 1>(constants);
    }
    return nullptr;
  }
};

template <typename TKernel>
const void *
GetCudaGroupEntry(Precision precision, const int * constants)
{
  if constexpr (TKernel::isOverReal)
  {
    if (precision == Precision::Double)
    {
      return CudaGroupEntries<TKernel, double>::Find(constants);
    }
  }
  return CudaGroupEntries<TKernel, float>::Find(constants);
}

} // namespace gpureg

/** Defines the entry points of a kernel, which is in the namespace that ends here and begins again. */
#define GPUREG_CUDA_GROUP_ENTRY(kernel)                                                                     \
  GPUREG_NAMESPACE_END                                                                                      \
  template const void * gpureg::GetCudaGroupEntry<gpureg::kernels::kernel>(gpureg::Precision, const int *); \
  GPUREG_NAMESPACE_BEGIN

#endif
