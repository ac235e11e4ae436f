// SPDX-License-Identifier: Apache-2.0
// Tests GPUResampleImageFilter with ITK's pixel types: rounding and clamping as in ITK, and every digit.
#include "ImageComparison.h"
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
#include <cmath>
#include <complex>
#include <cstring>
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

/** The output of ITK's filter and of ours. */
template <typename TOutput>
struct BothOutputs
{
  typename TOutput::Pointer expected;
  typename TOutput::Pointer output;
  bool                      isOfDevice;
};

class ResamplePixelType : public DeviceTest
{
protected:
  /** Returns the outputs of both filters for the same input. */
  template <typename TOutput, typename TInput>
  BothOutputs<TOutput>
  ResampleBoth(const TInput *                       image,
               const itk::Transform<double, 2, 2> & transform,
               const typename TOutput::PixelType &  outside) const
  {
    auto reference = itk::ResampleImageFilter<TInput, TOutput>::New();
    auto filter = itk::GPUResampleImageFilter<TInput, TOutput>::New();
    filter->SetDevice(this->GetDevice());
    const auto update = [&](itk::ResampleImageFilter<TInput, TOutput> & each) {
      Connect<TInput, TOutput>(each, image, transform);
      each.SetDefaultPixelValue(outside);
      each.Update();
    };
    update(*reference);
    update(*filter);
    return { reference->GetOutput(), filter->GetOutput(), filter->GetEvaluationStatistics().launches > 0 };
  }

  /** Tests values over the type's whole range (±1e6 for a wide one), moved by an affine transform: they equal ITK's, or differ by one
   *  where ITK's own value, in doubles, is within 1e-4 of an integer, or within 1e-8 of the range, by which the rounding of a position
   *  may change it. */
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

    auto exact = itk::ResampleImageFilter<ImageType, itk::Image<double, 2>>::New();
    Connect<ImageType, itk::Image<double, 2>>(*exact, image, *transform);
    exact->Update();
    const auto both = ResampleBoth<ImageType>(image.GetPointer(), *transform, std::numeric_limits<TPixel>::max());
    ASSERT_TRUE(both.isOfDevice);
    int different = 0;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(both.expected, both.expected->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      const double value = exact->GetOutput()->GetPixel(it.GetIndex());
      const bool   isTie = std::abs(value - std::round(value)) < std::max(1e-4, 1e-8 * (high - low));
      const double got = static_cast<double>(both.output->GetPixel(it.GetIndex()));
      different += std::abs(got - static_cast<double>(it.Get())) > (isTie ? 1.0 : 0.0);
    }
    EXPECT_EQ(different, 0);
  }

  /** Tests positions at voxels, and half-way between them, where a double rounds nothing: all bits equal ITK's. */
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
      const auto both = ResampleBoth<ImageType>(image.GetPointer(), *transform, std::numeric_limits<TPixel>::max());
      for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(both.expected, both.expected->GetBufferedRegion());
           !it.IsAtEnd();
           ++it)
      {
        const TPixel got = both.output->GetPixel(it.GetIndex());
        ASSERT_TRUE(got == it.Get() || (got != got && it.Get() != it.Get()))
          << it.GetIndex() << ", moved by " << move << ": " << got << " instead of " << it.Get();
      }
    }
  }

  /** Expects every voxel to equal ITK's. Returns the output. */
  template <typename TInput, typename TOutput>
  typename TOutput::Pointer
  ExpectITKs(const TInput * image, const itk::Transform<double, 2, 2> & transform) const
  {
    const auto both =
      ResampleBoth<TOutput>(image, transform, itk::NumericTraits<typename TOutput::PixelType>::ZeroValue());
    for (itk::ImageRegionConstIteratorWithIndex<TOutput> it(both.expected, both.expected->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      EXPECT_EQ(both.output->GetPixel(it.GetIndex()), it.Get()) << it.GetIndex();
    }
    return both.expected;
  }

  template <typename TImage>
  void
  TestVectors(const TImage * image, double tolerance)
  {
    Random                     random(3);
    const auto                 transform = MakeAffine<2>(Grid<2>(), random);
    typename TImage::PixelType outside;
    itk::NumericTraits<typename TImage::PixelType>::SetLength(outside, image->GetNumberOfComponentsPerPixel());
    for (unsigned int c = 0; c < image->GetNumberOfComponentsPerPixel(); ++c)
    {
      outside[c] = static_cast<typename itk::NumericTraits<typename TImage::PixelType>::ValueType>(7 + c);
    }
    const auto both = ResampleBoth<TImage>(image, *transform, outside);
    ASSERT_TRUE(both.isOfDevice);
    int moved = 0;
    for (itk::ImageRegionConstIteratorWithIndex<TImage> it(both.expected, both.expected->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      const auto wanted = it.Get();
      const auto got = both.output->GetPixel(it.GetIndex());
      for (unsigned int c = 0; c < image->GetNumberOfComponentsPerPixel(); ++c)
      {
        EXPECT_NEAR(static_cast<double>(got[c]), static_cast<double>(wanted[c]), tolerance) << it.GetIndex();
        moved += wanted[c] != image->GetPixel(it.GetIndex())[c];
      }
    }
    EXPECT_GT(moved, 100);
  }
};

TEST_P(ResamplePixelType, IntegersAreCutOffAndClampedAsITKDoes)
{
  TestInteger<char>();
  TestInteger<unsigned char>();
  TestInteger<signed char>();
  TestInteger<short>();
  TestInteger<unsigned short>();
  TestInteger<int>();
  TestInteger<unsigned int>();
  TestInteger<long>();
  TestInteger<unsigned long>();
  TestInteger<long long>();
  TestInteger<unsigned long long>();
}

TEST_P(ResamplePixelType, EveryBitThatITKKeeps)
{
  TestEveryBit<char>();
  TestEveryBit<unsigned char>();
  TestEveryBit<signed char>();
  TestEveryBit<short>();
  TestEveryBit<unsigned short>();
  TestEveryBit<int>();
  TestEveryBit<unsigned int>();
  TestEveryBit<long>();
  TestEveryBit<unsigned long>();
  TestEveryBit<long long>();
  TestEveryBit<unsigned long long>();
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

/** In floats, one value in a thousand would be rounded up to an integer. */
TEST_P(ResamplePixelType, FromFloatsToShortsNothingIsRoundedUp)
{
  using InputType = itk::Image<float, 2>;
  using OutputType = itk::Image<short, 2>;
  Random  random(9);
  Grid<2> grid;
  grid.size = { { 301, 150 } };
  const auto image = MakeImage<InputType>(grid, [&](const auto &) { return Uniform(random, -30000, 30000); });
  // A translation for which a double rounds nothing.
  auto                   transform = itk::TranslationTransform<double, 2>::New();
  itk::Vector<double, 2> offset;
  offset.Fill(0.3125);
  transform->SetOffset(offset);
  ExpectITKs<InputType, OutputType>(image, *transform);
}

/** Long doubles have more digits than a device's doubles. */
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
  const auto drawVector = [&](auto vector) {
    for (auto & component : vector)
    {
      component = static_cast<std::remove_reference_t<decltype(component)>>(Uniform(random, -10, 10));
    }
    return vector;
  };
  const auto vectors = MakeImage<itk::Image<itk::Vector<float, 3>, 2>>(Grid<2>(), [&](const auto &) {
    return drawVector(itk::Vector<float, 3>());
  });
  TestVectors(vectors.GetPointer(), 1e-5);
  // Vectors as in displacement fields.
  const auto displacements = MakeImage<itk::Image<itk::Vector<double, 2>, 2>>(Grid<2>(), [&](const auto &) {
    return drawVector(itk::Vector<double, 2>());
  });
  TestVectors(displacements.GetPointer(), 1e-6);

  const auto colours = MakeImage<itk::Image<itk::RGBPixel<unsigned char>, 2>>(Grid<2>(), [&](const auto &) {
    itk::RGBPixel<unsigned char> colour;
    for (unsigned int c = 0; c < 3; ++c)
    {
      colour[c] = static_cast<unsigned char>(Uniform(random, 0, 255));
    }
    return colour;
  });
  TestVectors(colours.GetPointer(), 0);

  const auto testVariable = [&](auto zero, double tolerance) {
    auto variable = itk::VectorImage<decltype(zero), 2>::New();
    Grid<2>().ApplyTo(*variable);
    variable->SetNumberOfComponentsPerPixel(5);
    variable->Allocate();
    for (itk::SizeValueType i = 0; i < 5 * 256; ++i)
    {
      variable->GetBufferPointer()[i] = static_cast<decltype(zero)>(Uniform(random, -10, 10));
    }
    TestVectors(variable.GetPointer(), tolerance);
  };
  testVariable(float{}, 1e-5);
  testVariable(short{}, 0);
}

/** A default value is not cast: it is clamped neither to the range of a type nor to that of a double. */
TEST_P(ResamplePixelType, DefaultValuesAreITKs)
{
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Random          random(21);
  const auto      grid = MakeResampleGrid<2>("plain", random);
  const auto      transform = MakeAffine<2>(grid, random);
  const auto      test = [&](auto zero, float value) {
    SCOPED_TRACE(typeid(zero).name());
    using InputType = itk::Image<decltype(zero), 2>;
    using OutputType = itk::Image<float, 2>;
    const auto image = MakeImage<InputType>(grid, [&](const auto &) { return Uniform(random, 1, 100); });
    const auto both = this->ResampleBoth<OutputType>(image.GetPointer(), *transform, value);
    ASSERT_TRUE(both.isOfDevice);
    int outside = 0;
    for (itk::ImageRegionConstIteratorWithIndex<OutputType> it(both.expected, both.expected->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      const float got = both.output->GetPixel(it.GetIndex());
      const bool  isOutside = std::isnan(value) ? std::isnan(it.Get()) : it.Get() == value;
      outside += isOutside;
      EXPECT_TRUE(isOutside ? std::memcmp(&got, &it.Value(), sizeof got) == 0 : std::abs(got - it.Get()) < 1e-3f)
        << it.GetIndex() << ": " << got << " instead of " << it.Get();
    }
    EXPECT_GE(outside, 5);
  };
  for (const float value : { infinity, -infinity, std::numeric_limits<float>::quiet_NaN() })
  {
    test(short{}, value);
    test(double{}, value);
    test(float{}, value);
  }
}

/** Voxels that are NaN are inside, and so are the values interpolated from them; as an integer, such a value is 0. */
TEST_P(ResamplePixelType, NoNumbersAreNotOutside)
{
  using InputType = itk::Image<double, 2>;
  const auto image = MakeImage<InputType>(Grid<2>(), [](const auto & point) { return 1.0 + point[0]; });
  image->SetPixel({ { 4, 5 } }, std::numeric_limits<double>::quiet_NaN());
  const auto resample = [&](auto zero) {
    using OutputType = itk::Image<decltype(zero), 2>;
    auto filter = itk::GPUResampleImageFilter<InputType, OutputType>::New();
    Connect<InputType, OutputType>(*filter, image, *itk::IdentityTransform<double, 2>::New());
    filter->SetDevice(this->GetDevice());
    filter->SetDefaultPixelValue(77);
    filter->Update();
    EXPECT_EQ(filter->GetOutput()->GetPixel({ { 6, 5 } }), 7);
    return filter->GetOutput()->GetPixel({ { 4, 5 } });
  };
  EXPECT_TRUE(std::isnan(resample(float{})));
  EXPECT_EQ(resample(short{}), 0);
  EXPECT_EQ(resample(int{}), 0);
  EXPECT_EQ(resample(0ull), 0u);
}

/** Transforms and interpolators whose coordinates are floats. */
TEST_P(ResamplePixelType, FloatCoordinates)
{
  using ImageType = itk::Image<float, 2>;
  using ReferenceType = itk::ResampleImageFilter<ImageType, ImageType, float, float>;
  using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType, float, float>;
  Random     random(22);
  const auto grid = MakeResampleGrid<2>("anisotropic", random);
  const auto image = MakeImage<ImageType>(grid, [](const auto & point) {
    return 50.0 + 50.0 * std::sin(0.4 * point[0]) * std::cos(0.3 * point[1]);
  });
  auto       affine = itk::AffineTransform<float, 2>::New();
  affine->Rotate2D(0.2f);
  affine->Scale(1.05f);
  auto spline = itk::BSplineTransform<float, 2, 3>::New();
  spline->SetTransformDomainOrigin(image->GetOrigin());
  spline->SetTransformDomainDirection(image->GetDirection());
  itk::BSplineTransform<float, 2, 3>::PhysicalDimensionsType extent;
  extent[0] = static_cast<float>(grid.GetExtent(0));
  extent[1] = static_cast<float>(grid.GetExtent(1));
  spline->SetTransformDomainPhysicalDimensions(extent);
  auto parameters = spline->GetParameters();
  for (auto & parameter : parameters)
  {
    parameter = static_cast<float>(Uniform(random, -1, 1));
  }
  spline->SetParameters(parameters);
  auto composite = itk::CompositeTransform<float, 2>::New();
  composite->AddTransform(affine);
  composite->AddTransform(spline);
  auto interpolator = itk::BSplineInterpolateImageFunction<ImageType, float>::New();
  for (const itk::Transform<float, 2, 2> * transform : { static_cast<const itk::Transform<float, 2, 2> *>(affine),
                                                         static_cast<const itk::Transform<float, 2, 2> *>(composite) })
  {
    for (const bool isSpline : { false, true })
    {
      SCOPED_TRACE(std::string(transform->GetNameOfClass()) + (isSpline ? ", B-spline" : ", linear"));
      const auto configure = [&](ReferenceType & filter) {
        filter.SetInput(image);
        filter.SetTransform(transform);
        filter.SetOutputParametersFromImage(image);
        if (isSpline)
        {
          filter.SetInterpolator(interpolator);
        }
        filter.Update();
      };
      auto reference = ReferenceType::New();
      auto filter = FilterType::New();
      filter->SetDevice(this->GetDevice());
      configure(*reference);
      configure(*filter);
      EXPECT_GT(filter->GetEvaluationStatistics().launches, 0);
      // ITK's own positions are rounded to floats, too, which may decide at the edge.
      const auto different = CountFurtherApart(*reference->GetOutput(), *filter->GetOutput(), 2e-3);
      EXPECT_LE(different, 2u);
    }
  }
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

/** A grey pixel in a coloured image becomes what ITK makes of it. */
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
