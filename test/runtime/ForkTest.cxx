// SPDX-License-Identifier: Apache-2.0
// Tests a process that forks after it has computed on a device: the child computes on the host, or gets an error, and never hangs.
#include "itkGPUDevice.h"
#include "itkGPUError.h"
#include "itkGPURegistrationFactory.h"
#include "itkGPUResampleImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include "OverriddenMetrics.h"
#include "RunInChild.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace gpuregtest
{
namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType>;

ImageType::Pointer
MakeImage()
{
  const auto            image = ImageType::New();
  ImageType::RegionType region;
  region.SetSize({ { 20, 18, 16 } });
  image->SetRegions(region);
  image->Allocate();
  for (itk::SizeValueType i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = static_cast<float>(i % 37);
  }
  return image;
}

template <typename TFilter>
void
SetUp(TFilter & filter, double shift)
{
  const auto                                        transform = itk::AffineTransform<double, 3>::New();
  itk::AffineTransform<double, 3>::OutputVectorType by;
  by.Fill(shift);
  transform->Translate(by);
  filter.SetTransform(transform);
  if (!filter.GetInput())
  {
    filter.SetInput(MakeImage());
  }
  filter.SetReferenceImage(filter.GetInput());
  filter.UseReferenceImageOn();
}

/** Returns the sum of a filter's output as text. */
template <typename TFilter>
std::string
Update(TFilter & filter, double shift)
{
  SetUp(filter, shift);
  filter.Update();
  double       sum = 0;
  const auto & output = *filter.GetOutput();
  for (itk::SizeValueType i = 0; i < output.GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    sum += output.GetBufferPointer()[i];
  }
  return std::to_string(static_cast<long>(sum + 0.5));
}

class Fork : public DeviceTest
{
protected:
  ~Fork() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  /** Returns the result of work on the parent's device in a child. */
  std::string
  Outcome(const std::function<std::string()> & work) const
  {
    try
    {
      return work();
    }
    catch (const itk::GPUDeviceLostError & error)
    {
      const std::string text = error.GetDescription();
      return text.find("forked") != std::string::npos && text.find("spawn") != std::string::npos ? "an error" : text;
    }
  }
};

TEST_P(Fork, AChildsNewFilterComputesOnTheHost)
{
  const auto parents = FilterType::New();
  parents->SetDevice(this->GetDevice());
  const std::string wanted = Update(*parents, 0.5);
  EXPECT_EQ(RunInChild([&] {
              const auto devices = itk::GPUDevice::GetAvailable();
              if (devices.size() != 1 || !devices.front().IsHost())
              {
                return std::string("sees other devices");
              }
              return Update(*FilterType::New(), 0.5);
            }),
            wanted);
  EXPECT_EQ(Update(*parents, 0.5), wanted) << "the parent does not work any more";
}

/** Does not depend on the parent's default. */
TEST_P(Fork, AChildsDefaultIsTheHost)
{
  const auto parents = FilterType::New();
  parents->SetDevice(this->GetDevice());
  const std::string wanted = Update(*parents, 0.5);
  const auto        useNewFilter = [] { return Update(*FilterType::New(), 0.5); };
  EXPECT_EQ(RunInChild([&] {
              setenv("ITK_GPU_DEVICE", GetParam().c_str(), 1);
              return this->Outcome(useNewFilter);
            }),
            wanted);
  itk::GPUDevice::SetDefault(this->GetDevice());
  EXPECT_EQ(RunInChild([&] { return this->Outcome(useNewFilter); }), wanted);
}

TEST_P(Fork, AParentsFilterReportsIt)
{
  const auto        filter = FilterType::New();
  const std::string onHost = this->GetDevice().IsHost() ? Update(*filter, 0.25) : "an error";
  filter->SetDevice(this->GetDevice());
  Update(*filter, 0.5);
  EXPECT_EQ(RunInChild([&] { return this->Outcome([&] { return Update(*filter, 0.25); }); }), onHost);
}

TEST_P(Fork, AnOverrideDoesTheWork)
{
  itk::GPUDevice::SetDefault(this->GetDevice());
  itk::GPURegistrationFactory::RegisterAll();
  const auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
  Update(*filter, 0.5);
  const std::string wanted = Update(*filter, 0.25);
  EXPECT_EQ(RunInChild([&] { return Update(*filter, 0.25); }), wanted);
  EXPECT_EQ(RunInChild([&] {
              const auto childs = itk::ResampleImageFilter<ImageType, ImageType>::New();
              return Update(*childs, 0.25);
            }),
            wanted)
    << "of a default device that is lost";
}

TEST_P(Fork, AMetricReportsItAndIsFreed)
{
  using TransformType = itk::AffineTransform<double, 3>;
  auto metric = OurMetric<float, 3>::New();
  metric->SetFixedImage(MakeImage());
  metric->SetMovingImage(MakeImage());
  metric->SetMovingTransform(TransformType::New());
  metric->SetDevice(this->GetDevice());
  metric->Initialize();
  const double value = metric->GetValue();
  EXPECT_EQ(RunInChild([&] {
              const std::string outcome = this->Outcome([&] { return std::to_string(metric->GetValue()); });
              metric = nullptr;
              return outcome;
            }),
            this->GetDevice().IsHost() ? std::to_string(value) : "an error");
}

/** A metric that is an override continues to work in a child, initialized there again or not, and new ones work, too. */
TEST_P(Fork, MetricOverridesDoTheWork)
{
  const auto images = MakeImagePair<ImageType>(Grid<3>(), Grid<3>(), 7);
  itk::GPUDevice::SetDefault(this->GetDevice());
  itk::GPURegistrationFactory::RegisterAll();
  for (const overridden::Kind kind : overridden::AllKinds)
  {
    const auto makeMetric = [&] { return overridden::MakeInitialized(kind, images.first, images.second); };
    const auto metric = makeMetric();
    ASSERT_TRUE(overridden::IsOurs(*metric));
    const Answer wanted = Evaluate(*metric);
    const auto   compare = [&](const overridden::MetricType & one) -> std::string {
      return AreEqual(Evaluate(one), wanted) ? "the same" : "not the same";
    };
    EXPECT_EQ(RunInChild([&] { return compare(*metric); }), "the same") << metric->GetNameOfClass();
    EXPECT_EQ(RunInChild([&] {
                metric->Initialize();
                return compare(*metric);
              }),
              "the same")
      << metric->GetNameOfClass() << ", initialised";
    EXPECT_EQ(RunInChild([&] { return compare(*makeMetric()); }), "the same") << metric->GetNameOfClass() << ", new";
  }
}

TEST_P(Fork, AnInitializedMetricReportsIt)
{
  auto metric = OurMetric<float, 3>::New();
  metric->SetFixedImage(MakeImage());
  metric->SetMovingImage(MakeImage());
  metric->SetMovingTransform(itk::AffineTransform<double, 3>::New());
  metric->SetDevice(this->GetDevice());
  metric->Initialize();
  EXPECT_EQ(RunInChild([&] {
              return this->Outcome([&] {
                metric->Initialize();
                return std::string("initialised");
              });
            }),
            this->GetDevice().IsHost() ? "initialised" : "an error");
}

TEST_P(Fork, AChildFreesItsParentsFiltersAndExits)
{
  auto filter = FilterType::New();
  filter->SetDevice(this->GetDevice());
  const std::string wanted = Update(*filter, 0.5);
  auto              smoothing = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  smoothing->SetDevice(this->GetDevice());
  smoothing->SetInput(MakeImage());
  smoothing->Update();
  EXPECT_EQ(RunInChild(
              [&] {
                filter = nullptr;
                smoothing = nullptr;
                return Update(*FilterType::New(), 0.5);
              },
              ChildsEnd::ByExit),
            wanted);
}

/** No lock of this module is found locked by a thread that the child does not have. */
TEST_P(Fork, BesideThreadsThatCompute)
{
#ifdef __SANITIZE_ADDRESS__
  // Seen in the child's stack: it waits in the sanitizer's allocator for a lock that a thread of the parent held.
  GTEST_SKIP() << "AddressSanitizer's own allocator is not for children of processes whose threads allocate";
#endif
  std::atomic<bool>        goesOn{ true };
  std::vector<std::thread> threads;
  for (int n = 0; n < 2; ++n)
  {
    threads.emplace_back([&] {
      while (goesOn)
      {
        const auto filter = FilterType::New();
        filter->SetDevice(this->GetDevice());
        // Runs in the calling thread, since a child has none of ITK's threads.
        filter->SetNumberOfWorkUnits(1);
        Update(*filter, 0.5);
      }
    });
  }
  const auto computeInChild = [&] {
    const auto filter = FilterType::New();
    filter->SetNumberOfWorkUnits(1);
    return Update(*filter, 0.5);
  };
  const std::string wanted = computeInChild();
  for (int n = 0; n < 20; ++n)
  {
    EXPECT_EQ(RunInChild(computeInChild), wanted);
  }
  goesOn = false;
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}

TEST_P(Fork, AChildThatRequestsTheParentsDeviceGetsAnError)
{
  FilterType::New()->SetDevice(this->GetDevice());
  EXPECT_EQ(RunInChild([&] { return this->Outcome([&] { return itk::GPUDevice::FromName(GetParam()).GetName(); }); }),
            this->GetDevice().IsHost() ? "host" : "an error");
}

TEST_P(Fork, AChildOfAChildComputesToo)
{
  const auto parents = FilterType::New();
  parents->SetDevice(this->GetDevice());
  const std::string wanted = Update(*parents, 0.5);
  EXPECT_EQ(RunInChild([&] { return RunInChild([&] { return Update(*FilterType::New(), 0.5); }); }), wanted);
}

INSTANTIATE_TEST_SUITE_P(Devices, Fork, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
