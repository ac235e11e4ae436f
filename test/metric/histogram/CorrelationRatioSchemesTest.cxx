// SPDX-License-Identifier: Apache-2.0
// Tests the schemes of CudaCorrelationRatioMetric's first pass (Li 2015, table 1): all give the same numbers, on every device, for all
// kinds of samples. Tests what ConflictFree stores, too.
#include "CorrelationRatioProblem.h"
#include "TestDevices.h"
#include "TestParallelFor.h"
#include "TestThreads.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::CorrelationRatioScheme;

constexpr CorrelationRatioScheme Schemes[] = {
  CorrelationRatioScheme::GlobalAtomic, CorrelationRatioScheme::GlobalMerge, CorrelationRatioScheme::SharedAtomic,
  CorrelationRatioScheme::SharedMerge,  CorrelationRatioScheme::SharedWarp,  CorrelationRatioScheme::ConflictFree
};

/** Returns launches with few groups and with many, with the device's number of lanes; on CUDA also with few lanes and with many. */
std::vector<gpureg::LaunchShape>
GetLaunchShapes(const std::string & device)
{
  std::vector<gpureg::LaunchShape> shapes{ { 1, 0 }, { 7, 0 }, { 2048, 0 } };
  if (device.compare(0, 4, "cuda") == 0)
  {
    shapes.insert(shapes.end(), { { 0, 32 }, { 3, 64 }, { 100, 256 }, { 0, 512 }, { 5, 1024 } });
  }
  return shapes;
}

/** Returns true if a launch was as it was set, except for groups without a chunk. */
bool
IsOf(const gpureg::LaunchShape & used, const gpureg::LaunchShape & set, const std::string & device)
{
  return device == "host" ? used.groups == 0 && used.lanes == 0
                          : used.groups > 0 && (set.groups == 0 || used.groups <= set.groups) && used.lanes > 0 &&
                              (set.lanes == 0 || used.lanes == set.lanes);
}

class CorrelationRatioSchemesTest : public DeviceTest
{
protected:
  /** Expects every scheme, with every launch, to give the definition's value, and SharedMerge's value and derivative to the bit. */
  template <typename TPixel, unsigned int VDimension>
  void
  ExpectTheSame(const std::function<void(RatioProblem<TPixel, VDimension> &)> & change) const
  {
    RatioProblem<TPixel, VDimension> problem(40 + VDimension);
    change(problem);
    const Answer expected = Definition<TPixel, VDimension>(problem).Evaluate();
    problem.scheme = CorrelationRatioScheme::SharedMerge;
    const Answer merged = InitializeAndAsk(*problem.MakeMetric(this->GetDevice()));
    ASSERT_GT(merged.validPoints, 100u);
    for (const CorrelationRatioScheme scheme : Schemes)
    {
      SCOPED_TRACE(scheme);
      problem.scheme = scheme;
      const auto   metric = problem.MakeMetric(this->GetDevice());
      const Answer answer = InitializeAndAsk(*metric);
      EXPECT_EQ(answer.validPoints, expected.validPoints);
      EXPECT_NEAR(answer.value, expected.value, 1e-6);
      EXPECT_LT(GetRelativeError(answer.derivative, expected.derivative), 1e-5);
      EXPECT_EQ(answer.value, merged.value);
      EXPECT_EQ(answer.valueAlone, merged.valueAlone);
      EXPECT_EQ(answer.derivative, merged.derivative);
      for (const gpureg::LaunchShape & shape : GetLaunchShapes(GetParam()))
      {
        metric->SetLaunchShape(shape);
        const Answer launched = Evaluate(*metric);
        EXPECT_EQ(launched.value, merged.value) << shape.groups << " groups of " << shape.lanes;
        EXPECT_EQ(launched.derivative, merged.derivative) << shape.groups << " groups of " << shape.lanes;
        // ConflictFree has as many groups as workloads.
        EXPECT_TRUE(scheme == CorrelationRatioScheme::ConflictFree ||
                    IsOf(metric->GetUsedLaunchShape(), shape, GetParam()));
      }
    }
  }

  /** Checks both dimensions: few samples in fixed point, a slice, doubles; and enough voxels for floats. */
  template <typename TChange>
  void
  ExpectTheSameEverywhere(const TChange & change) const
  {
    {
      SCOPED_TRACE("2D, float");
      this->ExpectTheSame<float, 2>(change);
    }
    {
      SCOPED_TRACE("3D, float");
      this->ExpectTheSame<float, 3>(change);
    }
    {
      SCOPED_TRACE("3D, double");
      this->ExpectTheSame<double, 3>(change);
    }
  }
};

TEST_P(CorrelationRatioSchemesTest, OfVoxels)
{
  this->ExpectTheSameEverywhere([](auto &) {});
}

/** More bins than local memory holds, which are counted in bands. */
TEST_P(CorrelationRatioSchemesTest, OfManyBins)
{
  for (const unsigned int bins : { 2u, 1000u, 4096u })
  {
    SCOPED_TRACE(bins);
    this->ExpectTheSame<float, 3>([bins](auto & problem) { problem.bins = bins; });
  }
  this->ExpectTheSame<float, 2>([](auto & problem) { problem.bins = 1500; });
}

TEST_P(CorrelationRatioSchemesTest, InMasks)
{
  this->ExpectTheSameEverywhere([](auto & problem) {
    problem.fixedMask = MakeMask(*problem.fixed);
    problem.movingMask = MakeMask(*problem.moving);
  });
}

TEST_P(CorrelationRatioSchemesTest, ByCentralDifferences)
{
  this->ExpectTheSameEverywhere([](auto & problem) { problem.usesGradientFilter = false; });
}

TEST_P(CorrelationRatioSchemesTest, OfPoints)
{
  this->ExpectTheSameEverywhere([](auto & problem) { AddRandomPoints(problem, 700, 5); });
}

TEST_P(CorrelationRatioSchemesTest, WithBSplineInterpolation)
{
  this->ExpectTheSameEverywhere([](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    const auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, double, double>::New();
    interpolator->SetSplineOrder(3);
    problem.interpolator = interpolator;
  });
}

TEST_P(CorrelationRatioSchemesTest, WithTheNearestVoxel)
{
  this->ExpectTheSameEverywhere([](auto & problem) {
    using ImageType = typename std::decay_t<decltype(problem)>::ImageType;
    problem.interpolator = itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New();
  });
}

TEST_P(CorrelationRatioSchemesTest, OfADisplacementField)
{
  this->ExpectTheSameEverywhere([](auto & problem) {
    problem.transform = MakeField<std::decay_t<decltype(problem)>::ImageType::ImageDimension>(*problem.fixed);
  });
}

/** Tests the schemes with border weights. The definition, which takes the longest, is computed once for all devices. */
TEST(CorrelationRatioSchemesTest, OfAWholeHeadsSize)
{
  auto problem = MakeProblemOfAWholeHeadsSize(31);
  problem.usesGradientFilter = false;
  std::map<double, double> expected; // by distance
  for (const double distance : { 0.0, 20.0 })
  {
    problem.borderDistance = distance;
    expected[distance] = Definition<float, 3>(problem).GetValue();
  }
  problem.borderDistance = 0;
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    const auto metric = problem.MakeMetric(itk::GPUDevice::FromName(device));
    metric->Initialize();
    for (const auto & [distance, value] : expected)
    {
      metric->SetBorderWeightDistance(distance);
      metric->SetScheme(CorrelationRatioScheme::SharedMerge);
      const double merged = metric->GetValue();
      EXPECT_NEAR(merged, value, 1e-6);
      for (const CorrelationRatioScheme scheme : Schemes)
      {
        metric->SetScheme(scheme);
        EXPECT_EQ(metric->GetValue(), merged) << scheme << ", " << distance << " mm";
        if (distance == 0)
        {
          metric->SetLaunchShape({ 64, 0 });
          EXPECT_EQ(metric->GetValue(), merged) << scheme << ", 64 groups";
          if (device != "host" && scheme != CorrelationRatioScheme::ConflictFree)
          {
            EXPECT_EQ(metric->GetUsedLaunchShape().groups, 64) << scheme;
          }
          metric->SetLaunchShape({});
        }
      }
    }
  }
}

/** The sorted samples are uploaded to the device; an evaluation that does not sort uploads nothing. */
TEST_P(CorrelationRatioSchemesTest, ConflictFreeKeepsItsSort)
{
  RatioProblem<float, 3> problem(50);
  problem.scheme = CorrelationRatioScheme::ConflictFree;
  const auto metric = problem.MakeMetric(this->GetDevice());
  const bool isHost = this->GetDevice().GetName() == "host";
  const auto expectSorted = [&](bool isSorted) {
    const double                       value = metric->GetValue();
    const gpureg::EvaluationStatistics statistics = metric->GetEvaluationStatistics();
    EXPECT_EQ(statistics.copiesUp > 0, isSorted && !isHost);
    problem.scheme = CorrelationRatioScheme::SharedMerge;
    const auto merged = problem.MakeMetric(this->GetDevice());
    merged->Initialize();
    EXPECT_EQ(value, merged->GetValue());
    problem.scheme = CorrelationRatioScheme::ConflictFree;
  };
  metric->Initialize();
  expectSorted(true);
  expectSorted(false);
  auto parameters = problem.transform->GetParameters();
  parameters[9] += 0.7;
  problem.transform->SetParameters(parameters);
  expectSorted(false);

  // Changes of the bins, of the mask, and of the fixed image's voxels need a new sort.
  problem.bins = 31;
  metric->SetNumberOfHistogramBins(31);
  metric->Initialize();
  expectSorted(true);
  expectSorted(false);
  problem.fixedMask = MakeMask(*problem.fixed);
  metric->SetFixedImageMask(problem.fixedMask);
  metric->Initialize();
  expectSorted(true);
  expectSorted(false);
  for (itk::ImageRegionIteratorWithIndex<itk::Image<float, 3>> it(problem.fixed, problem.fixed->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    it.Set(it.Get() * it.Get());
  }
  problem.fixed->Modified();
  metric->Initialize();
  expectSorted(true);
  expectSorted(false);

  // A change of the moving image needs no new sort.
  problem.moving->SetPixel(problem.moving->GetBufferedRegion().GetIndex(), 1.5f);
  problem.moving->Modified();
  metric->Initialize();
  metric->GetValue();
  expectSorted(false);

  // Another workload limit divides the same sorted samples into other workloads.
  metric->SetWorkloadLimit(100);
  expectSorted(true);
  expectSorted(false);

  // Another scheme in between frees the memory.
  const std::int64_t sortedBytes = metric->GetEvaluationStatistics().deviceBytes;
  metric->SetScheme(CorrelationRatioScheme::GlobalAtomic);
  metric->GetValue();
  if (!isHost)
  {
    EXPECT_LT(metric->GetEvaluationStatistics().deviceBytes, sortedBytes);
  }
  metric->SetScheme(CorrelationRatioScheme::ConflictFree);
  expectSorted(true);
}

TEST_P(CorrelationRatioSchemesTest, RefusesWhatIsNoScheme)
{
  RatioProblem<float, 3> problem(6);
  const auto             metric = problem.MakeMetric(this->GetDevice());
  metric->SetScheme(CorrelationRatioScheme::SharedWarp);
  try
  {
    metric->SetScheme(static_cast<CorrelationRatioScheme>(6));
    FAIL();
  }
  catch (const itk::GPUBadInputError & error)
  {
    EXPECT_NE(std::string(error.what()).find("ConflictFree"), std::string::npos) << error.what();
  }
  EXPECT_EQ(metric->GetScheme(), CorrelationRatioScheme::SharedWarp);
  EXPECT_THROW(metric->SetWorkloadLimit(0), itk::GPUBadInputError);
  EXPECT_EQ(metric->GetWorkloadLimit(), gpureg::CorrelationRatioMetric::DefaultWorkloadLimit);
  EXPECT_THROW(metric->SetLaunchShape({ -1, 0 }), itk::GPUBadInputError);
  EXPECT_THROW(metric->SetLaunchShape({ 0, 48 }), itk::GPUBadInputError);
  EXPECT_EQ(metric->GetLaunchShape().lanes, 0);
  EXPECT_EQ(metric->GetUsedLaunchShape().groups, 0);
  metric->Initialize();
  EXPECT_GT(metric->GetValue(), 0.0);

  gpureg::CorrelationRatioMetric engine(GetParam(), 8);
  EXPECT_EQ(engine.GetScheme(), CorrelationRatioScheme::SharedMerge);
  EXPECT_THROW(engine.SetScheme(static_cast<CorrelationRatioScheme>(255)), gpureg::BadInputError);
  EXPECT_THROW(engine.SetWorkloadLimit(0), gpureg::BadInputError);
  for (const gpureg::LaunchShape & shape :
       { gpureg::LaunchShape{ -1, 0 }, { 0, -32 }, { 0, 16 }, { 0, 96 }, { 0, 2048 } })
  {
    EXPECT_THROW(engine.SetLaunchShape(shape), gpureg::BadInputError) << shape.groups << ", " << shape.lanes;
  }
}

/** CUDA accepts any number of lanes, OpenCL only its own; the host ignores it. */
TEST_P(CorrelationRatioSchemesTest, RefusesLanesThatADeviceDoesNotHave)
{
  gpureg::CorrelationRatioMetric engine(GetParam(), 8);
  int                            refused = 0;
  for (const int lanes : { 32, 64, 128, 256, 512, 1024 })
  {
    try
    {
      engine.SetLaunchShape({ 0, lanes });
    }
    catch (const gpureg::UnsupportedError & error)
    {
      ++refused;
      EXPECT_NE(std::string(error.what()).find("set 0"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(refused, GetParam().compare(0, 6, "opencl") == 0 ? 5 : 0);
}

/** Chunks of few groups, as deep as possible, cause no overflow: all samples are in one bin, nearly at the largest value, which has a
 *  remainder in every unit, in volumes and in slices, whose chunks have another shape. */
TEST_P(CorrelationRatioSchemesTest, OverflowsInNoLaunch)
{
  const gpureg::Size sizes[] = { { 70, 50, 45 }, { 700, 300, 1 }, { 4100, 16, 1 }, { 33, 1, 2000 } };
  for (const gpureg::Size & size : sizes)
  {
    const auto fill = [](auto value) {
      return [value](std::int64_t, std::int64_t count, void * out) {
        std::fill_n(static_cast<std::remove_const_t<decltype(value)> *>(out), count, value);
      };
    };
    gpureg::FixedSamples fixed;
    fixed.virtualSize = size;
    fixed.bins = fill(std::uint16_t{ 1 });
    gpureg::MovingImage moving;
    moving.size = size;
    moving.values = fill(0.9999999f);
    gpureg::CorrelationRatioMetric engine(GetParam(), 2);
    engine.SetFixedSamples(fixed, OneAfterTheOther);
    engine.SetMovingImage(moving, OneAfterTheOther);
    const auto evaluate = [&] {
      return engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, OneAfterTheOther);
    };
    const gpureg::CorrelationRatioResult merged = evaluate();
    EXPECT_EQ(merged.count, static_cast<double>(size[0]) * size[1] * size[2]);
    for (const CorrelationRatioScheme scheme : Schemes)
    {
      engine.SetScheme(scheme);
      for (const gpureg::LaunchShape & shape : GetLaunchShapes(GetParam()))
      {
        SCOPED_TRACE(::testing::Message() << size[0] << " x " << size[1] << " x " << size[2] << ", " << scheme << ", "
                                          << shape.groups << " groups of " << shape.lanes);
        engine.SetLaunchShape(shape);
        const gpureg::CorrelationRatioResult result = evaluate();
        EXPECT_EQ(result.count, merged.count);
        EXPECT_EQ(result.within, merged.within);
        EXPECT_EQ(result.all, merged.all);
      }
    }
  }
}

/** Workloads of one sample, of some, and of a whole bin; fixed bins without samples, or without valid ones. */
TEST_P(CorrelationRatioSchemesTest, AnyWorkloadLimit)
{
  constexpr int              Bins = 9;
  const gpureg::Size         size = { 13, 11, 7 };
  Random                     random(8);
  std::vector<std::uint16_t> bins(13 * 11 * 7);
  std::vector<float>         values(bins.size());
  for (std::size_t n = 0; n < bins.size(); ++n)
  {
    bins[n] = Draw(random, 5) == 0 ? std::uint16_t{ 0xFFFF } : static_cast<std::uint16_t>(2 + Draw(random, Bins - 3));
    values[n] = static_cast<float>(Uniform(random, 0.0, 1.0));
  }
  const auto copy = [](const auto & array) {
    return [&array](std::int64_t first, std::int64_t count, void * out) {
      std::memcpy(out, array.data() + first, static_cast<std::size_t>(count) * sizeof(array[0]));
    };
  };
  gpureg::FixedSamples fixed;
  fixed.virtualSize = size;
  fixed.bins = copy(bins);
  gpureg::MovingImage moving;
  moving.size = size;
  moving.values = copy(values);

  gpureg::CorrelationRatioMetric engine(GetParam(), Bins);
  engine.SetFixedSamples(fixed, OneAfterTheOther);
  engine.SetMovingImage(moving, OneAfterTheOther);
  const auto evaluate = [&] {
    return engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, OneAfterTheOther);
  };
  const gpureg::CorrelationRatioResult merged = evaluate();
  EXPECT_EQ(merged.count,
            static_cast<double>(bins.size()) -
              static_cast<double>(std::count(bins.begin(), bins.end(), std::uint16_t{ 0xFFFF })));
  engine.SetScheme(CorrelationRatioScheme::ConflictFree);
  for (const int limit : { 1, 3, 100, 1000000 })
  {
    SCOPED_TRACE(limit);
    engine.SetWorkloadLimit(limit);
    const gpureg::CorrelationRatioResult result = evaluate();
    EXPECT_EQ(result.count, merged.count);
    EXPECT_EQ(result.within, merged.within);
    EXPECT_EQ(result.all, merged.all);
  }
  std::fill(bins.begin(), bins.end(), std::uint16_t{ 0xFFFF });
  engine.SetFixedSamples(fixed, OneAfterTheOther);
  for (const CorrelationRatioScheme scheme : Schemes)
  {
    engine.SetScheme(scheme);
    EXPECT_EQ(evaluate().count, 0.0) << scheme;
  }
}

TEST_P(CorrelationRatioSchemesTest, RepeatsToTheBitOnAnyNumberOfThreads)
{
  const PlatformThreads  platformThreads;
  RatioProblem<float, 3> problem(21);
  for (const CorrelationRatioScheme scheme : Schemes)
  {
    SCOPED_TRACE(scheme);
    problem.scheme = scheme;
    std::vector<Answer> answers;
    for (const unsigned int threads : { 1u, 2u, 7u })
    {
      const auto metric = problem.MakeMetric(this->GetDevice());
      PlatformThreads::Set(*metric, threads);
      answers.push_back(InitializeAndAsk(*metric));
      EXPECT_EQ(answers.back().value, answers.front().value);
      EXPECT_EQ(answers.back().derivative, answers.front().derivative);
    }
  }
}

TEST(CorrelationRatioSchemeTest, HasAName)
{
  std::ostringstream text;
  text << CorrelationRatioScheme::GlobalAtomic << ' ' << CorrelationRatioScheme::ConflictFree << ' '
       << static_cast<CorrelationRatioScheme>(6);
  EXPECT_EQ(
    text.str(),
    "gpureg::CorrelationRatioScheme::GlobalAtomic gpureg::CorrelationRatioScheme::ConflictFree INVALID VALUE FOR "
    "gpureg::CorrelationRatioScheme");
}

TEST(CorrelationRatioSchemeTest, IsSetByItsName)
{
  const auto metric = itk::CudaCorrelationRatioMetric<itk::Image<float, 2>, itk::Image<float, 2>>::New();
  for (int n = 0; n < gpureg::NumberOfCorrelationRatioSchemes; ++n)
  {
    const auto scheme = static_cast<CorrelationRatioScheme>(n);
    metric->SetScheme(std::string(gpureg::GetName(scheme)));
    EXPECT_EQ(metric->GetScheme(), scheme);
    EXPECT_EQ(metric->GetSchemeName(), gpureg::GetName(scheme));
  }
  EXPECT_THROW(metric->SetScheme("conflictfree"), itk::GPUBadInputError);
  EXPECT_EQ(metric->GetSchemeName(), "ConflictFree");
}

INSTANTIATE_TEST_SUITE_P(Devices, CorrelationRatioSchemesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
