// SPDX-License-Identifier: Apache-2.0
// What tests of programs need: a folder for their files, and to run them.
#ifndef ProgramTest_h
#define ProgramTest_h

#include "PassingFolder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace example
{

/** Where tests' files are. */
class Folder : public PassingFolder
{
public:
  Folder()
    : PassingFolder({ testing::TempDir() + "example-" },
                    "No folder can be made in " + testing::TempDir(),
                    "Name another with TMPDIR.")
  {}
};

/** A program that stands beside this one. */
inline std::string
FindProgram(const std::string & name)
{
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/** Runs a program. \returns what it prints */
inline std::string
Execute(const std::string & command, const std::string & log)
{
  const int          code = std::system(("(" + command + ") > " + log + " 2>&1").c_str());
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  EXPECT_EQ(code, 0) << command << '\n' << text.str();
  return text.str();
}

} // namespace example

#endif
