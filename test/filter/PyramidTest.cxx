// SPDX-License-Identifier: Apache-2.0
// Compares GPUMultiResolutionPyramidImageFilter and GPURecursiveMultiResolutionPyramidImageFilter with ITK's filters on every device: each
// level's voxels and geometry.
#include "Listening.h"
#include "VolumeFilterCase.h"

#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"

#include "gpureg/runtime/Device.h"

#include "itkCastImageFilter.h"
#include "itkExtractImageFilter.h"

namespace gpuregtest
{
namespace
{

using Schedule = std::vector<std::vector<unsigned int>>;

template <typename TFilter>
void
Configure(TFilter & filter, const Schedule & schedule, bool shrinks)
{
  itk::Array2D<unsigned int> factors(static_cast<unsigned int>(schedule.size()),
                                     static_cast<unsigned int>(schedule[0].size()));
  for (unsigned int level = 0; level < factors.rows(); ++level)
  {
    for (unsigned int d = 0; d < factors.cols(); ++d)
    {
      factors[level][d] = schedule[level][d];
    }
  }
  filter.SetNumberOfLevels(factors.rows());
  filter.SetSchedule(factors);
  filter.SetUseShrinkImageFilter(shrinks);
}

class Pyramid : public DeviceTest
{
protected:
  void
  TearDown() override
  {
    EXPECT_LE(10 * m_Refused, m_Compared);
  }

  template <typename TReference, typename TFilter>
  void
  Compare(const typename TFilter::InputImageType & input, const Schedule & schedule, bool shrinks, double tolerance)
  {
    SCOPED_TRACE(std::string(shrinks ? "shrinks, " : "interpolates, ") + ::testing::PrintToString(schedule));
    using OutputType = typename TFilter::OutputImageType;
    auto reference = TReference::New();
    auto filter = TFilter::New();
    filter->SetDevice(this->GetDevice());
    Configure(*reference, schedule, shrinks);
    Configure(*filter, schedule, shrinks);
    reference->SetInput(&input);
    filter->SetInput(&input);
    try
    {
      reference->Update();
    }
    catch (const itk::InvalidRequestedRegionError &)
    {
      // ITK's own filters cannot agree on a region, so there is nothing to compare with.
      ++m_Refused;
      return;
    }
    filter->Update();
    ++m_Compared;
    for (unsigned int level = 0; level < schedule.size(); ++level)
    {
      SCOPED_TRACE("level " + std::to_string(level));
      const OutputType & expected = *reference->GetOutput(level);
      const OutputType & output = *filter->GetOutput(level);
      EXPECT_EQ(expected.GetLargestPossibleRegion(), output.GetLargestPossibleRegion());
      EXPECT_EQ(expected.GetSpacing(), output.GetSpacing());
      EXPECT_EQ(expected.GetDirection(), output.GetDirection());
      for (unsigned int d = 0; d < OutputType::ImageDimension; ++d)
      {
        EXPECT_DOUBLE_EQ(expected.GetOrigin()[d], output.GetOrigin()[d]);
      }
      if (tolerance == 0)
      {
        EXPECT_EQ(CountDifferent(expected, output), 0u) << "of " << expected.GetBufferedRegion().GetSize();
        continue;
      }
      EXPECT_LE(GetNrmse(expected, output), tolerance);
    }
  }

  template <typename TInput, typename TOutput>
  void
  TestImage(const TInput &                input,
            const std::vector<Schedule> & schedules,
            double                        tolerance,
            const std::vector<bool> &     whetherItShrinks = { false, true })
  {
    using PlainReference = itk::MultiResolutionPyramidImageFilter<TInput, TOutput>;
    using PlainFilter = itk::GPUMultiResolutionPyramidImageFilter<TInput, TOutput>;
    using RecursiveReference = itk::RecursiveMultiResolutionPyramidImageFilter<TInput, TOutput>;
    using RecursiveFilter = itk::GPURecursiveMultiResolutionPyramidImageFilter<TInput, TOutput>;
    SCOPED_TRACE(std::string(typeid(TInput).name()) + " " + ::testing::PrintToString(input.GetBufferedRegion()));
    for (const Schedule & schedule : schedules)
    {
      for (const bool shrinks : whetherItShrinks)
      {
        this->Compare<PlainReference, PlainFilter>(input, schedule, shrinks, tolerance);
        this->Compare<RecursiveReference, RecursiveFilter>(input, schedule, shrinks, tolerance);
      }
    }
  }

  int m_Compared = 0;
  int m_Refused = 0;
};

const std::vector<Schedule> Schedules2{ { { 8, 8 }, { 4, 4 }, { 2, 2 }, { 1, 1 } },
                                        { { 3, 3 }, { 1, 1 } },
                                        { { 6, 2 }, { 3, 1 }, { 3, 1 } },
                                        { { 5, 4 }, { 3, 2 } } };
const std::vector<Schedule> Schedules3{ { { 4, 4, 4 }, { 2, 2, 2 }, { 1, 1, 1 } },
                                        { { 4, 4, 1 }, { 2, 2, 1 }, { 1, 1, 1 }, { 1, 1, 1 } },
                                        { { 8, 3, 2 }, { 4, 3, 1 } },
                                        { { 5, 4, 3 }, { 2, 3, 2 } } };

/** Returns a grid with a start index from which no factor of the schedules leads exactly to the edge of the image. */
template <unsigned int VDimension>
Grid<VDimension>
MakePyramidGrid(const std::vector<unsigned int> & size, bool startsAtZero)
{
  auto grid = MakeOddGrid<VDimension>(size);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.start[d] = startsAtZero ? 0 : 120 * (1 + static_cast<int>(d));
  }
  return grid;
}

TEST_P(Pyramid, AsITKInFloat)
{
  using Image2 = itk::Image<float, 2>;
  using Image3 = itk::Image<float, 3>;
  for (const bool startsAtZero : { true, false })
  {
    TestImage<Image2, Image2>(*MakeWaves<Image2>(MakePyramidGrid<2>({ 64, 48 }, startsAtZero), 1), Schedules2, 5e-7);
    TestImage<Image2, Image2>(*MakeWaves<Image2>(MakePyramidGrid<2>({ 37, 61 }, startsAtZero), 1), Schedules2, 5e-7);
    TestImage<Image3, Image3>(*MakeWaves<Image3>(MakePyramidGrid<3>({ 40, 24, 32 }, startsAtZero), 1),
                              Schedules3,
                              5e-7);
    TestImage<Image3, Image3>(*MakeWaves<Image3>(MakePyramidGrid<3>({ 21, 18, 35 }, startsAtZero), 1),
                              Schedules3,
                              5e-7);
  }
  TestImage<Image2, Image2>(*MakeWaves<Image2>(MakePyramidGrid<2>({ 2000, 9 }, true), 1), Schedules2, 5e-7);
  auto slice = MakePyramidGrid<3>({ 24, 40, 1 }, true);
  slice.direction.SetIdentity();
  TestImage<Image3, Image3>(*MakeWaves<Image3>(slice, 1), Schedules3, 5e-7);
}

/** Every value but 0 is true: masks grow from level to level, while integers would be truncated. */
TEST_P(Pyramid, BoolsAreLeftToITK)
{
  using ImageType = itk::Image<bool, 2>;
  const auto      image = MakeImage<ImageType>(MakePyramidGrid<2>({ 40, 30 }, true), [](const auto & point) {
    return std::abs(point[0]) < 25 && std::abs(point[1]) < 12;
  });
  const Listening listening;
  TestImage<ImageType, ImageType>(*image, Schedules2, 0);
  EXPECT_GT(listening.window->Count("Pyramids of these images are not made on a device."), 0u);
}

TEST_P(Pyramid, AsITKInOtherTypes)
{
  auto grid = MakePyramidGrid<3>({ 40, 25, 32 }, true);
  TestImage<itk::Image<double, 3>, itk::Image<double, 3>>(*MakeWaves<itk::Image<double, 3>>(grid, 1),
                                                          Schedules3,
                                                          1e-13);
  TestImage<itk::Image<short, 3>, itk::Image<float, 3>>(*MakeWaves<itk::Image<short, 3>>(grid, 1), Schedules3, 5e-7);
  TestImage<itk::Image<double, 3>, itk::Image<float, 3>>(*MakeWaves<itk::Image<double, 3>>(grid, 1), Schedules3, 5e-7);
  // ITK interpolates integers at rounded positions, and truncates a value that is just below an integer; the next level starts from these
  // values. Everything is equal where axes are parallel to the physical ones, in either direction, with any start index and spacing; on
  // oblique axes ITK's rounding differs from row to row.
  for (const double spacing : { 1.0, 0.7, 1.15 })
  {
    for (const int start : { 0, 1, -8 })
    {
      grid.spacing.Fill(spacing);
      grid.spacing[1] *= 1.3;
      grid.start.Fill(start);
      grid.direction.SetIdentity();
      if (start == 1)
      {
        grid.direction[0][0] = grid.direction[2][2] = -1;
      }
      SCOPED_TRACE(std::to_string(spacing) + ", from " + std::to_string(start));
      TestImage<itk::Image<short, 3>, itk::Image<short, 3>>(*MakeWaves<itk::Image<short, 3>>(grid, 1), Schedules3, 0);
      TestImage<itk::Image<unsigned char, 3>, itk::Image<unsigned char, 3>>(
        *MakeWaves<itk::Image<unsigned char, 3>>(grid, 1), Schedules3, 0);
      TestImage<itk::Image<float, 3>, itk::Image<short, 3>>(*MakeWaves<itk::Image<float, 3>>(grid, 1), Schedules3, 0);
      TestImage<itk::Image<int, 3>, itk::Image<int, 3>>(*MakeWaves<itk::Image<int, 3>>(grid, 1), Schedules3, 0);
    }
  }
}

/** A level's last voxel lies half-way between the input's last voxel and the one behind it. By ITK's rounding it is inside, and then
 *  equals the last voxel, or outside, and then is 0. */
TEST_P(Pyramid, TheEdge)
{
  const auto testEdge = [this](auto grid, const std::vector<Schedule> & schedules, double spacing, int start) {
    SCOPED_TRACE("spacing " + std::to_string(spacing) + ", start " + std::to_string(start));
    constexpr unsigned int Dimension = std::is_same<decltype(grid), Grid<2>>::value ? 2 : 3;
    using FloatType = itk::Image<float, Dimension>;
    using ShortType = itk::Image<short, Dimension>;
    grid.direction.SetIdentity();
    grid.spacing.Fill(spacing);
    grid.start.Fill(start);
    this->TestImage<FloatType, FloatType>(*MakeWaves<FloatType>(grid, 1), schedules, 5e-7, { false });
    this->TestImage<ShortType, ShortType>(*MakeWaves<ShortType>(grid, 1), schedules, 0, { false });
    // All positions are at voxels, except at the edge.
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      grid.spacing[d] = d + 1 == Dimension ? spacing : 1.0;
      grid.origin[d] = 0.0;
    }
    Schedule last = schedules.front();
    for (auto & factors : last)
    {
      std::fill(factors.begin(), factors.end() - 1, 1);
    }
    this->TestImage<ShortType, ShortType>(*MakeWaves<ShortType>(grid, 1), { last }, 0, { false });
  };
  for (const double spacing : { 1.0, 0.7, 1.15, 0.9, 3.3 })
  {
    for (const int start : { 0, 1, 3, -5 })
    {
      testEdge(MakePyramidGrid<2>({ 48, 20 }, true), { { { 2, 2 }, { 1, 1 } }, { { 4, 6 } } }, spacing, start);
      testEdge(MakePyramidGrid<3>({ 8, 16, 2 }, true), { { { 2, 2, 4 }, { 1, 1, 1 } } }, spacing, start);
      testEdge(MakePyramidGrid<3>({ 2, 3, 12 }, true), { { { 4, 6, 2 }, { 1, 1, 1 } } }, spacing, start);
    }
  }
}

/** ITK's rounding may move a level's first voxel below index 0, by less than the last bit of 1. */
TEST_P(Pyramid, JustBelowTheIndexZero)
{
  using ImageType = itk::Image<short, 2>;
  Random random(1);
  int    found = 0;
  for (int n = 0; n < 100000 && found < 5; ++n)
  {
    auto grid = MakePyramidGrid<2>({ 16, 9 }, true);
    grid.direction = MakeRotation<2>(Uniform(random, -Pi, Pi));
    const auto input = MakeWaves<ImageType>(grid, 1);
    auto       reference = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
    Configure(*reference, { { 2, 1 } }, false);
    reference->SetInput(input);
    reference->UpdateOutputInformation();
    ImageType::PointType point;
    reference->GetOutput(0)->TransformIndexToPhysicalPoint({ { 0, 0 } }, point);
    const double y = input->TransformPhysicalPointToContinuousIndex<double>(point)[1];
    if (y >= 0 || y < -0.25 * std::numeric_limits<double>::epsilon())
    {
      continue;
    }
    ++found;
    auto filter = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    Configure(*filter, { { 2, 1 } }, false);
    filter->SetInput(input);
    reference->Update();
    ASSERT_NO_THROW(filter->Update());
    // Rounding may put a value on either side of an integer, to which it is truncated.
    EXPECT_EQ(CountFurtherApart(*reference->GetOutput(0), *filter->GetOutput(0), 1.0), 0u);
  }
  EXPECT_EQ(found, 5);
}

/** With these start indices a level's first voxels lie beyond those of the image, and its last voxels outside. */
TEST_P(Pyramid, OddStartIndices)
{
  using ImageType = itk::Image<float, 2>;
  for (const int start : { 1, 3, 5, 7 })
  {
    auto grid = MakePyramidGrid<2>({ 45, 38 }, true);
    grid.direction.SetIdentity();
    grid.start.Fill(start);
    SCOPED_TRACE(start);
    TestImage<ImageType, ImageType>(*MakeWaves<ImageType>(grid, 1),
                                    { { { 3, 3 }, { 1, 1 } }, { { 5, 7 }, { 1, 1 } } },
                                    5e-7);
  }
}

TEST_P(Pyramid, DefaultsAndMaximumError)
{
  using ImageType = itk::Image<float, 3>;
  const auto input = MakeWaves<ImageType>(MakePyramidGrid<3>({ 64, 48, 40 }, true), 1);
  for (const double error : { 0.1, 0.001 })
  {
    auto reference = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
    auto filter = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    for (itk::MultiResolutionPyramidImageFilter<ImageType, ImageType> * pyramid :
         { reference.GetPointer(), static_cast<decltype(reference.GetPointer())>(filter.GetPointer()) })
    {
      pyramid->SetInput(input);
      pyramid->SetNumberOfLevels(4);
      pyramid->SetMaximumError(error);
      pyramid->Update();
    }
    const gpureg::EvaluationStatistics statistics = filter->GetEvaluationStatistics();
    EXPECT_EQ(statistics.launches, 12) << "one for each axis of each level";
    if (GetParam() != "host")
    {
      // The input is uploaded, and each level is downloaded.
      const auto bytesOf = [](const ImageType & image) {
        return static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels() * sizeof(float));
      };
      std::int64_t levels = 0;
      for (unsigned int level = 0; level < 4; ++level)
      {
        levels += bytesOf(*filter->GetOutput(level));
      }
      EXPECT_EQ(statistics.bytesUp, bytesOf(*input));
      EXPECT_EQ(statistics.bytesDown, levels);
    }
    for (unsigned int level = 0; level < 4; ++level)
    {
      EXPECT_LE(GetNrmse(*reference->GetOutput(level), *filter->GetOutput(level)), 5e-7);
    }
  }
}

/** One level is requested, and only a part of it, before it has been made: the part is right. */
TEST_P(Pyramid, APartOfALevel)
{
  using ImageType = itk::Image<float, 3>;
  const auto            input = MakeWaves<ImageType>(MakePyramidGrid<3>({ 40, 24, 32 }, true), 1);
  ImageType::RegionType part({ { 2, 1, 3 } }, { { 5, 4, 4 } });
  const auto            extract = [&](auto filter) {
    Configure(*filter, Schedules3[0], false);
    // Makes only the requested region.
    auto source = itk::CastImageFilter<ImageType, itk::Image<double, 3>>::New();
    auto back = itk::CastImageFilter<itk::Image<double, 3>, ImageType>::New();
    source->SetInput(input);
    back->SetInput(source->GetOutput());
    filter->SetInput(back->GetOutput());
    auto crop = itk::ExtractImageFilter<ImageType, ImageType>::New();
    crop->SetInput(filter->GetOutput(0));
    crop->SetExtractionRegion(part);
    crop->Update();
    return ImageType::Pointer(crop->GetOutput());
  };
  auto filter = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  auto recursive = itk::GPURecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  recursive->SetDevice(this->GetDevice());
  EXPECT_LE(GetNrmse(*extract(itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>::New()), *extract(filter)),
            5e-7);
  EXPECT_LE(GetNrmse(*extract(itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>::New()),
                     *extract(recursive)),
            5e-7);
}

TEST_P(Pyramid, TheSameTwiceAndOnAnyNumberOfThreads)
{
  using ImageType = itk::Image<float, 3>;
  const auto                      input = MakeWaves<ImageType>(MakePyramidGrid<3>({ 64, 48, 40 }, true), 1);
  std::vector<ImageType::Pointer> once;
  for (const itk::ThreadIdType threads : { 1, 1, 2, 7 })
  {
    auto filter = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetInput(input);
    filter->SetNumberOfLevels(4);
    filter->SetNumberOfWorkUnits(threads);
    filter->Update();
    for (unsigned int level = 0; level < 4; ++level)
    {
      if (once.size() < 4)
      {
        once.push_back(filter->GetOutput(level));
        once.back()->DisconnectPipeline();
        continue;
      }
      EXPECT_TRUE(HaveSameBits(*once[level], *filter->GetOutput(level)));
    }
  }
}

TEST_P(Pyramid, OtherImagesAreLeftToTheParent)
{
  using ImageType = itk::Image<long, 2>;
  const auto input = MakeWaves<ImageType>(MakePyramidGrid<2>({ 40, 24 }, true), 1);
  auto       reference = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  auto       filter = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  reference->SetInput(input);
  filter->SetInput(input);
  reference->Update();
  filter->Update();
  EXPECT_EQ(filter->GetEvaluationStatistics().launches, 0);
  EXPECT_TRUE(HaveSameBits(*reference->GetOutput(0), *filter->GetOutput(0)));
}

TEST_P(Pyramid, IsUsedAgainAfterMemoryWasOut)
{
  using ImageType = itk::Image<float, 3>;
  const auto        input = MakeWaves<ImageType>(MakePyramidGrid<3>({ 40, 24, 32 }, true), 1);
  const std::string device = this->GetDevice().GetName();
  auto              filter = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  auto              reference = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(input);
  reference->SetInput(input);
  const std::size_t before = gpureg::GetMemoryInUse(device);
  gpureg::SetMemoryLimit(device, before + 200000);
  EXPECT_THROW(filter->Update(), itk::ExceptionObject);
  gpureg::SetMemoryLimit(device, 0);
  filter->Update();
  reference->Update();
  EXPECT_LE(GetNrmse(*reference->GetOutput(0), *filter->GetOutput(0)), 5e-7);
  EXPECT_EQ(gpureg::GetMemoryInUse(device), before) << "nothing is held between two updates";
}

INSTANTIATE_TEST_SUITE_P(Devices, Pyramid, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
