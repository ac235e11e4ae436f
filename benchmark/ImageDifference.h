// SPDX-License-Identifier: Apache-2.0
#ifndef ImageDifference_h
#define ImageDifference_h

#include "itkImage.h"

#include <algorithm>
#include <cmath>

namespace bench
{

/** How far an image is from the one expected. */
struct ImageDifference
{
  /** Root of the mean square of the difference, by the range of the expected values. */
  double byRange;
  /** The same by the root of the expected values' mean square. This is the nRMSE of the tests of elastix, whose authors
   * wrote Shamonin 2014. */
  double byMagnitude;
  /** Voxels that are not the same. */
  itk::SizeValueType voxels;
};

template <typename TImage>
ImageDifference
Compare(const TImage & expected, const TImage & image)
{
  const auto         count = expected.GetBufferedRegion().GetNumberOfPixels();
  const auto * const wanted = expected.GetBufferPointer();
  const auto * const found = image.GetBufferPointer();
  double             squares = 0, magnitude = 0, low = wanted[0], high = low;
  itk::SizeValueType voxels = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    const double value = wanted[i];
    const double difference = found[i] - value;
    low = std::min(low, value);
    high = std::max(high, value);
    squares += difference * difference;
    magnitude += value * value;
    voxels += found[i] != wanted[i];
  }
  return { std::sqrt(squares / static_cast<double>(count)) / (high - low), std::sqrt(squares / magnitude), voxels };
}

} // namespace bench

#endif
