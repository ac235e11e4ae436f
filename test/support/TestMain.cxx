// SPDX-License-Identifier: Apache-2.0
// The main function of a test program.
#include "RunCases.h"

int
main(int argc, char * argv[])
{
  testing::InitGoogleTest(&argc, argv);
  return gpuregtest::RunCases();
}
