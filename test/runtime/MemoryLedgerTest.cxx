// SPDX-License-Identifier: Apache-2.0
// Tests the ledger of arrays by which plans follow what a method reserves and frees.
#include "engine/runtime/MemoryLedger.h"

#include <gtest/gtest.h>

namespace gpureg
{

TEST(MemoryLedgerTest, FollowsReserve)
{
  MemoryLedger ledger(false);
  ledger.Reserve("a", 100);
  ledger.Reserve("b", 50);
  // A smaller request changes nothing, and a larger one frees the array first.
  ledger.Reserve("a", 60);
  EXPECT_EQ(ledger.GetHeld(), 150u);
  ledger.Reserve("a", 130);
  EXPECT_EQ(ledger.GetHeld(), 180u);
  EXPECT_EQ(ledger.GetMost(), 180u);
  ledger.Free("a");
  EXPECT_EQ(ledger.GetSize("a"), 0u);
  EXPECT_EQ(ledger.GetHeld(), 50u);
  EXPECT_EQ(ledger.GetMost(), 180u);
  EXPECT_EQ(ledger.GetArraysOfMost().at("a"), 130u);
}

TEST(MemoryLedgerTest, FollowsReserveExactly)
{
  MemoryLedger exact(false);
  exact.ReserveExactly("a", 100);
  exact.ReserveExactly("a", 40);
  EXPECT_EQ(exact.GetHeld(), 40u);
  MemoryLedger keeping(true);
  keeping.ReserveExactly("a", 100);
  keeping.ReserveExactly("a", 40);
  EXPECT_EQ(keeping.GetHeld(), 100u);
  keeping.ReserveExactly("a", 0);
  EXPECT_EQ(keeping.GetHeld(), 0u);
}

TEST(MemoryLedgerTest, KnowsTheMostOfALevel)
{
  MemoryLedger ledger(true);
  ledger.Reserve("a", 10);
  ledger.Touch("scratch", 100);
  EXPECT_EQ(ledger.GetHeld(), 10u);
  EXPECT_EQ(ledger.GetMostOfLevel(), 110u);
  ledger.BeginLevel();
  EXPECT_EQ(ledger.GetMostOfLevel(), 10u);
  ledger.Reserve("b", 20);
  EXPECT_EQ(ledger.GetMostOfLevel(), 30u);
  EXPECT_EQ(ledger.GetMost(), 110u);
}

TEST(MemoryLedgerTest, FreesArraysByTheBeginningOfTheirNames)
{
  MemoryLedger ledger(true);
  ledger.Reserve("pair: image", 10);
  ledger.Reserve("pair: mask", 20);
  ledger.Reserve("field of a pair: x", 40);
  ledger.FreeAll("pair: ");
  EXPECT_EQ(ledger.GetHeld(), 40u);
  EXPECT_EQ(ledger.GetSize("pair: mask"), 0u);
  EXPECT_EQ(ledger.GetMost(), 70u);
  ledger.Reserve("pair: mask", 5);
  EXPECT_EQ(ledger.GetHeld(), 45u);
}

TEST(MemoryLedgerTest, CountsInSixtyFourBits)
{
  MemoryLedger      ledger(true);
  const std::size_t field = std::size_t{ 12 } << 30;
  for (const char * name : { "a", "b", "c" })
  {
    ledger.Reserve(name, field);
  }
  EXPECT_EQ(ledger.GetMost(), 3 * field);
}

} // namespace gpureg
