// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/LevelSamples.h"

#include "engine/core/Matrix3.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/metric/histogram/JointHistogramPasses.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/runtime/Transfer.h"

#include "kernels/core/NumberForm.h"
#include "kernels/core/Prelude.h"
#include "kernels/image/NumberTypes.h"

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

/** Returns a scale from the smallest value to the largest. */
ValueScale
MakeScale(const ImageSummary & summary)
{
  ValueScale scale;
  scale.minimum = summary.minimum;
  scale.range = scale.largest = summary.maximum - summary.minimum;
  return scale;
}

/** Returns a scale whose range is the smallest power of two that is not less than width. */
ValueScale
MakeScaleOfTwo(double minimum, double width)
{
  ValueScale scale;
  scale.minimum = minimum;
  scale.range = scale.largest = std::exp2(std::ceil(std::log2(width)));
  return scale;
}

/** Sets values in single or double precision with the given scales. */
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

/** Sets values with one unit for both images, relative to the smallest value. */
void
DescribeInOneUnit(const ImageSummary & fixed, const ImageSummary & moving, FixedSamples & samples, MovingImage & image)
{
  ImageSummary both;
  both.minimum = std::min(fixed.minimum, moving.minimum);
  both.maximum = std::max(fixed.maximum, moving.maximum);
  DescribeByValues(MakeScale(both), MakeScale(both), Precision::Single, samples, image);
}

/** Sets values relative to each image's mean. */
void
DescribeAboutMeans(const ImageSummary & fixed, const ImageSummary & moving, FixedSamples & samples, MovingImage & image)
{
  DescribeByValues(MakeScaleOfTwo(fixed.mean, fixed.maximum - fixed.minimum),
                   MakeScaleOfTwo(moving.mean, moving.maximum - moving.minimum),
                   Precision::Single,
                   samples,
                   image);
}

/** Sets values in double precision, relative to 0, each image with its own unit. */
void
DescribeForNeighborhoods(const ImageSummary & fixed,
                         const ImageSummary & moving,
                         FixedSamples &       samples,
                         MovingImage &        image)
{
  const auto scaleOf = [](const ImageSummary & summary) {
    return MakeScaleOfTwo(0, std::max(std::abs(summary.minimum), std::abs(summary.maximum)));
  };
  DescribeByValues(scaleOf(fixed), scaleOf(moving), Precision::Double, samples, image);
}

/** Sets values relative to the smallest one: the fixed image's in bins of equal width, the moving image's from 0 to rangeEnd. */
void
DescribeByFixedBins(const ImageSummary & fixed,
                    const ImageSummary & moving,
                    int                  firstBin,
                    int                  bins,
                    double               rangeEnd,
                    FixedSamples &       samples,
                    MovingImage &        image)
{
  samples.scale = MakeScale(fixed);
  samples.sampled->minimum = samples.scale.minimum;
  samples.sampled->bins = MakeBins(fixed, firstBin, bins);
  image.scale = MakeScale(moving);
  image.unit = image.scale.range / rangeEnd;
}

/** Sets the values for a joint histogram of nearest bins: the fixed image's bins with the places of its values in them, and the moving
 *  image's values in bins. The smallest value lies in the middle of the first bin, the largest one in that of `widths` bins further. */
void
DescribeByNearestBins(const ImageSummary & fixed,
                      const ImageSummary & moving,
                      int                  firstBin,
                      int                  widths,
                      FixedSamples &       samples,
                      MovingImage &        image)
{
  const auto unitOf = [widths](const ImageSummary & summary) { return (summary.maximum - summary.minimum) / widths; };
  samples.scale = MakeScale(fixed);
  samples.scale.range = samples.scale.largest = widths;
  samples.sampled->bins = MakeBins(fixed, firstBin, 0.5, widths + 1, widths);
  samples.sampled->wantsValues = true;
  samples.sampled->minimum = fixed.minimum;
  samples.sampled->unit = unitOf(fixed);
  samples.sampled->placeOfMinimum = firstBin;
  image.scale = MakeScale(moving);
  image.unit = unitOf(moving);
}

/** Sets bins of equal width for both images. */
void
DescribeByBinsOfBoth(
  const ImageSummary & fixed, const ImageSummary & moving, int bins, FixedSamples & samples, MovingImage & image)
{
  samples.scale = MakeScale(fixed);
  samples.sampled->bins = MakeBins(fixed, 0, bins);
  image.scale = MakeScale(moving);
  image.unit = image.scale.range;
  image.binEdges = MakeBins(moving, 0, bins);
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
  samples.sampled->summary = fixed.summaryOnDevice;
  return samples;
}

MovingImage
MakeLevelMoving(const LevelImage & moving, int dimension, bool gradientOfInterpolation)
{
  MovingImage image;
  image.size = moving.image->GetSize();
  image.image = moving.image;
  image.summary = moving.summaryOnDevice;
  image.gradientOfInterpolation = gradientOfInterpolation;
  if (moving.mask != nullptr)
  {
    image.maskImage = moving.mask;
    image.maskSize = moving.mask->GetSize();
  }
  SetDifferences(moving, dimension, image);
  return image;
}

void
DescribeValues(const SimilaritySettings & similarity,
               const LevelImage &         fixed,
               const LevelImage &         moving,
               FixedSamples &             samples,
               MovingImage &              image)
{
  const int            bins = similarity.bins;
  const ImageSummary & f = fixed.summary;
  const ImageSummary & m = moving.summary;
  switch (Describe(similarity.kind).values)
  {
    case ValueForm::OneUnit:
      DescribeInOneUnit(f, m, samples, image);
      break;
    case ValueForm::AboutMeans:
      DescribeAboutMeans(f, m, samples, image);
      break;
    case ValueForm::OfNeighborhoods:
      DescribeForNeighborhoods(f, m, samples, image);
      break;
    case ValueForm::FixedBins:
      DescribeByFixedBins(f, m, 0, bins, 1, samples, image);
      break;
    case ValueForm::ParzenBins:
    {
      constexpr int padding = kernels::HistogramPadding;
      DescribeByFixedBins(f, m, padding, bins - 2 * padding, GetMattesRangeEnd(bins), samples, image);
      break;
    }
    case ValueForm::NearestBins:
      DescribeByNearestBins(
        f, m, kernels::JointHistogramPadding, bins - kernels::JointHistogramExtraBins, samples, image);
      break;
    case ValueForm::PartialVolumeBins:
      DescribeByBinsOfBoth(f, m, bins, samples, image);
      break;
  }
}

std::vector<double>
DownloadValues(Queue & queue, const DeviceImage & image)
{
  std::vector<double> values(static_cast<std::size_t>(image.GetCount()));
  const NumberType    type = image.GetNumberType();
  DownloadArray(queue,
                *image.GetNumbers(),
                BytesOf(type),
                image.GetCount(),
                [&values, type](std::int64_t first, std::int64_t count, const void * in) {
                  for (std::int64_t n = 0; n < count; ++n)
                  {
                    values[static_cast<std::size_t>(first + n)] = kernels::ReadNumber(in, static_cast<int>(type), n);
                  }
                });
  return values;
}

} // namespace gpureg
