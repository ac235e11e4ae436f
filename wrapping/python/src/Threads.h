// SPDX-License-Identifier: Apache-2.0
// Threads that run the engine's loops: the engine has none of its own.
#ifndef gpureg_python_Threads_h
#define gpureg_python_Threads_h

#include "gpureg/core/ParallelFor.h"

namespace gpureg
{
namespace python
{

/** Returns how many threads a parallel loop uses, the caller's included. */
int
GetThreadCount();

/** Sets the number of threads from the next loop on. 0: GPUREG_THREADS of the environment, or else all that the machine has.
 *  \throws BadInputError if it is negative. */
void
SetThreadCount(int count);

/** Makes a parallel-for on threads that stay for the next loop. Several loops may run at once, and a loop inside a loop. */
ParallelFor
MakeParallelFor();

} // namespace python
} // namespace gpureg

#endif
