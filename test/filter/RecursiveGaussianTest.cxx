// SPDX-License-Identifier: Apache-2.0
// Compares GPURecursiveGaussianImageFilter and GPUSmoothingRecursiveGaussianImageFilter with ITK's filters on every device.
#include "VolumeFilterCase.h"

#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include "GPURegistrationDetail/filter/itkGPUGaussianWeights.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/core/Error.h"
#include "gpureg/filter/RecursiveGaussian.h"

#include "itkVectorImage.h"

#include <cmath>
#include <limits>

namespace gpuregtest
{
namespace
{

struct GaussianCase
{
  double       sigma = 1.7;
  unsigned int axis = 0;
  int          order = 0;
  bool         normalizes = false;
};

template <typename TFilter>
void
Configure(TFilter & filter, const GaussianCase & parameters)
{
  filter.SetSigma(parameters.sigma);
  filter.SetDirection(parameters.axis);
  filter.SetOrder(static_cast<itk::GaussianOrderEnum>(parameters.order));
  filter.SetNormalizeAcrossScale(parameters.normalizes);
}

template <typename TInput, typename TOutput>
typename TOutput::Pointer
FilterWithITK(const TInput & input, const GaussianCase & parameters)
{
  auto filter = itk::RecursiveGaussianImageFilter<TInput, TOutput>::New();
  Configure(*filter, parameters);
  filter->SetInput(&input);
  filter->Update();
  return filter->GetOutput();
}

template <typename TInput, typename TOutput>
typename TOutput::Pointer
SmoothWithITK(const TInput & input, double sigma)
{
  auto filter = itk::SmoothingRecursiveGaussianImageFilter<TInput, TOutput>::New();
  filter->SetSigma(sigma);
  filter->SetInput(&input);
  filter->Update();
  return filter->GetOutput();
}

class RecursiveGaussian : public DeviceTest
{
protected:
  template <typename TInput, typename TOutput>
  typename TOutput::Pointer
  Filter(const TInput & input, const GaussianCase & parameters, itk::ThreadIdType threads = 2)
  {
    auto filter = itk::GPURecursiveGaussianImageFilter<TInput, TOutput>::New();
    filter->SetDevice(this->GetDevice());
    Configure(*filter, parameters);
    filter->SetInput(&input);
    filter->SetNumberOfWorkUnits(threads);
    filter->Update();
    EXPECT_GT(filter->GetEvaluationStatistics().launches, 0) << "computed by the parent class";
    return filter->GetOutput();
  }

  template <typename TInput, typename TOutput>
  typename TOutput::Pointer
  Smooth(const TInput & input, double sigma, itk::ThreadIdType threads = 2)
  {
    auto filter = itk::GPUSmoothingRecursiveGaussianImageFilter<TInput, TOutput>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetSigma(sigma);
    filter->SetInput(&input);
    filter->SetNumberOfWorkUnits(threads);
    filter->Update();
    EXPECT_GT(filter->GetEvaluationStatistics().launches, 0) << "computed by the parent class";
    return filter->GetOutput();
  }

  /** Compares every axis, order and normalization, with sigmas from a fraction of a voxel to most of the image. */
  template <typename TInput, typename TOutput>
  void
  TestSize(const std::vector<unsigned int> & size, double tolerance)
  {
    constexpr unsigned int Dimension = TInput::ImageDimension;
    const bool             isInteger = std::is_integral<typename TOutput::PixelType>::value;
    const auto             input = MakeWaves<TInput>(MakeOddGrid<Dimension>(size), 1993);
    for (const double sigma : { 0.4, 1.7, 25.0 })
    {
      for (int variant = 0; variant < 6; ++variant)
      {
        for (unsigned int axis = 0; axis < Dimension; ++axis)
        {
          const GaussianCase parameters{ sigma, axis, variant / 2, variant % 2 == 1 };
          // A derivative's sign is lost if the derivative is truncated to an unsigned integer.
          if (size[axis] < 4 ||
              (parameters.order > 0 && isInteger && std::is_unsigned<typename TOutput::PixelType>::value))
          {
            continue;
          }
          SCOPED_TRACE("size " + ::testing::PrintToString(size) + ", sigma " + std::to_string(sigma) + ", axis " +
                       std::to_string(axis) + ", order " + std::to_string(variant / 2) + " " +
                       std::to_string(variant % 2));
          const auto expected = FilterWithITK<TInput, TOutput>(*input, parameters);
          const auto output = this->Filter<TInput, TOutput>(*input, parameters);
          EXPECT_LE(GetNrmse(*expected, *output, isInteger), tolerance);
          // Integers are truncated, as ITK's are, and not rounded; rounding decides only for values near an integer.
          EXPECT_LE(isInteger ? 200 * CountDifferent(*expected, *output) : 0,
                    expected->GetBufferedRegion().GetNumberOfPixels());
        }
      }
    }
  }

  template <typename TInput, typename TOutput>
  void
  TestSmoothing(const std::vector<unsigned int> & size, double tolerance)
  {
    const bool isInteger = std::is_integral<typename TOutput::PixelType>::value;
    const auto input = MakeWaves<TInput>(MakeOddGrid<TInput::ImageDimension>(size), 1993);
    for (const double sigma : { 0.4, 1.7, 25.0 })
    {
      SCOPED_TRACE("size " + ::testing::PrintToString(size) + ", sigma " + std::to_string(sigma));
      const auto expected = SmoothWithITK<TInput, TOutput>(*input, sigma);
      EXPECT_LE(GetNrmse(*expected, *this->Smooth<TInput, TOutput>(*input, sigma), isInteger), tolerance);
    }
  }
};

TEST_P(RecursiveGaussian, AsITKInFloat)
{
  using Image2 = itk::Image<float, 2>;
  using Image3 = itk::Image<float, 3>;
  // elastix' OpenCL kernels are limited to lines of 1365 voxels.
  for (const std::vector<unsigned int> & size : std::vector<std::vector<unsigned int>>{
         { 4, 5 }, { 5, 4 }, { 1, 6 }, { 15, 16 }, { 17, 33 }, { 2000, 4 }, { 6, 2000 }, { 300, 31 } })
  {
    TestSize<Image2, Image2>(size, 1e-7);
  }
  for (const std::vector<unsigned int> & size :
       std::vector<std::vector<unsigned int>>{ { 21, 18, 35 }, { 40, 33, 1 }, { 4, 4, 4 } })
  {
    TestSize<Image3, Image3>(size, 1e-7);
  }
}

TEST_P(RecursiveGaussian, AsITKInOtherTypes)
{
  // A recursion amplifies rounding errors, the more the larger its sigma.
  TestSize<itk::Image<double, 2>, itk::Image<double, 2>>({ 33, 50 }, 1e-10);
  TestSize<itk::Image<double, 3>, itk::Image<double, 3>>({ 21, 18, 35 }, 1e-10);
  TestSize<itk::Image<double, 3>, itk::Image<float, 3>>({ 21, 18, 35 }, 1e-7);
  TestSize<itk::Image<short, 3>, itk::Image<float, 3>>({ 21, 18, 35 }, 1e-7);
  TestSize<itk::Image<unsigned char, 2>, itk::Image<unsigned char, 2>>({ 40, 37 }, 0);
  TestSize<itk::Image<short, 2>, itk::Image<short, 2>>({ 40, 37 }, 0);
  TestSize<itk::Image<int, 2>, itk::Image<double, 2>>({ 40, 37 }, 1e-10);
}

TEST_P(RecursiveGaussian, SmoothingAsITK)
{
  using Image2 = itk::Image<float, 2>;
  using Image3 = itk::Image<float, 3>;
  for (const std::vector<unsigned int> & size :
       std::vector<std::vector<unsigned int>>{ { 4, 5 }, { 64, 64 }, { 2000, 7 }, { 19, 300 } })
  {
    TestSmoothing<Image2, Image2>(size, 2e-7);
  }
  TestSmoothing<Image3, Image3>({ 31, 22, 40 }, 2e-7);
  // ITK stores doubles as floats between two axes; the engine does not.
  TestSmoothing<itk::Image<double, 3>, itk::Image<double, 3>>({ 31, 22, 40 }, 2e-7);
  TestSmoothing<itk::Image<short, 3>, itk::Image<short, 3>>({ 31, 22, 40 }, 0);
  TestSmoothing<itk::Image<unsigned char, 3>, itk::Image<unsigned char, 3>>({ 31, 22, 40 }, 0);
  TestSmoothing<itk::Image<unsigned char, 3>, itk::Image<float, 3>>({ 31, 22, 40 }, 2e-7);
  TestSmoothing<itk::Image<int, 2>, itk::Image<float, 2>>({ 31, 22 }, 2e-7);
}

/** ITK stores floats between two axes, which rounds a value just below an integer to that integer. */
TEST_P(RecursiveGaussian, FlatIntegersStayAsITKHasThem)
{
  const auto test = [this](auto pixel) {
    using PixelType = decltype(pixel);
    using ImageType = itk::Image<PixelType, 2>;
    const auto image = MakeImage<ImageType>(Grid<2>(), [pixel](const auto &) { return pixel; });
    for (const double sigma : { 0.5, 1.0, 3.0 })
    {
      const auto expected = SmoothWithITK<ImageType, ImageType>(*image, sigma);
      EXPECT_EQ(CountDifferent(*expected, *this->Smooth<ImageType, ImageType>(*image, sigma)), 0u)
        << +pixel << ", sigma " << sigma;
    }
  };
  for (const int value : { 1, 100, 255 })
  {
    test(static_cast<unsigned char>(value));
    test(static_cast<short>(value));
    test(value);
    test(static_cast<unsigned int>(value));
  }
  test(static_cast<unsigned short>(40000));
  test(-1);
  test(1000003);
  // Doubles give the same.
  using DoubleType = itk::Image<double, 2>;
  using ShortType = itk::Image<short, 2>;
  const auto image = MakeImage<DoubleType>(Grid<2>(), [](const auto &) { return 100.0; });
  const auto expected = SmoothWithITK<DoubleType, ShortType>(*image, 0.5);
  EXPECT_EQ(CountDifferent(*expected, *this->Smooth<DoubleType, ShortType>(*image, 0.5)), 0u);
}

/** Sets one sigma for each axis, as itk::ImageRegistrationMethodv4 does. */
TEST_P(RecursiveGaussian, ASigmaForEachAxis)
{
  using ImageType = itk::Image<float, 3>;
  using ReferenceType = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<3>({ 31, 22, 40 }), 1993);
  const auto reference = ReferenceType::New();
  const auto filter = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  ReferenceType::SigmaArrayType sigmas;
  for (unsigned int d = 0; d < 3; ++d)
  {
    sigmas[d] = 0.6 + 2.1 * d;
  }
  for (ReferenceType * smoothing : { reference.GetPointer(), static_cast<ReferenceType *>(filter.GetPointer()) })
  {
    smoothing->SetInput(input);
    smoothing->SetSigmaArray(sigmas);
    smoothing->Update();
  }
  EXPECT_GT(filter->GetEvaluationStatistics().launches, 0);
  EXPECT_LE(GetNrmse(*reference->GetOutput(), *filter->GetOutput(), false), 2e-7);
}

TEST_P(RecursiveGaussian, Vectors)
{
  using VectorType = itk::Vector<float, 3>;
  using ImageType = itk::Image<VectorType, 2>;
  Random     random(5);
  const auto grid = MakeOddGrid<2>({ 20, 31 });
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) {
    VectorType vector;
    for (unsigned int c = 0; c < 3; ++c)
    {
      vector[c] = static_cast<float>(Uniform(random, -10, 10));
    }
    return vector;
  });
  for (const unsigned int axis : { 0u, 1u })
  {
    const GaussianCase parameters{ 2.0, axis, 1, false };
    EXPECT_LE(GetNrmse(*FilterWithITK<ImageType, ImageType>(*image, parameters),
                       *this->Filter<ImageType, ImageType>(*image, parameters)),
              1e-7);
  }
  EXPECT_LE(GetNrmse(*SmoothWithITK<ImageType, ImageType>(*image, 2.0),
                     *this->Smooth<ImageType, ImageType>(*image, 2.0)),
            2e-7);

  using VariableType = itk::VectorImage<float, 2>;
  auto variable = VariableType::New();
  grid.ApplyTo(*variable);
  variable->SetNumberOfComponentsPerPixel(5);
  variable->Allocate();
  for (itk::SizeValueType i = 0; i < 5 * 20 * 31; ++i)
  {
    variable->GetBufferPointer()[i] = static_cast<float>(Uniform(random, -10, 10));
  }
  const GaussianCase parameters{ 2.0, 1, 0, false };
  EXPECT_LE(GetNrmse(*FilterWithITK<VariableType, VariableType>(*variable, parameters),
                     *this->Filter<VariableType, VariableType>(*variable, parameters)),
            1e-7);
}

/** Tests the sums over the response to an impulse by which the coefficients are normalized: the sum is 1; the first moment of the first
 *  derivative is -1; the second moment of the second derivative is 2. */
TEST_P(RecursiveGaussian, MomentsOfAnImpulse)
{
  using ImageType = itk::Image<double, 2>;
  Grid<2> grid;
  grid.size[0] = 201;
  grid.size[1] = 4;
  auto image = ImageType::New();
  grid.ApplyTo(*image);
  image->Allocate(true);
  image->SetPixel({ { 100, 1 } }, 1.0);
  for (int order = 0; order <= 2; ++order)
  {
    const auto output = this->Filter<ImageType, ImageType>(*image, { 3.0, 0, order, false });
    double     moment = 0;
    for (int x = 0; x < 201; ++x)
    {
      moment += std::pow(x - 100.0, order) * output->GetPixel({ { x, 1 } });
    }
    EXPECT_NEAR(moment, order == 0 ? 1.0 : order == 1 ? -1.0 : 2.0, 1e-9) << "order " << order;
  }
}

/** The derivative of a ramp is its slope, away from the ends; a constant does not change. */
TEST_P(RecursiveGaussian, Ramp)
{
  using ImageType = itk::Image<float, 3>;
  Grid<3> grid;
  grid.size[1] = 120;
  grid.spacing[1] = 0.5;
  const auto ramp = MakeImage<ImageType>(grid, [](const auto & point) { return 3.0 * point[1] - 7.0; });
  const auto slope = this->Filter<ImageType, ImageType>(*ramp, { 2.0, 1, 1, false });
  EXPECT_NEAR(slope->GetPixel({ { 3, 60, 5 } }), 3.0 * 0.5, 1e-5) << "per voxel, as in ITK";
  const auto flat = MakeImage<ImageType>(grid, [](const auto &) { return 1234.5; });
  const auto smoothed = this->Smooth<ImageType, ImageType>(*flat, 2.0);
  for (const auto index : { itk::Index<3>{ { 0, 0, 0 } }, itk::Index<3>{ { 7, 60, 15 } } })
  {
    EXPECT_FLOAT_EQ(smoothed->GetPixel(index), 1234.5f);
  }
}

TEST_P(RecursiveGaussian, InPlace)
{
  using ImageType = itk::Image<float, 3>;
  const auto grid = MakeOddGrid<3>({ 21, 18, 35 });
  const auto untouched = MakeWaves<ImageType>(grid, 4);
  {
    const auto input = MakeWaves<ImageType>(grid, 4);
    auto       filter = itk::GPURecursiveGaussianImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    Configure(*filter, { 1.5, 1, 1, false });
    filter->SetInput(input);
    filter->InPlaceOn();
    const float * const buffer = input->GetBufferPointer();
    filter->Update();
    EXPECT_EQ(filter->GetOutput()->GetBufferPointer(), buffer);
    EXPECT_LE(GetNrmse(*FilterWithITK<ImageType, ImageType>(*untouched, { 1.5, 1, 1, false }), *filter->GetOutput()),
              1e-7);
  }
  {
    const auto input = MakeWaves<ImageType>(grid, 4);
    auto       filter = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetSigma(1.5);
    filter->SetInput(input);
    filter->InPlaceOn();
    const float * const buffer = input->GetBufferPointer();
    filter->Update();
    EXPECT_EQ(filter->GetOutput()->GetBufferPointer(), buffer);
    EXPECT_LE(GetNrmse(*SmoothWithITK<ImageType, ImageType>(*untouched, 1.5), *filter->GetOutput()), 2e-7);
  }
}

TEST_P(RecursiveGaussian, APartOfTheImage)
{
  using ImageType = itk::Image<float, 3>;
  const auto            input = MakeWaves<ImageType>(MakeOddGrid<3>({ 21, 18, 35 }), 4);
  ImageType::RegionType part = input->GetBufferedRegion();
  part.ShrinkByRadius(3);
  const auto request = [&](auto filter) {
    Configure(*filter, { 1.5, 2, 0, false });
    filter->SetInput(input);
    filter->GetOutput()->SetRequestedRegion(part);
    filter->Update();
    return ImageType::Pointer(filter->GetOutput());
  };
  auto filter = itk::GPURecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  EXPECT_LE(GetNrmse(*request(itk::RecursiveGaussianImageFilter<ImageType, ImageType>::New()), *request(filter)), 1e-7);
}

TEST_P(RecursiveGaussian, TheSameTwiceAndOnAnyNumberOfThreads)
{
  using ImageType = itk::Image<float, 3>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<3>({ 50, 41, 60 }), 7);
  const auto once = this->Smooth<ImageType, ImageType>(*input, 2.0, 1);
  for (const itk::ThreadIdType threads : { 1, 2, 7 })
  {
    EXPECT_TRUE(HaveSameBits(*once, *this->Smooth<ImageType, ImageType>(*input, 2.0, threads)));
  }
}

/** The memory for the states of a device's lines is bounded, so many lines take several launches. */
TEST_P(RecursiveGaussian, MoreLinesThanInOneLaunch)
{
  using ImageType = itk::Image<float, 2>;
  auto image = ImageType::New();
  image->SetRegions(itk::Size<2>{ { 8500001, 4 } });
  image->Allocate();
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = static_cast<float>(i * 2654435761u % 1000);
  }
  const GaussianCase parameters{ 1.5, 1, 0, false };
  EXPECT_LE(GetNrmse(*FilterWithITK<ImageType, ImageType>(*image, parameters),
                     *this->Filter<ImageType, ImageType>(*image, parameters)),
            1e-7);
}

/** Errors have ITK's words, and the filter works again afterwards. */
TEST_P(RecursiveGaussian, Refuses)
{
  using ImageType = itk::Image<float, 2>;
  const auto thin = MakeWaves<ImageType>(MakeOddGrid<2>({ 3, 20 }), 7);
  const auto messageOf = [&](auto & filter) -> std::string {
    try
    {
      filter.Update();
    }
    catch (const itk::ExceptionObject & error)
    {
      const std::string message = error.GetDescription();
      return message.substr(message.find("): "));
    }
    return "nothing";
  };
  auto filter = itk::GPURecursiveGaussianImageFilter<ImageType, ImageType>::New();
  auto parent = itk::RecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(thin);
  parent->SetInput(thin);
  EXPECT_EQ(messageOf(*filter), messageOf(*parent));
  filter->SetSigma(0.0);
  parent->SetSigma(0.0);
  EXPECT_EQ(messageOf(*filter), messageOf(*parent));
  filter->SetSigma(1.0);
  filter->SetDirection(2);
  EXPECT_NE(messageOf(*filter), "nothing");
  filter->SetDirection(1);
  EXPECT_EQ(messageOf(*filter), "nothing");

  auto smoothing = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  auto smoothingParent = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  smoothing->SetDevice(this->GetDevice());
  smoothing->SetInput(thin);
  smoothingParent->SetInput(thin);
  EXPECT_EQ(messageOf(*smoothing), messageOf(*smoothingParent));
  const auto wide = MakeWaves<ImageType>(MakeOddGrid<2>({ 12, 20 }), 7);
  smoothing->SetInput(wide);
  smoothingParent->SetInput(wide);
  smoothing->SetSigma(-1.0);
  smoothingParent->SetSigma(-1.0);
  EXPECT_EQ(messageOf(*smoothing), messageOf(*smoothingParent));
  smoothing->SetSigma(1.0);
  EXPECT_EQ(messageOf(*smoothing), "nothing");
}

TEST_P(RecursiveGaussian, AbortsAndIsUsedAgain)
{
  using ImageType = itk::Image<float, 3>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<3>({ 30, 20, 10 }), 7);
  auto       filter = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(input);
  std::vector<float> progress;
  bool               aborts = true;
  filter->AddObserver(itk::ProgressEvent(), [&](const itk::EventObject &) {
    progress.push_back(filter->GetProgress());
    if (aborts && filter->GetProgress() > 0.5)
    {
      filter->AbortGenerateDataOn();
    }
  });
  EXPECT_THROW(filter->Update(), itk::ProcessAborted);
  aborts = false;
  filter->AbortGenerateDataOff();
  filter->Modified();
  progress.clear();
  filter->Update();
  EXPECT_GE(progress.size(), 4u);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_LE(GetNrmse(*SmoothWithITK<ImageType, ImageType>(*input, 1.0), *filter->GetOutput()), 2e-7);
}

TEST_P(RecursiveGaussian, IsUsedAgainAfterMemoryWasOut)
{
  using ImageType = itk::Image<float, 3>;
  const auto input = MakeWaves<ImageType>(MakeOddGrid<3>({ 30, 20, 10 }), 7);
  auto       filter = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(input);
  ExpectUsableAfterMemoryWasOut(*filter);
  EXPECT_LE(GetNrmse(*SmoothWithITK<ImageType, ImageType>(*input, 1.0), *filter->GetOutput()), 2e-7);
}

/** Tests the weights for programs without ITK: gpureg::MakeRecursiveGaussian. */
TEST(RecursiveGaussianWeights, AreThoseOfITK)
{
  for (const double sigma : { 0.3, 0.5, 1.0, 1.7, 4.0, 20.0, 100.0 })
  {
    const auto ours = gpureg::MakeRecursiveGaussian(sigma);
    const auto theirs =
      itk::GPURegistrationDetail::GaussianWeights::Compute(itk::GaussianOrderEnum::ZeroOrder, sigma, false, 1.0);
    // Both are divided by the sum of the denominator, whose terms cancel, the more the wider the Gaussian is.
    double sum = 1;
    double terms = 1;
    for (const double d : theirs.d)
    {
      sum += d;
      terms += std::abs(d);
    }
    const double epsilon = 8 * std::numeric_limits<double>::epsilon();
    const double relative = epsilon * terms / std::abs(sum);
    for (std::size_t i = 0; i < 4; ++i)
    {
      EXPECT_NEAR(ours.n[i], theirs.n[i], relative * std::abs(theirs.n[0])) << sigma;
      EXPECT_NEAR(ours.d[i], theirs.d[i], epsilon * terms) << sigma;
      EXPECT_NEAR(ours.m[i], theirs.m[i], relative * std::abs(theirs.n[0])) << sigma;
    }
  }
  for (const double sigma : { 0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity() })
  {
    EXPECT_THROW(gpureg::MakeRecursiveGaussian(sigma), gpureg::BadInputError);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RecursiveGaussian, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
