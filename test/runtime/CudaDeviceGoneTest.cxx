// SPDX-License-Identifier: Apache-2.0
// Tests that a metric whose GPU is lost reports that as ITK's objects do, and works on another device; overrides let ITK's own classes do
// their work.
#include "CudaTrap.h"
#include "OverriddenMetrics.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkGPURegistrationFactory.h"

#include "itkAffineTransform.h"
#include "itkBSplineDecompositionImageFilter.h"
#include "itkMultiResolutionPyramidImageFilter.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkRecursiveMultiResolutionPyramidImageFilter.h"
#include "itkResampleImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace gpuregtest
{
namespace
{

using ImageType = itk::Image<float, 3>;

/** Exits with 0 if everything is as it should be. */
void
LoseTheMetricsDevice()
{
  const auto images = MakeImagePair<ImageType>(Grid<3>(), Grid<3>(), 7);
  const auto metric = itk::CudaMattesNMI<ImageType, ImageType>::New();
  metric->SetFixedImage(images.first);
  metric->SetMovingImage(images.second);
  metric->SetMovingTransform(itk::AffineTransform<double, 3>::New());
  metric->SetDevice(itk::GPUDevice::FromName("host"));
  metric->Initialize();
  const double expected = metric->GetValue();

  metric->SetDevice(itk::GPUDevice::FromName("cuda:0"));
  metric->Initialize();
  metric->GetValue();
  LoseCudaDevice();
  bool isExplained = false;
  try
  {
    metric->GetValue();
  }
  catch (const itk::ExceptionObject & error)
  {
    std::fprintf(stderr, "%s\n", error.GetDescription());
    isExplained = std::string(error.GetDescription()).find("the device is gone for this process") != std::string::npos;
  }
  metric->SetDevice(itk::GPUDevice::FromName("host"));
  metric->Initialize();
  std::_Exit(isExplained && metric->GetValue() == expected ? 0 : 1);
}

ImageType::Pointer
MakeInput()
{
  Grid<3> grid;
  grid.size.Fill(24);
  return MakeImagePair<ImageType>(grid, grid, 8).first;
}

/** Returns a filter of the class that New() gives, on an input of its own, since it may run in place. */
template <typename TFilter>
typename TFilter::Pointer
MakeFilter()
{
  const auto filter = TFilter::New();
  filter->SetInput(MakeInput());
  if constexpr (std::is_same<TFilter, itk::ResampleImageFilter<ImageType, ImageType>>::value)
  {
    filter->SetReferenceImage(filter->GetInput());
    filter->UseReferenceImageOn();
  }
  return filter;
}

template <typename TFilter>
bool
GivesAsMuch(TFilter & filter, const TFilter & itks)
{
  filter.SetInput(MakeInput());
  filter.Update();
  const auto & output = *filter.GetOutput();
  const auto & expected = *itks.GetOutput();
  const auto   count = expected.GetBufferedRegion().GetNumberOfPixels();
  return output.GetBufferedRegion() == expected.GetBufferedRegion() &&
         std::equal(output.GetBufferPointer(),
                    output.GetBufferPointer() + count,
                    expected.GetBufferPointer(),
                    [](double a, double b) { return std::abs(a - b) <= 1e-3; });
}

/** Filters of a class: ITK's own, an override made before the device was lost, and one made afterwards. */
template <typename TFilter>
struct Witnesses
{
  typename TFilter::Pointer itks = MakeFilter<TFilter>();
  typename TFilter::Pointer before;

  void
  Begin()
  {
    itks->Update();
    itk::GPURegistrationFactory::RegisterAll();
    before = MakeFilter<TFilter>();
    before->Update();
    itk::GPURegistrationFactory::UnRegisterAll();
  }

  bool
  AgreeAfterwards()
  {
    itk::GPURegistrationFactory::RegisterAll();
    const auto after = MakeFilter<TFilter>();
    itk::GPURegistrationFactory::UnRegisterAll();
    return typeid(*before) != typeid(*itks) && typeid(*after) != typeid(*itks) && GivesAsMuch(*before, *itks) &&
           GivesAsMuch(*before, *itks) && GivesAsMuch(*after, *itks);
  }
};

/** Returns the number of wrong results of metrics that were overrides before the device was lost, without and with a new Initialize(). */
int
CountWrongMetrics(const std::vector<overridden::MetricType::Pointer> & before, const std::vector<Answer> & answers)
{
  int wrong = 0;
  for (std::size_t n = 0; n < before.size(); ++n)
  {
    wrong += AreEqual(Evaluate(*before[n]), answers[n]) ? 0 : 1;
    before[n]->Initialize();
    wrong += AreEqual(Evaluate(*before[n]), answers[n]) ? 0 : 1;
  }
  return wrong;
}

void
LoseTheOverridesDevice()
{
  itk::GPUDevice::SetDefault(itk::GPUDevice::FromName("cuda:0"));
  std::tuple<Witnesses<itk::ResampleImageFilter<ImageType, ImageType>>,
             Witnesses<itk::RecursiveGaussianImageFilter<ImageType, ImageType>>,
             Witnesses<itk::SmoothingRecursiveGaussianImageFilter<ImageType, ImageType>>,
             Witnesses<itk::ShrinkImageFilter<ImageType, ImageType>>,
             Witnesses<itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>,
             Witnesses<itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>>,
             Witnesses<itk::BSplineDecompositionImageFilter<ImageType, ImageType>>>
    witnesses;
  std::apply([](auto &... each) { (each.Begin(), ...); }, witnesses);
  const auto                                   images = MakeImagePair<ImageType>(Grid<3>(), Grid<3>(), 7);
  std::vector<overridden::MetricType::Pointer> metrics;
  std::vector<Answer>                          answers;
  itk::GPURegistrationFactory::RegisterAll();
  for (const overridden::Kind kind : overridden::AllKinds)
  {
    metrics.push_back(overridden::MakeInitialized(kind, images.first, images.second));
    answers.push_back(Evaluate(*metrics.back()));
  }
  itk::GPURegistrationFactory::UnRegisterAll();
  LoseCudaDevice();
  const int wrong = std::apply([](auto &... each) { return (0 + ... + (each.AgreeAfterwards() ? 0 : 1)); }, witnesses);
  std::_Exit(wrong + CountWrongMetrics(metrics, answers));
}

TEST(CudaDeviceGoneDeathTest, TheMetricReportsItAndWorksOnTheHost)
{
  const auto devices = GetDeviceNames();
  if (std::find(devices.begin(), devices.end(), "cuda:0") == devices.end())
  {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(LoseTheMetricsDevice(), testing::ExitedWithCode(0), "the device is gone for this process");
}

/** Each override says so once. The child exits with the number of results that differ from ITK's, or from the device's before. */
TEST(CudaDeviceGoneDeathTest, OverridesLeaveTheWorkToITK)
{
  const auto devices = GetDeviceNames();
  if (std::find(devices.begin(), devices.end(), "cuda:0") == devices.end())
  {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(LoseTheOverridesDevice(), testing::ExitedWithCode(0), "This is said once");
}

} // namespace
} // namespace gpuregtest
