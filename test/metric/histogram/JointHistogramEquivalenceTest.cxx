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
  CheckMotions(MakeCase(), m_CheckAllTypes);
}

TEST_F(JointHistogramEquivalenceTest, Geometries)
{
  MetricCase c = MakeCase();
  CheckGeometries(c, m_CheckAllTypes);
  c.gradientFilter = false;
  c.motion = Motion::Field;
  CheckGeometries(c, m_CheckAllTypes);
}

TEST_F(JointHistogramEquivalenceTest, Masks)
{
  MetricCase c = MakeCase();
  c.geometry = Geometry::Oblique;
  CheckMasks(c, m_CheckAllTypes);
  c.interpolation = Interpolation::BSpline;
  CheckMasks(c, m_CheckAllTypes);
}

TEST_F(JointHistogramEquivalenceTest, Samplings)
{
  CheckSamplings(MakeCase(), { Motion::Rigid, Motion::FixedInitial, Motion::Field }, m_CheckAllTypes);
}

TEST_F(JointHistogramEquivalenceTest, Interpolations)
{
  MetricCase c = MakeCase();
  c.geometry = Geometry::Anisotropic;
  c.gradientFilter = false;
  CheckInterpolations(c, m_CheckAllTypes);
  c.gradientFilter = true;
  c.flatBackground = true;
  CheckInterpolations(c, m_CheckAllTypes);
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
  MetricCase c = MakeCase();
  c.many = true;
  CheckEach(c,
            &MetricCase::motion,
            { Motion::Rigid, Motion::Affine, Motion::Field, Motion::AffineThenField },
            m_CheckAllTypes);
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
