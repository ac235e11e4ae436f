// SPDX-License-Identifier: Apache-2.0
// Choices that have names, by their numbers.
#ifndef gpureg_Choices_h
#define gpureg_Choices_h

#include "gpureg/core/Error.h"

#include <cstddef>
#include <string>

namespace gpureg
{

/** The names, with commas between. */
template <std::size_t VCount>
std::string
ListChoices(const char * const (&names)[VCount])
{
  std::string list;
  for (const char * const name : names)
  {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

/** \throws BadInputError if there is no such number. */
template <std::size_t VCount>
const char *
NameOfChoice(const char * what, const char * const (&names)[VCount], std::size_t number)
{
  if (number >= VCount)
  {
    throw BadInputError("there is no " + std::string(what) + " " + std::to_string(number) + "; set one of " +
                        ListChoices(names));
  }
  return names[number];
}

/** \throws BadInputError if there is no such name. */
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
  throw BadInputError("there is no " + std::string(what) + " \"" + name + "\"; set one of " + ListChoices(names));
}

} // namespace gpureg

#endif
