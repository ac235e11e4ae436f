// SPDX-License-Identifier: Apache-2.0
// Tests the sort by fixed bins on the host, and its division into workloads.
#include "engine/metric/histogram/SortedSamples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::CutIntoWorkloads;
using gpureg::SortByFixedBin;
using gpureg::kernels::InvalidBin;
using gpureg::kernels::u16;
using gpureg::kernels::u32;

TEST(SortedSamplesTest, KeepTheirOrderWithinABin)
{
  const std::vector<u16> bins = { 2, 0, u16{ InvalidBin }, 2, 0, 3 };
  std::vector<u32>       indices(bins.size());
  EXPECT_EQ(SortByFixedBin(bins.data(), bins.size(), 5, indices.data()), (std::vector<u32>{ 0, 2, 2, 4, 5, 5 }));
  EXPECT_EQ(indices, (std::vector<u32>{ 1, 4, 0, 3, 5, 2 }));
}

TEST(SortedSamplesTest, AreAStableSort)
{
  std::mt19937 random(3);
  for (const int bins : { 1, 2, 100, 4096 })
  {
    std::vector<u16> binOf(3000);
    for (u16 & bin : binOf)
    {
      bin = random() % 4 == 0 ? u16{ InvalidBin } : static_cast<u16>(random() % static_cast<unsigned int>(bins));
    }
    std::vector<u32> expected(binOf.size());
    for (std::size_t n = 0; n < expected.size(); ++n)
    {
      expected[n] = static_cast<u32>(n);
    }
    std::stable_sort(expected.begin(), expected.end(), [&](u32 a, u32 b) { return binOf[a] < binOf[b]; });
    std::vector<u32>       indices(binOf.size());
    const std::vector<u32> firstOfBin = SortByFixedBin(binOf.data(), binOf.size(), bins, indices.data());
    EXPECT_EQ(indices, expected);
    ASSERT_EQ(firstOfBin.size(), static_cast<std::size_t>(bins) + 1);
    for (int bin = 0; bin <= bins; ++bin)
    {
      EXPECT_EQ(firstOfBin[bin], std::count_if(binOf.begin(), binOf.end(), [bin](u16 b) { return b < bin; }));
    }
  }
}

TEST(SortedSamplesTest, OfNone)
{
  EXPECT_EQ(SortByFixedBin(nullptr, 0, 3, nullptr), (std::vector<u32>{ 0, 0, 0, 0 }));
  const gpureg::Workloads cut = CutIntoWorkloads({ 0, 0, 0, 0 }, 5);
  EXPECT_TRUE(cut.workloads.empty());
  EXPECT_EQ(cut.firstWorkloads, (std::vector<u32>{ 0, 0, 0, 0 }));
}

/** Each workload has one bin and is no larger than the limit; together they have all samples in order, up to the last index that 32 bits
 *  hold. */
TEST(SortedSamplesTest, AreCutAtTheLimitAndAtBins)
{
  const std::vector<u32> firstOfBin = { 0, 7, 7, 10, 4294967295u };
  for (const u32 limit : { 3u, 7u, 1000000000u, 2147483647u })
  {
    const bool              huge = limit > 1000;
    const std::vector<u32>  firsts(firstOfBin.begin(), firstOfBin.end() - (huge ? 0 : 1));
    const gpureg::Workloads cut = CutIntoWorkloads(firsts, limit);
    ASSERT_EQ(cut.firstWorkloads.size(), firsts.size());
    EXPECT_EQ(cut.firstWorkloads.front(), 0u);
    EXPECT_EQ(cut.firstWorkloads.back(), cut.workloads.size());
    for (std::size_t bin = 0; bin + 1 < firsts.size(); ++bin)
    {
      u32 next = firsts[bin];
      for (u32 workload = cut.firstWorkloads[bin]; workload < cut.firstWorkloads[bin + 1]; ++workload)
      {
        EXPECT_EQ(cut.workloads[workload].first, next);
        EXPECT_GT(cut.workloads[workload].count, 0u);
        EXPECT_LE(cut.workloads[workload].count, limit);
        next += cut.workloads[workload].count;
      }
      EXPECT_EQ(next, firsts[bin + 1]);
    }
  }
}

} // namespace
} // namespace gpuregtest
