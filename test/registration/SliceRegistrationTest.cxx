// SPDX-License-Identifier: Apache-2.0
// Tests registrations of slices in double precision, with every sampling strategy: they take the same steps as with ITK's metric.
#include "RegistrationSetUp.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkImageRegistrationMethodv4.h"

#include <algorithm>
#include <cmath>

namespace gpuregtest
{

namespace
{
using ImageType = TestImage<double, 2>;
using Ours = OurMetric<double, 2>;
using Itks = ItkMetric<double, 2>;
using RegistrationType = itk::ImageRegistrationMethodv4<ImageType, ImageType>;
using Strategy = RegistrationType::MetricSamplingStrategyEnum;
using TransformType = itk::AffineTransform<double, 2>;

constexpr int Iterations = 15;

class SliceRegistrationTest : public DeviceTest
{
protected:
  static Grid<2>
  MakeGrid()
  {
    Grid<2> grid;
    grid.size.Fill(97);
    grid.size[1] = 89;
    grid.spacing[1] = 1.1;
    grid.origin.Fill(-40.0);
    return grid;
  }

  /** Returns the result of an affine registration. \param elsewhere the distance of its start from the identity, mm. */
  static TransformType::Pointer
  Register(std::uint64_t seed, Strategy strategy, const Itks::Pointer & metric, double elsewhere = 0)
  {
    const Grid<2> grid = MakeGrid();
    auto          images = MakeImagePair<ImageType>(grid, grid, seed);
    // Half of the space is flat, with a soft border.
    Random               random(seed);
    const SmoothFunction where(random, 0.6 * grid.GetExtent(0), 1.5 * grid.GetExtent(0));
    for (const auto & image : { images.first, images.second })
    {
      for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
      {
        ImageType::PointType point;
        image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
        it.Set(it.Get() * std::min(1.0, std::max(0.0, 3.0 * where(point - grid.GetCentre()))));
      }
    }
    const auto transform = TransformType::New();
    transform->SetCenter(grid.GetCentre());
    transform->Rotate2D(0.04);
    TransformType::OutputVectorType offset;
    offset[0] = 1.7 + elsewhere;
    offset[1] = -1.1;
    transform->SetTranslation(offset);
    metric->SetNumberOfHistogramBins(100);
    const auto registration = RegistrationType::New();
    SetUpRegistration(*registration, images.first, images.second, transform, metric, { { 1, 0.0 } });
    registration->SetOptimizer(MakeGradientDescent(metric, Iterations, 0.3));
    registration->SetMetricSamplingStrategy(strategy);
    registration->SetMetricSamplingPercentage(0.2);
    registration->MetricSamplingReinitializeSeed(17);
    registration->Update();
    return transform;
  }

  /** Returns the largest distance between a corner of the grid mapped by two transforms, mm. */
  static double
  GetDistance(const TransformType & a, const TransformType & b)
  {
    const Grid<2> grid = MakeGrid();
    double        distance = 0;
    for (const double x : { 0.0, grid.size[0] - 1.0 })
    {
      for (const double y : { 0.0, grid.size[1] - 1.0 })
      {
        itk::Vector<double, 2> index;
        index[0] = x;
        index[1] = y;
        const auto corner = grid.GetPoint(index);
        distance = std::max(distance, a.TransformPoint(corner).EuclideanDistanceTo(b.TransformPoint(corner)));
      }
    }
    return distance;
  }
};
} // namespace

/** Expects the result to be no further away than that of ITK's own registration from a start that is 1e-7 mm aside: fifteen steps
 *  amplify this up to ten thousand times, as they do the metrics' different rounding. */
TEST_P(SliceRegistrationTest, LeadsWhereItkLeads)
{
  const Grid<2> grid = MakeGrid();
  for (const std::uint64_t seed : { 1u, 2u, 3u, 4u, 5u, 6u })
  {
    for (const Strategy strategy : { Strategy::NONE, Strategy::REGULAR, Strategy::RANDOM })
    {
      SCOPED_TRACE(std::to_string(seed) + ", sampling " + std::to_string(static_cast<int>(strategy)));
      const auto ours = Ours::New();
      ours->SetDevice(GetDevice());
      ours->NormalizedOff();
      const auto here = Register(seed, strategy, ours.GetPointer());
      const auto there = Register(seed, strategy, Itks::New());
      const auto aside = Register(seed, strategy, Itks::New(), 1e-7);
      EXPECT_LE(GetDistance(*here, *there), 1e-6 + GetDistance(*aside, *there));
      EXPECT_GT((there->TransformPoint(grid.origin) - grid.origin).GetNorm(), 1e-3);
    }
  }
}

/** At voxels that have the smallest or the largest value, rounding must not lead a spline out of the range. */
TEST_P(SliceRegistrationTest, SplinesStayInRangeAtTheirVoxels)
{
  Grid<2> grid;
  grid.size.Fill(100);
  const auto makeBlob = [&grid](double x, double y) {
    return MakeImage<ImageType>(grid, [=](const ImageType::PointType & p) {
      return std::floor(200 * std::exp(-((p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y)) / 2500));
    });
  };
  const auto fixed = makeBlob(50, 50);
  const auto moving = makeBlob(45, 45);
  const auto transform = TransformType::New();
  const auto setUp = [&](auto & metric) {
    metric.SetFixedImage(fixed);
    metric.SetMovingImage(moving);
    metric.SetMovingTransform(transform);
    metric.SetMovingInterpolator(itk::BSplineInterpolateImageFunction<ImageType, double>::New());
    metric.SetUseMovingImageGradientFilter(false);
    metric.Initialize();
  };
  const auto ours = Ours::New();
  ours->SetDevice(GetDevice());
  ours->NormalizedOff();
  setUp(*ours);
  const auto itks = Itks::New();
  setUp(*itks);
  for (const double shift : { 0.0, 1e-4, 2.0, 3.0, 3.5 })
  {
    TransformType::OutputVectorType translation;
    translation.Fill(shift);
    transform->SetTranslation(translation);
    const Answer here = Evaluate(*ours);
    const Answer there = Evaluate(*itks);
    EXPECT_EQ(here.validPoints, there.validPoints) << shift;
    EXPECT_NEAR(here.value, there.value, 1e-5 * std::abs(there.value)) << shift;
    EXPECT_LE(GetRelativeError(here.derivative, there.derivative), 1e-5) << shift;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SliceRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
