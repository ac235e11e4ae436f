// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, of any size.
#ifndef gpureg_NumberNames_h
#define gpureg_NumberNames_h

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string>

namespace gpureg
{

/** Such as "4" or "0.0125": to three digits, or as many as stand before the point, without an exponent. */
inline std::string
NameNumber(double number)
{
  constexpr int      digits = 3;
  const bool         hasDigits = number != 0 && std::isfinite(number);
  const int          before = hasDigits ? static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1 : digits;
  const int          decimals = std::max(0, digits - before);
  std::ostringstream name;
  name.imbue(std::locale::classic());
  name << std::fixed << std::setprecision(decimals) << number;
  std::string text = name.str();
  if (decimals > 0)
  {
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  return text;
}

/** Such as "4 mm". */
inline std::string
NameLength(double length)
{
  return NameNumber(length) + " mm";
}

} // namespace gpureg

#endif
