// SPDX-License-Identifier: Apache-2.0
// Compares GPUShrinkImageFilter with itk::ShrinkImageFilter on every device: the pixels are equal to the bit.
#include "Listening.h"
#include "VolumeFilterCase.h"

#include "itkGPUShrinkImageFilter.h"

#include "itkRGBPixel.h"

namespace gpuregtest
{
namespace
{

class Shrink : public DeviceTest
{
protected:
  template <typename TInput, typename TOutput>
  void
  Test(const TInput & input, const std::vector<unsigned int> & factors)
  {
    SCOPED_TRACE("factors " + ::testing::PrintToString(factors));
    using ReferenceType = itk::ShrinkImageFilter<TInput, TOutput>;
    auto reference = ReferenceType::New();
    auto filter = itk::GPUShrinkImageFilter<TInput, TOutput>::New();
    filter->SetDevice(this->GetDevice());
    const Listening listening;
    for (ReferenceType * shrink : std::vector<ReferenceType *>{ reference, filter })
    {
      shrink->SetInput(&input);
      for (unsigned int d = 0; d < TInput::ImageDimension; ++d)
      {
        shrink->SetShrinkFactor(d, factors[d]);
      }
      shrink->Update();
    }
    EXPECT_TRUE(listening.window->said.empty()) << "computed by the parent class: " << listening.window->said.front();
    // The host needs no copy of its own pixels.
    EXPECT_EQ(filter->GetEvaluationStatistics().launches, GetParam() == "host" ? 0 : 1);
    EXPECT_EQ(reference->GetOutput()->GetOrigin(), filter->GetOutput()->GetOrigin());
    EXPECT_EQ(reference->GetOutput()->GetSpacing(), filter->GetOutput()->GetSpacing());
    EXPECT_TRUE(HaveSameBits(*reference->GetOutput(), *filter->GetOutput()));

    // Requests a part of the output.
    auto part = reference->GetOutput()->GetLargestPossibleRegion();
    for (unsigned int d = 0; d < TInput::ImageDimension; ++d)
    {
      part.SetSize(d, (part.GetSize(d) + 1) / 2);
      part.SetIndex(d, part.GetIndex(d) + static_cast<int>(part.GetSize(d)) / 2);
    }
    ASSERT_TRUE(part.Crop(reference->GetOutput()->GetLargestPossibleRegion()));
    for (ReferenceType * shrink : std::vector<ReferenceType *>{ reference, filter })
    {
      shrink->Modified();
      shrink->GetOutput()->ReleaseData();
      shrink->GetOutput()->SetRequestedRegion(part);
      shrink->Update();
    }
    EXPECT_TRUE(HaveSameBits(*reference->GetOutput(), *filter->GetOutput()));
  }

  template <typename TInput, typename TOutput>
  void
  TestTypes()
  {
    SCOPED_TRACE(typeid(TInput).name());
    if constexpr (TInput::ImageDimension == 3)
    {
      const auto input = MakeWaves<TInput>(MakeOddGrid<3>({ 21, 18, 35 }), 3);
      for (const std::vector<unsigned int> & factors : std::vector<std::vector<unsigned int>>{
             { 1, 1, 1 }, { 2, 2, 2 }, { 3, 1, 4 }, { 1, 5, 1 }, { 21, 18, 35 }, { 9, 2, 3 } })
      {
        this->Test<TInput, TOutput>(*input, factors);
      }
    }
    else
    {
      const auto input = MakeWaves<TInput>(MakeOddGrid<2>({ 2000, 13 }), 3);
      for (const std::vector<unsigned int> & factors :
           std::vector<std::vector<unsigned int>>{ { 2, 2 }, { 7, 3 }, { 1, 4 }, { 8, 1 } })
      {
        this->Test<TInput, TOutput>(*input, factors);
      }
    }
  }
};

TEST_P(Shrink, AsITK)
{
  TestTypes<itk::Image<float, 2>, itk::Image<float, 2>>();
  TestTypes<itk::Image<float, 3>, itk::Image<float, 3>>();
  TestTypes<itk::Image<double, 3>, itk::Image<double, 3>>();
  TestTypes<itk::Image<unsigned char, 3>, itk::Image<unsigned char, 3>>();
  TestTypes<itk::Image<short, 2>, itk::Image<float, 2>>();
  TestTypes<itk::Image<int, 3>, itk::Image<int, 3>>();
  TestTypes<itk::Image<unsigned int, 3>, itk::Image<double, 3>>();
}

TEST_P(Shrink, ByMoreThanThereIs)
{
  using ImageType = itk::Image<float, 3>;
  this->Test<ImageType, ImageType>(*MakeWaves<ImageType>(Grid<3>(), 3), { 40, 16, 5 });
}

TEST_P(Shrink, ColoursAndWhatIsNoNumber)
{
  using ColourType = itk::RGBPixel<unsigned char>;
  Random     random(8);
  const auto colours = MakeImage<itk::Image<ColourType, 2>>(MakeOddGrid<2>({ 40, 17 }), [&](const auto &) {
    ColourType colour;
    for (unsigned int c = 0; c < 3; ++c)
    {
      colour[c] = static_cast<unsigned char>(Uniform(random, 0, 255));
    }
    return colour;
  });
  this->Test<itk::Image<ColourType, 2>, itk::Image<ColourType, 2>>(*colours, { 3, 2 });

  const auto odd = MakeWaves<itk::Image<float, 2>>(MakeOddGrid<2>({ 4, 4 }), 1);
  float *    values = odd->GetBufferPointer();
  values[0] = std::numeric_limits<float>::infinity();
  values[5] = -0.0f;
  values[6] = std::numeric_limits<float>::max();
  values[10] = std::numeric_limits<float>::denorm_min();
  this->Test<itk::Image<float, 2>, itk::Image<float, 2>>(*odd, { 1, 1 });
}

/** A grey pixel in a coloured image becomes what ITK makes of it. */
TEST_P(Shrink, GreyToColours)
{
  using GreyType = itk::Image<float, 2>;
  using ColourType = itk::Image<itk::RGBPixel<float>, 2>;
  const auto      grey = MakeWaves<GreyType>(MakeOddGrid<2>({ 40, 17 }), 3);
  const auto      reference = itk::ShrinkImageFilter<GreyType, ColourType>::New();
  const auto      filter = itk::GPUShrinkImageFilter<GreyType, ColourType>::New();
  const Listening listening;
  filter->SetDevice(this->GetDevice());
  for (itk::ShrinkImageFilter<GreyType, ColourType> * shrink :
       { reference.GetPointer(), static_cast<decltype(reference.GetPointer())>(filter.GetPointer()) })
  {
    shrink->SetInput(grey);
    shrink->SetShrinkFactors(2);
    shrink->Update();
  }
  EXPECT_EQ(listening.window->Count("Computed by itk::ShrinkImageFilter"), 1u);
  EXPECT_TRUE(HaveSameBits(*reference->GetOutput(), *filter->GetOutput()));
}

INSTANTIATE_TEST_SUITE_P(Devices, Shrink, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
