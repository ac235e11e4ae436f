// SPDX-License-Identifier: Apache-2.0
// Compares GPUBSplineDecompositionImageFilter with itk::BSplineDecompositionImageFilter on every device.
#include "VolumeFilterCase.h"

#include "itkGPUBSplineDecompositionImageFilter.h"

#include "gpureg/runtime/Device.h"

#include "itkVector.h"

namespace gpuregtest
{
namespace
{

template <typename TInput, typename TOutput>
typename TOutput::Pointer
DecomposeWithITK(const TInput & input, unsigned int order)
{
  auto filter = itk::BSplineDecompositionImageFilter<TInput, TOutput>::New();
  filter->SetInput(&input);
  filter->SetSplineOrder(order);
  filter->Update();
  return filter->GetOutput();
}

class BSplineDecomposition : public DeviceTest
{
protected:
  template <typename TInput, typename TOutput>
  typename TOutput::Pointer
  Decompose(const TInput & input, unsigned int order, itk::ThreadIdType threads = 2)
  {
    auto filter = itk::GPUBSplineDecompositionImageFilter<TInput, TOutput>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetInput(&input);
    filter->SetSplineOrder(order);
    filter->SetNumberOfWorkUnits(threads);
    filter->Update();
    EXPECT_TRUE(order < 2 || input.GetBufferedRegion().GetNumberOfPixels() == 1 ||
                filter->GetEvaluationStatistics().launches > 0)
      << "computed by the parent class";
    return filter->GetOutput();
  }

  template <typename TInput, typename TOutput>
  void
  TestSize(const std::vector<unsigned int> & size, double tolerance)
  {
    const auto input = MakeWaves<TInput>(MakeOddGrid<TInput::ImageDimension>(size), 1993);
    for (unsigned int order = 0; order <= 5; ++order)
    {
      SCOPED_TRACE("size " + ::testing::PrintToString(size) + ", order " + std::to_string(order));
      const auto expected = DecomposeWithITK<TInput, TOutput>(*input, order);
      EXPECT_LE(GetNrmse(*expected, *this->Decompose<TInput, TOutput>(*input, order)), tolerance);
    }
  }
};

TEST_P(BSplineDecomposition, AsITKInFloat)
{
  using Image2 = itk::Image<float, 2>;
  using Image3 = itk::Image<float, 3>;
  // Lengths around the horizon of the poles' powers, the block of a device's line, and the number of a group's lines.
  for (const std::vector<unsigned int> & size : std::vector<std::vector<unsigned int>>{ { 1, 1 },
                                                                                        { 2, 3 },
                                                                                        { 5, 1 },
                                                                                        { 4, 5 },
                                                                                        { 13, 15 },
                                                                                        { 16, 17 },
                                                                                        { 18, 19 },
                                                                                        { 27, 28 },
                                                                                        { 29, 33 },
                                                                                        { 2000, 5 },
                                                                                        { 7, 2000 },
                                                                                        { 31, 300 } })
  {
    TestSize<Image2, Image2>(size, 3e-7);
  }
  for (const std::vector<unsigned int> & size :
       std::vector<std::vector<unsigned int>>{ { 21, 18, 35 }, { 40, 33, 1 }, { 1, 17, 40 }, { 3, 300, 2 } })
  {
    TestSize<Image3, Image3>(size, 3e-7);
  }
}

TEST_P(BSplineDecomposition, AsITKInDouble)
{
  TestSize<itk::Image<double, 2>, itk::Image<double, 2>>({ 33, 50 }, 1e-14);
  TestSize<itk::Image<double, 3>, itk::Image<double, 3>>({ 21, 18, 35 }, 1e-14);
  TestSize<itk::Image<float, 3>, itk::Image<double, 3>>({ 21, 18, 35 }, 1e-14);
  TestSize<itk::Image<short, 3>, itk::Image<double, 3>>({ 21, 18, 35 }, 1e-14);
  TestSize<itk::Image<unsigned char, 2>, itk::Image<float, 2>>({ 21, 35 }, 3e-7);
  TestSize<itk::Image<int, 2>, itk::Image<double, 2>>({ 21, 35 }, 1e-14);
}

TEST_P(BSplineDecomposition, Vectors)
{
  using ImageType = itk::Image<itk::Vector<float, 3>, 2>;
  Random     random(5);
  const auto image = MakeImage<ImageType>(MakeOddGrid<2>({ 20, 31 }), [&](const auto &) {
    itk::Vector<float, 3> vector;
    for (unsigned int c = 0; c < 3; ++c)
    {
      vector[c] = static_cast<float>(Uniform(random, -10, 10));
    }
    return vector;
  });
  EXPECT_LE(GetNrmse(*DecomposeWithITK<ImageType, ImageType>(*image, 3),
                     *this->Decompose<ImageType, ImageType>(*image, 3)),
            3e-7);
}

TEST_P(BSplineDecomposition, TheSameTwiceAndOnAnyNumberOfThreads)
{
  using ImageType = itk::Image<float, 3>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<3>({ 50, 41, 60 }), 7);
  const auto once = this->Decompose<ImageType, ImageType>(*input, 3, 1);
  for (const itk::ThreadIdType threads : { 1, 2, 7 })
  {
    EXPECT_TRUE(HaveSameBits(*once, *this->Decompose<ImageType, ImageType>(*input, 3, threads)));
  }
}

/** Σ c(k) β³(i - k) equals the sample: the weights are 1/6, 4/6, 1/6 along each axis, mirrored at its ends. */
TEST_P(BSplineDecomposition, TheSplineGoesThroughTheSamples)
{
  using ImageType = itk::Image<double, 2>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<2>({ 24, 19 }), 3);
  const auto output = this->Decompose<ImageType, ImageType>(*input, 3);
  const auto region = input->GetBufferedRegion();
  const auto coefficient = [&](int x, int y) {
    const auto mirror = [](int i, int size) { return i < 0 ? -i : i < size ? i : 2 * (size - 1) - i; };
    return output->GetPixel({ { region.GetIndex(0) + mirror(x, static_cast<int>(region.GetSize(0))),
                                region.GetIndex(1) + mirror(y, static_cast<int>(region.GetSize(1))) } });
  };
  for (int y = 0; y < 19; ++y)
  {
    for (int x = 0; x < 24; ++x)
    {
      double sum = 0;
      for (int b = -1; b <= 1; ++b)
      {
        for (int a = -1; a <= 1; ++a)
        {
          sum += (a == 0 ? 4.0 : 1.0) * (b == 0 ? 4.0 : 1.0) / 36.0 * coefficient(x + a, y + b);
        }
      }
      ASSERT_NEAR(sum, input->GetPixel({ { region.GetIndex(0) + x, region.GetIndex(1) + y } }), 1e-6);
    }
  }
}

TEST_P(BSplineDecomposition, OtherImagesAreLeftToTheParent)
{
  using ImageType = itk::Image<double, 1>;
  Grid<1> grid;
  grid.size[0] = 40;
  const auto input = MakeWaves<ImageType>(grid, 3);
  auto       filter = itk::GPUBSplineDecompositionImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(input);
  filter->Update();
  EXPECT_EQ(filter->GetEvaluationStatistics().launches, 0);
  EXPECT_TRUE(HaveSameBits(*DecomposeWithITK<ImageType, ImageType>(*input, 3), *filter->GetOutput()));
}

TEST_P(BSplineDecomposition, IsUsedAgainAfterMemoryWasOut)
{
  using ImageType = itk::Image<float, 3>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<3>({ 30, 20, 10 }), 7);
  auto       filter = itk::GPUBSplineDecompositionImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(input);
  ExpectUsableAfterMemoryWasOut(*filter);
  EXPECT_LE(GetNrmse(*DecomposeWithITK<ImageType, ImageType>(*input, 3), *filter->GetOutput()), 3e-7);
}

INSTANTIATE_TEST_SUITE_P(Devices, BSplineDecomposition, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
