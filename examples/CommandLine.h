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

/** A command line: words, flags such as --rigid, and options with a value such as --device host.
 * What is wrong with it is thrown as a std::invalid_argument. */
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

  /** The option's value, or otherwise where it is not given. */
  std::string
  Get(const std::string & option, const std::string & otherwise) const;

  std::uint32_t
  GetNumber(const std::string & option, std::uint32_t otherwise) const;

  /** In mm. */
  double
  GetLength(const std::string & option, double otherwise) const;

  /** What --rigid, --device NAME and --metric ours|itk ask for. */
  RegistrationSettings
  GetRegistrationSettings() const;

private:
  std::vector<std::string>           m_Words;
  std::map<std::string, std::string> m_Options;
};

/** Calls a program's body, and prints what it throws; with the usage, if it is the command line that is wrong.
 * \returns the exit code */
int
RunProgram(const std::function<int()> & body, const std::string & usage);

} // namespace example

#endif
