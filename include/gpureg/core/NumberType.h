// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NumberType_h
#define gpureg_NumberType_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Precision.h"

#include <cstddef>
#include <string>

namespace gpureg
{

/** Types of the numbers in an array. */
enum class NumberType
{
  Bool, // a byte, 0 or 1
  UInt8,
  Int8,
  UInt16,
  Int16,
  UInt32,
  Int32,
  UInt64,
  Int64,
  Float32,
  Float64
};

GPURegistration_EXPORT
std::size_t
BytesOf(NumberType type);

/** Returns NumPy's name of a type: "bool", "uint8", … */
GPURegistration_EXPORT
const char *
GetName(NumberType type);

/** Returns the type with a name that NumPy uses.
 *  \throws BadInputError if there is no such type; the message lists the types. */
GPURegistration_EXPORT
NumberType
GetNumberType(const std::string & name);

inline NumberType
TypeOf(Precision precision)
{
  return precision == Precision::Single ? NumberType::Float32 : NumberType::Float64;
}

} // namespace gpureg

#endif
