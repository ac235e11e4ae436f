// SPDX-License-Identifier: Apache-2.0
// The start of a global search: the centre of an image's mass, and the axes of its grid.
#ifndef gpureg_GlobalMass_h
#define gpureg_GlobalMass_h

#include "gpureg/image/RegisteredImage.h"

#include "engine/core/Matrix3.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** The mass of an image inside its mask. A voxel brighter than the mean has the difference as its mass, so a dark background has no mass,
 *  and its noise nearly none. */
struct ImageMass
{
  Vector3 centre{};
  /** The root mean square distance from the centre. */
  double radius = 0;
  /** The volume of the voxels inside the mask in mm³, or their area in mm². */
  double volume = 0;
  /** The values of the image. */
  std::vector<double> values;
  /** True for each voxel inside the mask. */
  std::vector<bool> isInside;
};

/** Computes the mass of an image. \throws BadInputError if no voxel lies inside the mask, or all of these voxels have one value */
ImageMass
ComputeMass(Queue & queue, const RegisteredImage & image, const char * which);

/** Returns the point of a voxel. \param voxel the voxel's number in the order of the values */
Vector3
GetVoxelPoint(const RegisteredImage & image, std::size_t voxel);

/** Returns, as columns, the orthonormal, right-handed axes closest to a grid's axes. The first one may be reversed to make them
 *  right-handed. */
Matrix3
ComputeAxes(const IndexMap & indexToPoint);

} // namespace gpureg

#endif
