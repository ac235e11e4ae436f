// SPDX-License-Identifier: Apache-2.0
// From places to displacements, in OpenCL C: the entry point. The formula is in src/kernels/Displacement.h;
// opencl/DisplacementPasses.cpp launches it.
//
// Whoever compiles defines GPUREG_ARGUMENT_BYTES, the host's size of the structure.

// It is handed over as bytes: this does not compile where the two disagree.
typedef char DisplacementArgumentsAreLaidOutAlike[sizeof(DisplacementArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];

GPUREG_KERNEL void
Displace(const DisplacementArguments arguments, const i64 count, __global double * places)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    FindDisplacement(&arguments, voxel, places);
  }
}
