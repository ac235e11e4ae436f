// SPDX-License-Identifier: Apache-2.0
// Choices of the engine, which Python has by their names.
#ifndef gpureg_python_Names_h
#define gpureg_python_Names_h

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

namespace gpureg
{
namespace python
{

/** Adds a setting to a class.
 *  \param find one of the engine's functions that make a choice of its name; throws BadInputError if there is none. */
template <typename TSettings, typename TChoice>
void
AddChoice(nanobind::class_<TSettings> & settings,
          const char *                  name,
          TChoice TSettings::*member,
          TChoice (*find)(const std::string &))
{
  settings.def_prop_rw(
    name,
    [member](const TSettings & s) { return GetName(s.*member); },
    [member, find](TSettings & s, const std::string & choice) { s.*member = find(choice); });
}

} // namespace python
} // namespace gpureg

#endif
