// SPDX-License-Identifier: Apache-2.0
// A metric whose GPU is lost says so as ITK's objects do, and goes on with another device.
#include "CudaTrap.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"

#include <cstdio>
#include <cstdlib>

namespace gpuregtest
{
namespace
{

/** Exits with 0 if all is as it should be. */
void
LoseTheMetricsDevice()
{
  using ImageType = itk::Image<float, 3>;
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
  bool told = false;
  try
  {
    metric->GetValue();
  }
  catch (const itk::ExceptionObject & error)
  {
    std::fprintf(stderr, "%s\n", error.GetDescription());
    told = std::string(error.GetDescription()).find("the device is gone for this process") != std::string::npos;
  }
  metric->SetDevice(itk::GPUDevice::FromName("host"));
  metric->Initialize();
  std::_Exit(told && metric->GetValue() == expected ? 0 : 1);
}

TEST(CudaDeviceGoneDeathTest, TheMetricTellsItAndGoesOnOnTheHost)
{
  const auto devices = GetDeviceNames();
  if (std::find(devices.begin(), devices.end(), "cuda:0") == devices.end())
  {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(LoseTheMetricsDevice(), testing::ExitedWithCode(0), "the device is gone for this process");
}

} // namespace
} // namespace gpuregtest
