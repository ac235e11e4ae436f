// SPDX-License-Identifier: Apache-2.0
// The limits that every device with work-groups must offer, for the devices' own code, which knows no metric.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_LaneLimits_h
#define gpureg_kernels_LaneLimits_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Lanes in a row of a tile of voxels; a work-group consists of one or more whole rows. */
  TileWidth = 32,
  /** The most floats of local memory that the sums of one lane take. */
  LargestLaneSums = 24
};

GPUREG_NAMESPACE_END

#endif
