// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RegisteredImage_h
#define gpureg_RegisteredImage_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Geometry.h"

#include <array>

namespace gpureg
{

/** A range holds the least and the greatest value of an image that a registration tells apart. It takes values beyond the range for the
 *  nearer end; the image itself stays as it is. */
using ValueRange = std::array<double, 2>;

/** An image that is registered: on the registration's device, its values finite. */
struct RegisteredImage
{
  const DeviceImage * image = nullptr;
  /** Of the same voxels: what is looked at is where this is a half at least. Null: all. */
  const DeviceImage * mask = nullptr;
  Size                size{};
  IndexMap            indexToPoint; // of the image's first voxel on
};

} // namespace gpureg

#endif
