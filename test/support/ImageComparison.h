// SPDX-License-Identifier: Apache-2.0
// Measures the difference between images.
#ifndef ImageComparison_h
#define ImageComparison_h

#include "itkImage.h"
#include "itkNumericTraits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gpuregtest
{

template <typename TImage>
using ComponentOf = typename itk::NumericTraits<typename TImage::PixelType>::ValueType;

/** Returns the number of components of all pixels in the buffer. */
template <typename TImage>
std::size_t
CountComponents(const TImage & image)
{
  return image.GetBufferedRegion().GetNumberOfPixels() * image.GetNumberOfComponentsPerPixel();
}

/** Returns the components of all pixels, as many as CountComponents() returns. */
template <typename TImage>
const ComponentOf<TImage> *
GetComponents(const TImage & image)
{
  return reinterpret_cast<const ComponentOf<TImage> *>(image.GetBufferPointer());
}

template <typename TImage>
::testing::AssertionResult
HaveSameSize(const TImage & a, const TImage & b)
{
  if (a.GetBufferedRegion() != b.GetBufferedRegion() ||
      a.GetNumberOfComponentsPerPixel() != b.GetNumberOfComponentsPerPixel())
  {
    return ::testing::AssertionFailure() << a.GetNumberOfComponentsPerPixel() << " components of "
                                         << a.GetBufferedRegion() << " beside " << b.GetNumberOfComponentsPerPixel()
                                         << " of " << b.GetBufferedRegion();
  }
  return ::testing::AssertionSuccess();
}

/** Returns the root mean square of the difference of two images' components, relative to the range of the first one, or to another range
 *  if one is given. If oneApartIsNone, integers that differ by one count as equal, since a double may be just below the next integer. */
template <typename TImage>
double
GetNrmse(const TImage & expected, const TImage & image, bool oneApartIsNone = false, double range = 0)
{
  const ::testing::AssertionResult haveSameSize = HaveSameSize(expected, image);
  EXPECT_TRUE(haveSameSize);
  if (!haveSameSize)
  {
    return std::numeric_limits<double>::infinity();
  }
  const std::size_t  count = CountComponents(expected);
  const auto * const a = GetComponents(expected);
  const auto * const b = GetComponents(image);
  double             low = std::numeric_limits<double>::max(), high = -low, squares = 0;
  for (std::size_t i = 0; i < count; ++i)
  {
    const double wanted = static_cast<double>(a[i]);
    const double apart = std::abs(static_cast<double>(b[i]) - wanted);
    low = std::min(low, wanted);
    high = std::max(high, wanted);
    squares += oneApartIsNone && apart == 1.0 ? 0.0 : apart * apart;
  }
  return std::sqrt(squares / static_cast<double>(count)) / (range > 0 ? range : std::max(high - low, 1e-30));
}

/** Returns the number of components in which two images differ; all of them if the images' sizes differ. */
template <typename TImage>
std::size_t
CountDifferent(const TImage & a, const TImage & b)
{
  if (!HaveSameSize(a, b))
  {
    return std::max<std::size_t>(1, CountComponents(a));
  }
  const std::size_t count = CountComponents(a);
  std::size_t       different = 0;
  for (std::size_t i = 0; i < count; ++i)
  {
    different += GetComponents(a)[i] != GetComponents(b)[i];
  }
  return different;
}

/** Returns the number of components of two images of the same size that differ by more than a distance, or are not numbers. */
template <typename TImage>
std::size_t
CountFurtherApart(const TImage & a, const TImage & b, double tolerance)
{
  EXPECT_TRUE(HaveSameSize(a, b));
  const std::size_t count = std::min(CountComponents(a), CountComponents(b));
  std::size_t       apart = 0;
  for (std::size_t i = 0; i < count; ++i)
  {
    apart += !(std::abs(static_cast<double>(GetComponents(a)[i]) - GetComponents(b)[i]) <= tolerance);
  }
  return apart;
}

/** Succeeds if two images contain the same pixels, to the bit. */
template <typename TImage>
::testing::AssertionResult
HaveSameBits(const TImage & a, const TImage & b)
{
  const ::testing::AssertionResult haveSameSize = HaveSameSize(a, b);
  if (!haveSameSize)
  {
    return haveSameSize;
  }
  if (std::memcmp(GetComponents(a), GetComponents(b), CountComponents(a) * sizeof(ComponentOf<TImage>)) != 0)
  {
    return ::testing::AssertionFailure() << CountDifferent(a, b) << " of " << CountComponents(a)
                                         << " components are not equal, or the sign of a 0";
  }
  return ::testing::AssertionSuccess();
}

} // namespace gpuregtest

#endif
