// SPDX-License-Identifier: Apache-2.0
// Tests which GPUs a binary has code for, and the message for the others. Needs neither a GPU nor CUDA.
#include "cuda/runtime/CudaArchitectures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace
{
using namespace gpureg;

/** Returns those of these GPUs on which a binary runs. */
std::vector<int>
GetRunning(const std::string & architectures, const std::vector<int> & compiled)
{
  std::vector<int> running;
  for (const int capability : { 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 })
  {
    if (FindWhyNoCodeRunsOn(GetCudaCodes(architectures, compiled), capability).empty())
    {
      running.push_back(capability);
    }
  }
  return running;
}

using Capabilities = std::vector<int>;
} // namespace

TEST(CudaArchitecturesTest, MachineCodeRunsOnLaterMinorNumbersOfItsMajorNumber)
{
  EXPECT_EQ(GetRunning("90-real", { 90 }), Capabilities({ 90 }));
  EXPECT_EQ(GetRunning("80-real", { 80 }), Capabilities({ 80, 86, 87, 89 }));
  EXPECT_EQ(GetRunning("86-real", { 86 }), Capabilities({ 86, 87, 89 }));
  EXPECT_EQ(GetRunning("100-real", { 100 }), Capabilities({ 100, 103 }));
  EXPECT_EQ(GetRunning("121-real", { 121 }), Capabilities({ 121 }));
}

TEST(CudaArchitecturesTest, PtxRunsOnAllThatIsLater)
{
  EXPECT_EQ(GetRunning("90-virtual", { 90 }), Capabilities({ 90, 100, 103, 110, 120, 121 }));
  EXPECT_EQ(GetRunning("75-virtual", { 75 }), Capabilities({ 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 }));
  EXPECT_EQ(GetRunning("120-virtual", { 120 }), Capabilities({ 120, 121 }));
}

TEST(CudaArchitecturesTest, ANumberAloneIsBoth)
{
  EXPECT_EQ(GetRunning("90", { 90 }), GetRunning("90-real:90-virtual", { 90 }));
  EXPECT_EQ(GetRunning("90", { 90 }), Capabilities({ 90, 100, 103, 110, 120, 121 }));
}

TEST(CudaArchitecturesTest, Lists)
{
  EXPECT_EQ(GetRunning("75:80:86-real:90-virtual", { 75, 80, 86, 90 }),
            Capabilities({ 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 }));
  EXPECT_EQ(GetRunning("75-real:90-real", { 75, 90 }), Capabilities({ 75, 90 }));
  EXPECT_EQ(GetRunning("75-real:120-virtual", { 75, 120 }), Capabilities({ 75, 120, 121 }));
}

/** The project's default list: with PTX of 10.0 for GPUs between that and 12.0. */
TEST(CudaArchitecturesTest, TheDefault)
{
  EXPECT_EQ(GetRunning("75-real:80-real:86-real:89-real:90-real:100-real:120-real:100-virtual",
                       { 75, 80, 86, 89, 90, 100, 120 }),
            Capabilities({ 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 }));
}

TEST(CudaArchitecturesTest, CodeForOneCapabilityAloneOrForAFamily)
{
  EXPECT_EQ(GetRunning("90a", { 90 }), Capabilities({ 90 }));
  EXPECT_EQ(GetRunning("100a-real", { 100 }), Capabilities({ 100 }));
  EXPECT_EQ(GetRunning("100f", { 100 }), Capabilities({ 100, 103 }));
  EXPECT_EQ(GetRunning("100f-virtual", { 100 }), Capabilities({ 100, 103 }));
}

/** "all" is machine code for all capabilities that the compiler knows, and PTX of the last major number. */
TEST(CudaArchitecturesTest, All)
{
  EXPECT_EQ(GetRunning("all", { 75, 80, 86, 87, 89, 90 }),
            Capabilities({ 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121 }));
  EXPECT_EQ(GetRunning("all-major", { 80, 90, 100, 120 }),
            Capabilities({ 80, 86, 87, 89, 90, 100, 103, 120, 121 })); // this compiler knows no 11.0
  EXPECT_TRUE(FindWhyNoCodeRunsOn(GetCudaCodes("all", { 120, 121 }), 130).empty());
}

/** "native" is machine code for the GPUs of the machine that built it. */
TEST(CudaArchitecturesTest, Native)
{
  EXPECT_EQ(GetRunning("native", { 90 }), Capabilities({ 90 }));
  EXPECT_EQ(GetRunning("native", { 86, 120 }), Capabilities({ 86, 87, 89, 120, 121 }));
  EXPECT_EQ(GetRunning("native", { 75 }), Capabilities({ 75 }));
}

/** A GPU is left out only if it is known that no code runs on it. */
TEST(CudaArchitecturesTest, WhatIsNotKnownMayRun)
{
  for (const char * const words : { "", "OFF", "some-word", "90-", "90x", "-real", "99999999999" })
  {
    EXPECT_EQ(GetRunning(words, { 90 }), GetRunning("90", { 90 })) << words;
    EXPECT_EQ(GetRunning(words, {}).size(), 11u) << words;
  }
}

TEST(CudaArchitecturesTest, SaysWhatThereIsAndWhatToDo)
{
  const std::string why = FindWhyNoCodeRunsOn(GetCudaCodes("75-real:90a:120-virtual", { 75, 90, 120 }), 100);
  for (const char * const words : { "has compute capability 10.0",
                                    "machine code for 7.5, 9.0a",
                                    "PTX for 9.0a, 12.0",
                                    "-DCMAKE_CUDA_ARCHITECTURES=100," })
  {
    EXPECT_NE(why.find(words), std::string::npos) << why;
  }
  EXPECT_NE(FindWhyNoCodeRunsOn(GetCudaCodes("90-real", { 90 }), 120).find("machine code for 9.0 and no PTX"),
            std::string::npos);
  EXPECT_NE(FindWhyNoCodeRunsOn(GetCudaCodes("120-virtual", { 120 }), 90).find("no machine code and PTX for 12.0"),
            std::string::npos);
  EXPECT_EQ(FindWhyNoCodeRunsOn(GetCudaCodes("90-real", { 90 }), 90), "");
}
