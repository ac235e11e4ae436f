// SPDX-License-Identifier: Apache-2.0
// From places to displacements, in OpenCL C: the entry point. The formula is in src/kernels/resample/Displacement.h;
// opencl/resample/DisplacementPasses.cpp launches it.

GPUREG_KERNEL void
Displace(const DisplacementArguments arguments, const i64 count, __global double * places)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    FindDisplacement(&arguments, voxel, places);
  }
}
