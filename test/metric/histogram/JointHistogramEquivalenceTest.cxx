// SPDX-License-Identifier: Apache-2.0
// Tests that the joint histogram's mutual information agrees with ITK's class: value within 1e-5, derivative within 1e-5 in relative norm
// (1e-4 if samples are many, or as far as ITK's own derivative changes by rounding moving values to float), and the same number of valid
// points; over a grid of set-ups, and random ones from it.
#include "MetricEquivalence.h"

namespace gpuregtest
{

namespace
{
class JointHistogramEquivalenceTest : public MetricEquivalence
{
protected:
  static MetricCase
  MakeCase()
  {
    MetricCase c;
    c.measure = Measure::JointHistogram;
    c.bins = 20;
    return c;
  }

  void
  CheckRandomCase(std::uint64_t seed)
  {
    std::mt19937_64    random(seed);
    const auto         draw = [&random](std::uint64_t n) { return static_cast<int>(random() % n); };
    const unsigned int bins[] = { 8, 20, 50, 128 };
    // Without smoothing, ITK's derivative has logarithms of what interpolation leaves beside empty cells: rounding shows in one set-up of
    // 75, up to 2e-4.
    const double variances[] = { 0.3, 1.5, 4.0, 40.0 };
    MetricCase   c = MakeCase();
    DrawSetUp(c, draw);
    c.flatBackground = draw(4) == 0;
    c.bins = bins[draw(4)];
    c.variance = variances[draw(4)];
    c.seed = random() % 1000000;
    c.many = c.sampling == Sampling::Dense && c.seed % 4 == 0;
    Check(c);
  }
};
} // namespace

TEST_F(JointHistogramEquivalenceTest, Motions)
{
  for (const Motion motion : AllUpTo(LastMotionButSplines))
  {
    MetricCase c = MakeCase();
    c.motion = motion;
    CheckAllTypes(c);
  }
}

TEST_F(JointHistogramEquivalenceTest, Geometries)
{
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    MetricCase c = MakeCase();
    c.geometry = geometry;
    CheckAllTypes(c);
    c.gradientFilter = false;
    c.motion = Motion::Field;
    CheckAllTypes(c);
  }
}

TEST_F(JointHistogramEquivalenceTest, Masks)
{
  for (const Masks masks : AllUpTo(Masks::Both))
  {
    for (const Interpolation interpolation : { Interpolation::Linear, Interpolation::BSpline })
    {
      MetricCase c = MakeCase();
      c.masks = masks;
      c.geometry = Geometry::Oblique;
      c.interpolation = interpolation;
      CheckAllTypes(c);
    }
  }
}

TEST_F(JointHistogramEquivalenceTest, Samplings)
{
  for (const Sampling sampling : AllUpTo(Sampling::VirtualPoints))
  {
    for (const Motion motion : { Motion::Rigid, Motion::FixedInitial, Motion::Field })
    {
      MetricCase c = MakeCase();
      c.sampling = sampling;
      c.motion = motion;
      CheckAllTypes(c);
    }
  }
}

TEST_F(JointHistogramEquivalenceTest, Interpolations)
{
  for (const Interpolation interpolation : AllUpTo(Interpolation::BSpline))
  {
    for (const bool flat : { false, true })
    {
      MetricCase c = MakeCase();
      c.interpolation = interpolation;
      c.geometry = Geometry::Anisotropic;
      c.flatBackground = flat;
      c.gradientFilter = flat;
      CheckAllTypes(c);
    }
  }
}

/** From the fewest bins to so many that a work-group's memory holds only some rows of the table. */
TEST_F(JointHistogramEquivalenceTest, Bins)
{
  for (const unsigned int bins : { 6u, 7u, 33u, 128u, 256u })
  {
    for (const double variance : { 0.0, 1.5, 9.0 })
    {
      MetricCase c = MakeCase();
      c.bins = bins;
      c.variance = variance;
      c.many = bins == 33;
      CheckAllTypes(c);
    }
  }
}

/** So much smoothing leaves counts that hardly differ. */
TEST_F(JointHistogramEquivalenceTest, SmoothingAsWideAsTheHistogram)
{
  for (const std::uint64_t seed : { 1, 164316 })
  {
    MetricCase c = MakeCase();
    c.dimension = 2;
    c.doublePixels = true;
    c.geometry = Geometry::FarOrigin;
    c.motion = Motion::Rigid;
    c.interpolation = Interpolation::BSpline;
    c.masks = Masks::Moving;
    c.gradientFilter = false;
    c.many = true;
    c.bins = 8;
    c.variance = 40;
    c.seed = seed;
    Check(c);
  }
}

/** More samples than are computed in fixed point. */
TEST_F(JointHistogramEquivalenceTest, ManySamples)
{
  for (const Motion motion : { Motion::Rigid, Motion::Affine, Motion::Field, Motion::AffineThenField })
  {
    MetricCase c = MakeCase();
    c.many = true;
    c.motion = motion;
    CheckAllTypes(c);
  }
}

/** Just below the largest value, where the other image has nothing in the last bin, ITK's division by the marginal would give a force of
 *  2^32 times the others. These seeds have such a sample. */
TEST_F(JointHistogramEquivalenceTest, TheLargestValueIsOnTheLastBin)
{
  CheckRandomCase(237345061607112);
  CheckRandomCase(237345061607429);
}

TEST_F(JointHistogramEquivalenceTest, RandomSetUps)
{
  CheckRandomCases(20261124, [this](std::uint64_t seed) { CheckRandomCase(seed); });
}

} // namespace gpuregtest
