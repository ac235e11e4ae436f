// SPDX-License-Identifier: Apache-2.0
// Compares CudaCorrelationRatioMetric, with samples that weigh less near the moving image's edge, with the definition in double precision,
// for every scheme; and its derivative with the value's slope.
#include "CorrelationRatioProblem.h"
#include "TestDevices.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkTranslationTransform.h"

#include <functional>
#include <limits>
#include <sstream>
#include <type_traits>

namespace gpuregtest
{

namespace
{
using gpureg::CorrelationRatioScheme;

class CorrelationRatioBorderTest : public DeviceTest
{
protected:
  template <typename TPixel, unsigned int VDimension>
  void
  ExpectTheDefinitionWith(const std::function<void(RatioProblem<TPixel, VDimension> &)> & change) const
  {
    RatioProblem<TPixel, VDimension> problem(17 + VDimension);
    problem.borderDistance = 9.0;
    change(problem);
    const Answer answer = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
    const Answer expected = Definition<TPixel, VDimension>(problem).Evaluate();
    EXPECT_EQ(answer.validPoints, expected.validPoints);
    EXPECT_GT(answer.validPoints, 100u);
    EXPECT_NEAR(answer.value, expected.value, 1e-6);
    EXPECT_EQ(answer.value, answer.valueAlone);
    EXPECT_GT(answer.value, 0.002);
    ASSERT_EQ(answer.derivative.size(), expected.derivative.size());
    EXPECT_LT(GetRelativeError(answer.derivative, expected.derivative), 1e-5);

    // The weights change the result.
    problem.borderDistance = 0;
    const Answer without = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
    EXPECT_EQ(without.validPoints, answer.validPoints);
    EXPECT_NE(without.value, answer.value);
    EXPECT_GT(GetRelativeError(without.derivative, answer.derivative), 1e-3);
  }

  template <typename TChange>
  void
  ExpectTheDefinitionEverywhere(const TChange & change) const
  {
    ForEachImageType(
      [&](auto pixel, auto dimension) { this->template ExpectTheDefinitionWith<decltype(pixel), dimension>(change); });
  }
};

TEST_P(CorrelationRatioBorderTest, IsItsDefinition)
{
  // A border of one voxel, of some voxels, and of more than half of the image, where the ramps of both sides meet.
  for (const double distance : { 1.0, 9.0, 34.0, 1000.0, 1e9 })
  {
    SCOPED_TRACE(distance);
    this->ExpectTheDefinitionEverywhere([distance](auto & problem) { problem.borderDistance = distance; });
  }
}

TEST_P(CorrelationRatioBorderTest, OfManyBins)
{
  this->ExpectTheDefinitionWith<float, 3>([](auto & problem) { problem.bins = 3000; });
}

TEST_P(CorrelationRatioBorderTest, ByCentralDifferences)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.usesGradientFilter = false; });
}

TEST_P(CorrelationRatioBorderTest, InMasks)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.fixedMask = MakeMask(*problem.fixed); });
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.movingMask = MakeMask(*problem.moving); });
}

TEST_P(CorrelationRatioBorderTest, OfPoints)
{
  for (const double distance : { 9.0, 150.0 })
  {
    SCOPED_TRACE(distance);
    this->ExpectTheDefinitionEverywhere([distance](auto & problem) {
      problem.borderDistance = distance;
      AddRandomPoints(problem, 700, 5);
    });
  }
}

TEST_P(CorrelationRatioBorderTest, WithBSplineInterpolation)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double, double>::New();
    interpolator->SetSplineOrder(3);
    problem.interpolator = interpolator;
  });
}

TEST_P(CorrelationRatioBorderTest, OfADisplacementField)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    problem.transform = MakeField<std::decay_t<decltype(problem)>::ImageType::ImageDimension>(*problem.fixed);
  });
}

/** Uses an interpolator that no device has. */
TEST_P(CorrelationRatioBorderTest, ThroughITK)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double, double>::New();
    interpolator->SetSplineOrder(1);
    problem.interpolator = interpolator;
  });
}

TEST_P(CorrelationRatioBorderTest, ByEveryScheme)
{
  const auto expectTheSame = [this](auto & problem) {
    problem.borderDistance = 7.0;
    Answer merged;
    for (int n = 0; n < gpureg::NumberOfCorrelationRatioSchemes; ++n)
    {
      problem.scheme = static_cast<CorrelationRatioScheme>(n);
      SCOPED_TRACE(problem.scheme);
      const Answer answer = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
      merged = n == 0 ? answer : merged;
      EXPECT_EQ(answer.validPoints, merged.validPoints);
      EXPECT_EQ(answer.value, merged.value);
      EXPECT_EQ(answer.derivative, merged.derivative);
    }
  };
  RatioProblem<float, 3> large(31);
  expectTheSame(large);
  RatioProblem<float, 2> precise(32);
  expectTheSame(precise);
}

/** A border so narrow that no sample lies in it. */
TEST_P(CorrelationRatioBorderTest, OfNoWidthIsNone)
{
  RatioProblem<float, 3> problem(33);
  const Answer           without = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
  for (const double distance : { 1e-6, 1e-300 })
  {
    problem.borderDistance = distance;
    const Answer answer = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
    EXPECT_NEAR(answer.value, without.value, 1e-7);
    EXPECT_LT(GetRelativeError(answer.derivative, without.derivative), 1e-5);
  }
}

/** Without weights the value jumps where samples leave the moving image; with weights the derivative is the value's slope. The images
 *  are waves much longer than voxels, so that central differences over a voxel are their slope. */
TEST_P(CorrelationRatioBorderTest, TheDerivativeIsTheValuesSlope)
{
  RatioProblem<double, 3> problem(11);
  const auto              centre = problem.fixed->GetOrigin();
  const SmoothFunction    waves = [] {
    Random random(12);
    return SmoothFunction(random, 60.0, 90.0);
  }();
  for (itk::Image<double, 3> * image : { problem.fixed.GetPointer(), problem.moving.GetPointer() })
  {
    for (itk::ImageRegionIteratorWithIndex<itk::Image<double, 3>> it(image, image->GetBufferedRegion()); !it.IsAtEnd();
         ++it)
    {
      itk::Point<double, 3> point;
      image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      it.Set(waves(point - centre));
    }
  }
  problem.bins = 16;
  problem.usesGradientFilter = false;
  problem.borderDistance = 12.0;
  const auto   metric = problem.MakeMetric(this->GetDevice());
  const Answer answer = InitializeAndAsk(*metric);
  EXPECT_LT(answer.validPoints, problem.fixed->GetBufferedRegion().GetNumberOfPixels());
  const auto   parameters = problem.transform->GetParameters();
  const double norm = GetNorm({ answer.derivative[9], answer.derivative[10], answer.derivative[11] });
  for (unsigned int p = 9; p < 12; ++p)
  {
    const double step = 0.05;
    double       values[2];
    for (int side = 0; side < 2; ++side)
    {
      auto changed = parameters;
      changed[p] += side == 0 ? -step : step;
      problem.transform->SetParameters(changed);
      values[side] = metric->GetValue();
    }
    problem.transform->SetParameters(parameters);
    EXPECT_NEAR(-(values[1] - values[0]) / (2 * step), answer.derivative[p], 0.02 * norm);
  }
}

/** The distance may change from one evaluation to the next, without Initialize(). */
TEST_P(CorrelationRatioBorderTest, MayBeSetAtAnyTime)
{
  RatioProblem<float, 3> problem(34);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  metric->Initialize();
  EXPECT_EQ(metric->GetBorderWeightDistance(), 0.0);
  const double without = metric->GetValue();
  metric->SetBorderWeightDistance(9.0);
  const double with = metric->GetValue();
  problem.borderDistance = 9.0;
  EXPECT_EQ(with, InitializeAndAsk(*problem.MakeMetric(this->GetDevice())).value);
  metric->SetBorderWeightDistance(0.0);
  EXPECT_EQ(metric->GetValue(), without);
}

TEST_P(CorrelationRatioBorderTest, RefusesWhatIsNoDistance)
{
  RatioProblem<float, 3> problem(35);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  metric->SetBorderWeightDistance(4.0);
  for (const double bad : { -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity() })
  {
    EXPECT_THROW(metric->SetBorderWeightDistance(bad), itk::GPUBadInputError) << bad;
  }
  EXPECT_EQ(metric->GetBorderWeightDistance(), 4.0);
  metric->SetNumberOfHistogramBins(77);
  metric->SetWorkloadLimit(1234);
  metric->SetLaunchShape({ 64, 128 });
  std::ostringstream text;
  metric->Print(text);
  for (const char * const line : { "BorderWeightDistance: 4",
                                   "Scheme: gpureg::CorrelationRatioScheme::SharedMerge",
                                   "NumberOfHistogramBins: 77",
                                   "WorkloadLimit: 1234",
                                   "LaunchShape: 64 groups, 128 lanes" })
  {
    EXPECT_NE(text.str().find(line), std::string::npos) << line << '\n' << text.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, CorrelationRatioBorderTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
