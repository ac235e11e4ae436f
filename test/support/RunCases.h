// SPDX-License-Identifier: Apache-2.0
// Runs the cases of a test program, and tells ctest by the exit code whether all of them were skipped.
#ifndef gpuregtest_RunCases_h
#define gpuregtest_RunCases_h

#include <gtest/gtest.h>

namespace gpuregtest
{

/** The exit code of a program whose cases were all skipped: SKIP_RETURN_CODE of AddTests.cmake. */
constexpr int AllSkipped = 77;

/** Runs the cases that GoogleTest's options and filter select. Returns the program's exit code: that of GoogleTest, or AllSkipped if cases
 *  were skipped, and none passed or failed. */
inline int
RunCases()
{
  const int    code = RUN_ALL_TESTS();
  const auto & program = *testing::UnitTest::GetInstance();
  return code == 0 && program.skipped_test_count() > 0 && program.successful_test_count() == 0 ? AllSkipped : code;
}

} // namespace gpuregtest

#endif
