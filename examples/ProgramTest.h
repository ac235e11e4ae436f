// SPDX-License-Identifier: Apache-2.0
// What tests of programs need: a folder for their files, and to run them.
#ifndef ProgramTest_h
#define ProgramTest_h

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace example
{

/** A folder of its own, removed at the end. */
class Folder
{
public:
  Folder()
  {
    std::string name = testing::TempDir() + "example-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
    {
      throw std::runtime_error("No folder can be made in " + testing::TempDir());
    }
    m_Path = name + '/';
  }

  ~Folder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(m_Path, ignored);
  }

  Folder(const Folder &) = delete;
  Folder &
  operator=(const Folder &) = delete;

  std::string
  operator/(const std::string & name) const
  {
    return m_Path + name;
  }

private:
  std::string m_Path;
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
