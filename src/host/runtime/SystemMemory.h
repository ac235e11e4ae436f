// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SystemMemory_h
#define gpureg_SystemMemory_h

#include <cstddef>
#include <string>

namespace gpureg
{

/** Holds what a system says of its memory, in bytes. */
struct SystemMemory
{
  /** Says what this process and others of its control group may use together. */
  std::size_t limit = 0;
  /** Says what this process can still allocate now. Pages that only repeat files count as free. */
  std::size_t available = 0;
};

/** Reads Linux's files: the memory that is available, and the limit and usage of the process's control group and of all groups around it,
 *  of version 2 and version 1. The least of all counts. A file that is missing or malformed is left out, and on other systems all are.
 *  \param root what the files' paths begin with, such as "/proc/meminfo"; empty except in tests
 *  \param physical bytes of memory that the computer has, which neither result exceeds */
SystemMemory
ReadSystemMemory(const std::string & root, std::size_t physical);

} // namespace gpureg

#endif
