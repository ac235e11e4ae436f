// SPDX-License-Identifier: Apache-2.0
// What the entry points of a metric's passes in OpenCL C are given.

// Whoever compiles defines GPUREG_VARIANT: a variant's number, or variant, for kernels that do all of them. The text before
// this defines MetricArguments, the metric's own.

// The host hands them over as bytes: this does not compile where the two disagree on a size.
typedef char MetricArgumentsAreLaidOutAlike[sizeof(MetricArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];
typedef char SampleMapsAreLaidOutAlike[sizeof(SampleMaps) == GPUREG_MAPS_BYTES ? 1 : -1];

// The volumes that the passes read. One that the variant does not have is never touched.
#define GPUREG_VOLUME_PARAMETERS                                                                    \
  __global const u16 *fixedBins, __global const i64 *points, __global const float *displacement,    \
    __global const float *moving, __global const float4 *quads, __global const float *coefficients, \
    __global const float4 *gradient, __global const u8 *mask

GPUREG_FUNCTION SampleVolumes
MakeSampleVolumes(GPUREG_VOLUME_PARAMETERS)
{
  SampleVolumes volumes;
  volumes.fixedBins = fixedBins;
  volumes.points = points;
  volumes.displacement = displacement;
  volumes.moving = moving;
  volumes.quads = quads;
  volumes.coefficients = coefficients;
  volumes.gradient = gradient;
  volumes.mask = mask;
  volumes.preciseMoving = (__global const i64 *)moving;
  volumes.preciseCoefficients = (__global const i64 *)coefficients;
  return volumes;
}
