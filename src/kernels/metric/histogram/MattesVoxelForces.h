// SPDX-License-Identifier: Apache-2.0
// Forces of Mattes' metric between two images of one grid, in fixed point: ComputeFixedPointForce() for samples that lie at voxels, where
// nothing is interpolated. The images in the middle of a symmetric registration are such.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MattesVoxelForces_h
#define gpureg_kernels_MattesVoxelForces_h

GPUREG_NAMESPACE_BEGIN

/** Returns the value half a voxel behind a voxel less the one half a voxel before it, along an axis on which there are size voxels, stride
 *  elements apart, or the opposite if step < 0. Behind the last voxel lies no value, and the difference is 0; before the first voxel lies
 *  that voxel's value (ComputeDifferencePositions()). \param there the value of the voxel \param at the voxel's index */
GPUREG_FUNCTION float
DifferenceAcrossVoxel(GPUREG_GLOBAL const i64 * there, int at, int size, int stride, i64 step)
{
  if (at == size - 1)
  {
    return 0.0f;
  }
  const i64 behind = MixFixed(there[0], there[stride], GPUREG_FIXED_HALF);
  const i64 before = at == 0 ? there[0] : MixFixed(there[-stride], there[0], GPUREG_FIXED_HALF);
  return (float)(step < 0 ? before - behind : behind - before);
}

/** Computes FixedPointDifference() along each physical axis, each of which is an axis of the image, in either direction. \param voxel the
 *  index of a voxel */
GPUREG_FUNCTION void
ComputeGradientAtVoxel(const SampleArguments *   a,
                       const SampleMaps *        maps,
                       GPUREG_GLOBAL const i64 * there,
                       const int *               voxel,
                       float *                   gradient)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    gradient[axis] = 0.0f;
    for (int r = 0; r < 3; ++r)
    {
      const i64 step = maps->differenceStep[3 * r + axis];
      if (step != 0 && a->inverseSpacing[axis] != 0.0f)
      {
        gradient[axis] =
          DifferenceAcrossVoxel(there, voxel[r], a->movingShape.size[r], a->movingShape.stride[r], step) *
          (maps->unitsToValues * a->inverseSpacing[axis]);
      }
    }
  }
}

/** Writes the force of the sample at a voxel, or 0 if the sample is not valid.
 *  \param bins the fixed image's bins, or InvalidBin; moving: its values; mask: read if the variant has MovingHasMask; table: of
 *  FixedPointTableEntry; forces: float[3] of each voxel */
GPUREG_FUNCTION void
ComputeMattesForceAtVoxel(const MattesArguments *   a,
                          const SampleMaps *        maps,
                          GPUREG_GLOBAL const u16 * bins,
                          GPUREG_GLOBAL const i64 * moving,
                          GPUREG_GLOBAL const u8 *  mask,
                          GPUREG_GLOBAL const i64 * table,
                          GPUREG_GLOBAL float *     forces,
                          i64                       sample)
{
  const SampleArguments * samples = &a->histogram.samples;
  const int               bin = bins[sample];
  const u32               row = (u32)sample / (u32)samples->movingShape.size[0];
  const int               voxel[3] = { (int)((u32)sample % (u32)samples->movingShape.size[0]),
                                       (int)(row % (u32)samples->movingShape.size[1]),
                                       (int)(row / (u32)samples->movingShape.size[1]) };
  i64                     value = 0;
  int                     isValid = bin != InvalidBin &&
                FitFixedPointIntoRange(samples->variant, maps, RoundFixedPointValue(maps, moving[sample]), &value);
  if (isValid && VariantHas(samples->variant, MovingHasMask))
  {
    const i64     position[3] = { (i64)voxel[0] << 32, (i64)voxel[1] << 32, (i64)voxel[2] << 32 };
    SampleVolumes v;
    v.mask = mask;
    isValid = IsInsideMask(samples, maps, &v, position);
  }
  float force[3] = { 0.0f, 0.0f, 0.0f };
  if (isValid)
  {
    i64                       t;
    GPUREG_GLOBAL const i64 * window =
      table + (i64)bin * a->histogram.tableColumns + FirstFixedPointParzenBin(a, maps, value, &t);
    const float weight =
      (float)FixedPointParzenForce(t, window[0], window[1], window[2], window[3]) * GPUREG_FIXED_UNIT;
    ComputeGradientAtVoxel(samples, maps, moving + sample, voxel, force);
    for (int r = 0; r < 3; ++r)
    {
      force[r] = weight * force[r];
    }
  }
  forces[3 * sample] = force[0];
  forces[3 * sample + 1] = force[1];
  forces[3 * sample + 2] = force[2];
}

GPUREG_ITEM_KERNEL(ComputeMattesForceAtVoxel, 16384, "computing forces at voxels");

GPUREG_NAMESPACE_END

#endif
