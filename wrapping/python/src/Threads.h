// SPDX-License-Identifier: Apache-2.0
// The threads that the engine is lent: it has none of its own.
#ifndef gpureg_python_Threads_h
#define gpureg_python_Threads_h

#include "gpureg/core/ParallelFor.h"

namespace gpureg
{
namespace python
{

/** How many threads a parallel loop uses, the caller's among them. */
int
GetThreadCount();

/** From the next loop on. 0: as many as the environment variable GPUREG_THREADS says, or else as the machine has.
 *  \throws BadInputError if it is negative. */
void
SetThreadCount(int count);

/** Runs on threads that stay for the next loop. Several loops may run at the same time, and a loop inside of a loop. */
ParallelFor
MakeParallelFor();

} // namespace python
} // namespace gpureg

#endif
