// SPDX-License-Identifier: Apache-2.0
// Compares the OpenCL device with the host's plain loops, by the engine alone; and tests the effect of its cache of compiled programs
// (OpenCLProgramCacheTest.cxx) on new processes. Skipped if there is no OpenCL device.
#include "opencl/runtime/OpenCLProgramCache.h"
#include "TemporaryFolder.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/metric/histogram/MattesMetric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

namespace
{

using namespace gpureg;
using namespace gpuregtest;

const char * const DeviceName = "opencl:0";

void
RunInOrder(std::int64_t count, const std::function<void(std::int64_t)> & body)
{
  for (std::int64_t i = 0; i < count; ++i)
  {
    body(i);
  }
}

/** Returns a filler from a formula: formula(element). */
template <typename T, typename TFormula>
Filler
FillWith(TFormula formula)
{
  return [formula](std::int64_t first, std::int64_t count, void * out) {
    std::generate_n(static_cast<T *>(out), count, [&formula, i = first]() mutable {
      return static_cast<T>(formula(i++));
    });
  };
}

/** Returns a filler of three components for each element: formula(element, component). */
template <typename T = float, typename TFormula>
Filler
FillVectorsWith(TFormula formula)
{
  return [formula](std::int64_t first, std::int64_t count, void * out) {
    std::generate_n(static_cast<T *>(out), 3 * count, [&formula, i = 3 * first]() mutable {
      const std::int64_t now = i++;
      return static_cast<T>(formula(now / 3, static_cast<int>(now % 3)));
    });
  };
}

std::array<double, 3>
IndexOf(const Size & size, std::int64_t voxel)
{
  return { double(voxel % size[0]), double(voxel / size[0] % size[1]), double(voxel / size[0] / size[1]) };
}

/** A problem: samples, sampling, and the results to compute. */
struct Problem
{
  const char * name;
  int          bins = 32;
  Size         virtualSize{ 61, 47, 39 };
  Size         movingSize{ 57, 53, 41 };
  std::int64_t pointCount = 0;
  bool         isDouble = false; // points always are
  bool         hasDisplacement = false;
  bool         hasMask = false;
  bool         hasGradient = true;
  bool         checksRange = false;
  int          splineOrder = 1;
  Forces       derivative = Forces::Summed;
  bool         isNormalized = true;

  Precision
  GetPrecision() const
  {
    return isDouble || pointCount > 0 ? Precision::Double : Precision::Single;
  }

  bool
  Is2D() const
  {
    return movingSize[2] == 1;
  }

  std::int64_t
  GetSampleCount() const
  {
    return pointCount > 0 ? pointCount : std::int64_t{ virtualSize[0] } * virtualSize[1] * virtualSize[2];
  }
};

void
PrintTo(const Problem & problem, std::ostream * os)
{
  *os << problem.name;
}

/** Returns a smooth image in [0, 1], with at most two periods along an axis. */
double
Wave(const Size & size, const std::array<double, 3> & index, double phase)
{
  return 0.5 + 0.3 * std::sin(phase + 9.0 * index[0] / size[0] + 2.0 * index[2] / size[2]) +
         0.2 * std::cos(2 * phase + 7.0 * index[1] / size[1]);
}

/** Returns sample i of a list of points, scattered over a grid. */
std::array<double, 3>
PointOf(const Size & size, std::int64_t i)
{
  std::array<double, 3> point;
  for (int d = 0; d < 3; ++d)
  {
    point[d] = std::fmod(double(i) * (0.618034 + 0.137 * d), 1.0) * (size[d] - 1);
  }
  return point;
}

FixedSamples
MakeFixedSide(const Problem & problem)
{
  const Size   size = problem.virtualSize;
  const bool   arePoints = problem.pointCount > 0;
  FixedSamples side;
  side.precision = problem.GetPrecision();
  side.virtualSize = size;
  side.pointCount = problem.pointCount;
  // Every eleventh sample is outside of the fixed image.
  side.bins = FillWith<std::uint16_t>([size, arePoints, bins = problem.bins](std::int64_t i) {
    const double value = Wave(size, arePoints ? PointOf(size, i) : IndexOf(size, i), 0.4);
    return i % 11 == 7 ? 0xFFFF : 2 + int((bins - 4.001) * value);
  });
  if (arePoints)
  {
    side.points = FillVectorsWith<double>([size](std::int64_t i, int d) { return PointOf(size, i)[d]; });
  }
  return side;
}

MovingImage
MakeMovingSide(const Problem & problem)
{
  const Size  size = problem.movingSize;
  MovingImage side;
  side.size = size;
  side.splineOrder = problem.splineOrder;
  side.checksRange = problem.checksRange;
  side.precision = problem.GetPrecision();
  side.scale.range = problem.bins - 4;
  side.scale.largest = side.scale.range;
  const auto fill = [&side](const auto & function) {
    return side.precision == Precision::Double ? FillWith<double>(function) : FillWith<float>(function);
  };
  side.values =
    fill([size, range = problem.bins - 4](std::int64_t i) { return range * Wave(size, IndexOf(size, i), 1.1); });
  if (problem.splineOrder != 1)
  {
    // Any numbers may be coefficients; these leave the range here and there, as a spline does.
    side.coefficients = fill([size, range = problem.bins - 4](std::int64_t i) {
      return range * (1.1 * Wave(size, IndexOf(size, i), 1.1) - 0.05);
    });
  }
  if (problem.hasGradient)
  {
    side.gradient = FillVectorsWith([size, is2D = problem.Is2D()](std::int64_t i, int d) {
      return is2D && d == 2 ? 0.0 : Wave(size, IndexOf(size, i), 0.3 + d) - 0.4;
    });
  }
  const double spacing[3] = { 0.9, 1.1, 1.7 };
  for (int d = 0; d < (problem.Is2D() ? 2 : 3); ++d)
  {
    side.inverseSpacing[d] = 1 / spacing[d];
    side.differenceStep[3 * d + d] = 0.5;
  }
  if (problem.hasMask)
  {
    for (int d = 0; d < 3; ++d)
    {
      side.maskSize[d] = std::max(1, size[d] * 5 / 8);
    }
    side.mask = FillWith<std::uint8_t>(
      [maskSize = side.maskSize](std::int64_t i) { return Wave(maskSize, IndexOf(maskSize, i), 0.9) > 0.4; });
    side.toMask.matrix = { 0.607339, 0.010433, 0, -0.010937, 0.601907, 0, 0, 0, problem.Is2D() ? 1.0 : 0.591137 };
    side.toMask.offset = { 0.131713, 0.213371, 0 };
  }
  return side;
}

SampleMapping
MakeMapping(const Problem & problem)
{
  SampleMapping mapping;
  // Numbers for which no sample maps exactly to the edge of the buffer, where rounding decides.
  mapping.toMoving.matrix = {
    0.931717, 0.061313, 0.021101, -0.072939, 1.043737, 0.033331, 0.011907, -0.023173, 1.027919
  };
  mapping.toMoving.offset = { 0.371387, -0.833911, 0.293713 };
  if (problem.splineOrder == 0)
  {
    // The nearest voxel is the same on every device only away from the boundaries between voxels.
    mapping.toMoving.matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  }
  if (problem.Is2D())
  {
    mapping.toMoving.matrix = { 0.931717, 0.061313, 0, -0.072939, 1.043737, 0, 0, 0, 1 };
    mapping.toMoving.offset[2] = 0;
  }
  if (problem.hasDisplacement)
  {
    mapping.displacement = FillVectorsWith([size = problem.virtualSize, is2D = problem.Is2D()](std::int64_t i, int d) {
      return is2D && d == 2 ? 0.0 : 3 * Wave(size, IndexOf(size, i), 0.2 + d) - 1.5;
    });
    mapping.displacementToIndex = { 1.1, 0.05, 0, -0.04, 0.9, 0, 0, 0, problem.Is2D() ? 0 : 0.6 };
  }
  return mapping;
}

/** All results of an evaluation. */
struct Answer
{
  std::vector<std::uint64_t> histogram;
  std::array<double, 12>     forceSums{};
  std::vector<float>         forces;
  double                     countUnit = 1;

  bool
  operator==(const Answer & other) const
  {
    return histogram == other.histogram && countUnit == other.countUnit && forceSums == other.forceSums &&
           forces == other.forces;
  }
};

double
CountSamples(const Answer & answer)
{
  return std::accumulate(answer.histogram.begin(), answer.histogram.end(), 0.0) / answer.countUnit;
}

void
SetSides(MattesMetric & metric, const Problem & problem)
{
  metric.SetFixedSamples(MakeFixedSide(problem), RunInOrder);
  metric.SetMovingImage(MakeMovingSide(problem), RunInOrder);
}

Answer
Evaluate(MattesMetric & metric, const Problem & problem)
{
  const MattesResult result =
    metric.Evaluate(MakeMapping(problem), problem.derivative, problem.isNormalized, RunInOrder);
  Answer answer{ result.histogram, result.forceSums, {}, result.countUnit };
  if (problem.derivative == Forces::OfEachSample)
  {
    answer.forces.resize(3 * static_cast<std::size_t>(problem.GetSampleCount()));
    metric.TakeForces(
      [&answer](std::int64_t first, std::int64_t count, const float * forces) {
        std::copy_n(forces, 3 * count, answer.forces.data() + 3 * first);
      },
      RunInOrder);
  }
  return answer;
}

Answer
EvaluateOn(const std::string & device, const Problem & problem)
{
  MattesMetric metric(device, problem.bins);
  SetSides(metric, problem);
  return Evaluate(metric, problem);
}

/** Returns |a - b| / |b|, Euclidean; |a| if b is 0. */
template <typename TIterator>
double
RelativeDifference(TIterator first, TIterator last, TIterator reference)
{
  double difference = 0, norm = 0;
  for (; first != last; ++first, ++reference)
  {
    difference += (double(*first) - double(*reference)) * (double(*first) - double(*reference));
    norm += double(*reference) * double(*reference);
  }
  return std::sqrt(difference / (norm > 0 ? norm : 1.0));
}

std::string
Join(const std::vector<std::string> & lines)
{
  return std::accumulate(lines.begin(),
                         lines.end(),
                         std::string(),
                         [](const std::string & all, const std::string & line) { return all + line + "; "; });
}

bool
IsThere(const std::string & device)
{
  const std::vector<DeviceDescription> devices = GetAvailableDevices();
  return std::any_of(devices.begin(), devices.end(), [&device](const DeviceDescription & each) {
    return each.name == device;
  });
}

/** Skips its tests if there is no OpenCL device. */
class OpenCLBackendTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    if (!IsThere(DeviceName))
    {
      GTEST_SKIP() << "no OpenCL device: " << Join(GetDeviceComplaints());
    }
  }
};

class OpenCLEquivalenceTest
  : public OpenCLBackendTest
  , public ::testing::WithParamInterface<Problem>
{};

TEST_P(OpenCLEquivalenceTest, AgreesWithTheHostAndRepeats)
{
  const Problem & problem = GetParam();
  const Answer    host = EvaluateOn("host", problem);
  MattesMetric    metric(DeviceName, problem.bins);
  SetSides(metric, problem);
  const Answer device = Evaluate(metric, problem);
  EXPECT_TRUE(Evaluate(metric, problem) == device);

  // As many samples are valid: each counts countUnit. Their distribution differs only by rounding.
  const double counted = CountSamples(host);
  ASSERT_GT(counted, problem.GetSampleCount() / 5);
  EXPECT_EQ(CountSamples(device), counted);
  double difference = 0;
  for (std::size_t cell = 0; cell < host.histogram.size(); ++cell)
  {
    difference +=
      std::abs(double(device.histogram[cell]) / device.countUnit - double(host.histogram[cell]) / host.countUnit);
  }
  // A value in [0, bins - 4] is rounded once or twice by 2^-24. A difference in units of bins changes the weights by Σ|B3'| ≤ 4/3 times the
  // difference, in units of 2^-18; one more unit is for weights that are then rounded to the other side.
  const double perSample = difference * (1 << 18) / counted;
  RecordProperty("UnitsPerSample", std::to_string(perSample));
  EXPECT_LT(perSample, 1.0 + 0.03 * problem.bins);

  if (problem.derivative == Forces::Summed)
  {
    const double sums =
      RelativeDifference(device.forceSums.begin(), device.forceSums.begin() + 3, host.forceSums.begin());
    const double moments =
      RelativeDifference(device.forceSums.begin() + 3, device.forceSums.end(), host.forceSums.begin() + 3);
    RecordProperty("Sums", std::to_string(1e6 * sums) + "e-6");
    RecordProperty("Moments", std::to_string(1e6 * moments) + "e-6");
    EXPECT_LT(sums, 1e-5);
    EXPECT_LT(moments, 1e-5);
  }
  if (problem.derivative == Forces::OfEachSample)
  {
    ASSERT_EQ(device.forces.size(), host.forces.size());
    const double forces = RelativeDifference(device.forces.begin(), device.forces.end(), host.forces.begin());
    RecordProperty("Forces", std::to_string(1e6 * forces) + "e-6");
    // The more bins, the more cells contain few samples, whose weights are exact to one unit each.
    EXPECT_LT(forces, 1e-5 * std::max(1.0, problem.bins / 32.0));
  }
}

Problem
MakeProblem(const char * name, const std::function<void(Problem &)> & change)
{
  Problem problem{ name };
  change(problem);
  return problem;
}

/** Returns problems with different results, and different kinds of samples. */
std::vector<Problem>
MakeProblemsOfSamples()
{
  return {
    MakeProblem("Plain", [](Problem &) {}),
    MakeProblem("MattesTable", [](Problem & p) { p.isNormalized = false; }),
    MakeProblem("ValueOnly", [](Problem & p) { p.derivative = Forces::None; }),
    MakeProblem("Forces", [](Problem & p) { p.derivative = Forces::OfEachSample; }),
    MakeProblem("Points", [](Problem & p) { p.pointCount = 40003; }),
    MakeProblem("FewPoints",
                [](Problem & p) {
                  p.pointCount = 5;
                  p.derivative = Forces::None;
                }),
    MakeProblem("PointForces",
                [](Problem & p) {
                  p.pointCount = 40003;
                  p.derivative = Forces::OfEachSample;
                }),
    MakeProblem("Displacement", [](Problem & p) { p.hasDisplacement = true; }),
    MakeProblem("DisplacementForces",
                [](Problem & p) {
                  p.hasDisplacement = true;
                  p.derivative = Forces::OfEachSample;
                }),
    MakeProblem("PointsAndDisplacement",
                [](Problem & p) {
                  p.pointCount = 40003;
                  p.hasDisplacement = true;
                }),
  };
}

/** Returns problems with different ways to read the moving image. */
std::vector<Problem>
MakeProblemsOfMovingImages()
{
  return {
    MakeProblem("Mask",
                [](Problem & p) {
                  p.hasMask = true;
                  p.checksRange = true;
                }),
    MakeProblem("Differences", [](Problem & p) { p.hasGradient = false; }),
    MakeProblem("Nearest", [](Problem & p) { p.splineOrder = 0; }),
    MakeProblem("Quadratic",
                [](Problem & p) {
                  p.splineOrder = 2;
                  p.checksRange = true;
                }),
    MakeProblem("Cubic",
                [](Problem & p) {
                  p.splineOrder = 3;
                  p.checksRange = true;
                }),
    MakeProblem("Quintic",
                [](Problem & p) {
                  p.splineOrder = 5;
                  p.checksRange = true;
                }),
    MakeProblem("Plain2D",
                [](Problem & p) {
                  p.virtualSize = { 131, 67, 1 };
                  p.movingSize = { 127, 75, 1 };
                }),
    MakeProblem("FixedPoint", [](Problem & p) { p.isDouble = true; }),
    MakeProblem("FixedPointDisplacement",
                [](Problem & p) {
                  p.isDouble = true;
                  p.hasDisplacement = true;
                  p.hasGradient = false;
                  p.derivative = Forces::OfEachSample;
                }),
    MakeProblem("FixedPointSlice",
                [](Problem & p) {
                  p.isDouble = true;
                  p.bins = 100;
                  p.virtualSize = { 131, 67, 1 };
                  p.movingSize = { 127, 75, 1 };
                  p.hasMask = true;
                  p.checksRange = true;
                }),
  };
}

/** Returns problems with many features at once, grids that are divided differently, and different numbers of bins. */
std::vector<Problem>
MakeProblemsOfSizes()
{
  return {
    MakeProblem("Everything2D",
                [](Problem & p) {
                  p.virtualSize = { 131, 67, 1 };
                  p.movingSize = { 127, 75, 1 };
                  p.pointCount = 20011;
                  p.hasDisplacement = true;
                  p.hasMask = true;
                  p.checksRange = true;
                  p.hasGradient = false;
                  p.splineOrder = 3;
                }),
    MakeProblem("Everything",
                [](Problem & p) {
                  p.pointCount = 40003;
                  p.hasDisplacement = true;
                  p.hasMask = true;
                  p.checksRange = true;
                  p.hasGradient = false;
                  p.splineOrder = 3;
                  p.derivative = Forces::OfEachSample;
                }),
    MakeProblem("Deep",
                [](Problem & p) {
                  p.virtualSize = { 35, 9, 211 };
                  p.movingSize = { 37, 14, 230 };
                }),
    MakeProblem("Large",
                [](Problem & p) {
                  p.virtualSize = { 97, 83, 71 };
                  p.movingSize = { 101, 79, 75 };
                }),
    // All samples are in the only fixed bin, so the similarity's derivative is 0.
    MakeProblem("Bins5",
                [](Problem & p) {
                  p.bins = 5;
                  p.derivative = Forces::None;
                }),
    MakeProblem("Bins7", [](Problem & p) { p.bins = 7; }),
    MakeProblem("Bins50", [](Problem & p) { p.bins = 50; }),
    MakeProblem("Bins256",
                [](Problem & p) {
                  p.bins = 256;
                  p.virtualSize = { 97, 83, 71 };
                  p.movingSize = { 101, 79, 75 };
                }),
    MakeProblem("Bins1500",
                [](Problem & p) {
                  p.bins = 1500;
                  p.virtualSize = { 21, 13, 5 };
                  p.derivative = Forces::None;
                }),
    MakeProblem("Bins256Forces",
                [](Problem & p) {
                  p.bins = 256;
                  p.virtualSize = { 97, 83, 71 };
                  p.movingSize = { 101, 79, 75 };
                  p.derivative = Forces::OfEachSample;
                }),
  };
}

std::vector<Problem>
MakeProblems()
{
  std::vector<Problem> all = MakeProblemsOfSamples();
  for (const auto & more : { MakeProblemsOfMovingImages(), MakeProblemsOfSizes() })
  {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Problems,
                         OpenCLEquivalenceTest,
                         ::testing::ValuesIn(MakeProblems()),
                         [](const ::testing::TestParamInfo<Problem> & info) { return std::string(info.param.name); });

TEST_F(OpenCLBackendTest, RepeatsToTheBitInAnotherObject)
{
  const Problem problem = MakeProblem("Large", [](Problem & p) {
    p.virtualSize = { 97, 83, 71 };
    p.movingSize = { 101, 79, 75 };
  });
  EXPECT_TRUE(EvaluateOn(DeviceName, problem) == EvaluateOn(DeviceName, problem));
}

TEST_F(OpenCLBackendTest, ServesTwoThreadsAtOnceAsItServesOne)
{
  const Problem problems[2] = { MakeProblem("Plain", [](Problem &) {}),
                                MakeProblem("Points", [](Problem & p) { p.pointCount = 40003; }) };
  const Answer  alone[2] = { EvaluateOn(DeviceName, problems[0]), EvaluateOn(DeviceName, problems[1]) };
  int           wrong[2] = { 0, 0 };
  const auto    work = [&](int which) {
    for (int repetition = 0; repetition < 20; ++repetition)
    {
      MattesMetric metric(DeviceName, problems[which].bins);
      SetSides(metric, problems[which]);
      for (int evaluation = 0; evaluation < 5; ++evaluation)
      {
        wrong[which] += Evaluate(metric, problems[which]) == alone[which] ? 0 : 1;
      }
    }
  };
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(wrong[0], 0);
  EXPECT_EQ(wrong[1], 0);
}

TEST_F(OpenCLBackendTest, CountsWhatAnEvaluationCosts)
{
  const Problem problem = MakeProblem("Plain", [](Problem &) {});
  MattesMetric  metric(DeviceName, problem.bins);
  SetSides(metric, problem);
  Evaluate(metric, problem);
  metric.SetTiming(true);
  const auto started = std::chrono::steady_clock::now();
  Evaluate(metric, problem);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - started;
  const EvaluationStatistics                      cost = metric.GetStatistics();
  EXPECT_EQ(cost.launches, 4);
  EXPECT_EQ(cost.copiesUp, 0);
  EXPECT_EQ(cost.copiesDown, 1);
  EXPECT_EQ(cost.allocations, 0);
  EXPECT_EQ(cost.synchronizations, 1);
  EXPECT_GE(cost.bytesDown, std::int64_t{ 8 } * problem.bins * problem.bins);
  EXPECT_GT(cost.kernelMilliseconds, 0);
  EXPECT_LT(cost.kernelMilliseconds, elapsed.count());
}

/** Sets a device's memory limit, and removes it at the end of the scope. */
class MemoryLimitScope
{
public:
  explicit MemoryLimitScope(std::size_t bytes)
  {
    SetMemoryLimit(DeviceName, bytes);
  }
  ~MemoryLimitScope()
  {
    SetMemoryLimit(DeviceName, 0);
  }
};

TEST_F(OpenCLBackendTest, SaysSoWhenMemoryIsOutAndWorksAgainAfterwards)
{
  const Problem     problem = MakeProblem("Plain", [](Problem &) {});
  const Answer      expected = EvaluateOn(DeviceName, problem);
  const std::size_t before = GetMemoryInUse(DeviceName);
  MattesMetric      metric(DeviceName, problem.bins);
  metric.SetFixedSamples(MakeFixedSide(problem), RunInOrder);
  {
    const MemoryLimitScope limit(GetMemoryInUse(DeviceName) + 1000);
    try
    {
      metric.SetMovingImage(MakeMovingSide(problem), RunInOrder);
      FAIL() << "the limit was passed";
    }
    catch (const Error & error)
    {
      EXPECT_NE(std::string(error.what()).find("out of memory on opencl:0"), std::string::npos) << error.what();
    }
    EXPECT_THROW(Evaluate(metric, problem), Error);
  }
  SetSides(metric, problem);
  EXPECT_TRUE(Evaluate(metric, problem) == expected);
  {
    // The images are on the device, but there is no memory for the derivative of each sample.
    Problem more = problem;
    more.derivative = Forces::OfEachSample;
    const MemoryLimitScope limit(GetMemoryInUse(DeviceName) + 1000);
    EXPECT_THROW(Evaluate(metric, more), Error);
  }
  EXPECT_TRUE(Evaluate(metric, problem) == expected);
  EXPECT_GT(GetMemoryInUse(DeviceName), before);
}

TEST_F(OpenCLBackendTest, RefusesAnArrayLargerThanTheDevice)
{
  const Problem     problem = MakeProblem("Plain", [](Problem &) {});
  const std::size_t before = GetMemoryInUse(DeviceName);
  MattesMetric      metric(DeviceName, problem.bins);
  FixedSamples      huge = MakeFixedSide(problem);
  huge.virtualSize = { 16384, 16384, 8192 };
  EXPECT_THROW(metric.SetFixedSamples(huge, RunInOrder), Error);
  EXPECT_EQ(GetMemoryInUse(DeviceName), before);
  SetSides(metric, problem);
  EXPECT_TRUE(Evaluate(metric, problem) == EvaluateOn(DeviceName, problem));
}

TEST_F(OpenCLBackendTest, KeepsOpenCLsFunctionsToItself)
{
  EvaluateOn(DeviceName, MakeProblem("Plain", [](Problem &) {}));
  // Neither the functions that the library defines nor those of the system's library are visible.
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "clGetPlatformIDs"), nullptr);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "clReleaseContext"), nullptr);
}

// Names the file to which the test below writes its result.
const char * const AnswerVariable = "GPUREG_TEST_ANSWER";

const Problem &
GetProcessProblem()
{
  static const Problem problem = MakeProblem("Differences", [](Problem & p) { p.hasGradient = false; });
  return problem;
}

/** Runs in new processes for the tests below: a process keeps its programs, so the effect of the cache on disk shows only in new ones. */
TEST_F(OpenCLBackendTest, EvaluatesInAProcessOfItsOwn)
{
  const char * path = std::getenv(AnswerVariable);
  if (!path)
  {
    GTEST_SKIP() << "the cache's tests run this, in processes of their own";
  }
  const Answer  answer = EvaluateOn(DeviceName, GetProcessProblem());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(answer.histogram.data()),
             static_cast<std::streamsize>(answer.histogram.size() * sizeof(answer.histogram[0])));
  file.write(reinterpret_cast<const char *>(answer.forceSums.data()), sizeof(answer.forceSums));
  EXPECT_TRUE(file.good());
}

class OpenCLDiskCacheTest : public OpenCLBackendTest
{
protected:
  /** Returns the result of a new process that has its cache in a folder; empty if it failed. */
  std::string
  EvaluateInProcess(const std::string & folder, const std::string & answerName = "answer") const
  {
    const std::filesystem::path answer = m_Folder.GetPath() / answerName;
    std::filesystem::remove(answer);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command =
      "GPUREG_OPENCL_CACHE='" + folder + "' " + AnswerVariable + "='" + answer.string() + "' GTEST_OUTPUT= '" +
      program + "' --gtest_filter=OpenCLBackendTest.EvaluatesInAProcessOfItsOwn >'" + answer.string() + ".log' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << ReadFile(answer.string() + ".log");
    return ReadFile(answer);
  }

  /** Returns the entry of the metric's program, the larger one of two, after checking that there are two; the other program makes the
   *  moving image's layout. */
  std::filesystem::path
  GetEntry() const
  {
    const auto files = ListFiles(m_Cache);
    EXPECT_EQ(files.size(), 2u);
    const auto larger = std::max_element(files.begin(), files.end(), [](const auto & a, const auto & b) {
      return std::filesystem::file_size(a) < std::filesystem::file_size(b);
    });
    return files.empty() ? std::filesystem::path() : std::filesystem::path(*larger);
  }

  TemporaryFolder             m_Folder;
  const std::filesystem::path m_Cache = m_Folder.GetPath() / "cache";
};

TEST_F(OpenCLDiskCacheTest, KeepsAProgramForTheNextProcess)
{
  const std::string first = EvaluateInProcess(m_Cache);
  ASSERT_FALSE(first.empty());
  const auto written = std::filesystem::last_write_time(GetEntry());
  // A process that compiles writes an entry: an entry that does not change was used.
  EXPECT_EQ(EvaluateInProcess(m_Cache), first);
  EXPECT_EQ(std::filesystem::last_write_time(GetEntry()), written);
}

TEST_F(OpenCLDiskCacheTest, ReplacesBrokenEntries)
{
  const std::string expected = EvaluateInProcess(m_Cache);
  ASSERT_FALSE(expected.empty());
  const std::filesystem::path entry = GetEntry();
  for (const auto & broken : MakeBrokenCopies(ReadFile(entry)))
  {
    WriteFile(entry, broken.second);
    EXPECT_EQ(EvaluateInProcess(m_Cache), expected) << broken.first;
    EXPECT_EQ(GetEntry(), entry) << broken.first;
    EXPECT_NE(ReadFile(entry), broken.second) << broken.first;
  }
}

TEST_F(OpenCLDiskCacheTest, ReplacesABinaryThatTheDriverRefuses)
{
  const std::string expected = EvaluateInProcess(m_Cache);
  ASSERT_FALSE(expected.empty());
  // A valid entry for this key, except for its binary.
  const std::string                content = ReadFile(GetEntry());
  const std::size_t                keyLine = content.find("\nkey ") + 5;
  const std::size_t                keyStart = content.find('\n', keyLine) + 1;
  const std::string                key = content.substr(keyStart, std::stoul(content.substr(keyLine)));
  const OpenCLProgramCache         cache(m_Cache);
  const std::vector<unsigned char> refused(3000, 'r');
  ASSERT_EQ(cache.GetPath(key), GetEntry().string());
  ASSERT_TRUE(cache.Store(key, refused));
  ASSERT_EQ(cache.Load(key), refused);

  EXPECT_EQ(EvaluateInProcess(m_Cache), expected);
  EXPECT_FALSE(cache.Load(key).empty());
  EXPECT_NE(cache.Load(key), refused);
}

TEST_F(OpenCLDiskCacheTest, ServesSeveralProcessesAtOnce)
{
  std::string answers[2];
  std::thread other([&] { answers[0] = EvaluateInProcess(m_Cache, "first"); });
  answers[1] = EvaluateInProcess(m_Cache, "second");
  other.join();
  EXPECT_FALSE(answers[0].empty());
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_FALSE(GetEntry().empty());
}

TEST_F(OpenCLDiskCacheTest, DoesWithoutAFolder)
{
  const std::string expected = EvaluateInProcess("off");
  ASSERT_FALSE(expected.empty());
  EXPECT_FALSE(std::filesystem::exists(m_Cache));
  // Nobody, not even root, can write there.
  EXPECT_EQ(EvaluateInProcess("/proc/no/such/folder"), expected);
  const std::filesystem::path readOnly = m_Folder.GetPath() / "read-only";
  std::filesystem::create_directory(readOnly);
  std::filesystem::permissions(readOnly, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(EvaluateInProcess(readOnly), expected);
  std::filesystem::permissions(readOnly, std::filesystem::perms::owner_all);
}

} // namespace
