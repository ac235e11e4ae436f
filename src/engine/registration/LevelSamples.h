// SPDX-License-Identifier: Apache-2.0
// What a similarity of a level's images is given: the voxels of the fixed one as samples, and the moving one, both on the device.
#ifndef gpureg_LevelSamples_h
#define gpureg_LevelSamples_h

#include "gpureg/metric/pairs/PairMetric.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/filter/LevelImage.h"

#include <vector>

namespace gpureg
{

/** Every voxel of the fixed image; how its values are counted is still to be said. */
FixedSamples
MakeLevelSamples(const LevelImage & fixed);

/** The same of the moving image.
 *  \param gradientOfInterpolation whether forces are by the index in it, or by points along central differences. */
MovingImage
MakeLevelMoving(const LevelImage & moving, int dimension, bool gradientOfInterpolation);

/** From the smallest value on. */
ValueScale
MakeScale(const ImageSummary & summary);

/** Along the smallest power of two that is not below a width. */
ValueScale
MakeScaleOfTwo(double minimum, double width);

/** Values, in single precision or in double, as both images' scales say. */
void
DescribeByValues(const ValueScale & fixedScale,
                 const ValueScale & movingScale,
                 Precision          precision,
                 FixedSamples &     samples,
                 MovingImage &      image);

/** Values in single precision: for a correlation of either image from its mean on, else of both in one unit, from the smallest on. */
void
DescribeForPairs(PairMeasure        measure,
                 const LevelImage & fixed,
                 const LevelImage & moving,
                 FixedSamples &     samples,
                 MovingImage &      image);

/** Values in double precision, from 0, each image's in its own unit. */
void
DescribeForNeighborhoods(const LevelImage & fixed,
                         const LevelImage & moving,
                         FixedSamples &     samples,
                         MovingImage &      image);

/** Values from the smallest one on: the fixed image's in bins of equal width, the moving one's from 0 to rangeEnd. */
void
DescribeByBins(const LevelImage & fixed,
               const LevelImage & moving,
               int                firstBin,
               int                bins,
               double             rangeEnd,
               FixedSamples &     samples,
               MovingImage &      image);

/** Of a joint histogram of nearest bins: the fixed image's bins and where in them its values lie, and the moving image's values in bins
 *  from the smallest one on. The smallest value lies in the middle of the first bin, the largest one so many widths further. */
void
DescribeByNearestBins(const LevelImage & fixed,
                      const LevelImage & moving,
                      int                firstBin,
                      int                widths,
                      FixedSamples &     samples,
                      MovingImage &      image);

/** Bins of equal width of both images. */
void
DescribeByBinsOfBoth(
  const LevelImage & fixed, const LevelImage & moving, int bins, FixedSamples & samples, MovingImage & image);

/** Downloads an image's values. */
std::vector<double>
DownloadValues(Queue & queue, const DeviceImage & image);

} // namespace gpureg

#endif
