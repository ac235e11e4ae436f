// SPDX-License-Identifier: Apache-2.0
// Compares GPUResampleImageFilter with itk::ResampleImageFilter in random set-ups, of every kind that it supports and in every geometry:
// nRMSE up to 1e-6, the largest difference up to 1e-5 of the range, and the same bits with any number of threads, for any part of the
// output, and within any memory limit. GPUREG_TEST_SEED=(a case's seed) GPUREG_TEST_CASES=1 repeats a case.
#include "ResampleFuzzCase.h"
#include "TestDevices.h"
#include "TestSeeds.h"

namespace gpuregtest
{
namespace
{

class ResampleFuzz : public DeviceTest
{};

TEST_P(ResampleFuzz, RandomSetUps)
{
  std::uint64_t       withImage = 0;
  std::int64_t        voxels = 0, compared = 0, bounded = 0;
  const std::uint64_t count = ForEachSeed(20141, 400, [&](std::uint64_t seed) {
    ResampleFuzzResult result;
    ASSERT_NO_THROW(result = seed % 2 == 0 ? RunResampleFuzzCase<2>(seed, GetParam())
                                           : RunResampleFuzzCase<3>(seed, GetParam()));
    SCOPED_TRACE(result.words);
    EXPECT_TRUE(result.isWhereItShouldBe) << "computed by the parent class, or not";
    EXPECT_LE(result.nrmse, 1e-6);
    EXPECT_LE(result.largest, 1e-5);
    EXPECT_EQ(result.otherBits, "");
    withImage += result.inside > 10;
    voxels += result.voxels;
    compared += result.compared;
    bounded += result.bounded;
  });
  std::cout << "compared " << compared << " of " << voxels << " voxels; " << withImage << " cases show the image"
            << std::endl;
  // With few cases, all may have been left out.
  if (count >= 20)
  {
    EXPECT_GE(2 * withImage, count) << "most of the drawn cases are outside of the input";
    EXPECT_GE(100 * compared, 80 * voxels) << "rounding decides about too many voxels";
    EXPECT_GE(2 * static_cast<std::uint64_t>(bounded), count) << "most memory limits are too small for a slab";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleFuzz, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
