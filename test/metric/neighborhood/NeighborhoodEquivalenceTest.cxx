// SPDX-License-Identifier: Apache-2.0
// Tests that the neighborhood correlation agrees with ITK's: value within 1e-5, derivative within 1e-4 in relative norm, and the same
// number of valid points; over a grid of set-ups, and random ones from it.
#include "MetricEquivalence.h"

namespace gpuregtest
{

namespace
{
class NeighborhoodEquivalenceTest : public MetricEquivalence
{
protected:
  static MetricCase
  MakeCase()
  {
    MetricCase c;
    c.measure = Measure::NeighborhoodCorrelation;
    return c;
  }

  void
  CheckRandomCase(std::uint64_t seed)
  {
    std::mt19937_64 random(seed);
    const auto      draw = [&random](std::uint64_t n) { return static_cast<int>(random() % n); };
    MetricCase      c = MakeCase();
    DrawSetUp(c, draw);
    for (unsigned int & radius : c.radius)
    {
      radius = 1 + draw(4);
    }
    c.seed = random() % 1000000;
    Check(c);
  }
};
} // namespace

TEST_F(NeighborhoodEquivalenceTest, Motions)
{
  CheckMotions(MakeCase(), m_CheckAllTypes);
}

TEST_F(NeighborhoodEquivalenceTest, Geometries)
{
  MetricCase c = MakeCase();
  CheckGeometries(c, m_CheckAllTypes);
  c.gradientFilter = false;
  c.motion = Motion::Field;
  CheckGeometries(c, m_CheckAllTypes);
}

TEST_F(NeighborhoodEquivalenceTest, Masks)
{
  MetricCase c = MakeCase();
  c.geometry = Geometry::Oblique;
  CheckMasks(c, m_CheckAllTypes);
}

TEST_F(NeighborhoodEquivalenceTest, Samplings)
{
  CheckSamplings(MakeCase(), { Motion::FixedInitial, Motion::Field }, m_CheckAllTypes);
}

TEST_F(NeighborhoodEquivalenceTest, Interpolations)
{
  MetricCase c = MakeCase();
  c.geometry = Geometry::Anisotropic;
  CheckInterpolations(c, m_CheckAllTypes);
}

/** Different radii along each axis, some of them larger than the image. */
TEST_F(NeighborhoodEquivalenceTest, Radii)
{
  for (const auto & radius :
       std::vector<std::array<unsigned int, 3>>{ { 1, 1, 1 }, { 4, 4, 4 }, { 3, 1, 2 }, { 13, 1, 60 } })
  {
    for (const Motion motion : { Motion::Affine, Motion::Field })
    {
      MetricCase c = MakeCase();
      c.radius = radius;
      c.motion = motion;
      CheckAllTypes(c);
    }
  }
}

/** Radii of 0 along some axes. A line of few voxels is so flat that ITK's correlation of floats, whose squares it rounds, depends on a
 *  displacement's last digit: there pixels are doubles. */
TEST_F(NeighborhoodEquivalenceTest, RadiiOfNone)
{
  for (const auto & radius : std::vector<std::array<unsigned int, 3>>{ { 0, 2, 3 }, { 2, 0, 0 }, { 5, 7, 0 } })
  {
    MetricCase c = MakeCase();
    c.radius = radius;
    CheckAllTypes(c);
    c.motion = Motion::Field;
    c.doublePixels = true;
    for (const unsigned int dimension : { 2u, 3u })
    {
      c.dimension = dimension;
      Check(c);
    }
  }
}

/** Where nothing varies, ITK's correlation is 1, and its derivative 0. */
TEST_F(NeighborhoodEquivalenceTest, FlatBackground)
{
  MetricCase c = MakeCase();
  c.flatBackground = true;
  CheckEach(c, &MetricCase::motion, { Motion::Affine, Motion::Field }, m_CheckAllTypes);
}

TEST_F(NeighborhoodEquivalenceTest, ManySamples)
{
  MetricCase c = MakeCase();
  c.many = true;
  CheckEach(c, &MetricCase::motion, { Motion::Affine, Motion::Field }, m_CheckAllTypes);
}

/** Half as many cases as for other metrics, since ITK's takes a fifth of a second for each. */
TEST_F(NeighborhoodEquivalenceTest, RandomSetUps)
{
  const auto checkSeed = [this](std::uint64_t seed) { CheckRandomCase(seed); };
  CheckRandomCases(20261124, checkSeed, 12);
}

} // namespace gpuregtest
