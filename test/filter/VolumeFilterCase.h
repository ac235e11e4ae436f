// SPDX-License-Identifier: Apache-2.0
// Images and checks for the tests of the volume filters.
#ifndef VolumeFilterCase_h
#define VolumeFilterCase_h

#include "ImageComparison.h"
#include "TestDevices.h"
#include "TestImages.h"

#include "gpureg/runtime/Device.h"

#include "itkGPUError.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace gpuregtest
{

/** Returns an image of smooth waves and noise, from -100 to 1000 as far as the pixel type allows. */
template <typename TImage>
typename TImage::Pointer
MakeWaves(const Grid<TImage::ImageDimension> & grid, std::uint64_t seed)
{
  using PixelType = typename TImage::PixelType;
  Random random(seed);
  auto   image = TImage::New();
  grid.ApplyTo(*image);
  image->Allocate();
  const double low = std::max(-100.0, static_cast<double>(std::numeric_limits<PixelType>::lowest()));
  const double high = std::min(1000.0, static_cast<double>(std::numeric_limits<PixelType>::max()));
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    double wave = 0.5;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      wave += 0.13 * std::sin(0.5 * static_cast<double>(it.GetIndex()[d]) + d);
    }
    it.Set(static_cast<PixelType>(low + (high - low) * (wave + Uniform(random, -0.05, 0.05))));
  }
  return image;
}

/** Returns a grid of this size, with a start index other than 0 and a different spacing along each axis. */
template <unsigned int VDimension>
Grid<VDimension>
MakeOddGrid(const std::vector<unsigned int> & size)
{
  Grid<VDimension> grid;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = size[d];
    grid.start[d] = 5 - 9 * static_cast<int>(d);
    grid.spacing[d] = 0.8 + 0.35 * d;
    grid.origin[d] = 10.0 - 31.0 * d;
  }
  grid.direction = MakeRotation<VDimension>(0.3);
  return grid;
}

/** Expects a filter whose input is set to throw if its device has room for 20 000 bytes only, to work once there is more, and then to
 *  hold only its images' idle memory on the device. */
template <typename TFilter>
void
ExpectUsableAfterMemoryWasOut(TFilter & filter)
{
  const std::string device = filter.GetDevice().GetName();
  const std::size_t before = gpureg::GetMemoryInUse(device);
  gpureg::SetMemoryLimit(device, before + 20000);
  EXPECT_THROW(filter.Update(), itk::GPUOutOfMemoryError);
  gpureg::SetMemoryLimit(device, 0);
  filter.Update();
  EXPECT_EQ(gpureg::GetMemoryInUse(device) - gpureg::GetIdleMemoryInUse(device), before)
    << "nothing is held between two updates";
}

} // namespace gpuregtest

#endif
