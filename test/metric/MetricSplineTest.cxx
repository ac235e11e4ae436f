// SPDX-License-Identifier: Apache-2.0
// The derivative by a B-spline that is optimised, alone or before other transforms: every metric that ITK has, too, against ITK's,
// on each device.
#include "MetricEquivalence.h"

namespace gpuregtest
{

namespace
{
constexpr Measure Measures[] = { Measure::Mattes,
                                 Measure::MeanSquares,
                                 Measure::Correlation,
                                 Measure::MeanAbsoluteDifferences,
                                 Measure::NeighborhoodCorrelation,
                                 Measure::JointHistogram };
constexpr Motion Splines[] = { Motion::Spline, Motion::SplineAside, Motion::AffineThenSpline, Motion::FieldThenSpline };

class MetricSplineTest : public MetricEquivalence
{
protected:
  /** ITK's neighborhood correlation and joint histogram take minutes where others take seconds. */
  static bool
  IsSlow(Measure measure)
  {
    return measure == Measure::NeighborhoodCorrelation || measure == Measure::JointHistogram;
  }
};
} // namespace

TEST_F(MetricSplineTest, OfEachMetricByEachMotion)
{
  MetricCase c;
  c.seed = 100;
  for (const Measure measure : Measures)
  {
    for (const Motion motion : Splines)
    {
      for (const unsigned int dimension : { 2u, 3u })
      {
        c.measure = measure;
        c.motion = motion;
        c.dimension = dimension;
        c.splineOrder = 1 + c.seed % 3;
        c.doublePixels = c.seed % 2 == 0;
        ++c.seed;
        Check(c);
      }
    }
  }
}

TEST_F(MetricSplineTest, Geometries)
{
  MetricCase c;
  c.seed = 200;
  for (const Geometry geometry : AllUpTo(Geometry::OtherVirtualDomain))
  {
    for (const Motion motion : { Motion::Spline, Motion::SplineAside })
    {
      c.measure = c.seed % 2 == 0 ? Measure::Mattes : Measure::MeanSquares;
      c.geometry = geometry;
      c.motion = motion;
      CheckAllTypes(c);
      c.seed += 10;
    }
  }
}

TEST_F(MetricSplineTest, SamplingsAndMasks)
{
  MetricCase c;
  c.seed = 300;
  for (const Sampling sampling : AllUpTo(Sampling::VirtualPoints))
  {
    for (const gpuregtest::Masks masks : AllUpTo(Masks::Both))
    {
      c.measure = c.seed % 2 == 0 ? Measure::Mattes : Measure::Correlation;
      c.sampling = sampling;
      c.masks = masks;
      c.motion = c.seed % 3 == 0 ? Motion::AffineThenSpline : Motion::Spline;
      CheckAllTypes(c);
      c.seed += 10;
    }
  }
}

/** More samples than are computed in integers. */
TEST_F(MetricSplineTest, ManySamples)
{
  MetricCase c;
  c.seed = 400;
  c.many = true;
  c.geometry = Geometry::Anisotropic;
  for (const Measure measure : { Measure::Mattes, Measure::MeanSquares, Measure::Correlation })
  {
    c.measure = measure;
    c.motion = Motion::Spline;
    CheckAllTypes(c);
    c.seed += 10;
  }
}

TEST_F(MetricSplineTest, RandomSetUps)
{
  CheckRandomCases(52000, [this](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto      draw = [&random](unsigned int count) { return static_cast<unsigned int>(random() % count); };
    MetricCase      c;
    c.seed = seed;
    DrawSetUp(c, draw);
    c.measure = Measures[draw(6)];
    if (IsSlow(c.measure) && draw(4) > 0)
    {
      c.measure = Measures[draw(4)];
    }
    c.motion = Splines[draw(4)];
    c.splineOrder = 1 + draw(3);
    c.bins = 8 + draw(60);
    Check(c);
  });
}

} // namespace gpuregtest
