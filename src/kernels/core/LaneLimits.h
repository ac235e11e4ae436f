// SPDX-License-Identifier: Apache-2.0
// What every device that has work-groups must offer, for the devices' own code, which knows no metric.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_LaneLimits_h
#define gpureg_kernels_LaneLimits_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Lanes in a row of a tile of voxels: a work-group has at least one row, and whole rows. */
  TileWidth = 32,
  /** Floats of local memory that one lane's sums take at most. */
  LargestLaneSums = 24
};

GPUREG_NAMESPACE_END

#endif
