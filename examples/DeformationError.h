// SPDX-License-Identifier: Apache-2.0
#ifndef DeformationError_h
#define DeformationError_h

#include "DisplacementField.h"
#include "Volume.h"

#include <ostream>

namespace example
{

/** How far two transforms take the same points apart, in mm. */
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
  /** Over those that are brighter than a threshold. */
  ErrorStatistics head;
};

/** Half of Otsu's threshold between the bright and the dark voxels, of an image's values in 256 bins: of a T1 image of a
 * head, what is brighter is the head but for its darkest fluid, bone and air. */
double
FindHeadThreshold(const Volume * image);

/** The distance between where two transforms take the fixed image's voxels, on ITK's threads.
 * \param threshold of what is the head, as FindHeadThreshold() gives it
 * \throws std::runtime_error if no voxel is above the threshold, or all are 0 */
DeformationError
MeasureDeformationError(const Transform * found, const Transform * truth, const Volume * fixed, double threshold);

/** The same of a displacement field, linearly interpolated if it has another grid than the fixed image; none beyond its
 * edge. */
DeformationError
MeasureDeformationError(const DisplacementField * found,
                        const Transform *         truth,
                        const Volume *            fixed,
                        double                    threshold);

std::ostream &
operator<<(std::ostream & os, const ErrorStatistics & error);

} // namespace example

#endif
