// SPDX-License-Identifier: Apache-2.0
// How levels are cut into slabs.
#include "engine/field/CountBlocks.h"
#include "engine/registration/diffeomorphic/Slab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace
{
std::vector<gpureg::Slab>
CutAll(int planes, int halo, int members)
{
  std::vector<gpureg::Slab> slabs;
  for (int member = 0; member < members; ++member)
  {
    slabs.push_back(gpureg::CutSlab(planes, halo, members, member));
  }
  return slabs;
}
} // namespace

TEST(SlabTest, EachPlaneHasOneOwner)
{
  for (const int halo : { 16, 32, 48 })
  {
    for (int members = 1; members <= 8; ++members)
    {
      for (int planes = 1; planes < 1100; planes += 7)
      {
        const auto         slabs = CutAll(planes, halo, members);
        const bool         isCut = !slabs.front().IsWhole();
        const std::int64_t least = isCut ? 2 * halo : planes;
        std::int64_t       next = 0;
        for (const gpureg::Slab & slab : slabs)
        {
          ASSERT_EQ(slab.planes, planes);
          ASSERT_EQ(slab.IsWhole(), !isCut);
          ASSERT_GE(slab.own.count, least) << planes << " planes, " << members << " members";
          if (isCut)
          {
            ASSERT_EQ(slab.own.first, next);
            ASSERT_EQ(slab.own.first % gpureg::PlanesOfBlocks, 0);
            ASSERT_EQ(slab.held.first, std::max<std::int64_t>(0, slab.own.first - halo));
            ASSERT_EQ(slab.held.GetEnd(), std::min<std::int64_t>(planes, slab.own.GetEnd() + halo));
            ASSERT_EQ(slab.held.first + slab.GetOwnOfHeld().first, slab.own.first);
            next = slab.own.GetEnd();
          }
        }
        ASSERT_EQ(next, isCut ? planes : 0);
        // Enough planes are cut, where roundings to blocks leave each member two halos.
        ASSERT_TRUE(isCut || members == 1 || planes < members * (2 * halo + gpureg::PlanesOfBlocks)) << planes;
      }
    }
  }
}

TEST(SlabTest, AHaloHasThePlanesThatAnIterationReads)
{
  gpureg::DiffeomorphicSettings settings;
  EXPECT_EQ(gpureg::CountHaloPlanes(settings, 0), 16);
  EXPECT_EQ(gpureg::CountHaloPlanes(settings, 2), 16);
  EXPECT_EQ(gpureg::CountHaloPlanes(settings, 4), 32);
  settings.updateSigma = settings.fieldSigma = 0;
  settings.step = 0.1;
  EXPECT_EQ(gpureg::CountHaloPlanes(settings, 1), 16);
  settings.updateSigma = 10;
  EXPECT_GE(gpureg::CountHaloPlanes(settings, 1), 48);
}
