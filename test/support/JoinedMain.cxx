// SPDX-License-Identifier: Apache-2.0
// Runs the cases of one source, in a program that is compiled from several: Program Name [GoogleTest's options], where the source is
// Name.cxx.
#include "RunCases.h"

#include <cstdlib>
#include <iostream>
#include <string>

namespace
{

/** Returns whether a case is written in a source, given as the end of its path. */
bool
IsFrom(const testing::TestInfo & test, const std::string & source)
{
  const std::string file = test.file();
  return file.size() > source.size() && file.compare(file.size() - source.size(), source.size(), source) == 0;
}

/** Returns the cases that are not written in a source, as GoogleTest's filter names them. */
std::string
NameOthers(const std::string & source)
{
  std::string  others;
  const auto & program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i)
  {
    const testing::TestSuite & suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j)
    {
      const testing::TestInfo & test = *suite.GetTestInfo(j);
      if (!IsFrom(test, source))
      {
        others += std::string(suite.name()) + '.' + test.name() + ':';
      }
    }
  }
  return others;
}

} // namespace

int
main(int argc, char * argv[])
{
  testing::InitGoogleTest(&argc, argv);
  // A test that starts this program again means itself.
  constexpr char     variable[] = "GPUREG_JOINED_TEST";
  const char * const ofParent = std::getenv(variable);
  if (argc > 2 || (argc < 2 && ofParent == nullptr))
  {
    std::cerr << "Usage: " << argv[0] << " Name [GoogleTest's options], to run the cases of Name.cxx\n";
    return 2;
  }
  const std::string name = argc == 2 ? argv[1] : ofParent;
  setenv(variable, name.c_str(), 1);
  std::string & filter = testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == std::string::npos ? '-' : ':') + NameOthers("/" + name + ".cxx");
  return gpuregtest::RunCases();
}
