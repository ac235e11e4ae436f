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
  for (const Motion motion : AllUpTo(LastMotionButSplines))
  {
    MetricCase c;
    c.motion = motion;
    CheckAllTypes(c);
  }
}

TEST_F(MattesEquivalenceTest, Geometries)
{
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MetricCase c;
    c.geometry = geometry;
    CheckAllTypes(c);
    c.gradientFilter = false;
    CheckAllTypes(c);
  }
}

TEST_F(MattesEquivalenceTest, FieldsInEveryGeometry)
{
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MetricCase c;
    c.geometry = geometry;
    c.motion = Motion::Field;
    CheckAllTypes(c);
    c.motion = Motion::AffineThenField;
    c.doublePixels = true;
    Check(c);
  }
}

TEST_F(MattesEquivalenceTest, Masks)
{
  for (const Masks masks : AllUpTo(Masks::Both))
  {
    for (const Geometry geometry : { Geometry::Plain, Geometry::Oblique })
    {
      MetricCase c;
      c.masks = masks;
      c.geometry = geometry;
      CheckAllTypes(c);
    }
  }
}

TEST_F(MattesEquivalenceTest, Samplings)
{
  for (const Sampling sampling : AllUpTo(Sampling::VirtualPoints))
  {
    for (const Motion motion : { Motion::Rigid, Motion::FixedInitial, Motion::Field, Motion::AffineThenField })
    {
      MetricCase c;
      c.sampling = sampling;
      c.motion = motion;
      c.bins = 20;
      CheckAllTypes(c);
    }
  }
}

TEST_F(MattesEquivalenceTest, Interpolations)
{
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    for (const bool gradientFilter : { true, false })
    {
      MetricCase c;
      c.interpolation = interpolation;
      c.gradientFilter = gradientFilter;
      c.geometry = Geometry::Anisotropic;
      CheckAllTypes(c);
    }
  }
}

TEST_F(MattesEquivalenceTest, Bins)
{
  for (const unsigned int bins : { 5u, 6u, 20u, 50u, 100u })
  {
    MetricCase c;
    c.bins = bins;
    CheckAllTypes(c);
  }
}

TEST_F(MattesEquivalenceTest, FlatBackground)
{
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    MetricCase c;
    c.flatBackground = true;
    c.interpolation = interpolation;
    CheckAllTypes(c);
    c.motion = Motion::Field;
    CheckAllTypes(c);
  }
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
  MetricCase many;
  many.many = true;
  for (const Motion motion : AllUpTo(LastMotionButSplines))
  {
    MetricCase c = many;
    c.motion = motion;
    CheckAllTypes(c);
  }
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MetricCase c = many;
    c.geometry = geometry;
    CheckAllTypes(c);
  }
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    for (const bool gradientFilter : { true, false })
    {
      MetricCase c = many;
      c.interpolation = interpolation;
      c.gradientFilter = gradientFilter;
      c.masks = gpuregtest::Masks::Both;
      c.flatBackground = gradientFilter;
      CheckAllTypes(c);
    }
  }
}

TEST_F(MattesEquivalenceTest, RandomSetUps)
{
  CheckRandomCases(20240229, [this](std::uint64_t seed) { CheckRandomCase(seed); });
}

} // namespace gpuregtest
