// SPDX-License-Identifier: Apache-2.0
// What is wrong with the input of a filter of volumes is told in ITK's words, or gives ITK's image; and the filter goes
// on after it. What else the recursive Gaussian refuses is in RecursiveGaussianTest.cxx.
#include "Listening.h"
#include "VolumeFilterCase.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include <limits>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 2>;

/** What ITK says, without the class and the object that say it; empty if there is nothing to say. */
template <typename TWork>
std::string
GetError(const TWork & work)
{
  try
  {
    work();
    return {};
  }
  catch (const itk::ExceptionObject & error)
  {
    const std::string words = error.GetDescription();
    const auto        end = words.find("): ");
    return end == std::string::npos ? words : words.substr(end + 3);
  }
}

/** Of an even start index: no voxel of a pyramid's level is on the very edge of this one, where rounding decides. */
ImageType::Pointer
MakeInput()
{
  auto grid = MakeOddGrid<2>({ 40, 30 });
  grid.start.Fill(2);
  return MakeWaves<ImageType>(grid, 7);
}

/** Both hold the same numbers, to rounding; or none, in the same places: whether infinities add up to one, or to a NaN,
 *  hangs on the order. */
bool
AreAlike(const ImageType & a, const ImageType & b)
{
  if (a.GetBufferedRegion() != b.GetBufferedRegion())
  {
    return false;
  }
  for (itk::SizeValueType i = 0; i < a.GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const float x = a.GetBufferPointer()[i];
    const float y = b.GetBufferPointer()[i];
    if (std::isfinite(x) != std::isfinite(y) || (std::isfinite(x) && std::abs(x - y) > 1e-2f))
    {
      return false;
    }
  }
  return true;
}

class VolumeFilterBadInput : public DeviceTest
{
protected:
  /** Spoils both filters alike, and has ours do something good afterwards. Returns what ITK said. */
  template <typename TReference, typename TFilter, typename TSpoil>
  std::string
  ExpectAsITK(const TSpoil & spoil)
  {
    auto reference = TReference::New();
    auto filter = TFilter::New();
    filter->SetDevice(this->GetDevice());
    SCOPED_TRACE(filter->GetNameOfClass());
    reference->SetInput(m_Image);
    filter->SetInput(m_Image);
    const std::string wanted = GetError([&] {
      spoil(*reference);
      reference->Update();
    });
    const std::string got = GetError([&] {
      spoil(*filter);
      filter->Update();
    });
    EXPECT_EQ(got, wanted);
    EXPECT_TRUE(!wanted.empty() || !got.empty() || AreAlike(*filter->GetOutput(), *reference->GetOutput()));
    return wanted;
  }

  template <typename TReference, typename TFilter>
  void
  ExpectGood(TReference & reference, TFilter & filter)
  {
    reference.SetInput(m_Image);
    filter.SetInput(m_Image);
    EXPECT_EQ(GetError([&] { reference.Update(); }), "");
    const Listening listening;
    EXPECT_EQ(GetError([&] { filter.Update(); }), "");
    EXPECT_TRUE(AreAlike(*filter.GetOutput(), *reference.GetOutput()));
    EXPECT_EQ(listening.window->Count("Computed by itk::"), 0u) << listening.window->said.front();
  }

  /** The same for each filter, which is as good as new afterwards. */
  template <template <typename, typename> class TReference, template <typename, typename> class TFilter>
  void
  TestInput()
  {
    using ReferenceType = TReference<ImageType, ImageType>;
    using FilterType = TFilter<ImageType, ImageType>;
    using ParentType = ReferenceType;
    SCOPED_TRACE(FilterType::New()->GetNameOfClass());
    // No input.
    const auto noInput = [](ParentType & filter) { filter.SetInput(nullptr); };
    EXPECT_NE((this->ExpectAsITK<ReferenceType, FilterType>(noInput)), "");
    // Voxels that are no numbers.
    const auto good = m_Image;
    for (const float bad : { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity() })
    {
      m_Image = MakeInput();
      m_Image->GetBufferPointer()[333] = bad;
      this->ExpectAsITK<ReferenceType, FilterType>([](ParentType &) {});
    }
    m_Image = good;
    // A region outside of the image.
    const auto beyond = [](ParentType & filter) {
      filter.UpdateOutputInformation();
      filter.GetOutput()->SetRequestedRegion(ImageType::RegionType({ { -1000, -1000 } }, { { 3, 3 } }));
    };
    this->ExpectAsITK<ReferenceType, FilterType>(beyond);
    // And after it all.
    auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    GetError([&] {
      noInput(*filter);
      filter->Update();
    });
    GetError([&] {
      filter->SetInput(m_Image);
      beyond(*filter);
      filter->Update();
    });
    // So ITK's pipeline wants it after an error in a region.
    filter->ResetPipeline();
    filter->UpdateOutputInformation();
    filter->GetOutput()->SetRequestedRegionToLargestPossibleRegion();
    this->ExpectGood(*ReferenceType::New(), *filter);
  }

  ImageType::Pointer m_Image = MakeInput();
};

TEST_P(VolumeFilterBadInput, Gaussians)
{
  TestInput<itk::RecursiveGaussianImageFilter, itk::GPURecursiveGaussianImageFilter>();
  TestInput<itk::SmoothingRecursiveGaussianImageFilter, itk::GPUSmoothingRecursiveGaussianImageFilter>();
}

TEST_P(VolumeFilterBadInput, Shrinking)
{
  TestInput<itk::ShrinkImageFilter, itk::GPUShrinkImageFilter>();
  using ReferenceType = itk::ShrinkImageFilter<ImageType, ImageType>;
  using FilterType = itk::GPUShrinkImageFilter<ImageType, ImageType>;
  // A factor of 0 for all axes is one of 1; for one axis it is not, and makes a spacing of 0.
  const auto shrinkAll = [](ReferenceType & filter) { filter.SetShrinkFactors(0); };
  EXPECT_EQ((this->ExpectAsITK<ReferenceType, FilterType>(shrinkAll)), "");
  const auto shrinkOne = [](ReferenceType & filter) { filter.SetShrinkFactor(1, 0); };
  EXPECT_NE((this->ExpectAsITK<ReferenceType, FilterType>(shrinkOne)), "");
  auto filter = FilterType::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(m_Image);
  shrinkOne(*filter);
  EXPECT_NE(GetError([&] { filter->Update(); }), "");
  filter->SetShrinkFactor(1, 1);
  this->ExpectGood(*ReferenceType::New(), *filter);
}

TEST_P(VolumeFilterBadInput, Decomposition)
{
  TestInput<itk::BSplineDecompositionImageFilter, itk::GPUBSplineDecompositionImageFilter>();
  using ReferenceType = itk::BSplineDecompositionImageFilter<ImageType, ImageType>;
  using FilterType = itk::GPUBSplineDecompositionImageFilter<ImageType, ImageType>;
  const auto tooMuch = [](ReferenceType & filter) { filter.SetSplineOrder(6); };
  EXPECT_NE((this->ExpectAsITK<ReferenceType, FilterType>(tooMuch)), "");
  auto filter = FilterType::New();
  filter->SetDevice(this->GetDevice());
  EXPECT_NE(GetError([&] { tooMuch(*filter); }), "");
  filter->SetSplineOrder(3);
  this->ExpectGood(*ReferenceType::New(), *filter);
}

TEST_P(VolumeFilterBadInput, Pyramids)
{
  TestInput<itk::MultiResolutionPyramidImageFilter, itk::GPUMultiResolutionPyramidImageFilter>();
  TestInput<itk::RecursiveMultiResolutionPyramidImageFilter, itk::GPURecursiveMultiResolutionPyramidImageFilter>();
  using ReferenceType = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>;
  using FilterType = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>;
  const auto noLevels = [](ReferenceType & filter) {
    filter.SetNumberOfLevels(0);
    EXPECT_EQ(filter.GetNumberOfLevels(), 1u);
  };
  EXPECT_EQ((this->ExpectAsITK<ReferenceType, FilterType>(noLevels)), "");
  const auto noFactors = [](ReferenceType & filter) {
    itk::Array2D<unsigned int> schedule(2, 2);
    schedule.Fill(0);
    filter.SetSchedule(schedule);
  };
  EXPECT_EQ((this->ExpectAsITK<ReferenceType, FilterType>(noFactors)), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, VolumeFilterBadInput, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
