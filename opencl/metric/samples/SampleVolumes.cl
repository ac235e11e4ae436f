// SPDX-License-Identifier: Apache-2.0
// Defines the first parameters of every entry point that reads a metric's samples; opencl/metric/samples/OpenCLSamples.h sets them.

// The host defines GPUREG_VARIANT, a variant's number, or `variant` for kernels of all variants. The text before this file defines
// MetricArguments, the metric's own.

// The volumes. Kernels never read a volume that the variant does not have.
#define GPUREG_VOLUME_PARAMETERS                                                                          \
  __global const u16 *fixedBins, __global const float *fixedValues, __global const float *fixedGradients, \
    __global const i64 *points, __global const float *displacement, __global const float *moving,         \
    __global const float4 *quads, __global const float *coefficients, __global const float4 *gradient,    \
    __global const u8 *mask, __global const u64 *movingBins, __global const ChainPart *chainParts,        \
    __global const float4 *chainVectors, __global const float *chainJacobians

#define GPUREG_VOLUMES                                                                                       \
  fixedBins, fixedValues, fixedGradients, points, displacement, moving, quads, coefficients, gradient, mask, \
    movingBins, chainParts, chainVectors, chainJacobians

GPUREG_FUNCTION SampleVolumes
MakeSampleVolumes(GPUREG_VOLUME_PARAMETERS)
{
  SampleVolumes volumes;
  volumes.fixedBins = fixedBins;
  volumes.fixedValues = fixedValues;
  volumes.fixedValuesInFixedPoint = (__global const i64 *)fixedValues;
  volumes.fixedGradients = fixedGradients;
  volumes.points = points;
  volumes.displacement = displacement;
  volumes.displacementInFixedPoint = (__global const i64 *)displacement;
  volumes.moving = moving;
  volumes.quads = quads;
  volumes.coefficients = coefficients;
  volumes.gradient = gradient;
  volumes.mask = mask;
  volumes.movingBins = movingBins;
  volumes.chainParts = chainParts;
  volumes.chainVectors = chainVectors;
  volumes.chainVectorsInFixedPoint = (__global const i64 *)chainVectors;
  volumes.chainJacobians = chainJacobians;
  volumes.movingInFixedPoint = (__global const i64 *)moving;
  volumes.coefficientsInFixedPoint = (__global const i64 *)coefficients;
  return volumes;
}
