// SPDX-License-Identifier: Apache-2.0
#ifndef ImageDifference_h
#define ImageDifference_h

#include "itkImage.h"

#include <algorithm>
#include <cmath>

namespace bench
{

/** The difference of an image from the expected one. */
struct ImageDifference
{
  /** Root mean square of the difference, relative to the range of the expected values. */
  double byRange;
  /** Root mean square of the difference, relative to that of the expected values. This is the nRMSE of the tests of elastix, whose
   *  authors wrote Shamonin 2014. */
  double byMagnitude;
  /** Number of voxels that differ. */
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
