// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter over ITK's pixel types: its way of rounding and clamping, and every digit it keeps.
#include "ResampleCase.h"
#include "TestDevices.h"

#include "itkImageRegionConstIteratorWithIndex.h"
#include "Listening.h"

#include "itkArray.h"
#include "itkRGBAPixel.h"
#include "itkRGBPixel.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVectorImage.h"

#include <algorithm>
#include <complex>
#include <limits>

namespace gpuregtest
{
namespace
{

template <typename TInput, typename TOutput>
void
Connect(itk::ResampleImageFilter<TInput, TOutput> & filter,
        const TInput *                              input,
        const itk::Transform<double, 2, 2> &        transform)
{
  filter.SetInput(input);
  filter.SetTransform(&transform);
  filter.SetOutputParametersFromImage(input);
}

class ResamplePixelType : public DeviceTest
{
protected:
  /** Values over the type's whole range (of a wide one, ±1e6), moved by an affine transform: the same as ITK's
   *  but where ITK's own value, in double, is within 1e-4 of an integer. */
  template <typename TPixel>
  void
  TestInteger()
  {
    SCOPED_TRACE(typeid(TPixel).name());
    using ImageType = itk::Image<TPixel, 2>;
    Random     random(31);
    const auto grid = MakeResampleGrid<2>("anisotropic", random);
    const auto low = std::max(-1e6, static_cast<double>(std::numeric_limits<TPixel>::lowest()));
    const auto high = std::min(1e6, static_cast<double>(std::numeric_limits<TPixel>::max()));
    const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, low, high); });
    const auto transform = MakeAffine<2>(grid, random);

    auto reference = itk::ResampleImageFilter<ImageType, ImageType>::New();
    auto exact = itk::ResampleImageFilter<ImageType, itk::Image<double, 2>>::New();
    auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
    Connect<ImageType, ImageType>(*reference, image, *transform);
    Connect<ImageType, itk::Image<double, 2>>(*exact, image, *transform);
    Connect<ImageType, ImageType>(*filter, image, *transform);
    filter->SetDevice(this->GetDevice());
    reference->SetDefaultPixelValue(std::numeric_limits<TPixel>::max());
    filter->SetDefaultPixelValue(std::numeric_limits<TPixel>::max());
    reference->Update();
    exact->Update();
    filter->Update();
    ASSERT_GT(filter->GetEvaluationStatistics().launches, 0);
    int different = 0;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(reference->GetOutput(),
                                                              reference->GetOutput()->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      const double value = exact->GetOutput()->GetPixel(it.GetIndex());
      const bool   isTie = std::abs(value - std::round(value)) < 1e-4 * std::max(1.0, high * 1e-3);
      different += !isTie && filter->GetOutput()->GetPixel(it.GetIndex()) != it.Get();
    }
    EXPECT_EQ(different, 0);
  }

  /** On voxels, and half-way between them, a double rounds nothing: all bits are ITK's. */
  template <typename TPixel>
  void
  TestEveryBit()
  {
    SCOPED_TRACE(typeid(TPixel).name());
    using ImageType = itk::Image<TPixel, 2>;
    Grid<2> grid;
    grid.size[0] = 13;
    std::mt19937_64 random(5);
    const auto      image = MakeImage<ImageType>(grid, [&](const auto &) {
      TPixel              pixel;
      const std::uint64_t bits = random();
      if (std::is_floating_point<TPixel>::value)
      {
        pixel = static_cast<TPixel>(std::ldexp(static_cast<double>(bits), static_cast<int>(bits % 100) - 80));
      }
      else
      {
        std::memcpy(&pixel, &bits, sizeof pixel);
      }
      return pixel;
    });
    image->SetPixel({ { 3, 4 } }, std::numeric_limits<TPixel>::max());
    image->SetPixel({ { 5, 4 } }, std::numeric_limits<TPixel>::lowest());
    if (std::numeric_limits<TPixel>::has_infinity)
    {
      image->SetPixel({ { 12, 2 } }, std::numeric_limits<TPixel>::infinity());
      image->SetPixel({ { 0, 9 } }, -std::numeric_limits<TPixel>::infinity());
    }
    for (const double move : { 0.0, 1.0, 0.5 })
    {
      // Floats are computed in float.
      if (move == 0.5 && std::is_same<TPixel, float>::value)
      {
        continue;
      }
      auto                   transform = itk::TranslationTransform<double, 2>::New();
      itk::Vector<double, 2> offset;
      offset.Fill(move);
      transform->SetOffset(offset);
      auto reference = itk::ResampleImageFilter<ImageType, ImageType>::New();
      auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
      Connect<ImageType, ImageType>(*reference, image, *transform);
      Connect<ImageType, ImageType>(*filter, image, *transform);
      filter->SetDevice(this->GetDevice());
      filter->SetDefaultPixelValue(std::numeric_limits<TPixel>::max());
      reference->SetDefaultPixelValue(std::numeric_limits<TPixel>::max());
      reference->Update();
      filter->Update();
      for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(reference->GetOutput(),
                                                                reference->GetOutput()->GetBufferedRegion());
           !it.IsAtEnd();
           ++it)
      {
        const TPixel got = filter->GetOutput()->GetPixel(it.GetIndex());
        ASSERT_TRUE(got == it.Get() || (got != got && it.Get() != it.Get()))
          << it.GetIndex() << ", moved by " << move << ": " << got << " instead of " << it.Get();
      }
    }
  }

  /** Every voxel is ITK's. Returns these. */
  template <typename TInput, typename TOutput>
  typename TOutput::Pointer
  ExpectITKs(const TInput * image, const itk::Transform<double, 2, 2> & transform) const
  {
    auto reference = itk::ResampleImageFilter<TInput, TOutput>::New();
    auto filter = itk::GPUResampleImageFilter<TInput, TOutput>::New();
    Connect<TInput, TOutput>(*reference, image, transform);
    Connect<TInput, TOutput>(*filter, image, transform);
    filter->SetDevice(this->GetDevice());
    reference->Update();
    filter->Update();
    for (itk::ImageRegionConstIteratorWithIndex<TOutput> it(reference->GetOutput(),
                                                            reference->GetOutput()->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      EXPECT_EQ(filter->GetOutput()->GetPixel(it.GetIndex()), it.Get()) << it.GetIndex();
    }
    return reference->GetOutput();
  }

  template <typename TImage>
  void
  TestVectors(const TImage * image)
  {
    Random     random(3);
    const auto transform = MakeAffine<2>(Grid<2>(), random);
    auto       reference = itk::ResampleImageFilter<TImage, TImage>::New();
    auto       filter = itk::GPUResampleImageFilter<TImage, TImage>::New();
    Connect<TImage, TImage>(*reference, image, *transform);
    Connect<TImage, TImage>(*filter, image, *transform);
    filter->SetDevice(this->GetDevice());
    reference->Update();
    filter->Update();
    ASSERT_GT(filter->GetEvaluationStatistics().launches, 0);
    int moved = 0;
    for (itk::ImageRegionConstIteratorWithIndex<TImage> it(reference->GetOutput(),
                                                           reference->GetOutput()->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      const auto wanted = it.Get();
      const auto got = filter->GetOutput()->GetPixel(it.GetIndex());
      for (unsigned int c = 0; c < image->GetNumberOfComponentsPerPixel(); ++c)
      {
        EXPECT_NEAR(static_cast<double>(got[c]), static_cast<double>(wanted[c]), 1e-3) << it.GetIndex();
        moved += wanted[c] != image->GetPixel(it.GetIndex())[c];
      }
    }
    EXPECT_GT(moved, 100);
  }
};

TEST_P(ResamplePixelType, IntegersAreCutOffAndClampedAsITKDoes)
{
  TestInteger<unsigned char>();
  TestInteger<signed char>();
  TestInteger<short>();
  TestInteger<unsigned short>();
  TestInteger<int>();
  TestInteger<unsigned int>();
  TestInteger<long>();
  TestInteger<unsigned long>();
}

TEST_P(ResamplePixelType, EveryBitThatITKKeeps)
{
  TestEveryBit<unsigned char>();
  TestEveryBit<signed char>();
  TestEveryBit<short>();
  TestEveryBit<unsigned short>();
  TestEveryBit<int>();
  TestEveryBit<unsigned int>();
  TestEveryBit<long>();
  TestEveryBit<unsigned long>();
  TestEveryBit<float>();
  TestEveryBit<double>();
}

TEST_P(ResamplePixelType, FromOneTypeToAnother)
{
  using InputType = itk::Image<float, 2>;
  using OutputType = itk::Image<unsigned char, 2>;
  Random     random(8);
  const auto grid = MakeResampleGrid<2>("plain", random);
  // Beyond a byte's range on both sides.
  const auto image = MakeImage<InputType>(grid, [&](const auto &) { return Uniform(random, -200, 500); });
  const auto expected = ExpectITKs<InputType, OutputType>(image, *MakeAffine<2>(grid, random));
  const auto bytes = expected->GetBufferPointer();
  EXPECT_GT(std::count(bytes, bytes + expected->GetBufferedRegion().GetNumberOfPixels(), 255), 20);
}

TEST_P(ResamplePixelType, FromFloatsToIntegersThatFloatsDoNotHold)
{
  using InputType = itk::Image<float, 2>;
  using OutputType = itk::Image<int, 2>;
  const auto             image = MakeImage<InputType>(Grid<2>(), [](const auto & point) {
    return 16777216.0 + 4.0 * static_cast<double>(point[0]);
  });
  auto                   transform = itk::TranslationTransform<double, 2>::New();
  itk::Vector<double, 2> offset;
  offset.Fill(0.25);
  transform->SetOffset(offset);
  const auto expected = ExpectITKs<InputType, OutputType>(image, *transform);
  EXPECT_EQ(expected->GetPixel({ { 0, 0 } }), 16777217);
}

/** In floats, one value in a thousand would be rounded up to a whole number. */
TEST_P(ResamplePixelType, FromFloatsToShortsNothingIsRoundedUp)
{
  using InputType = itk::Image<float, 2>;
  using OutputType = itk::Image<short, 2>;
  Random  random(9);
  Grid<2> grid;
  grid.size = { { 301, 150 } };
  const auto image = MakeImage<InputType>(grid, [&](const auto &) { return Uniform(random, -30000, 30000); });
  // Of which a double rounds nothing.
  auto                   transform = itk::TranslationTransform<double, 2>::New();
  itk::Vector<double, 2> offset;
  offset.Fill(0.3125);
  transform->SetOffset(offset);
  ExpectITKs<InputType, OutputType>(image, *transform);
}

/** Which have more digits than a device's doubles. */
TEST_P(ResamplePixelType, LongDoublesAreITKs)
{
  using ImageType = itk::Image<long double, 2>;
  const auto image =
    MakeImage<ImageType>(Grid<2>(), [](const auto & point) { return 1.0L + std::ldexp(1.0L + point[0], -60); });
  const Listening listening;
  const auto      output = ExpectITKs<ImageType, ImageType>(image, *itk::IdentityTransform<double, 2>::New());
  EXPECT_EQ(output->GetPixel({ { 3, 4 } }), 1.0L + std::ldexp(4.0L, -60));
  EXPECT_EQ(listening.window->Count("Images of these types are not resampled on a device."), 1u);
}

TEST_P(ResamplePixelType, Vectors)
{
  Random     random(12);
  const auto vectors = MakeImage<itk::Image<itk::Vector<float, 3>, 2>>(Grid<2>(), [&](const auto &) {
    itk::Vector<float, 3> vector;
    for (unsigned int c = 0; c < 3; ++c)
    {
      vector[c] = static_cast<float>(Uniform(random, -10, 10));
    }
    return vector;
  });
  TestVectors(vectors.GetPointer());

  const auto colours = MakeImage<itk::Image<itk::RGBPixel<unsigned char>, 2>>(Grid<2>(), [&](const auto &) {
    itk::RGBPixel<unsigned char> colour;
    for (unsigned int c = 0; c < 3; ++c)
    {
      colour[c] = static_cast<unsigned char>(Uniform(random, 0, 255));
    }
    return colour;
  });
  TestVectors(colours.GetPointer());

  auto variable = itk::VectorImage<float, 2>::New();
  Grid<2>().ApplyTo(*variable);
  variable->SetNumberOfComponentsPerPixel(5);
  variable->Allocate();
  for (itk::SizeValueType i = 0; i < 5 * 256; ++i)
  {
    variable->GetBufferPointer()[i] = static_cast<float>(Uniform(random, -10, 10));
  }
  TestVectors(variable.GetPointer());
}

template <typename TInputPixel, typename TOutputPixel>
constexpr bool AreAlike =
  itk::GPURegistrationDetail::HaveSameComponents<itk::Image<TInputPixel, 2>, itk::Image<TOutputPixel, 2>>;
static_assert(AreAlike<short, float> && AreAlike<itk::RGBPixel<float>, itk::Vector<double, 3>> &&
                AreAlike<std::complex<float>, itk::CovariantVector<short, 2>> &&
                AreAlike<itk::SymmetricSecondRankTensor<float, 3>, itk::FixedArray<double, 6>>,
              "");
static_assert(!AreAlike<float, itk::RGBPixel<float>> && !AreAlike<itk::RGBPixel<float>, itk::RGBAPixel<float>>, "");
static_assert(!AreAlike<itk::Array<float>, itk::Array<float>> &&
                !AreAlike<itk::VariableLengthVector<float>, itk::VariableLengthVector<float>>,
              "pixels that allocate");
static_assert(
  itk::GPURegistrationDetail::HaveSameComponents<itk::VectorImage<short, 2>, itk::VectorImage<float, 2>> &&
    !itk::GPURegistrationDetail::HaveSameComponents<itk::VectorImage<float, 2>, itk::Image<itk::Vector<float, 3>, 2>>,
  "how many there are is the image's to say");

/** What becomes of a grey pixel in a coloured image is ITK's to say. */
TEST_P(ResamplePixelType, FromGreyToColours)
{
  using ColourImageType = itk::Image<itk::RGBPixel<float>, 2>;
  Random          random(13);
  const auto      grid = MakeResampleGrid<2>("plain", random);
  const auto      image = MakeImage<itk::Image<float, 2>>(grid, [&](const auto &) { return Uniform(random, 1, 100); });
  const Listening listening;
  ExpectITKs<itk::Image<float, 2>, ColourImageType>(image, *MakeAffine<2>(grid, random));
  EXPECT_EQ(listening.window->Count("Computed by itk::ResampleImageFilter"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, ResamplePixelType, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
