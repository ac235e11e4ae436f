// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FLIRTCoordinates_h
#define gpureg_FLIRTCoordinates_h

#include "gpureg/core/Geometry.h"

#include <array>

namespace gpureg
{

/** Returns the map from an image's indices to FSL's coordinates, which ignore origin and direction: a coordinate is an index times the
 *  voxel's length, in mm. If the determinant of the image's directions is positive (FSL: neurological), the index along x counts from
 *  the other end.
 *  \param spacing the voxel's lengths in mm.
 *  \param directionDeterminant that of the file's sform, or else of its qform; negative for a file that has neither.
 *  \param length the number of voxels along x. */
inline IndexMap
MakeIndexToFLIRT(const std::array<double, 3> & spacing, double directionDeterminant, double length)
{
  IndexMap map;
  for (std::size_t d = 0; d < 3; ++d)
  {
    map.matrix[4 * d] = spacing[d];
  }
  if (directionDeterminant > 0)
  {
    map.matrix[0] *= -1;
    map.offset[0] = spacing[0] * (length - 1.0);
  }
  return map;
}

} // namespace gpureg

#endif
