// SPDX-License-Identifier: Apache-2.0
#ifndef CommandLine_h
#define CommandLine_h

#include "Registration.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace example
{

/** A command line: words, flags such as --rigid, and options with a value such as --device host. Errors in it are thrown as
 *  std::invalid_argument. */
class CommandLine
{
public:
  CommandLine(int                           argc,
              const char * const *          argv,
              const std::set<std::string> & flags,
              const std::set<std::string> & options);

  const std::vector<std::string> &
  GetWords() const
  {
    return m_Words;
  }

  bool
  Has(const std::string & option) const
  {
    return m_Options.count(option) != 0;
  }

  /** Returns the option's value, or `otherwise` if it is not given. */
  std::string
  Get(const std::string & option, const std::string & otherwise) const;

  std::uint32_t
  GetNumber(const std::string & option, std::uint32_t otherwise) const;

  /** Returns the option's value as a length in mm, or `otherwise` if it is not given. */
  double
  GetLength(const std::string & option, double otherwise) const;

  /** Returns the settings of --rigid, --device NAME and --metric ours|itk. */
  RegistrationSettings
  GetRegistrationSettings() const;

private:
  std::vector<std::string>           m_Words;
  std::map<std::string, std::string> m_Options;
};

/** Calls a program's body, and prints its exception; with the usage, if the command line is wrong.
 *  \returns the exit code */
int
RunProgram(const std::function<int()> & body, const std::string & usage);

} // namespace example

#endif
