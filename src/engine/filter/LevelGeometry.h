// SPDX-License-Identifier: Apache-2.0
// The geometry of images that are registered, and of the levels that are made of them.
#ifndef gpureg_LevelGeometry_h
#define gpureg_LevelGeometry_h

#include "gpureg/image/RegisteredImage.h"

#include <array>
#include <vector>

namespace gpureg
{

/** How many levels a pyramid may have. */
constexpr int MostLevels = 5;

/** How many voxels along an axis one of a level may stand for. */
constexpr int MostFactor = 1 << (MostLevels - 1);

/** Length of a voxel's edges, by the map from indices to points. */
std::array<double, 3>
GetSpacing(const IndexMap & indexToPoint);
inline std::array<double, 3>
GetSpacing(const RegisteredImage & image)
{
  return GetSpacing(image.indexToPoint);
}

double
FindShortestEdge(const RegisteredImage & image, int dimension);

/** Voxels along the longest side of an image that a level is registered by, about: see FindUsualEdge(). */
constexpr double UsualVoxels = 280;

/** mm: what lengths follow from that nobody gives. The shortest edge of some images' voxels; of so many that the longest side of an image
 *  has more than UsualVoxels, the whole number of them that leaves about as many. So what is registered is the same in voxels, whatever
 *  these are long; a head of 1 mm has 1 mm, and one of 0.5 mm, too. */
double
FindUsualEdge(const std::vector<RegisteredImage> & images, int dimension);

/** How many voxels along each axis one of a level stands for: as many as download its edges to that length, and leave so
 *  many voxels along each axis. */
Size
FindFactors(const RegisteredImage & image, int dimension, double edge, int leastVoxels = 8);

IndexMap
InvertMap(const IndexMap & map);

} // namespace gpureg

#endif
