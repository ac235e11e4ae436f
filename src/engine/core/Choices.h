// SPDX-License-Identifier: Apache-2.0
// Conversion between the names and numbers of choices.
#ifndef gpureg_Choices_h
#define gpureg_Choices_h

#include "gpureg/core/Error.h"

#include <cstddef>
#include <string>

namespace gpureg
{

/** Returns the names, separated by commas. \param names a range of strings */
template <typename TNames>
std::string
ListChoices(const TNames & names)
{
  std::string list;
  for (const char * const name : names)
  {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

/** Throws that there is no such choice. \param which its name in quotes, or its number */
template <typename TNames>
[[noreturn]] void
ThrowNoChoice(const char * what, const std::string & which, const TNames & names)
{
  throw BadInputError("there is no " + std::string(what) + " " + which + "; set one of " + ListChoices(names));
}

/** Returns the name of a choice. \throws BadInputError if there is no choice of this number */
template <std::size_t VCount>
const char *
NameOfChoice(const char * what, const char * const (&names)[VCount], std::size_t number)
{
  if (number >= VCount)
  {
    ThrowNoChoice(what, std::to_string(number), names);
  }
  return names[number];
}

/** Returns the number of a choice. \throws BadInputError if there is no choice of this name */
template <std::size_t VCount>
std::size_t
NumberOfChoice(const char * what, const char * const (&names)[VCount], const std::string & name)
{
  for (std::size_t n = 0; n < VCount; ++n)
  {
    if (name == names[n])
    {
      return n;
    }
  }
  ThrowNoChoice(what, '"' + name + '"', names);
}

} // namespace gpureg

#endif
