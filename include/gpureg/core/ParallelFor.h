// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ParallelFor_h
#define gpureg_ParallelFor_h

#include <cstdint>
#include <functional>

namespace gpureg
{

/** Calls body(0) … body(count - 1), each once, in any order and on any threads, and returns when all calls have returned. If calls
 *  throw, it rethrows one of their exceptions, and may leave out further calls. The engine has no threads of its own: the caller passes
 *  the program's. */
using ParallelFor = std::function<void(std::int64_t count, const std::function<void(std::int64_t)> & body)>;

/** Writes elements first … first + count - 1 of an array to out, which has room for exactly these elements. Called for disjoint ranges,
 *  from several threads at once. */
using Filler = std::function<void(std::int64_t first, std::int64_t count, void * out)>;

} // namespace gpureg

#endif
