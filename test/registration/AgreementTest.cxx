// SPDX-License-Identifier: Apache-2.0
// Tests whether edges of two images agree, for images with a known answer.
#include "engine/registration/Agreement.h"

#include "TestParallelFor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace gpuregtest
{

namespace
{
constexpr gpureg::Size          Grid{ 24, 28, 20 };
constexpr std::array<double, 3> Spacing{ 8, 8, 8 };

using Field = std::function<double(double, double, double)>;

gpureg::SmallImage
Make(const Field & field, const gpureg::Size & size = Grid)
{
  gpureg::SmallImage image;
  for (int z = 0; z < size[2]; ++z)
  {
    for (int y = 0; y < size[1]; ++y)
    {
      for (int x = 0; x < size[0]; ++x)
      {
        image.values.push_back(field(x, y, z));
        image.isInside.push_back(true);
      }
    }
  }
  return image;
}

/** Returns a field with edges in all directions, determined by the seed. */
Field
MakeField(unsigned int seed)
{
  std::mt19937                           random(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<std::array<double, 4>>     waves(24);
  for (auto & wave : waves)
  {
    std::generate(wave.begin(), wave.end(), [&] { return any(random); });
  }
  return [waves](double x, double y, double z) {
    double sum = 0;
    for (const auto & w : waves)
    {
      sum += std::sin(w[0] * x + w[1] * y + w[2] * z + 9 * w[3]);
    }
    return sum;
  };
}

gpureg::Agreement
ComputeAgreement(const gpureg::Size &          size,
                 const std::array<double, 3> & spacing,
                 const gpureg::SmallImage &    fixed,
                 const gpureg::SmallImage &    moving)
{
  return gpureg::ComputeAgreement(size, spacing, fixed, moving, OnThreads(3));
}
} // namespace

TEST(AgreementTest, IsOneOfAnotherContrastInItsPlace)
{
  const Field field = MakeField(1);
  const auto  other = [&field](double x, double y, double z) { return std::exp(-0.3 * field(x, y, z)); };
  const auto  found = ComputeAgreement(Grid, Spacing, Make(field), Make(other));
  ASSERT_TRUE(found.isKnown);
  EXPECT_GT(found.here, 0.9);
  EXPECT_LT(found.beside, 0.6);
  EXPECT_FALSE(found.IsDoubtful());
  EXPECT_EQ(found.overlap, 1);
}

/** For independent directions the mean squared cosine is a third, or a half in the plane. */
TEST(AgreementTest, IsByChanceOfOtherThings)
{
  const auto found = ComputeAgreement(Grid, Spacing, Make(MakeField(1)), Make(MakeField(2)));
  ASSERT_TRUE(found.isKnown);
  EXPECT_NEAR(found.here, 1.0 / 3, 0.05);
  EXPECT_TRUE(found.IsDoubtful());
  constexpr gpureg::Size plane{ 90, 80, 1 };
  const auto             flat = ComputeAgreement(plane, Spacing, Make(MakeField(3), plane), Make(MakeField(4), plane));
  ASSERT_TRUE(flat.isKnown);
  EXPECT_NEAR(flat.here, 0.5, 0.05);
  EXPECT_TRUE(flat.IsDoubtful());
}

TEST(AgreementTest, IsBetterBesideWhereThatIsThePlace)
{
  const Field field = MakeField(5);
  // An eighth of 24 voxels.
  const auto moved = [&field](double x, double y, double z) { return field(x - 3, y, z); };
  const auto found = ComputeAgreement(Grid, Spacing, Make(field), Make(moved));
  EXPECT_NEAR(found.beside, 1, 1e-9);
  EXPECT_TRUE(found.IsDoubtful());
}

TEST(AgreementTest, IsUnknownWithoutEdges)
{
  const auto flat = ComputeAgreement(Grid, Spacing, Make(MakeField(1)), Make([](auto...) { return 3.0; }));
  EXPECT_FALSE(flat.isKnown);
  EXPECT_FALSE(flat.IsDoubtful());
  auto half = Make(MakeField(1));
  for (std::size_t n = 0; n < half.isInside.size() / 2; ++n)
  {
    half.isInside[n] = false;
  }
  EXPECT_EQ(ComputeAgreement(Grid, Spacing, Make(MakeField(1)), half).overlap, 0.5);
  constexpr gpureg::Size small{ 3, 3, 3 };
  EXPECT_FALSE(ComputeAgreement(small, Spacing, Make(MakeField(1), small), Make(MakeField(1), small)).isKnown);
}

TEST(AgreementTest, SaysHowMuchOverlaps)
{
  gpureg::Agreement agreement;
  agreement.overlap = 0.12;
  std::vector<std::string> warnings;
  gpureg::AgreementCheck::AddWarnings(agreement, 0.25, warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("only 12 % of the fixed image lies in the moving one, of the 25 %"), std::string::npos)
    << warnings[0];
  gpureg::AgreementCheck::AddWarnings(agreement, 0.1, warnings);
  EXPECT_EQ(warnings.size(), 1u);
}

} // namespace gpuregtest
