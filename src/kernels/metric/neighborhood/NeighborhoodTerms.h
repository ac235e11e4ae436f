// SPDX-License-Identifier: Apache-2.0
// Computes forces that are the derivative of the sum of all correlations. ITK's force of a voxel takes only its own neighborhood into
// account; but the voxel belongs to the neighborhoods of all its neighbours, and where structures are larger than a neighborhood, ITK's
// force and the derivative may point in quite different directions.
// With A = 2 sFM/(sFF·sMM), B = A·sFM/sMM and C = B m̄ - A f̄ of a neighborhood (NeighborhoodCorrelation.h),
//   force = (f Σ A - m Σ B + Σ C)·∇m,
// summed over the neighborhoods that contain the voxel: those whose centres are in the voxel's own neighborhood. One pass along each axis
// computes these sums.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_NeighborhoodTerms_h
#define gpureg_kernels_NeighborhoodTerms_h

GPUREG_NAMESPACE_BEGIN

/** Sums the terms, three floats a voxel, over a voxel's neighbours along one axis. */
GPUREG_FUNCTION void
SumTermsAlong(
  int axis, const NeighborhoodArguments * a, int i, int j, int k, GPUREG_GLOBAL const float * terms, float * sums)
{
  const int *                 size = a->samples.virtualShape.size;
  const int                   centre = axis == 0 ? i : (axis == 1 ? j : k);
  const i64                   step = axis == 0 ? 1 : (axis == 1 ? (i64)size[0] : VoxelsOfPlane(a));
  const int                   end = EndWithin(centre, a->radius[axis], size[axis]);
  int                         at = FirstWithin(centre, a->radius[axis]);
  GPUREG_GLOBAL const float * from =
    terms + 3 * (VoxelOffset(&a->samples.virtualShape, i, j, k) + (at - centre) * step);
  sums[0] = sums[1] = sums[2] = 0.0f;
  for (; at < end; ++at, from += 3 * step)
  {
    for (int t = 0; t < 3; ++t)
    {
      sums[t] += from[t];
    }
  }
}

/** Computes the grid index of a voxel. */
GPUREG_FUNCTION void
ComputePlaceOfVoxel(const NeighborhoodArguments * a, i64 voxel, int * place)
{
  const int * size = a->samples.virtualShape.size;
  const i64   row = voxel / size[0];
  place[0] = (int)(voxel - row * size[0]);
  place[1] = (int)(row % size[1]);
  place[2] = (int)(row / size[1]);
}

/** Sums the terms of a voxel's neighbours along x or y. */
GPUREG_FUNCTION void
SumTermsOfVoxel(
  int axis, const NeighborhoodArguments * a, i64 voxel, GPUREG_GLOBAL const float * terms, GPUREG_GLOBAL float * summed)
{
  int   place[3];
  float sums[3];
  ComputePlaceOfVoxel(a, voxel, place);
  SumTermsAlong(axis, a, place[0], place[1], place[2], terms, sums);
  for (int t = 0; t < 3; ++t)
  {
    summed[3 * voxel + t] = sums[t];
  }
}

/** Writes the force of a voxel, from the sums of the terms around it. */
GPUREG_FUNCTION void
WriteForceOfTerms(int                           variant,
                  const NeighborhoodArguments * a,
                  const SampleMaps *            maps,
                  const SampleVolumes *         v,
                  const int *                   place,
                  const float *                 sums,
                  GPUREG_GLOBAL float *         forces)
{
  const LaneWalk at = StartWalkAtVoxel(&a->samples, maps, place[0], place[1], place[2]);
  const i64      moved = ComputeMovedValue(variant, a, maps, v, &at);
  float          force[3] = { 0.0f, 0.0f, 0.0f };
  if (moved > GPUREG_LEAST_MOVED_VALUE)
  {
    float       x[3], gradient[3];
    i64         position[3];
    const float fixed = (float)ScaledFixedValue(maps, v->fixedValuesInFixedPoint[at.sample]);
    const float moving = (float)ScaledMovingValue(maps, moved);
    const float weight = MultiplyAdd(fixed, sums[0], MultiplyAdd(-moving, sums[1], sums[2]));
    MapSample(variant, &a->samples, maps, v, &at, x, position);
    SampleFixedPointGradient(variant, &a->samples, maps, v, position, gradient);
    for (int r = 0; r < 3; ++r)
    {
      force[r] = weight * gradient[r];
    }
    FollowForceBack(variant, &a->samples, v, &at, force);
  }
  for (int r = 0; r < 3; ++r)
  {
    forces[3 * at.sample + r] = force[r];
  }
}

/** Sums terms along z, and writes the force that follows from the sums. */
GPUREG_FUNCTION void
ComputeForceOfTerms(int                           variant,
                    const NeighborhoodArguments * a,
                    const SampleMaps *            maps,
                    const SampleVolumes *         v,
                    i64                           voxel,
                    GPUREG_GLOBAL const float *   terms,
                    GPUREG_GLOBAL float *         forces)
{
  int   place[3];
  float sums[3];
  ComputePlaceOfVoxel(a, voxel, place);
  SumTermsAlong(2, a, place[0], place[1], place[2], terms, sums);
  WriteForceOfTerms(variant, a, maps, v, place, sums, forces);
}

GPUREG_NAMESPACE_END

#endif
