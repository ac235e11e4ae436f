// SPDX-License-Identifier: Apache-2.0
// Compares CudaCorrelationRatioMetric with its definition in double precision, with ITK's interpolators and transforms.
#include "CorrelationRatioProblem.h"
#include "TestDevices.h"
#include "TestSplines.h"
#include "TestThreads.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"
#include "itkTranslationTransform.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{

namespace
{

/** Compares a metric with the definition. \param expected the definition's result. */
template <typename TPixel, unsigned int VDimension>
void
ExpectAnswer(const RatioProblem<TPixel, VDimension> & problem, const itk::GPUDevice & device, const Answer & expected)
{
  const auto   metric = problem.MakeMetric(device);
  const Answer answer = InitializeAndAsk(*metric);
  EXPECT_EQ(answer.validPoints, expected.validPoints);
  EXPECT_GT(answer.validPoints, 100u);
  EXPECT_NEAR(answer.value, expected.value, 1e-6);
  EXPECT_EQ(answer.value, answer.valueAlone);
  EXPECT_GT(answer.value, 0.002);
  EXPECT_LT(answer.value, 0.99);
  ASSERT_EQ(answer.derivative.size(), expected.derivative.size());
  EXPECT_LT(GetRelativeError(answer.derivative, expected.derivative), 1e-5);
}

class CorrelationRatioTest : public DeviceTest
{
protected:
  template <typename TPixel, unsigned int VDimension>
  void
  ExpectTheDefinitionWith(const std::function<void(RatioProblem<TPixel, VDimension> &)> & change) const
  {
    RatioProblem<TPixel, VDimension> problem(17 + VDimension);
    change(problem);
    const Answer expected = Definition<TPixel, VDimension>(problem).Evaluate();
    ExpectAnswer(problem, this->GetDevice(), expected);
  }

  /** Checks both dimensions, with floats and with doubles. */
  template <typename TChange>
  void
  ExpectTheDefinitionEverywhere(const TChange & change) const
  {
    ForEachImageType(
      [&](auto pixel, auto dimension) { this->template ExpectTheDefinitionWith<decltype(pixel), dimension>(change); });
  }
};

TEST_P(CorrelationRatioTest, IsItsDefinition)
{
  this->ExpectTheDefinitionEverywhere([](auto &) {});
}

TEST_P(CorrelationRatioTest, OfAnyNumberOfBins)
{
  for (const unsigned int bins : { 2u, 3u, 256u, 1000u })
  {
    SCOPED_TRACE(bins);
    this->ExpectTheDefinitionWith<float, 3>([bins](auto & problem) { problem.bins = bins; });
  }
}

TEST_P(CorrelationRatioTest, ByCentralDifferences)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.usesGradientFilter = false; });
}

TEST_P(CorrelationRatioTest, InMasks)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.fixedMask = MakeMask(*problem.fixed); });
  this->ExpectTheDefinitionEverywhere([](auto & problem) { problem.movingMask = MakeMask(*problem.moving); });
}

TEST_P(CorrelationRatioTest, OfPoints)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) { AddRandomPoints(problem, 700, 5); });
}

TEST_P(CorrelationRatioTest, WithBSplineInterpolation)
{
  const auto change = [](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double, double>::New();
    interpolator->SetSplineOrder(3);
    problem.interpolator = interpolator;
  };
  this->ExpectTheDefinitionEverywhere(change);
}

TEST_P(CorrelationRatioTest, OfADisplacementField)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    problem.transform = MakeField<std::decay_t<decltype(problem)>::ImageType::ImageDimension>(*problem.fixed);
  });
}

/** A B-spline that is optimized, of each of ITK's two classes. */
TEST_P(CorrelationRatioTest, OfABSpline)
{
  ForEachSplineClass([this](const auto & change) { this->ExpectTheDefinitionEverywhere(change); });
}

TEST_P(CorrelationRatioTest, WithTheNearestVoxel)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    problem.interpolator = itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New();
  });
}

/** Linear transforms, of which the second one, or both, are optimized. */
TEST_P(CorrelationRatioTest, OfAComposite)
{
  for (const bool onlyLast : { true, false })
  {
    SCOPED_TRACE(onlyLast);
    this->ExpectTheDefinitionEverywhere([onlyLast](auto & problem) {
      constexpr unsigned int Dimension = std::decay_t<decltype(problem)>::ImageType::ImageDimension;
      const auto             composite = itk::CompositeTransform<double, Dimension>::New();
      const auto             translation = itk::TranslationTransform<double, Dimension>::New();
      auto                   offset = translation->GetParameters();
      offset.fill(0.8);
      translation->SetParameters(offset);
      composite->AddTransform(translation);
      composite->AddTransform(problem.transform);
      if (onlyLast)
      {
        composite->SetOnlyMostRecentTransformToOptimizeOn();
      }
      problem.transform = composite;
    });
  }
}

/** Each device applies fields and B-splines that are not optimized, and carries forces back through those that follow the optimized
 *  transform. */
TEST_P(CorrelationRatioTest, AmongGridsThatAreNotOptimised)
{
  ForEachChainOfGrids([this](const auto & change) { this->ExpectTheDefinitionEverywhere(change); });
}

/** Uses an interpolator that no device has. */
TEST_P(CorrelationRatioTest, ThroughITK)
{
  this->ExpectTheDefinitionEverywhere([](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double, double>::New();
    interpolator->SetSplineOrder(1);
    problem.interpolator = interpolator;
  });
}

/** η is 1 if the fixed bin determines the moving value. */
TEST_P(CorrelationRatioTest, ADeterministicRelationLeavesNothing)
{
  RatioProblem<float, 3> problem(3);
  Grid<3>                grid;
  Random                 random(4);
  std::array<float, 16>  table{};
  for (float & value : table)
  {
    value = static_cast<float>(Uniform(random, -500.0, 900.0));
  }
  grid.size.Fill(40);
  problem.bins = 16;
  problem.fixed = MakeImage<itk::Image<float, 3>>(grid, [&random](const auto &) { return Draw(random, 16); });
  problem.moving = itk::Image<float, 3>::New();
  grid.ApplyTo(*problem.moving);
  problem.moving->Allocate();
  for (itk::ImageRegionIteratorWithIndex<itk::Image<float, 3>> it(problem.moving, problem.moving->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    it.Set(table[static_cast<std::size_t>(problem.fixed->GetPixel(it.GetIndex()))]);
  }
  problem.transform = itk::TranslationTransform<double, 3>::New();
  const auto metric = problem.MakeMetric(this->GetDevice());
  metric->Initialize();
  EXPECT_NEAR(metric->GetValue(), 0.0, 1e-6);
}

/** One outlier widens the range: a little, which the sums tolerate, and so much that the host computes. */
TEST_P(CorrelationRatioTest, OneVoxelFarOutside)
{
  for (const float far : { 1e3f, 3e4f, 1e6f })
  {
    SCOPED_TRACE(far);
    const auto change = [far](auto & problem) {
      problem.moving->SetPixel(problem.moving->GetBufferedRegion().GetIndex(), far);
    };
    this->ExpectTheDefinitionWith<float, 2>(change);
    this->ExpectTheDefinitionWith<double, 3>(change);
  }
}

/** Values of a padded image outside of its mask are no sample's values, however far from the others. */
TEST_P(CorrelationRatioTest, OneVoxelFarOutsideBehindAMask)
{
  for (const float far : { 1e7f, -1e9f, 1e20f })
  {
    SCOPED_TRACE(far);
    const auto change = [far](auto & problem) {
      problem.movingMask = MakeMask(*problem.moving);
      problem.moving->SetPixel(problem.moving->GetBufferedRegion().GetIndex(), far);
      problem.usesGradientFilter = false;
    };
    this->ExpectTheDefinitionWith<float, 2>(change);
    this->ExpectTheDefinitionWith<double, 3>(change);
  }
}

/** The definition, which takes the longest, is computed once for all devices. */
TEST(CorrelationRatioTest, OfAWholeHeadsSize)
{
  const auto   problem = MakeProblemOfAWholeHeadsSize(20);
  const Answer expected = Definition<float, 3>(problem).Evaluate();
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    ExpectAnswer(problem, itk::GPUDevice::FromName(device), expected);
  }
}

TEST_P(CorrelationRatioTest, AffineChangesOfTheMovingValuesChangeNothing)
{
  RatioProblem<float, 3> problem(8);
  const Answer           before = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
  for (itk::ImageRegionIteratorWithIndex<itk::Image<float, 3>> it(problem.moving, problem.moving->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    it.Set(-4.0f * it.Get() + 512.0f);
  }
  problem.moving->Modified();
  const Answer after = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
  EXPECT_NEAR(after.value, before.value, 1e-6);
  EXPECT_LT(GetRelativeError(after.derivative, before.derivative), 1e-5);
}

/** Notices voxels that changed without Initialize(), beyond the range that they had there. */
TEST_P(CorrelationRatioTest, SeesVoxelsThatHaveChanged)
{
  RatioProblem<float, 3> problem(9);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  metric->TrustsTimeStampsOff();
  metric->Initialize();
  const double before = metric->GetValue();
  const auto   scale = [&problem](float factor) {
    for (itk::ImageRegionIteratorWithIndex<itk::Image<float, 3>> it(problem.moving,
                                                                    problem.moving->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      it.Set(factor * it.Get());
    }
  };
  scale(10.0f);
  EXPECT_NEAR(metric->GetValue(), before, 1e-6);
  metric->TrustsTimeStampsOn();
  scale(-7.0f);
  problem.moving->Modified();
  EXPECT_NEAR(metric->GetValue(), before, 1e-6);
}

/** Waves are much longer than voxels: central differences over a voxel are then their slope to (2π·1.4/60)²/6. No sample leaves the
 *  moving image, since the value jumps there. */
TEST_P(CorrelationRatioTest, TheDerivativeIsTheValuesSlope)
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
  Random     random(13);
  const auto region = problem.fixed->GetBufferedRegion();
  for (int n = 0; n < 4000; ++n)
  {
    itk::ContinuousIndex<double, 3> index;
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] = Uniform(random, 0.3, 0.7) * static_cast<double>(region.GetSize(d));
    }
    itk::Point<double, 3> point;
    problem.fixed->TransformContinuousIndexToPhysicalPoint(index, point);
    problem.points.push_back(point);
  }
  problem.bins = 16;
  problem.usesGradientFilter = false;
  const auto   metric = problem.MakeMetric(this->GetDevice());
  const Answer answer = InitializeAndAsk(*metric);
  ASSERT_EQ(answer.validPoints, problem.points.size());
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

TEST_P(CorrelationRatioTest, RepeatsToTheBitOnAnyNumberOfThreads)
{
  const PlatformThreads        platformThreads;
  const RatioProblem<float, 3> problem(21);
  std::vector<Answer>          answers;
  for (const unsigned int threads : { 1u, 2u, 7u, 7u })
  {
    const auto metric = problem.MakeMetric(this->GetDevice());
    PlatformThreads::Set(*metric, threads);
    answers.push_back(InitializeAndAsk(*metric));
    EXPECT_EQ(answers.back().value, answers.front().value);
    EXPECT_EQ(answers.back().derivative, answers.front().derivative);
  }
}

TEST_P(CorrelationRatioTest, RefusesBadInputAndGoesOn)
{
  RatioProblem<float, 3> problem(6);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  for (const unsigned int bins : { 0u, 1u, 4097u })
  {
    metric->SetNumberOfHistogramBins(bins);
    EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError) << bins;
  }
  metric->SetNumberOfHistogramBins(32);
  metric->Initialize();
  const double value = metric->GetValue();
  metric->SetNumberOfHistogramBins(33);
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  metric->SetNumberOfHistogramBins(32);
  EXPECT_EQ(metric->GetValue(), value);

  auto far = problem.transform->GetParameters();
  far[9] += 1e5;
  const auto near = problem.transform->GetParameters();
  problem.transform->SetParameters(far);
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  problem.transform->SetParameters(near);
  EXPECT_EQ(metric->GetValue(), value);

  const auto  index = problem.moving->GetBufferedRegion().GetIndex();
  const float kept = problem.moving->GetPixel(index);
  problem.moving->SetPixel(index, std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  problem.moving->SetPixel(index, kept);
  metric->Initialize();
  EXPECT_EQ(metric->GetValue(), value);

  // Constant except for a voxel in a corner, which no sample reads.
  problem.moving->FillBuffer(100.0f);
  problem.moving->SetPixel(index, 255.0f);
  problem.moving->Modified();
  metric->SetUseMovingImageGradientFilter(false);
  problem.transform->SetParameters(near);
  metric->Initialize();
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  problem.moving->FillBuffer(3.0f);
  problem.moving->Modified();
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
}

TEST_P(CorrelationRatioTest, RefusesMasksThatLeaveNothing)
{
  RatioProblem<float, 3> problem(6);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  metric->Initialize();
  const double value = metric->GetValue();
  const auto   empty = [](const itk::ImageBase<3> & like) {
    const auto mask = MakeMask(like);
    const auto image = itk::Image<unsigned char, 3>::New();
    image->CopyInformation(&like);
    image->SetRegions(like.GetLargestPossibleRegion());
    image->Allocate(true);
    mask->SetImage(image);
    mask->Update();
    return mask;
  };
  metric->SetFixedImageMask(empty(*problem.fixed));
  EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  metric->SetFixedImageMask(problem.fixedMask);
  metric->SetMovingImageMask(empty(*problem.moving));
  metric->Initialize();
  EXPECT_THROW(metric->GetValue(), itk::GPUBadInputError);
  metric->SetMovingImageMask(problem.movingMask);
  metric->Initialize();
  EXPECT_EQ(metric->GetValue(), value);
}

TEST_P(CorrelationRatioTest, RefusesWhatIsNotANumberInTheFixedImage)
{
  RatioProblem<float, 3> problem(6);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  const auto             index = problem.fixed->GetBufferedRegion().GetIndex();
  const float            kept = problem.fixed->GetPixel(index);
  for (const float bad : { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity() })
  {
    problem.fixed->SetPixel(index, bad);
    problem.fixed->Modified();
    EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError);
  }
  problem.fixed->SetPixel(index, kept);
  problem.fixed->Modified();
  metric->Initialize();
  EXPECT_GT(metric->GetValue(), 0.0);
}

/** Tests that numbers of bins out of range are refused with an interpolator that only ITK computes, too. */
TEST_P(CorrelationRatioTest, RefusesBinsWithAnyInterpolator)
{
  RatioProblem<float, 3> problem(6);
  const auto interpolator = itk::BSplineInterpolateImageFunction<itk::Image<float, 3>, double, double>::New();
  interpolator->SetSplineOrder(1);
  problem.interpolator = interpolator;
  const auto metric = problem.MakeMetric(this->GetDevice());
  for (const unsigned int bins : { 0u, 1u, 4097u, 1000000000u })
  {
    metric->SetNumberOfHistogramBins(bins);
    EXPECT_THROW(metric->Initialize(), itk::GPUBadInputError) << bins;
  }
}

TEST_P(CorrelationRatioTest, RefusesPointsThatAllLieInOneFixedValue)
{
  RatioProblem<float, 3> problem(6);
  problem.points.assign(500, problem.fixed->GetOrigin());
  const auto index = problem.fixed->GetBufferedRegion().GetIndex();
  problem.fixed->TransformIndexToPhysicalPoint(index, problem.points[0]);
  problem.points.assign(500, problem.points[0]);
  EXPECT_THROW(problem.MakeMetric(this->GetDevice())->Initialize(), itk::GPUBadInputError);
}

/** Images of different contrast, by ITK's registration method. */
TEST_P(CorrelationRatioTest, RegistersTwoContrasts)
{
  using ImageType = itk::Image<float, 2>;
  using TransformType = itk::TranslationTransform<double, 2>;
  RatioProblem<float, 2> problem(2);
  const SmoothFunction   function = [] {
    Random random(9);
    return SmoothFunction(random, 40.0, 120.0);
  }();
  Grid<2> grid;
  grid.size.Fill(120);
  grid.spacing.Fill(1.0);
  grid.origin.Fill(0.0);
  problem.fixed = MakeImage<ImageType>(grid, function);
  problem.moving = MakeImage<ImageType>(grid, [&function](auto p) {
    p[0] -= 4.0;
    p[1] += 3.0;
    return 1000.0 - 300.0 * function(p);
  });
  const auto start = TransformType::New();
  problem.transform = start;
  const auto metric = problem.MakeMetric(this->GetDevice());
  const auto optimizer = itk::RegularStepGradientDescentOptimizerv4<double>::New();
  optimizer->SetLearningRate(1.0);
  optimizer->SetMinimumStepLength(1e-3);
  optimizer->SetNumberOfIterations(100);
  using MethodType = itk::ImageRegistrationMethodv4<ImageType, ImageType, TransformType>;
  const auto method = MethodType::New();
  method->SetFixedImage(problem.fixed);
  method->SetMovingImage(problem.moving);
  method->SetMetric(metric);
  method->SetOptimizer(optimizer);
  method->SetInitialTransform(start);
  method->SetNumberOfLevels(1);
  typename MethodType::ShrinkFactorsArrayType factors(1);
  factors.Fill(1);
  method->SetShrinkFactorsPerLevel(factors);
  typename MethodType::SmoothingSigmasArrayType sigmas(1);
  sigmas.Fill(0);
  method->SetSmoothingSigmasPerLevel(sigmas);
  method->Update();
  const auto found = method->GetTransform()->GetParameters();
  EXPECT_NEAR(found[0], 4.0, 0.1);
  EXPECT_NEAR(found[1], -3.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Devices, CorrelationRatioTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
