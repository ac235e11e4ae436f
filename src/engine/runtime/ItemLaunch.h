// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ItemLaunch_h
#define gpureg_ItemLaunch_h

#include "engine/runtime/Queue.h"

#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** The number of arguments of an item kernel at most. */
constexpr std::size_t MostItemArguments = 16;

/** An argument of an item kernel: a number, a structure, or an array. */
struct ItemArgument
{
  /** The number, the structure, or the address of the array's first element, if the device's memory has addresses. */
  const void * value;
  std::size_t  bytes;
  /** The array; null if there is none. */
  const Memory * memory;
  std::int64_t   first; // element of the array
  bool           isArray;
};

/** A launch of an item kernel without its types, as Queue::RunItems() takes it. ForEachItem() makes it. */
struct ItemLaunch
{
  const char * name;
  /** Words for errors that say what the kernel does, such as "making quads". */
  const char * doing;
  /** The type that `real` stands for. */
  Precision    precision;
  std::int64_t count;
  /** The arguments, in the order of the kernel's parameters. */
  const ItemArgument * arguments;
  std::size_t          argumentCount;
  /** Runs the items from begin to before end on the host, and how many of them are worth a task. */
  void (*runOnHost)(const ItemArgument * arguments, std::int64_t begin, std::int64_t end);
  std::int64_t itemsOfTask;
  /** The entry points on the queue's kind of device. */
  const void * cudaEntry;
  const void * openCLEntry;
};

} // namespace gpureg

#endif
