// SPDX-License-Identifier: Apache-2.0
// Text of numbers for messages.
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

/** Returns a number as text, such as "4" or "0.0125": with three significant digits, or with all digits before the point if those are more.
 *  Numbers below 1e-6 and from 1e15 on have an exponent, such as "4.43e-36". */
inline std::string
NameNumber(double number)
{
  constexpr int      digits = 3;
  const bool         hasDigits = number != 0 && std::isfinite(number);
  const int          before = hasDigits ? static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1 : digits;
  const int          decimals = std::max(0, digits - before);
  std::ostringstream name;
  name.imbue(std::locale::classic());
  if (hasDigits && (std::abs(number) < 1e-6 || std::abs(number) >= 1e15))
  {
    name << std::setprecision(digits) << number;
    return name.str();
  }
  name << std::fixed << std::setprecision(decimals) << number;
  std::string text = name.str();
  if (decimals > 0)
  {
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  return text;
}

/** Returns a length in mm as text, such as "4 mm". */
inline std::string
NameLength(double length)
{
  return NameNumber(length) + " mm";
}

} // namespace gpureg

#endif
