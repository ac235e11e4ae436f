// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ForEachItem_h
#define gpureg_ForEachItem_h

#include "engine/runtime/KernelArguments.h"
#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gpureg
{

/** Returns the entry point of an item kernel in CUDA. cuda/ItemKernels.cu defines it for each. */
template <typename TKernel>
const void *
GetCudaEntry(Precision precision);

/** Deduces the arguments of ForEachItem() from a kernel's function. */
namespace item
{
/** Returns what Describe() has described as the function's parameter. */
template <bool isByValue, typename TParameter>
TParameter
Read(const KernelArgument & argument)
{
  if constexpr (isByValue)
  {
    return static_cast<TParameter>(argument.value);
  }
  else
  {
    return *static_cast<const TParameter *>(argument.value);
  }
}

template <typename TSignature>
struct Parameters;
template <typename... TParameters>
struct Parameters<void (*)(TParameters...)>
{
  using Tuple = std::tuple<TParameters...>;
  static constexpr std::size_t count = sizeof...(TParameters) - 1; // without the item
  static_assert(std::is_same<std::tuple_element_t<count, Tuple>, kernels::i64>::value, "the last one is the item");
};

template <typename TKernel, typename TReal, std::size_t... n>
struct Typed
{
  using Of = typename Parameters<typename TKernel::template Signature<TReal>>::Tuple;
  using OfTypes = typename Parameters<typename TKernel::template Signature<RealNumber>>::Tuple;

  static constexpr std::size_t structures = CountStructures<OfTypes>();

  /** Runs items on the host. The parameters are read once, so that the loop is as any other one. */
  static void
  RunOnHost(const KernelArgument * arguments, std::int64_t begin, std::int64_t end)
  {
    const auto run = [begin, end](std::tuple_element_t<n, Of>... parameters) {
      for (std::int64_t number = begin; number < end; ++number)
      {
        TKernel::template Run<TReal>(parameters..., kernels::i64{ number });
      }
    };
    run(Read<(n < structures), std::tuple_element_t<n, Of>>(arguments[n])...);
  }

  template <typename... TArguments>
  static void
  Enqueue(Queue & queue, std::int64_t count, Precision precision, const TArguments &... arguments)
  {
    const std::tuple<Passed<(n < structures), std::tuple_element_t<n, Of>, std::tuple_element_t<n, OfTypes>>...> passed(
      arguments...);
    const KernelArgument described[] = { std::get<n>(passed).Describe()... };
    ItemLaunch           launch = {};
    launch.name = TKernel::name;
    launch.doing = TKernel::doing;
    launch.precision = precision;
    launch.runOnHost = RunOnHost;
    launch.itemsOfTask = TKernel::itemsOfTask;
    launch.count = count;
    launch.arguments = described;
    launch.argumentCount = sizeof...(n);
#ifdef GPUREG_USE_CUDA
    launch.cudaEntry = queue.GetKind() == DeviceKind::Cuda ? GetCudaEntry<TKernel>(precision) : nullptr;
#endif
#ifdef GPUREG_USE_OPENCL
    launch.openCLEntry = queue.GetKind() == DeviceKind::OpenCL ? GetOpenCLEntry<TKernel>() : nullptr;
#endif
    queue.RunItems(launch);
  }
};

template <typename TKernel, typename TReal, std::size_t... n, typename... TArguments>
void
Enqueue(
  std::index_sequence<n...>, Queue & queue, std::int64_t count, Precision precision, const TArguments &... arguments)
{
  static_assert(sizeof...(n) == sizeof...(TArguments), "one argument for each parameter but the item");
  static_assert(sizeof...(n) <= MostKernelArguments, "launches have room for so many");
  if (count > 0)
  {
    Typed<TKernel, TReal, n...>::Enqueue(queue, count, precision, arguments...);
  }
}

/** Counts the structures among the parameters of a kernel's function, and the parameters behind them, without the item. */
template <typename TKernel>
struct Shape
{
  using Types = Parameters<typename TKernel::template Signature<RealNumber>>;
  static constexpr std::size_t structures = CountStructures<typename Types::Tuple>();
  static constexpr std::size_t others = Types::count - structures;
};

template <typename TKernel>
using Numbers = std::make_index_sequence<Parameters<typename TKernel::template Signature<RealNumber>>::count>;
} // namespace item

/** Enqueues a kernel for count items, numbered from 0 on; see GPUREG_ITEM_KERNEL. Does nothing if count is 0. arguments: one for each
 *  parameter of the kernel's function but the item: a number; a structure; Input<T>() or Output<T>() for a pointer to T.
 *  \throws Error where the device reports a failure; it says what the kernel does. \throws UnsupportedError if the device lacks double
 *  precision and the kernel needs it. */
template <typename TKernel, typename... TArguments, std::enable_if_t<!TKernel::isOverReal, int> = 0>
void
ForEachItem(Queue & queue, std::int64_t count, const TArguments &... arguments)
{
  item::Enqueue<TKernel, float>(item::Numbers<TKernel>(), queue, count, Precision::Single, arguments...);
}

/** Enqueues a kernel over real, which precision says. */
template <typename TKernel, typename... TArguments, std::enable_if_t<TKernel::isOverReal, int> = 0>
void
ForEachItem(Queue & queue, std::int64_t count, Precision precision, const TArguments &... arguments)
{
  WithReal(precision, [&](auto zero) {
    item::Enqueue<TKernel, decltype(zero)>(item::Numbers<TKernel>(), queue, count, precision, arguments...);
  });
}

} // namespace gpureg

#endif
