// SPDX-License-Identifier: Apache-2.0
// Tests that NormalizedOff() gives ITK's Mattes mutual information: value within 1e-5, derivative within 1e-5 in relative norm (1e-4 if
// samples are many), and the same number of valid points; over a grid of set-ups, and random ones from it.
#include "MetricEquivalence.h"

namespace gpuregtest
{

namespace
{
class MattesEquivalenceTest : public MetricEquivalence
{
protected:
  void
  CheckRandomCase(std::uint64_t seed)
  {
    std::mt19937_64    random(seed);
    const auto         draw = [&random](std::uint64_t n) { return static_cast<int>(random() % n); };
    const unsigned int bins[] = { 5, 20, 50, 100 };
    MetricCase         c;
    DrawSetUp(c, draw);
    c.flatBackground = draw(4) == 0;
    c.bins = bins[draw(4)];
    c.seed = random() % 1000000;
    c.many = c.sampling == Sampling::Dense && c.seed % 4 == 0;
    Check(c);
  }
};
} // namespace

TEST_F(MattesEquivalenceTest, Motions)
{
  CheckMotions({}, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, Geometries)
{
  MetricCase c;
  CheckGeometries(c, m_CheckAllTypes);
  c.gradientFilter = false;
  CheckGeometries(c, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, FieldsInEveryGeometry)
{
  MetricCase c;
  c.motion = Motion::Field;
  CheckGeometries(c, m_CheckAllTypes);
  c.motion = Motion::AffineThenField;
  c.doublePixels = true;
  CheckGeometries(c, [this](const MetricCase & one) { Check(one); });
}

TEST_F(MattesEquivalenceTest, Masks)
{
  MetricCase c;
  CheckMasks(c, m_CheckAllTypes);
  c.geometry = Geometry::Oblique;
  CheckMasks(c, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, Samplings)
{
  MetricCase c;
  c.bins = 20;
  CheckSamplings(c, { Motion::Rigid, Motion::FixedInitial, Motion::Field, Motion::AffineThenField }, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, Interpolations)
{
  MetricCase c;
  c.geometry = Geometry::Anisotropic;
  CheckInterpolations(c, m_CheckAllTypes);
  c.gradientFilter = false;
  CheckInterpolations(c, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, Bins)
{
  CheckEach({}, &MetricCase::bins, { 5, 6, 20, 50, 100 }, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, FlatBackground)
{
  MetricCase c;
  c.flatBackground = true;
  CheckInterpolations(c, m_CheckAllTypes);
  c.motion = Motion::Field;
  CheckInterpolations(c, m_CheckAllTypes);
}

/** Set-ups in which forces nearly cancel, so that rounding positions and values to float would change the derivative by 1e-4 or more: a
 *  slice, and points in a flat background, with 100 bins. */
TEST_F(MattesEquivalenceTest, FewForces)
{
  MetricCase slice;
  slice.geometry = Geometry::OneSlice;
  slice.motion = Motion::Versor;
  slice.gradientFilter = false;
  slice.masks = gpuregtest::Masks::Both;
  slice.bins = 100;
  slice.seed = 2554;
  Check(slice);

  MetricCase points;
  points.dimension = 2;
  points.geometry = Geometry::OneSlice;
  points.motion = Motion::Similarity;
  points.gradientFilter = false;
  points.masks = gpuregtest::Masks::Fixed;
  points.sampling = Sampling::VirtualPoints;
  points.bins = 100;
  points.seed = 421793;
  Check(points);

  MetricCase flat;
  flat.doublePixels = true;
  flat.geometry = Geometry::Anisotropic;
  flat.motion = Motion::CompositeOfTwo;
  flat.gradientFilter = false;
  flat.masks = gpuregtest::Masks::Fixed;
  flat.sampling = Sampling::VirtualPoints;
  flat.flatBackground = true;
  flat.bins = 100;
  flat.seed = 83030;
  Check(flat);
}

/** More samples than are computed in fixed point. */
TEST_F(MattesEquivalenceTest, ManySamples)
{
  MetricCase c;
  c.many = true;
  CheckMotions(c, m_CheckAllTypes);
  CheckGeometries(c, m_CheckAllTypes);
  c.masks = gpuregtest::Masks::Both;
  c.gradientFilter = false;
  CheckInterpolations(c, m_CheckAllTypes);
  c.gradientFilter = true;
  c.flatBackground = true;
  CheckInterpolations(c, m_CheckAllTypes);
}

TEST_F(MattesEquivalenceTest, RandomSetUps)
{
  CheckRandomCases(20240229, [this](std::uint64_t seed) { CheckRandomCase(seed); });
}

} // namespace gpuregtest
