// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RegisteredImage_h
#define gpureg_RegisteredImage_h

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Geometry.h"

#include <array>

namespace gpureg
{

/** Holds the least and the greatest value of an image that a registration distinguishes. The registration takes values outside this range
 *  for the nearer end; the image itself does not change. */
using ValueRange = std::array<double, 2>;

/** Describes an image to register: on the registration's device, with finite values. */
struct RegisteredImage
{
  const DeviceImage * image = nullptr;
  /** An image of the same voxels: only voxels where it is at least a half are used. Null: all voxels. */
  const DeviceImage * mask = nullptr;
  Size                size{};
  IndexMap            indexToPoint; // with index 0 for the image's first voxel
};

} // namespace gpureg

#endif
