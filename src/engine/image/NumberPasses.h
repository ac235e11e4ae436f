// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NumberPasses_h
#define gpureg_NumberPasses_h

#include "kernels/core/Prelude.h"
#include "kernels/image/NumberTypes.h"

#include "engine/runtime/MakePasses.h"
#include "gpureg/core/NumberType.h"
#include "gpureg/core/Precision.h"

#include <cstdint>

namespace gpureg
{

/** Returns the kernels' number of a type. */
inline int
FormOf(NumberType type)
{
  return static_cast<int>(type);
}

/** Converts between numbers of any type and an image's values, on one device. src/host and cuda each implement the passes in a file of this
 *  name; OpenCL reads no memory of other libraries. Every member throws Error where the device reports a failure. */
class NumberPasses
{
public:
  virtual ~NumberPasses() = default;

  /** Converts numbers to values; see kernels::NumberToReal. numbers: count numbers of the type; values: real[count]. */
  virtual void
  Read(
    std::int64_t count, NumberType type, bool isMask, Precision precision, const Memory & numbers, Memory & values) = 0;

  /** Converts values to numbers of the type; see kernels::WriteNumber. values: real[count]; numbers: count numbers. */
  virtual void
  Write(std::int64_t count, NumberType type, Precision precision, const Memory & values, Memory & numbers) = 0;
};

GPUREG_DECLARE_PASSES(NumberPasses);

} // namespace gpureg

#endif
