// SPDX-License-Identifier: Apache-2.0
// The input of a similarity of a level's images: the fixed image's voxels as samples, and the moving image, both on the device.
#ifndef gpureg_LevelSamples_h
#define gpureg_LevelSamples_h

#include "gpureg/metric/pairs/PairMetric.h"
#include "gpureg/metric/samples/Samples.h"

#include "engine/filter/LevelImage.h"

#include <vector>

namespace gpureg
{

/** Returns samples at every voxel of the fixed image. The caller still has to set the scale or the bins of the values. */
FixedSamples
MakeLevelSamples(const LevelImage & fixed);

/** Returns the moving image. The caller still has to set the scale or the bins of the values.
 *  \param gradientOfInterpolation true: forces are derivatives of the interpolation by the moving index; false: by points, from central
 *  differences */
MovingImage
MakeLevelMoving(const LevelImage & moving, int dimension, bool gradientOfInterpolation);

/** Returns a scale from the smallest value to the largest. */
ValueScale
MakeScale(const ImageSummary & summary);

/** Returns a scale whose range is the smallest power of two that is not less than width. */
ValueScale
MakeScaleOfTwo(double minimum, double width);

/** Sets values in single or double precision with the given scales. */
void
DescribeByValues(const ValueScale & fixedScale,
                 const ValueScale & movingScale,
                 Precision          precision,
                 FixedSamples &     samples,
                 MovingImage &      image);

/** Sets values in single precision: for a correlation relative to each image's mean; otherwise with one unit for both images, relative to
 *  the smallest value. */
void
DescribeForPairs(PairMeasure        measure,
                 const LevelImage & fixed,
                 const LevelImage & moving,
                 FixedSamples &     samples,
                 MovingImage &      image);

/** Sets values in double precision, relative to 0, each image with its own unit. */
void
DescribeForNeighborhoods(const LevelImage & fixed,
                         const LevelImage & moving,
                         FixedSamples &     samples,
                         MovingImage &      image);

/** Sets values relative to the smallest one: the fixed image's in bins of equal width, the moving image's from 0 to rangeEnd. */
void
DescribeByBins(const LevelImage & fixed,
               const LevelImage & moving,
               int                firstBin,
               int                bins,
               double             rangeEnd,
               FixedSamples &     samples,
               MovingImage &      image);

/** Sets the values for a joint histogram of nearest bins: the fixed image's bins with the places of its values in them, and the moving
 *  image's values in bins. The smallest value lies in the middle of the first bin, and the largest value widths bins further. */
void
DescribeByNearestBins(const LevelImage & fixed,
                      const LevelImage & moving,
                      int                firstBin,
                      int                widths,
                      FixedSamples &     samples,
                      MovingImage &      image);

/** Sets bins of equal width for both images. */
void
DescribeByBinsOfBoth(
  const LevelImage & fixed, const LevelImage & moving, int bins, FixedSamples & samples, MovingImage & image);

/** Downloads an image's values. */
std::vector<double>
DownloadValues(Queue & queue, const DeviceImage & image);

} // namespace gpureg

#endif
