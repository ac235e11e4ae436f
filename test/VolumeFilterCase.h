// SPDX-License-Identifier: Apache-2.0
// What the filters of volumes are tested on, and how their images are compared with ITK's.
#ifndef VolumeFilterCase_h
#define VolumeFilterCase_h

#include "TestDevices.h"
#include "TestImages.h"

#include "itkImageRegionConstIteratorWithIndex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{

/** Values of smooth waves and noise, from -100 to 1000 as far as the pixel type goes. */
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

/** A grid of this size, with a start index and spacings of its own. */
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

/** Root mean square of the difference of two images' components, over the range of the first, or over another if there
 *  is one. Where the pixels are integers, one apart is none if may be: a double may be about to become the next integer.
 */
template <typename TImage>
double
GetNrmse(const TImage & expected, const TImage & image, bool oneApartIsNone = false, double range = 0)
{
  EXPECT_EQ(expected.GetBufferedRegion(), image.GetBufferedRegion());
  EXPECT_EQ(expected.GetNumberOfComponentsPerPixel(), image.GetNumberOfComponentsPerPixel());
  if (expected.GetBufferedRegion() != image.GetBufferedRegion())
  {
    return std::numeric_limits<double>::infinity();
  }
  using ComponentType = typename itk::NumericTraits<typename TImage::PixelType>::ValueType;
  const auto   count = expected.GetBufferedRegion().GetNumberOfPixels() * expected.GetNumberOfComponentsPerPixel();
  const auto * a = reinterpret_cast<const ComponentType *>(expected.GetBufferPointer());
  const auto * b = reinterpret_cast<const ComponentType *>(image.GetBufferPointer());
  double       low = std::numeric_limits<double>::max(), high = -low, squares = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    const double wanted = static_cast<double>(a[i]);
    const double apart = std::abs(static_cast<double>(b[i]) - wanted);
    low = std::min(low, wanted);
    high = std::max(high, wanted);
    squares += oneApartIsNone && apart == 1.0 ? 0.0 : apart * apart;
  }
  return std::sqrt(squares / static_cast<double>(count)) / (range > 0 ? range : std::max(high - low, 1e-30));
}

/** How many pixels of two images of the same size differ. */
template <typename TImage>
itk::SizeValueType
CountDifferent(const TImage & a, const TImage & b)
{
  EXPECT_EQ(a.GetBufferedRegion(), b.GetBufferedRegion());
  const auto count = std::min(a.GetBufferedRegion().GetNumberOfPixels(), b.GetBufferedRegion().GetNumberOfPixels());
  itk::SizeValueType different = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    different += a.GetBufferPointer()[i] != b.GetBufferPointer()[i];
  }
  return different;
}

/** Whether two images hold the same bits. */
template <typename TImage>
bool
AreTheSame(const TImage & a, const TImage & b)
{
  return a.GetBufferedRegion() == b.GetBufferedRegion() &&
         std::memcmp(a.GetBufferPointer(),
                     b.GetBufferPointer(),
                     a.GetBufferedRegion().GetNumberOfPixels() * sizeof(typename TImage::PixelType)) == 0;
}

} // namespace gpuregtest

#endif
