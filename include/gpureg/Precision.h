// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Precision_h
#define gpureg_Precision_h

#include <cstddef>

namespace gpureg
{

/** What values are kept in. */
enum class Precision
{
  Single,
  Double
};

inline std::size_t
BytesOf(Precision precision)
{
  return precision == Precision::Single ? sizeof(float) : sizeof(double);
}

} // namespace gpureg

#endif
