// SPDX-License-Identifier: Apache-2.0
// Tests the volume filters in ITK's pipeline: repeated updates, progress, another device, and images that are not the contents of their
// buffers.
#include "Listening.h"
#include "VolumeFilterCase.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include "itkSqrtImageAdaptor.h"

#include "gpureg/runtime/Device.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;

class VolumeFilterContract : public DeviceTest
{
protected:
  VolumeFilterContract()
    : m_Grid(MakeOddGrid<3>({ 24, 18, 20 }))
  {
    m_Grid.start.Fill(0);
  }

  template <typename TFilter, typename TReference, typename TConfigure>
  void
  ExpectAsITK(TFilter & filter, const TConfigure & configure)
  {
    const auto reference = TReference::New();
    reference->SetInput(filter.GetInput());
    configure(*reference);
    reference->Update();
    filter.UpdateLargestPossibleRegion();
    EXPECT_GT(filter.GetEvaluationStatistics().launches + IsShrinkingOnHost(filter), 0);
    EXPECT_LE(GetNrmse(*reference->GetOutput(), *filter.GetOutput()), 5e-7);
  }

  /** Uses a filter in every way in which programs do. */
  template <typename TFilter, typename TReference, typename TConfigure>
  void
  TestFilter(const TConfigure & configure)
  {
    SCOPED_TRACE(TFilter::New()->GetNameOfClass());
    const auto expectAsITK = [&](TFilter & filter) { this->ExpectAsITK<TFilter, TReference>(filter, configure); };
    const auto first = MakeWaves<ImageType>(m_Grid, 1);
    const auto filter = TFilter::New();
    configure(*filter);
    filter->SetInput(first);
    // From the host to another device and back: each device performs the next update.
    for (const std::string & device : { std::string("host"), this->GetDevice().GetName(), std::string("host") })
    {
      SCOPED_TRACE(device);
      const auto before = filter->GetMTime();
      const bool isAnother = filter->GetDevice().GetName() != device;
      filter->SetDevice(itk::GPUDevice::FromName(device));
      EXPECT_EQ(filter->GetMTime() > before, isAnother);
      expectAsITK(*filter);
      filter->Modified();
    }
    filter->SetDevice(this->GetDevice());
    std::ostringstream text;
    filter->Print(text);
    EXPECT_NE(text.str().find("Device: " + this->GetDevice().GetName()), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("MeasuresKernelTime: Off"), std::string::npos) << text.str();

    // Progress goes from 0 to 1.
    std::vector<float> progress;
    filter->AddObserver(itk::ProgressEvent(),
                        [&](const itk::EventObject &) { progress.push_back(filter->GetProgress()); });
    expectAsITK(*filter);
    ASSERT_GE(progress.size(), 2u);
    EXPECT_EQ(progress.front(), 0.0f);
    EXPECT_EQ(progress.back(), 1.0f);
    EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
    filter->RemoveAllObservers();

    // Voxels changed in place; another image; an image of another size.
    first->FillBuffer(3.0f);
    first->SetPixel({ { 10, 9, 8 } }, 100.0f);
    first->Modified();
    expectAsITK(*filter);
    filter->SetInput(MakeWaves<ImageType>(m_Grid, 2));
    expectAsITK(*filter);
    auto grid = m_Grid;
    grid.size = { { 30, 12, 16 } };
    filter->SetInput(MakeWaves<ImageType>(grid, 3));
    expectAsITK(*filter);

    // A timed update gives the same image.
    const ImageType::Pointer untimed = filter->GetOutput();
    untimed->DisconnectPipeline();
    filter->SetMeasuresKernelTime(true);
    filter->Modified();
    filter->Update();
    EXPECT_EQ(CountDifferent(*untimed, *filter->GetOutput()), 0u);
    EXPECT_GT(filter->GetEvaluationStatistics().kernelMilliseconds + IsShrinkingOnHost(*filter), 0.0);

    // An aborted update, and then a complete one.
    const auto abort =
      filter->AddObserver(itk::ProgressEvent(), [&](const itk::EventObject &) { filter->AbortGenerateDataOn(); });
    filter->Modified();
    EXPECT_THROW(filter->Update(), itk::ProcessAborted);
    filter->RemoveObserver(abort);
    expectAsITK(*filter);

    // An image whose pixels were released, without a source that would make them again.
    const auto released = MakeWaves<ImageType>(m_Grid, 4);
    filter->SetInput(released);
    expectAsITK(*filter);
    released->ReleaseData();
    filter->Modified();
    try
    {
      filter->Update();
      ADD_FAILURE() << "it was filtered";
    }
    catch (const itk::ExceptionObject & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find("buffer"), std::string::npos) << error.GetDescription();
    }
    filter->SetInput(first);
    expectAsITK(*filter);
  }

  /** Returns 1 for a shrink filter on the host, which only copies and launches nothing. */
  template <typename TFilter>
  static int
  IsShrinkingOnHost(const TFilter & filter)
  {
    return std::is_same<TFilter, itk::GPUShrinkImageFilter<ImageType, ImageType>>::value && filter.GetDevice().IsHost();
  }

  Grid<3> m_Grid;
};

TEST_P(VolumeFilterContract, RecursiveGaussian)
{
  TestFilter<itk::GPURecursiveGaussianImageFilter<ImageType, ImageType>,
             itk::RecursiveGaussianImageFilter<ImageType, ImageType>>([](auto & filter) {
    filter.SetSigma(1.5);
    filter.SetDirection(1);
  });
}

TEST_P(VolumeFilterContract, SmoothingRecursiveGaussian)
{
  TestFilter<itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>,
             itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>>(
    [](auto & filter) { filter.SetSigma(1.5); });
}

/** An image stays on the device from filter to filter, even after its filter is gone; changes by the host are noticed. */
TEST_P(VolumeFilterContract, AnImageOnTheDeviceIsSmoothedWithoutAnUpload)
{
  using FilterType = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  using ReferenceType = itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  const auto bytes = static_cast<std::int64_t>(sizeof(float) * 24 * 18 * 20);
  const bool hasBus = !this->GetDevice().IsHost();
  const auto smooth = [&](ImageType & image, double sigma) {
    const auto filter = FilterType::New();
    filter->SetDevice(this->GetDevice());
    filter->SetInput(&image);
    const auto configure = [sigma](auto & some) { some.SetSigma(sigma); };
    configure(*filter);
    this->ExpectAsITK<FilterType, ReferenceType>(*filter, configure);
    const ImageType::Pointer output = filter->GetOutput();
    output->DisconnectPipeline();
    return std::make_pair(output, filter->GetEvaluationStatistics().bytesUp);
  };
  const auto input = MakeWaves<ImageType>(m_Grid, 1);
  EXPECT_EQ(smooth(*input, 2).second >= bytes, hasBus);
  const auto first = smooth(*input, 1);
  EXPECT_LT(first.second, bytes) << "the second filter of an image";
  EXPECT_LT(smooth(*first.first, 1.5).second, bytes) << "the filter of another one's output";
  first.first->GetPixelContainer()->GetImportPointer()[1234] += 5;
  EXPECT_EQ(smooth(*first.first, 1.5).second >= bytes, hasBus) << "one voxel has changed";
  EXPECT_LT(smooth(*first.first, 2.5).second, bytes);
  input->GetPixelContainer()->GetImportPointer()[0] += 5;
  input->Modified();
  EXPECT_EQ(smooth(*input, 1).second >= bytes, hasBus);
}

TEST_P(VolumeFilterContract, WhatIsThereOfAnImageGoesWithIt)
{
  const std::string device = this->GetDevice().GetName();
  const std::size_t before = gpureg::GetMemoryInUse(device);
  auto              input = MakeWaves<ImageType>(m_Grid, 1);
  auto              filter = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(this->GetDevice());
  filter->SetInput(input);
  for (int n = 0; n < 3; ++n)
  {
    filter->Modified();
    filter->Update();
  }
  const std::size_t bytes = sizeof(float) * 24 * 18 * 20;
  EXPECT_EQ(gpureg::GetMemoryInUse(device) - before, this->GetDevice().IsHost() ? 0 : 2 * bytes) << "input and output";
  filter = nullptr;
  EXPECT_EQ(gpureg::GetMemoryInUse(device) - before, this->GetDevice().IsHost() ? 0 : bytes) << "input";
  input = nullptr;
  EXPECT_EQ(gpureg::GetMemoryInUse(device), before);
}

TEST_P(VolumeFilterContract, BSplineDecomposition)
{
  TestFilter<itk::GPUBSplineDecompositionImageFilter<ImageType, ImageType>,
             itk::BSplineDecompositionImageFilter<ImageType, ImageType>>(
    [](auto & filter) { filter.SetSplineOrder(3); });
}

TEST_P(VolumeFilterContract, Shrink)
{
  TestFilter<itk::GPUShrinkImageFilter<ImageType, ImageType>, itk::ShrinkImageFilter<ImageType, ImageType>>(
    [](auto & filter) { filter.SetShrinkFactors(2); });
}

TEST_P(VolumeFilterContract, MultiResolutionPyramid)
{
  TestFilter<itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>,
             itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>(
    [](auto & filter) { filter.SetNumberOfLevels(3); });
}

TEST_P(VolumeFilterContract, RecursiveMultiResolutionPyramid)
{
  TestFilter<itk::GPURecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>,
             itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>>(
    [](auto & filter) { filter.SetNumberOfLevels(3); });
}

/** The pixels of an adaptor are not the contents of its image's buffer, so the filter leaves them to ITK, and says so. */
TEST_P(VolumeFilterContract, AdaptorsAreLeftToTheParent)
{
  using AdaptorType = itk::SqrtImageAdaptor<ImageType, float>;
  const auto image = MakeWaves<ImageType>(m_Grid, 1);
  for (float *value = image->GetBufferPointer(), *end = value + image->GetBufferedRegion().GetNumberOfPixels();
       value != end;
       ++value)
  {
    *value = std::abs(*value);
  }
  const auto adaptor = AdaptorType::New();
  adaptor->SetImage(image);
  const auto expectITKs = [&](const auto & filter, const auto & reference) {
    SCOPED_TRACE(filter->GetNameOfClass());
    const Listening listening;
    filter->SetDevice(this->GetDevice());
    filter->SetInput(adaptor);
    reference->SetInput(adaptor);
    filter->Update();
    reference->Update();
    EXPECT_EQ(filter->GetEvaluationStatistics().launches, 0);
    EXPECT_TRUE(HaveSameBits(*reference->GetOutput(), *filter->GetOutput()));
    EXPECT_EQ(listening.window->Count("on the host."), 1u);
  };
  expectITKs(itk::GPUSmoothingRecursiveGaussianImageFilter<AdaptorType, ImageType>::New(),
             itk::SmoothingRecursiveGaussianImageFilter<AdaptorType, ImageType>::New());
  expectITKs(itk::GPUMultiResolutionPyramidImageFilter<AdaptorType, ImageType>::New(),
             itk::MultiResolutionPyramidImageFilter<AdaptorType, ImageType>::New());
}

INSTANTIATE_TEST_SUITE_P(Devices, VolumeFilterContract, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
