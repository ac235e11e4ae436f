// SPDX-License-Identifier: Apache-2.0
// Tests that large pages are requested for memory that many threads write, if the system supports them.
#include "TestDevices.h"
#include "TestImages.h"

#include "gpureg/runtime/LargePages.h"

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "itkGPUResampleImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

namespace gpuregtest
{
namespace
{

constexpr std::size_t LargePage = std::size_t{ 2 } << 20;

/** Returns true if the system has large pages, and reports where they were requested. */
bool
HasLargePages()
{
  std::ifstream     maps("/proc/self/smaps");
  const std::string all{ std::istreambuf_iterator<char>(maps), {} };
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good() && all.find("VmFlags:") != all.npos;
}

/** Returns true if large pages were requested from Linux for an address. */
bool
IsAskedFor(const void * memory)
{
  const auto    address = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  bool          isThere = false;
  for (std::string line; std::getline(maps, line);)
  {
    std::istringstream words(line);
    std::uintptr_t     begin = 0;
    std::uintptr_t     end = 0;
    char               dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-')
    {
      isThere = begin <= address && address < end;
    }
    else if (isThere && line.find("VmFlags:") == 0)
    {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

/** Returns the same for an array that contains some large pages; its ends may be in small pages. */
template <typename T>
bool
IsAskedFor(const T * array, std::size_t count)
{
  return count * sizeof(T) >= 2 * LargePage && IsAskedFor(array + count / 2);
}

class LargePages : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    if (!HasLargePages())
    {
      GTEST_SKIP() << "this system has no large pages, or does not report where they were requested";
    }
  }

  using ImageType = itk::Image<float, 3>;

  static ImageType::Pointer
  MakeRamp()
  {
    Grid<3> grid;
    grid.size = { { 200, 240, 210 } };
    return MakeImage<ImageType>(grid, [](const auto & point) { return point[0] + 2 * point[1] + 3 * point[2]; });
  }

  template <typename TFilter>
  void
  ExpectAskedFor(TFilter & filter)
  {
    filter.SetDevice(this->GetDevice());
    filter.Update();
    auto & pixels = *filter.GetOutput()->GetPixelContainer();
    EXPECT_TRUE(IsAskedFor(pixels.GetBufferPointer(), pixels.Size()));
  }
};

TEST_P(LargePages, AreRequestedForAResampledImage)
{
  const auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  const auto image = MakeRamp();
  filter->SetInput(image);
  filter->SetOutputParametersFromImage(image);
  ExpectAskedFor(*filter);
}

TEST_P(LargePages, AreRequestedForASmoothedImage)
{
  const auto filter = itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>::New();
  filter->SetInput(MakeRamp());
  ExpectAskedFor(*filter);
}

INSTANTIATE_TEST_SUITE_P(Devices, LargePages, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

TEST(LargePagesOfMemory, LittleOrMissingMemoryIsLeftAlone)
{
  const auto        never = [](std::int64_t, const auto &) { ADD_FAILURE() << "there are few large pages, or none"; };
  std::vector<char> small(16 * LargePage, 'x');
  gpureg::PrepareForWriting(small.data(), small.size() - 1, never);
  gpureg::PrepareForWriting(small.data() + 1, 0, never);
  gpureg::PrepareForWriting(nullptr, 0, never);
  EXPECT_EQ(std::count(small.begin(), small.end(), 'x'), static_cast<std::ptrdiff_t>(small.size()));
}

TEST(LargePagesOfMemory, WhatWasWrittenStays)
{
  std::vector<int> array(20 * LargePage / sizeof(int));
  std::iota(array.begin(), array.end(), 5);
  std::int64_t pages = 0;
  gpureg::PrepareForWriting(array.data(), array.size() * sizeof(int), [&pages](std::int64_t count, const auto & touch) {
    pages = count;
    itk::GPURegistrationDetail::MakeParallelFor(2)(count, touch);
  });
  for (std::size_t i = 0; i < array.size(); ++i)
  {
    ASSERT_EQ(array[i], static_cast<int>(i) + 5);
  }
  if (HasLargePages())
  {
    EXPECT_TRUE(IsAskedFor(array.data(), array.size()));
    EXPECT_GE(pages, 19) << "whole large pages among 20";
    EXPECT_LE(pages, 20);
  }
}

} // namespace
} // namespace gpuregtest
