// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_KernelArguments_h
#define gpureg_KernelArguments_h

#include "kernels/core/Prelude.h"

#include "engine/runtime/KernelLaunch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gpureg
{

/** Stands for the type of a GPUREG_REAL_FUNCTION where its arguments are typed: Input<RealNumber>(values). */
struct RealNumber
{};

/** Elements of a device's memory, as ForEachItem() and LaunchGroups() take them. */
template <typename T>
struct Elements
{
  /** Null where there are none. */
  const Memory * memory;
  /** The number of the element that the kernel's pointer points to. */
  std::int64_t first;
};

/** Returns elements that a kernel reads. \param memory may be null, if the kernel does not read it then */
template <typename T>
Elements<const T>
Input(const Memory * memory, std::int64_t first = 0)
{
  return { memory, first };
}
template <typename T>
Elements<const T>
Input(const Memory & memory, std::int64_t first = 0)
{
  return { &memory, first };
}

/** Returns elements that a kernel writes, or reads and writes. */
template <typename T>
Elements<T>
Output(Memory * memory, std::int64_t first = 0)
{
  return { memory, first };
}
template <typename T>
Elements<T>
Output(Memory & memory, std::int64_t first = 0)
{
  return { &memory, first };
}

/** A structure of pointers to a device's memory, as LaunchGroups() takes it: kernels get the structure itself where memory has addresses,
 *  and otherwise its arrays. */
template <typename T>
struct ArrayStructure
{
  /** The number of arrays at most. */
  static constexpr std::size_t Most = 16;

  T                                addresses;
  std::array<const Memory *, Most> arrays;
  std::size_t                      count;
};

/** Says that a structure consists of pointers. Specialised beside each structure that does. */
template <typename T>
constexpr bool isArrayStructure = false;

/** Returns the entry point of a kernel in OpenCL. EmbedKernels.cmake defines it for each. */
template <typename TKernel>
const void *
GetOpenCLEntry();

/** Turns arguments of launches into what a kernel's parameters take. */
namespace item
{
/** Says whether a type is a pointer to a structure of arguments. */
template <typename TParameter>
constexpr bool pointsToStructure = false;
template <typename T>
constexpr bool pointsToStructure<const T *> =
  std::is_class<T>::value && !std::is_same<T, kernels::float4>::value && !std::is_same<T, RealNumber>::value;

/** Returns how many of a function's first parameters, TTuple, are structures that are passed by value; see GPUREG_ITEM_KERNEL. */
template <typename TTuple, std::size_t n = 0>
constexpr std::size_t
CountStructures()
{
  if constexpr (pointsToStructure<std::tuple_element_t<n, TTuple>>)
  {
    return CountStructures<TTuple, n + 1>();
  }
  else
  {
    return n;
  }
}

/** Holds the argument for a parameter: here a number, which the parameter's type must hold without loss. isByValue: true if the parameter
 *  is one of the structures that CountStructures() counts; TTyped: the type with RealNumber for real. */
template <bool isByValue, typename TParameter, typename TTyped>
struct Passed
{
  template <typename TNumber, typename = decltype(TParameter{ std::declval<const TNumber &>() })>
  explicit Passed(const TNumber & number)
    : value{ number }
  {}

  KernelArgument
  Describe() const
  {
    return { &value, sizeof(value), nullptr, 0, false, nullptr, 0 };
  }

  TParameter value;
};

/** Holds a pointer to a structure, or to elements. */
template <bool isByValue, typename T, typename TTyped>
struct Passed<isByValue, T *, TTyped *>
{
  using Structure =
    std::conditional_t<isArrayStructure<std::remove_const_t<T>>, ArrayStructure<std::remove_const_t<T>>, T>;
  using Argument = std::conditional_t<isByValue, Structure, Elements<TTyped>>;

  explicit Passed(const Argument & argument)
  {
    if constexpr (isByValue)
    {
      static_assert(std::is_trivially_copyable<T>::value && std::is_standard_layout<T>::value, "it is passed as bytes");
      if constexpr (isArrayStructure<std::remove_const_t<T>>)
      {
        value = &argument.addresses;
        members = argument.arrays.data();
        memberCount = argument.count;
      }
      else
      {
        value = &argument;
      }
    }
    else
    {
      memory = argument.memory;
      first = argument.first;
      void * const address = memory ? memory->GetAddress() : nullptr;
      value = address ? Advance(static_cast<T *>(address)) : nullptr;
    }
  }

  KernelArgument
  Describe() const
  {
    if constexpr (isByValue)
    {
      return { value, sizeof(T), nullptr, 0, false, members, memberCount };
    }
    else
    {
      return { &value, sizeof(value), memory, first, true, nullptr, 0 };
    }
  }

  T *                    value;
  const Memory *         memory = nullptr;
  std::int64_t           first = 0;
  const Memory * const * members = nullptr;
  std::size_t            memberCount = 0;

private:
  T *
  Advance(T * elements) const
  {
    if constexpr (std::is_void<T>::value)
    {
      return static_cast<std::conditional_t<std::is_const<T>::value, const char, char> *>(elements) + first;
    }
    else
    {
      return elements + first;
    }
  }
};

} // namespace item

} // namespace gpureg

#endif
