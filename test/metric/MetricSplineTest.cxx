// SPDX-License-Identifier: Apache-2.0
// Compares the derivative by an optimized B-spline, alone or before other transforms, with ITK's for every metric that ITK has, on each
// device. For some metrics, compares it with central differences of their own values, too, in which a wrong factor would show.
#include "MetricEquivalence.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestSplines.h"

#include "itkCudaMattesNMI.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"

#include <vector>

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
constexpr Motion  Splines[] = {
   Motion::Spline, Motion::SplineAside, Motion::AffineThenSpline, Motion::FieldThenSpline, Motion::SplineBehindAffine
};

class MetricSplineTest : public MetricEquivalence
{
protected:
  /** Returns true for metrics for which ITK takes minutes instead of seconds: the neighborhood correlation and the joint histogram. */
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

/** More samples than are computed in fixed point. */
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

/** Half as many cases as for other motions, since ITK's derivative by a B-spline takes as long for each. */
TEST_F(MetricSplineTest, RandomSetUps)
{
  const auto checkSeed = [this](std::uint64_t seed) {
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
    c.motion = Splines[draw(5)];
    c.splineOrder = 1 + draw(3);
    c.bins = 8 + draw(60);
    Check(c);
  };
  CheckRandomCases(52000, checkSeed, 12);
}

namespace
{
class SplineDerivativeTest : public DeviceTest
{
protected:
  /** Compares the derivative with central differences on images so smooth that ITK's gradient, of the smoothed moving image, is nearly
   *  that of the interpolation. */
  template <template <typename...> class TMetric, unsigned int VDimension>
  void
  ExpectDifferences()
  {
    SCOPED_TRACE(::testing::Message() << VDimension << "D");
    using ImageType = itk::Image<float, VDimension>;
    using MetricType = TMetric<ImageType, ImageType>;
    Grid<VDimension> grid;
    grid.size.Fill(VDimension == 3 ? 24 : 60);
    grid.direction = MakeRotation<VDimension>(0.2);
    // No sample leaves the moving image.
    Grid<VDimension> around = grid;
    around.size.Fill(grid.size[0] + 20);
    around.SetCentre(grid.GetCentre());
    Random               random(7);
    const SmoothFunction value(random, 90.0, 140.0);
    const auto           centre = grid.GetCentre();
    const auto moving = MakeImage<ImageType>(around, [&](const auto & p) { return 100.0 + 50.0 * value(p - centre); });
    const auto fixed = MakeImage<ImageType>(grid, [&](const auto & p) {
      auto moved = p - centre;
      moved[0] += 2.0 + 0.02 * moved[1];
      return 80.0 + 60.0 * value(moved);
    });
    const auto spline = MakeRandomSpline<3>(*fixed, VDimension == 3 ? 1 : 3, 1.5, 5);
    const auto metric = MetricType::New();
    metric->SetDevice(this->GetDevice());
    metric->SetFixedImage(fixed);
    metric->SetMovingImage(moving);
    metric->SetVirtualDomainFromImage(fixed);
    metric->SetMovingTransform(spline);
    const Answer answer = InitializeAndAsk(*metric);
    EXPECT_EQ(answer.validPoints, fixed->GetBufferedRegion().GetNumberOfPixels());

    constexpr double    h = 0.5; // mm
    const auto          parameters = spline->GetParameters();
    std::vector<double> expected;
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      const auto valueAt = [&](double step) {
        auto changed = parameters;
        changed[p] += step;
        spline->SetParametersByValue(changed);
        return metric->GetValue();
      };
      expected.push_back(-(valueAt(h) - valueAt(-h)) / (2.0 * h));
    }
    EXPECT_LT(GetRelativeError(answer.derivative, expected), 0.025);
  }
};
} // namespace

TEST_P(SplineDerivativeTest, OfMeanSquares)
{
  this->ExpectDifferences<itk::GPUMeanSquaresImageToImageMetricv4, 2>();
  this->ExpectDifferences<itk::GPUMeanSquaresImageToImageMetricv4, 3>();
}

TEST_P(SplineDerivativeTest, OfACorrelation)
{
  this->ExpectDifferences<itk::GPUCorrelationImageToImageMetricv4, 2>();
  this->ExpectDifferences<itk::GPUCorrelationImageToImageMetricv4, 3>();
}

TEST_P(SplineDerivativeTest, OfAMutualInformation)
{
  this->ExpectDifferences<itk::CudaMattesNMI, 2>();
  this->ExpectDifferences<itk::CudaMattesNMI, 3>();
}

INSTANTIATE_TEST_SUITE_P(Devices, SplineDerivativeTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
