// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_KernelLaunch_h
#define gpureg_KernelLaunch_h

#include "engine/runtime/Queue.h"

#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** The number of arguments of a kernel at most. */
constexpr std::size_t MostKernelArguments = 16;

/** An argument of a kernel: a number, a structure, or an array; or a structure of pointers, where the device's memory has no addresses: the
 *  arrays to which these point. */
struct KernelArgument
{
  /** The number, the structure, or the address of the array's first element, if the device's memory has addresses. */
  const void * value;
  std::size_t  bytes;
  /** The array; null if there is none. */
  const Memory * memory;
  std::int64_t   first; // element of the array
  bool           isArray;
  /** The arrays of a structure of pointers; each may be null. */
  const Memory * const * members;
  std::size_t            memberCount;
};

/** Holds the arguments that launches of item kernels and of group kernels have in common, without the kernel's types. */
struct KernelLaunch
{
  const char * name;
  /** Words for errors that say what the kernel does, such as "making quads". */
  const char * doing;
  /** The type that `real` stands for. */
  Precision precision;
  /** The arguments, in the order of the kernel's parameters. */
  const KernelArgument * arguments;
  std::size_t            argumentCount;
  /** The entry points on the queue's kind of device. */
  const void * cudaEntry;
  const void * openCLEntry;
};

/** A launch of an item kernel, as Queue::RunItems() takes it. ForEachItem() makes it. */
struct ItemLaunch : KernelLaunch
{
  std::int64_t count;
  /** Runs the items from begin to before end on the host, and how many of them are worth a task. */
  void (*runOnHost)(const KernelArgument * arguments, std::int64_t begin, std::int64_t end);
  std::int64_t itemsOfTask;
};

/** A launch of a group kernel, as Queue::RunGroups() takes it. LaunchGroups() makes it. */
struct GroupLaunch : KernelLaunch
{
  /** The number of groups along x, y and z, each at least one. */
  std::int64_t groups[3];
  int          lanes;
  /** The bytes of local memory of a group, and whether they are this launch's own; otherwise all of the kernel's have as many. */
  std::size_t localBytes;
  bool        isLocalOfLaunch;
  /** How many of the first arguments are constants for the compiler. */
  std::size_t constantCount;
  /** Says that a processor looks the constants up at run time. */
  bool areLookedUp;
};

} // namespace gpureg

#endif
