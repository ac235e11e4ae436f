// SPDX-License-Identifier: Apache-2.0
// The input of a similarity of a level's images: the fixed image's voxels as samples, and the moving image, both on the device.
#ifndef gpureg_LevelSamples_h
#define gpureg_LevelSamples_h

#include "gpureg/metric/Similarity.h"
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

/** Sets how values are scaled, and which values the samples store, in the form that the similarity reads.
 *  \param similarity its settings, which CheckSettings() has checked */
void
DescribeValues(const SimilaritySettings & similarity,
               const LevelImage &         fixed,
               const LevelImage &         moving,
               FixedSamples &             samples,
               MovingImage &              image);

/** Downloads an image's values. */
std::vector<double>
DownloadValues(Queue & queue, const DeviceImage & image);

} // namespace gpureg

#endif
