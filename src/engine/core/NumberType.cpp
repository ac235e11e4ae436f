// SPDX-License-Identifier: Apache-2.0
#include "gpureg/core/NumberType.h"

#include "gpureg/core/Error.h"

#include <array>

namespace gpureg
{

namespace
{
struct Described
{
  const char * name;
  std::size_t  bytes;
};

/** In the order of NumberType. */
constexpr std::array<Described, 11> Types{ { { "bool", 1 },
                                             { "uint8", 1 },
                                             { "int8", 1 },
                                             { "uint16", 2 },
                                             { "int16", 2 },
                                             { "uint32", 4 },
                                             { "int32", 4 },
                                             { "uint64", 8 },
                                             { "int64", 8 },
                                             { "float32", 4 },
                                             { "float64", 8 } } };
} // namespace

std::size_t
BytesOf(NumberType type)
{
  return Types.at(static_cast<std::size_t>(type)).bytes;
}

const char *
GetName(NumberType type)
{
  return Types.at(static_cast<std::size_t>(type)).name;
}

NumberType
GetNumberType(const std::string & name)
{
  std::string known;
  for (std::size_t n = 0; n < Types.size(); ++n)
  {
    if (name == Types[n].name)
    {
      return static_cast<NumberType>(n);
    }
    known += (n > 0 ? ", " : "") + std::string(Types[n].name);
  }
  throw BadInputError("numbers of type \"" + name + "\" are not read; those that are: " + known);
}

} // namespace gpureg
