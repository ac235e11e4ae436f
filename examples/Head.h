// SPDX-License-Identifier: Apache-2.0
#ifndef Head_h
#define Head_h

#include "Volume.h"

#include <vector>

namespace example
{

/** The physical points, in mm, of an image's voxels that are brighter than half of its mean: of a head in the dark, the
 * head. */
std::vector<Volume::PointType>
FindHead(const Volume * image);

/** Their mean. */
Volume::PointType
GetCentre(const std::vector<Volume::PointType> & head);

/** How far two transforms take the same points apart, in mm. */
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
