// SPDX-License-Identifier: Apache-2.0
// Tests that a volume filter answers bad input with ITK's message or ITK's image, and works again afterwards. RecursiveGaussianTest.cxx has
// the other errors of the recursive Gaussian.
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

/** Returns the message of ITK's exception, without the class and the object; empty if there is none. */
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

/** Returns an image with an even start index: no voxel of a pyramid's level lies exactly on its edge, where rounding would decide. */
ImageType::Pointer
MakeInput()
{
  auto grid = MakeOddGrid<2>({ 40, 30 });
  grid.start.Fill(2);
  return MakeWaves<ImageType>(grid, 7);
}

/** Returns true if both images hold the same numbers, except for rounding, and numbers that are not finite at the same places. The order
 *  of additions decides whether infinities add up to infinity or to NaN. */
bool
AreEqual(const ImageType & a, const ImageType & b)
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
  /** Applies spoil to both filters, and then lets ours process good input. Returns ITK's message. */
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
    EXPECT_TRUE(!wanted.empty() || !got.empty() || AreEqual(*filter->GetOutput(), *reference->GetOutput()));
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
    EXPECT_TRUE(AreEqual(*filter.GetOutput(), *reference.GetOutput()));
    EXPECT_EQ(listening.window->Count("Computed by itk::"), 0u) << listening.window->said.front();
  }

  /** Expects each filter to work again after bad input. */
  template <template <typename, typename> class TReference, template <typename, typename> class TFilter>
  void
  TestInput()
  {
    using ReferenceType = TReference<ImageType, ImageType>;
    using FilterType = TFilter<ImageType, ImageType>;
    using ParentType = ReferenceType;
    SCOPED_TRACE(FilterType::New()->GetNameOfClass());
    // There is no input.
    const auto noInput = [](ParentType & filter) { filter.SetInput(nullptr); };
    EXPECT_NE((this->ExpectAsITK<ReferenceType, FilterType>(noInput)), "");
    // Voxels are not finite.
    const auto good = m_Image;
    for (const float bad : { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity() })
    {
      m_Image = MakeInput();
      m_Image->GetBufferPointer()[333] = bad;
      this->ExpectAsITK<ReferenceType, FilterType>([](ParentType &) {});
    }
    m_Image = good;
    // The region is outside of the image.
    const auto beyond = [](ParentType & filter) {
      filter.UpdateOutputInformation();
      filter.GetOutput()->SetRequestedRegion(ImageType::RegionType({ { -1000, -1000 } }, { { 3, 3 } }));
    };
    this->ExpectAsITK<ReferenceType, FilterType>(beyond);
    // The filter works after all these errors.
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
    // ITK's pipeline requires this after an error in a region.
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
  // A factor of 0 for all axes counts as 1; for a single axis it does not, and makes a spacing of 0.
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
