// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FLIRTCoordinates_h
#define gpureg_FLIRTCoordinates_h

#include "gpureg/core/Geometry.h"

#include <array>

namespace gpureg
{

/** From an image's indices to FSL's coordinates of it, which know no origin and no direction: an index times the voxel's length, in mm;
 *  along x counted from the other end where the determinant of the image's directions is positive (FSL: neurological).
 *  \param spacing mm. \param directionDeterminant of the file's sform, or else its qform; negative of a file that has neither.
 *  \param length voxels along x. */
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
