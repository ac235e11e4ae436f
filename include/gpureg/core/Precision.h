// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Precision_h
#define gpureg_Precision_h

#include <cstddef>

namespace gpureg
{

/** Precisions in which values are stored. */
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

/** Calls work with a zero of the type in which values are stored. */
template <typename TWork>
void
WithReal(Precision precision, const TWork & work)
{
  if (precision == Precision::Single)
  {
    work(float{});
  }
  else
  {
    work(double{});
  }
}

} // namespace gpureg

#endif
