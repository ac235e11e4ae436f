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

/** A type as the kernels count them. */
inline int
FormOf(NumberType type)
{
  return static_cast<int>(type);
}

/** Between numbers of any type and values of an image, on one device. src/host and cuda each have it in a file of this name; OpenCL reads no
 *  memory of others. Every member throws Error where the device reports a failure. */
class NumberPasses
{
public:
  virtual ~NumberPasses() = default;

  /** numbers: of that type, count of them; values: real. See kernels::NumberToReal. */
  virtual void
  Read(
    std::int64_t count, NumberType type, bool isMask, Precision precision, const Memory & numbers, Memory & values) = 0;

  /** The other way round. See kernels::WriteNumber. */
  virtual void
  Write(std::int64_t count, NumberType type, Precision precision, const Memory & values, Memory & numbers) = 0;
};

GPUREG_DECLARE_PASSES(NumberPasses);

} // namespace gpureg

#endif
