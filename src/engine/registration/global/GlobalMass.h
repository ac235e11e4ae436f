// SPDX-License-Identifier: Apache-2.0
// What a global search begins with: where an image's mass is, and along which axes.
#ifndef gpureg_GlobalMass_h
#define gpureg_GlobalMass_h

#include "gpureg/image/RegisteredImage.h"

#include "engine/core/Matrix3.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** What is brighter than the mean of an image, inside of its mask, each voxel by how much it is: a dark background has no mass, and
 *  noise in it next to none. */
struct ImageMass
{
  Vector3 centre{};
  /** Root mean square distance from the centre. */
  double radius = 0;
  /** Of the voxels inside of the mask, mm³; or their area, mm². */
  double volume = 0;
  /** Those of the image, … */
  std::vector<double> values;
  /** … and which of its voxels are inside of the mask. */
  std::vector<bool> isInside;
};

/** \throws BadInputError if no voxel is inside of the mask, or these are all the same. */
ImageMass
FindMass(Queue & queue, const RegisteredImage & image, const char * which);

/** \param voxel its place in the order of their numbers */
Vector3
GetVoxelPoint(const RegisteredImage & image, std::size_t voxel);

/** Columns: the orthonormal, right-handed axes that are the next to a grid's, which the first may be turned round for. */
Matrix3
FindAxes(const IndexMap & indexToPoint);

} // namespace gpureg

#endif
