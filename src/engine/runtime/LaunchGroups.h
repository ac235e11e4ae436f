// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LaunchGroups_h
#define gpureg_LaunchGroups_h

#include "engine/runtime/KernelArguments.h"
#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gpureg
{

/** The numbers of groups of a launch. Kernels know a group by GroupIndex(), GroupIndexY() and GroupIndexZ(). */
struct GroupNumbers
{
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
  /** The bytes of local memory of a group, for kernels that are declared with GPUREG_LOCAL_OF_LAUNCH. */
  std::size_t localBytes = 0;
};

/** Throws UnsupportedError if a launch has more groups than every device can count: 2^31 - 1 along x, 65535 along y and z.
 *  \param doing what the groups are doing, for the error */
void
CheckGroupNumbers(const GroupNumbers & groups, const char * doing);

/** Returns the entry point of a group kernel in CUDA, or null if the constants are no variant. cuda/GroupKernels.cu and cuda/PairKernels.cu
 *  define it for each kernel. constants: TKernel::Variants::constants numbers */
template <typename TKernel>
const void *
GetCudaGroupEntry(Precision precision, const int * constants);

/** Deduces the arguments of LaunchGroups() from a kernel's function. */
namespace group
{
template <typename TSignature>
struct Parameters;
template <typename... TParameters>
struct Parameters<void (*)(TParameters...)>
{
  using Tuple = std::tuple<TParameters...>;
  static constexpr std::size_t count = sizeof...(TParameters);
};

/** The parameters of a kernel's function: so many constants, then structures, then others, then local memory if there is any. */
template <typename TKernel, typename TReal>
struct Shape
{
  using Of = typename Parameters<typename TKernel::template Signature<TReal>>::Tuple;
  using OfTypes = typename Parameters<typename TKernel::template Signature<RealNumber>>::Tuple;

  static constexpr std::size_t constants = TKernel::Variants::constants;
  static constexpr std::size_t endOfStructures = item::CountStructures<OfTypes, constants>();
  static constexpr std::size_t end = std::tuple_size<Of>::value - (TKernel::localElements != 0 ? 1 : 0);

  template <std::size_t parameter>
  static constexpr bool isStructure = parameter >= constants && parameter < endOfStructures;

  static constexpr bool isLocalOfLaunch = TKernel::localElements < 0;

  /** Returns the bytes of an element of local memory; 0 if there is none. */
  static constexpr std::size_t
  GetLocalElementBytes()
  {
    if constexpr (TKernel::localElements != 0)
    {
      using Local = std::tuple_element_t<end, Of>;
      static_assert(std::is_pointer<Local>::value && !std::is_const<std::remove_pointer_t<Local>>::value,
                    "the last one is local memory");
      return sizeof(std::remove_pointer_t<Local>);
    }
    else
    {
      return 0;
    }
  }
};

/** Sets what depends on the kernel alone, and its entry points on the queue's kind of device. constants: of the variant */
template <typename TKernel>
void
SetEntries(const Queue & queue, Precision precision, const int * constants, GroupLaunch & launch)
{
  launch.precision = precision;
  launch.constantCount = TKernel::Variants::constants;
  launch.areLookedUp = TKernel::Variants::areLookedUp;
#ifdef GPUREG_USE_CUDA
  launch.cudaEntry = queue.GetKind() == DeviceKind::Cuda ? GetCudaGroupEntry<TKernel>(precision, constants) : nullptr;
#endif
#ifdef GPUREG_USE_OPENCL
  launch.openCLEntry = queue.GetKind() == DeviceKind::OpenCL ? GetOpenCLEntry<TKernel>() : nullptr;
#endif
  (void)queue;
  (void)constants;
}

template <typename TKernel>
using Numbers = std::make_index_sequence<Shape<TKernel, float>::end>;

template <typename TKernel, typename TReal, std::size_t... n, typename... TArguments>
void
Enqueue(std::index_sequence<n...>,
        Queue &              queue,
        const GroupNumbers & groups,
        Precision            precision,
        const TArguments &... arguments)
{
  static_assert(sizeof...(n) == sizeof...(TArguments), "one argument for each parameter but local memory");
  static_assert(sizeof...(n) <= MostKernelArguments, "launches have room for so many");
  static_assert(TKernel::lanes >= 32 && (TKernel::lanes & (TKernel::lanes - 1)) == 0, "rows of 32 lanes");
  using Shape = Shape<TKernel, TReal>;
  if (groups.x <= 0 || groups.y <= 0 || groups.z <= 0)
  {
    return;
  }
  CheckGroupNumbers(groups, TKernel::doing);
  const std::tuple<item::Passed<Shape::template isStructure<n>,
                                std::tuple_element_t<n, typename Shape::Of>,
                                std::tuple_element_t<n, typename Shape::OfTypes>>...>
                       passed(arguments...);
  const KernelArgument described[] = { std::get<n>(passed).Describe()... };
  GroupLaunch          launch = {};
  launch.name = TKernel::name;
  launch.doing = TKernel::doing;
  launch.arguments = described;
  launch.argumentCount = sizeof...(n);
  launch.groups[0] = groups.x;
  launch.groups[1] = groups.y;
  launch.groups[2] = groups.z;
  launch.lanes = queue.GetGroupTraits().GetLanes(TKernel::lanes);
  launch.localBytes = Shape::isLocalOfLaunch ? groups.localBytes
                                             : Shape::GetLocalElementBytes() * TKernel::localElements *
                                                 static_cast<std::size_t>(launch.lanes / 32);
  launch.isLocalOfLaunch = Shape::isLocalOfLaunch;
  int constants[Shape::constants + 1] = {};
  for (std::size_t k = 0; k < Shape::constants; ++k)
  {
    constants[k] = *static_cast<const int *>(described[k].value);
  }
  SetEntries<TKernel>(queue, precision, constants, launch);
  queue.RunGroups(launch);
}
} // namespace group

/** Returns the number of lanes of a kernel's groups on a queue's device. */
template <typename TKernel>
int
GetGroupLanes(const Queue & queue)
{
  return queue.GetGroupTraits().GetLanes(TKernel::lanes);
}

/** Returns the number of a kernel's groups that have a lane for each of `items` items. */
template <typename TKernel>
GroupNumbers
CountGroupsFor(const Queue & queue, std::int64_t items)
{
  const std::int64_t lanes = GetGroupLanes<TKernel>(queue);
  return { (items + lanes - 1) / lanes };
}

/** Compiles or loads a variant of a kernel that is not over real, where the device compiles kernels when they are first needed, so that
 *  launches do not. \throws Error with the compiler's messages */
template <typename TKernel, typename... TConstants>
void
PrepareGroups(Queue & queue, TConstants... constants)
{
  static_assert(sizeof...(constants) == TKernel::Variants::constants, "all constants");
  static_assert(sizeof...(constants) > 0 && !TKernel::isOverReal,
                "other kernels are in programs that all kernels share");
  const int            values[] = { constants..., 0 };
  const KernelArgument described[] = { { &constants, sizeof(int), nullptr, 0, false, nullptr, 0 }... };
  GroupLaunch          launch = {};
  launch.name = TKernel::name;
  launch.arguments = described;
  launch.argumentCount = sizeof...(constants);
  group::SetEntries<TKernel>(queue, Precision::Single, values, launch);
  queue.PrepareGroups(launch);
}

/** Enqueues a kernel for groups; see GPUREG_GROUP_KERNEL. Does nothing if a number of groups is 0. arguments: one for each parameter of the
 *  kernel's function but local memory: a number; a structure; Input<T>() or Output<T>() for a pointer to T.
 *  \throws Error where the device reports a failure; it says what the kernel does. \throws UnsupportedError if the device lacks double
 *  precision and the kernel needs it, or if there are too many groups. \throws std::logic_error on the host, which has no groups, or if the
 *  first arguments are no variant of the kernel. */
template <typename TKernel, typename... TArguments, std::enable_if_t<!TKernel::isOverReal, int> = 0>
void
LaunchGroups(Queue & queue, const GroupNumbers & groups, const TArguments &... arguments)
{
  group::Enqueue<TKernel, float>(group::Numbers<TKernel>(), queue, groups, Precision::Single, arguments...);
}

/** Enqueues a kernel over real, which precision says. */
template <typename TKernel, typename... TArguments, std::enable_if_t<TKernel::isOverReal, int> = 0>
void
LaunchGroups(Queue & queue, const GroupNumbers & groups, Precision precision, const TArguments &... arguments)
{
  WithReal(precision, [&](auto zero) {
    group::Enqueue<TKernel, decltype(zero)>(group::Numbers<TKernel>(), queue, groups, precision, arguments...);
  });
}

} // namespace gpureg

#endif
