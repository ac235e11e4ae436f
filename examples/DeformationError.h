// SPDX-License-Identifier: Apache-2.0
#ifndef DeformationError_h
#define DeformationError_h

#include "DisplacementField.h"
#include "Volume.h"

#include <ostream>

namespace example
{

/** The distances between points mapped by two transforms, in mm. */
struct ErrorStatistics
{
  double             mean;
  double             median;
  double             percentile95;
  double             maximum;
  itk::SizeValueType voxels;
};

struct DeformationError
{
  /** Over the voxels of the fixed image that are not exactly 0. */
  ErrorStatistics all;
  /** Over the voxels that are brighter than a threshold. */
  ErrorStatistics head;
};

/** Returns half of Otsu's threshold between the bright and the dark voxels, from an image's values in 256 bins. In a T1 image of a head,
 *  brighter voxels are the head without its darkest fluid, bone and air. */
double
ComputeHeadThreshold(const Volume * image);

/** Measures the distance between the fixed image's voxels mapped by two transforms, on ITK's threads.
 *  \param threshold above which a voxel belongs to the head, as from ComputeHeadThreshold()
 *  \throws std::runtime_error if no voxel is above the threshold, or all are 0 */
DeformationError
MeasureDeformationError(const Transform * found, const Transform * truth, const Volume * fixed, double threshold);

/** Measures the error of a displacement field, which is interpolated linearly if it has another grid than the fixed image, and is 0
 *  beyond its edge. */
DeformationError
MeasureDeformationError(const DisplacementField * found,
                        const Transform *         truth,
                        const Volume *            fixed,
                        double                    threshold);

std::ostream &
operator<<(std::ostream & os, const ErrorStatistics & error);

} // namespace example

#endif
