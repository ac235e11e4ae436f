// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/LevelSamples.h"

#include "engine/filter/LevelGeometry.h"

#include "kernels/core/Prelude.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gpureg
{

namespace
{
/** Sets the steps of central differences: half a spacing along each physical axis. */
void
SetDifferences(const LevelImage & moving, int dimension, MovingImage & image)
{
  const auto                  toIndex = InvertMap(moving.toPoint).matrix;
  const std::array<double, 3> spacing = GetSpacing(moving.toPoint);
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    image.inverseSpacing[d] = 1.0 / spacing[d];
    for (std::size_t r = 0; r < static_cast<std::size_t>(dimension); ++r)
    {
      image.differenceStep[3 * r + d] = 0.5 * spacing[d] * toIndex[3 * r + d];
    }
  }
}

/** Returns bins of equal width over the image's range.
 *  \param begin the lower edge of the second bin, in widths above the smallest value */
BinEdges
MakeBins(const ImageSummary & summary, int first, double begin, int count, double widths)
{
  BinEdges     bins;
  const double range = summary.maximum - summary.minimum;
  bins.first = first;
  for (int edge = 0; edge + 1 < count; ++edge)
  {
    bins.edges.push_back(summary.minimum + range * (begin + edge) / widths);
  }
  return bins;
}

BinEdges
MakeBins(const ImageSummary & summary, int first, int count)
{
  return MakeBins(summary, first, 1.0, count, count);
}
} // namespace

FixedSamples
MakeLevelSamples(const LevelImage & fixed)
{
  FixedSamples samples;
  samples.virtualSize = fixed.image->GetSize();
  samples.sampled.emplace();
  samples.sampled->image = fixed.image;
  samples.sampled->mask = fixed.mask;
  samples.sampled->size = fixed.image->GetSize();
  samples.sampled->isOneGrid = true;
  return samples;
}

MovingImage
MakeLevelMoving(const LevelImage & moving, int dimension, bool gradientOfInterpolation)
{
  MovingImage image;
  image.size = moving.image->GetSize();
  image.image = moving.image;
  image.gradientOfInterpolation = gradientOfInterpolation;
  if (moving.mask != nullptr)
  {
    image.maskImage = moving.mask;
    image.maskSize = moving.mask->GetSize();
  }
  SetDifferences(moving, dimension, image);
  return image;
}

ValueScale
MakeScale(const ImageSummary & summary)
{
  ValueScale scale;
  scale.minimum = summary.minimum;
  scale.range = scale.largest = summary.maximum - summary.minimum;
  return scale;
}

ValueScale
MakeScaleOfTwo(double minimum, double width)
{
  ValueScale scale;
  scale.minimum = minimum;
  scale.range = scale.largest = std::exp2(std::ceil(std::log2(width)));
  return scale;
}

void
DescribeByValues(const ValueScale & fixedScale,
                 const ValueScale & movingScale,
                 Precision          precision,
                 FixedSamples &     samples,
                 MovingImage &      image)
{
  samples.precision = image.precision = precision;
  samples.scale = fixedScale;
  samples.sampled->wantsValues = true;
  samples.sampled->minimum = fixedScale.minimum;
  samples.sampled->unit = fixedScale.range;
  image.scale = movingScale;
  image.unit = movingScale.range;
}

void
DescribeForNeighborhoods(const LevelImage & fixed,
                         const LevelImage & moving,
                         FixedSamples &     samples,
                         MovingImage &      image)
{
  const auto scaleOf = [](const ImageSummary & summary) {
    return MakeScaleOfTwo(0, std::max(std::abs(summary.minimum), std::abs(summary.maximum)));
  };
  DescribeByValues(scaleOf(fixed.summary), scaleOf(moving.summary), Precision::Double, samples, image);
}

void
DescribeByBins(const LevelImage & fixed,
               const LevelImage & moving,
               int                firstBin,
               int                bins,
               double             rangeEnd,
               FixedSamples &     samples,
               MovingImage &      image)
{
  samples.scale = MakeScale(fixed.summary);
  samples.sampled->minimum = samples.scale.minimum;
  samples.sampled->bins = MakeBins(fixed.summary, firstBin, bins);
  image.scale = MakeScale(moving.summary);
  image.unit = image.scale.range / rangeEnd;
}

void
DescribeByNearestBins(const LevelImage & fixed,
                      const LevelImage & moving,
                      int                firstBin,
                      int                widths,
                      FixedSamples &     samples,
                      MovingImage &      image)
{
  const auto unitOf = [widths](const ImageSummary & summary) { return (summary.maximum - summary.minimum) / widths; };
  samples.scale = MakeScale(fixed.summary);
  samples.scale.range = samples.scale.largest = widths;
  samples.sampled->bins = MakeBins(fixed.summary, firstBin, 0.5, widths + 1, widths);
  samples.sampled->wantsValues = true;
  samples.sampled->minimum = fixed.summary.minimum;
  samples.sampled->unit = unitOf(fixed.summary);
  samples.sampled->placeOfMinimum = firstBin;
  image.scale = MakeScale(moving.summary);
  image.unit = unitOf(moving.summary);
}

void
DescribeByBinsOfBoth(
  const LevelImage & fixed, const LevelImage & moving, int bins, FixedSamples & samples, MovingImage & image)
{
  samples.scale = MakeScale(fixed.summary);
  samples.sampled->bins = MakeBins(fixed.summary, 0, bins);
  image.scale = MakeScale(moving.summary);
  image.unit = image.scale.range;
  image.binEdges = MakeBins(moving.summary, 0, bins);
}

void
DescribeForPairs(
  PairMeasure measure, const LevelImage & fixed, const LevelImage & moving, FixedSamples & samples, MovingImage & image)
{
  const auto & f = fixed.summary;
  const auto & m = moving.summary;
  if (measure == PairMeasure::Correlation)
  {
    DescribeByValues(MakeScaleOfTwo(f.mean, f.maximum - f.minimum),
                     MakeScaleOfTwo(m.mean, m.maximum - m.minimum),
                     Precision::Single,
                     samples,
                     image);
    return;
  }
  ImageSummary both;
  both.minimum = std::min(f.minimum, m.minimum);
  both.maximum = std::max(f.maximum, m.maximum);
  DescribeByValues(MakeScale(both), MakeScale(both), Precision::Single, samples, image);
}

std::vector<double>
DownloadValues(Queue & queue, const DeviceImage & image)
{
  std::vector<double> values(static_cast<std::size_t>(image.GetCount()));
  WithReal(image.GetPrecision(), [&](auto zero) {
    using Real = decltype(zero);
    DownloadArray(queue,
                  *image.GetMemory(),
                  sizeof(Real),
                  image.GetCount(),
                  [&values](std::int64_t first, std::int64_t count, const void * in) {
                    const auto * const from = static_cast<const Real *>(in);
                    std::copy(from, from + count, values.begin() + first);
                  });
  });
  return values;
}

} // namespace gpureg
