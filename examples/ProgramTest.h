// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of programs: a folder for their files, and functions that run them.
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

/** A temporary folder for a test's files. */
class Folder : public PassingFolder
{
public:
  Folder()
    : PassingFolder({ testing::TempDir() + "example-" },
                    "No folder can be made in " + testing::TempDir(),
                    "Name another with TMPDIR.")
  {}
};

/** Returns the path of a program in this program's folder. */
inline std::string
FindProgram(const std::string & name)
{
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/** Runs a program. \returns its output */
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
