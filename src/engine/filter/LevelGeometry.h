// SPDX-License-Identifier: Apache-2.0
// The geometry of the images to register, and of their levels.
#ifndef gpureg_LevelGeometry_h
#define gpureg_LevelGeometry_h

#include "gpureg/image/RegisteredImage.h"

#include <array>
#include <vector>

namespace gpureg
{

/** The largest number of levels in a pyramid. */
constexpr int MostLevels = 5;

/** The largest number of voxels along an axis that one voxel of a level may replace. */
constexpr int MostFactor = 1 << (MostLevels - 1);

/** Returns the lengths of a voxel's edges under a map from indices to points. */
std::array<double, 3>
GetSpacing(const IndexMap & indexToPoint);
inline std::array<double, 3>
GetSpacing(const RegisteredImage & image)
{
  return GetSpacing(image.indexToPoint);
}

double
ComputeShortestEdge(const RegisteredImage & image, int dimension);

/** The approximate number of voxels along the longest side of an image at the finest level; see ComputeUsualEdge(). */
constexpr double UsualVoxels = 280;

/** Returns the edge length in mm from which default lengths follow: the shortest edge of all images' voxels. If the longest side of an
 *  image has more than UsualVoxels such edges, returns the whole multiple of the edge that leaves about UsualVoxels. The registered images
 *  thus have about equally many voxels, whatever the voxels' size: a head with voxels of 1 mm or of 0.5 mm gives 1 mm. */
double
ComputeUsualEdge(const std::vector<RegisteredImage> & images, int dimension);

/** Returns how many voxels along each axis one voxel of a level replaces: as many as bring its edges closest to the given length, but at
 *  most MostFactor, and so few that leastVoxels voxels remain along each axis. */
Size
ComputeFactors(const RegisteredImage & image, int dimension, double edge, int leastVoxels = 8);

} // namespace gpureg

#endif
