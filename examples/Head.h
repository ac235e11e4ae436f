// SPDX-License-Identifier: Apache-2.0
#ifndef Head_h
#define Head_h

#include "Volume.h"

#include <vector>

namespace example
{

/** Returns the physical points, in mm, of an image's voxels that are brighter than half of its mean: for a head on a dark background,
 *  the head. */
std::vector<Volume::PointType>
FindHead(const Volume * image);

/** Returns the mean of the points. */
Volume::PointType
GetCentre(const std::vector<Volume::PointType> & head);

/** The distances between points mapped by two transforms, in mm. */
struct TransformError
{
  double mean;
  double percentile95;
  double maximum;
};

TransformError
Compare(const Transform * transform, const Transform * truth, const std::vector<Volume::PointType> & head);

std::ostream &
operator<<(std::ostream & os, const TransformError & error);

} // namespace example

#endif
