// SPDX-License-Identifier: Apache-2.0
// Tests that a metric gives the same bits from run to run, with any number of threads, and besides other metrics.
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"
#include "TestSplines.h"
#include "TestThreads.h"

#include "gpureg/runtime/Device.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkWindowedSincInterpolateImageFunction.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<float, 3>;
using MetricType = OurMetric<float, 3>;

/** The code paths of the engine. */
enum class Path
{
  Plain,
  MaskAndDifferences,
  Points,
  Field,
  FieldAtPoints,
  BeforeField, // the affine transform, which is optimized, is applied before a field
  BehindField,
  Spline,
  ThroughITK
};

const Path AllPaths[] = { Path::Plain,         Path::MaskAndDifferences, Path::Points,      Path::Field,
                          Path::FieldAtPoints, Path::BeforeField,        Path::BehindField, Path::Spline,
                          Path::ThroughITK };

/** Returns the number of doubles between two numbers. */
std::int64_t
GetUlps(double a, double b)
{
  std::int64_t i, j;
  std::memcpy(&i, &a, sizeof(i));
  std::memcpy(&j, &b, sizeof(j));
  return std::abs(i - j); // for numbers of the same sign
}

void
ExpectSameBits(const Answer & a, const Answer & b)
{
  EXPECT_EQ(std::memcmp(&a.value, &b.value, sizeof(double)), 0) << a.value << ' ' << b.value;
  EXPECT_EQ(std::memcmp(&a.valueAlone, &b.valueAlone, sizeof(double)), 0);
  EXPECT_EQ(a.validPoints, b.validPoints);
  ASSERT_EQ(a.derivative.size(), b.derivative.size());
  EXPECT_EQ(std::memcmp(a.derivative.data(), b.derivative.data(), a.derivative.size() * sizeof(double)), 0);
}

Grid<3>
MakeGrid()
{
  Grid<3> grid;
  grid.size[0] = 45; // more than a tile along each axis, and not a multiple of one
  grid.size[1] = 39;
  grid.size[2] = 22;
  grid.spacing[2] = 1.4;
  return grid;
}

/** Returns a metric with images and a transform of its own: it shares nothing with other metrics. */
MetricType::Pointer
MakeMetric(Path path, const itk::GPUDevice & device, std::uint64_t seed = 1)
{
  const Grid<3> grid = MakeGrid();
  const auto    images = MakeImagePair<ImageType>(grid, grid, seed);
  const auto    metric = MetricType::New();
  metric->SetDevice(device);
  metric->SetFixedImage(images.first);
  metric->SetMovingImage(images.second);

  const auto affine = itk::AffineTransform<double, 3>::New();
  auto       parameters = affine->GetParameters();
  Random     random(seed);
  for (unsigned int p = 0; p < 12; ++p)
  {
    parameters[p] += Uniform(random, -0.05, 0.05) * (p < 9 ? 1.0 : 30.0);
  }
  affine->SetCenter(grid.GetCentre());
  affine->SetParameters(parameters);
  metric->SetMovingTransform(affine);

  if (path == Path::MaskAndDifferences)
  {
    using MaskType = itk::ImageMaskSpatialObject<3>;
    const auto mask = MaskType::New();
    mask->SetImage(MakeImage<MaskType::ImageType>(grid, [&](const auto & p) {
      return (p - grid.GetCentre()).GetNorm() < 18.0 ? 1 : 0;
    }));
    mask->Update();
    metric->SetMovingImageMask(mask);
    metric->UseMovingImageGradientFilterOff();
  }
  if (path == Path::Points || path == Path::FieldAtPoints)
  {
    const auto points = MetricType::VirtualPointSetType::New();
    for (int n = 0; n < 5000; ++n) // some of them in the same voxel
    {
      itk::Vector<double, 3> index;
      for (unsigned int d = 0; d < 3; ++d)
      {
        index[d] = Uniform(random, -0.4, static_cast<double>(grid.size[d]) - 0.6);
      }
      MetricType::VirtualPointSetType::PointType point;
      point.CastFrom(grid.GetPoint(index));
      points->SetPoint(n, point);
    }
    metric->SetVirtualSampledPointSet(points);
    metric->UseSampledPointSetOn();
    metric->UseVirtualSampledPointSetOn();
  }
  const bool isBefore = path == Path::BeforeField;
  const bool isBehind = path == Path::BehindField;
  if (path == Path::Field || path == Path::FieldAtPoints || isBefore || isBehind)
  {
    using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
    const auto field = FieldTransformType::DisplacementFieldType::New();
    grid.ApplyTo(*field);
    field->Allocate();
    for (std::size_t n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
    {
      for (unsigned int d = 0; d < 3; ++d)
      {
        field->GetBufferPointer()[n][d] = 1.5 * std::sin(0.001 * static_cast<double>(n) + d);
      }
    }
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    metric->SetMovingTransform(transform);
    if (isBefore || isBehind)
    {
      const auto composite = itk::CompositeTransform<double, 3>::New();
      composite->AddTransform(isBehind ? affine.GetPointer()
                                       : static_cast<MetricType::MovingTransformType *>(transform));
      composite->AddTransform(isBefore ? affine.GetPointer()
                                       : static_cast<MetricType::MovingTransformType *>(transform));
      composite->SetNthTransformToOptimize(0, isBehind);
      composite->SetNthTransformToOptimize(1, isBefore);
      metric->SetMovingTransform(composite);
    }
  }
  if (path == Path::Spline)
  {
    metric->SetMovingTransform(MakeRandomSpline<3>(*images.first, 3, 1.5, seed));
  }
  if (path == Path::ThroughITK)
  {
    metric->SetMovingInterpolator(itk::WindowedSincInterpolateImageFunction<ImageType, 2>::New());
  }
  return metric;
}

class DeterminismTest : public DeviceTest
{};
} // namespace

TEST_P(DeterminismTest, AskedTwice)
{
  for (const Path path : AllPaths)
  {
    SCOPED_TRACE(static_cast<int>(path));
    const auto   metric = MakeMetric(path, GetDevice());
    const Answer first = InitializeAndAsk(*metric);
    EXPECT_GT(first.validPoints, 1000u);
    ExpectSameBits(first, InitializeAndAsk(*metric));
    ExpectSameBits(first, InitializeAndAsk(*MakeMetric(path, GetDevice())));
  }
}

TEST_P(DeterminismTest, AnyNumberOfThreads)
{
  const PlatformThreads platformThreads;
  for (const Path path : AllPaths)
  {
    SCOPED_TRACE(static_cast<int>(path));
    Answer first;
    for (const unsigned int threads : { 1u, 2u, 7u })
    {
      const auto metric = MakeMetric(path, GetDevice());
      PlatformThreads::Set(*metric, threads);
      const Answer answer = InitializeAndAsk(*metric);
      if (threads == 1)
      {
        first = answer;
      }
      ExpectSameBits(first, answer);
    }
  }
}

TEST_P(DeterminismTest, ValueAloneIsTheValue)
{
  for (const Path path : AllPaths)
  {
    for (const bool normalized : { true, false })
    {
      SCOPED_TRACE(static_cast<int>(path));
      const auto metric = MakeMetric(path, GetDevice());
      metric->SetNormalized(normalized);
      const Answer answer = InitializeAndAsk(*metric);
      EXPECT_LE(GetUlps(answer.value, answer.valueAlone), 8);
    }
  }
}

TEST_P(DeterminismTest, BesideAnotherMetric)
{
  for (const Path path : AllPaths)
  {
    SCOPED_TRACE(static_cast<int>(path));
    const Answer alone[] = { InitializeAndAsk(*MakeMetric(path, GetDevice(), 1)),
                             InitializeAndAsk(*MakeMetric(path, GetDevice(), 2)) };
    EXPECT_NE(alone[0].value, alone[1].value);
    Answer together[2];
    {
      const auto  metrics = { MakeMetric(path, GetDevice(), 1), MakeMetric(path, GetDevice(), 2) };
      std::thread threads[2];
      for (int n = 0; n < 2; ++n)
      {
        threads[n] = std::thread([&, n] {
          for (int repetition = 0; repetition < 3; ++repetition)
          {
            together[n] = InitializeAndAsk(**(metrics.begin() + n));
          }
        });
      }
      threads[0].join();
      threads[1].join();
    }
    ExpectSameBits(alone[0], together[0]);
    ExpectSameBits(alone[1], together[1]);
  }
}

/** Devices round differently: results agree to 1e-5. */
TEST_P(DeterminismTest, AgreesWithTheHost)
{
  if (GetParam() == "host")
  {
    GTEST_SKIP() << "the host is what the others are compared with";
  }
  for (const Path path : AllPaths)
  {
    SCOPED_TRACE(static_cast<int>(path));
    const Answer host = InitializeAndAsk(*MakeMetric(path, itk::GPUDevice::FromName("host")));
    const Answer here = InitializeAndAsk(*MakeMetric(path, GetDevice()));
    EXPECT_EQ(here.validPoints, host.validPoints);
    EXPECT_NEAR(here.value, host.value, 1e-5 * std::abs(host.value));
    double error = 0, norm = 0;
    for (std::size_t p = 0; p < host.derivative.size(); ++p)
    {
      error += std::pow(here.derivative[p] - host.derivative[p], 2);
      norm += std::pow(host.derivative[p], 2);
    }
    EXPECT_LE(std::sqrt(error / norm), 1e-5);
  }
}

/** The derivative by the many coefficients of a B-spline is stored once, not once for each thread as in other implementations (Shamonin
 *  2014, section 3.1): more threads of the host take no more memory. */
TEST(HostMemory, OfManyParametersIsNotEachThreads)
{
  const PlatformThreads platformThreads;
  Grid<3>               grid;
  grid.size.Fill(24);
  const auto [fixed, moving] = MakeImagePair<ImageType>(grid, grid, 5);
  const auto spline = MakeRandomSpline<3>(*fixed, 40, 0.3, 6);
  const auto bytes = static_cast<double>(sizeof(double) * spline->GetNumberOfParameters());
  const auto measure = [&](unsigned int threads) {
    const auto metric = MetricType::New();
    metric->SetDevice(itk::GPUDevice::FromName("host"));
    metric->SetFixedImage(fixed);
    metric->SetMovingImage(moving);
    metric->SetMovingTransform(spline);
    PlatformThreads::Set(*metric, threads);
    const auto before = gpureg::GetMemoryInUse("host");
    gpureg::CountMostMemoryFromNow("host");
    const Answer answer = InitializeAndAsk(*metric);
    EXPECT_GT(GetNorm(answer.derivative), 0.0);
    return static_cast<double>(gpureg::GetMostMemoryInUse("host") - before);
  };
  const double ofOne = measure(1);
  EXPECT_GT(ofOne, bytes / 2);
  EXPECT_LT(measure(16), ofOne + bytes);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeterminismTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
