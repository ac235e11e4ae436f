// SPDX-License-Identifier: Apache-2.0
// Sums over all neighborhoods that are too large for tiles (NeighborhoodTiles.h), and on the host: along x over single voxels, along y over
// these sums, in place, and along z over those, which completes a neighborhood, so that its centre is processed at once. A lane goes along
// a line with RunningSums, so a sum costs three additions an axis, whatever the radius. For centres in a list, few of which are near each
// other, each lane sums the neighborhood of one centre voxel by voxel.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_NeighborhoodWalks_h
#define gpureg_kernels_NeighborhoodWalks_h

GPUREG_NAMESPACE_BEGIN

/** The arrays of the planes that a device processes at present. */
typedef struct NeighborhoodVolumes
{
  GPUREG_GLOBAL i64 * moved; /* one for each stored voxel: ComputeMovedValue */
  GPUREG_GLOBAL double *
    sums; /* NeighborhoodSumCount arrays, of one for each stored voxel; for tiles, for each centre */
  GPUREG_GLOBAL const i64 * centres; /* offsets of voxels, if the centres are a list */
  GPUREG_GLOBAL float *     forces;  /* 3 for each virtual voxel, or each centre in the list: forces or terms */
} NeighborhoodVolumes;

/** Returns the number of lines along an axis in the stored planes; along z, that of lines in all segments. */
GPUREG_FUNCTION i64
CountNeighborhoodLines(const NeighborhoodArguments * a, int axis)
{
  const int * size = a->samples.virtualShape.size;
  return axis == 0 ? (i64)size[1] * a->keptPlanes
                   : (axis == 1 ? (i64)size[0] * a->keptPlanes : VoxelsOfPlane(a) * a->segmentCount);
}

GPUREG_FUNCTION int
LengthOfWindow(const NeighborhoodArguments * a, int axis)
{
  return 2 * a->radius[axis] + 1;
}

/** The state of a walk along x or y. */
typedef struct SumWalk
{
  i64         first; /* number among the stored voxels */
  i64         step;
  int         size;
  RunningSums running;
} SumWalk;

GPUREG_FUNCTION SumWalk
StartSumWalk(int axis, const NeighborhoodArguments * a, i64 line)
{
  const int sizeX = a->samples.virtualShape.size[0];
  SumWalk   walk;
  walk.first = axis == 0 ? line * sizeX : line / sizeX * VoxelsOfPlane(a) + line % sizeX;
  walk.step = axis == 0 ? 1 : sizeX;
  walk.size = a->samples.virtualShape.size[axis];
  StartRunningSums(&walk.running);
  return walk;
}

/** Returns the number of steps of a walk along x or y: behind the last voxel of the line, as many empty elements follow as the radius
 *  has voxels. */
GPUREG_FUNCTION int
CountSumSteps(const NeighborhoodArguments * a, int axis)
{
  return a->samples.virtualShape.size[axis] + a->radius[axis];
}

/** Adds element i of the line, and writes the sums around the element one radius before it. */
GPUREG_FUNCTION void
StepSumWalk(int                           axis,
            const NeighborhoodArguments * a,
            const SampleMaps *            maps,
            const SampleVolumes *         v,
            const NeighborhoodVolumes *   n,
            int                           i,
            GPUREG_GLOBAL double *        circularBuffer,
            int                           bufferStride,
            SumWalk *                     walk)
{
  const i64        stride = StoredVoxels(a);
  const int        radius = a->radius[axis];
  const i64        voxel = walk->first + i * walk->step;
  NeighborhoodSums sums;
  if (i >= walk->size)
  {
    ClearNeighborhoodSums(&sums);
  }
  else if (axis == 0)
  {
    sums = ComputeSumsOfVoxel(a, maps, v->fixedValuesInFixedPoint[FirstStoredVoxel(a) + voxel], n->moved[voxel]);
  }
  else
  {
    sums = LoadNeighborhoodSums(n->sums + voxel, stride);
  }
  StepRunningSums(LengthOfWindow(a, axis), circularBuffer, bufferStride, &walk->running, &sums);
  if (i >= radius)
  {
    StoreNeighborhoodSums(&sums, n->sums + voxel - radius * walk->step, stride);
  }
}

/** The state of a walk along z, over the centres of one segment. */
typedef struct CentreWalk
{
  int         i;
  int         j;
  int         plane; /* the plane to be added next */
  int         firstCentre;
  int         endCentre;
  RunningSums running;
} CentreWalk;

GPUREG_FUNCTION CentreWalk
StartCentreWalk(const NeighborhoodArguments * a, i64 line)
{
  const int  segment = (int)(line / VoxelsOfPlane(a));
  const int  inPlane = (int)(line % VoxelsOfPlane(a));
  const int  end = a->firstCentre + a->centrePlanes;
  CentreWalk walk;
  walk.i = inPlane % a->samples.virtualShape.size[0];
  walk.j = inPlane / a->samples.virtualShape.size[0];
  walk.firstCentre = a->firstCentre + segment * a->segmentPlanes;
  walk.endCentre = end - walk.firstCentre < a->segmentPlanes ? end : walk.firstCentre + a->segmentPlanes;
  walk.plane = walk.firstCentre - a->radius[2] > a->firstStored ? walk.firstCentre - a->radius[2] : a->firstStored;
  StartRunningSums(&walk.running);
  return walk;
}

GPUREG_FUNCTION int
IsCentreWalkAtEnd(const NeighborhoodArguments * a, const CentreWalk * walk)
{
  return walk->plane - a->radius[2] >= walk->endCentre;
}

/** Writes a centre's force, if forces are written for each sample. */
GPUREG_FUNCTION void
WriteForce(int variant, const NeighborhoodVolumes * n, i64 place, const float * force)
{
  for (int r = 0; VariantHas(variant, WritesForces) && r < 3; ++r)
  {
    n->forces[3 * place + r] = force[r];
  }
}

/** Adds up the results of a centre whose neighborhood is summed up. */
GPUREG_LARGE_FUNCTION void
CorrelateCentre(int                           variant,
                const NeighborhoodArguments * a,
                const SampleMaps *            maps,
                const SampleVolumes *         v,
                const NeighborhoodVolumes *   n,
                int                           i,
                int                           j,
                int                           k,
                const NeighborhoodSums *      neighborhood,
                CentreSums *                  sums)
{
  const i64 voxel = VoxelOffset(&a->samples.virtualShape, i, j, k);
  const i64 moved = n->moved[voxel - FirstStoredVoxel(a)];
  float     force[3] = { 0.0f, 0.0f, 0.0f };
  if (moved > GPUREG_LEAST_MOVED_VALUE)
  {
    const LaneWalk at = StartWalkAtVoxel(&a->samples, maps, i, j, k);
    AddCentre(variant, a, maps, v, &at, moved, neighborhood, sums, force);
  }
  WriteForce(variant, n, voxel, force);
}

/** Adds the next plane, and processes the centre one radius before it. */
GPUREG_FUNCTION void
StepCentreWalk(int                           variant,
               const NeighborhoodArguments * a,
               const SampleMaps *            maps,
               const SampleVolumes *         v,
               const NeighborhoodVolumes *   n,
               GPUREG_GLOBAL double *        circularBuffer,
               int                           bufferStride,
               CentreWalk *                  walk,
               CentreSums *                  sums)
{
  const int        centre = walk->plane - a->radius[2];
  NeighborhoodSums neighborhood;
  if (walk->plane < a->firstStored + a->keptPlanes)
  {
    const i64 voxel = VoxelOffset(&a->samples.virtualShape, walk->i, walk->j, walk->plane) - FirstStoredVoxel(a);
    neighborhood = LoadNeighborhoodSums(n->sums + voxel, StoredVoxels(a));
  }
  else
  {
    ClearNeighborhoodSums(&neighborhood);
  }
  StepRunningSums(LengthOfWindow(a, 2), circularBuffer, bufferStride, &walk->running, &neighborhood);
  ++walk->plane;
  if (centre >= walk->firstCentre)
  {
    CorrelateCentre(variant, a, maps, v, n, walk->i, walk->j, centre, &neighborhood, sums);
  }
}

GPUREG_FUNCTION int
FirstWithin(int centre, int radius)
{
  return centre > radius ? centre - radius : 0;
}

GPUREG_FUNCTION int
EndWithin(int centre, int radius, int size)
{
  return size - centre > radius ? centre + radius + 1 : size;
}

/** Returns the sums over one neighborhood, voxel by voxel. */
GPUREG_FUNCTION NeighborhoodSums
SumNeighborhood(
  int variant, const NeighborhoodArguments * a, const SampleMaps * maps, const SampleVolumes * v, int i, int j, int k)
{
  const int *      size = a->samples.virtualShape.size;
  NeighborhoodSums sums;
  ClearNeighborhoodSums(&sums);
  for (int z = FirstWithin(k, a->radius[2]); z < EndWithin(k, a->radius[2], size[2]); ++z)
  {
    for (int y = FirstWithin(j, a->radius[1]); y < EndWithin(j, a->radius[1], size[1]); ++y)
    {
      for (int x = FirstWithin(i, a->radius[0]); x < EndWithin(i, a->radius[0], size[0]); ++x)
      {
        const LaneWalk         at = StartWalkAtVoxel(&a->samples, maps, x, y, z);
        const i64              moved = ComputeMovedValue(variant, a, maps, v, &at);
        const NeighborhoodSums one = ComputeSumsOfVoxel(a, maps, v->fixedValuesInFixedPoint[at.sample], moved);
        AddNeighborhoodSums(&one, &sums);
      }
    }
  }
  return sums;
}

/** Processes one centre of the list. */
GPUREG_FUNCTION void
CorrelateListedCentre(int                           variant,
                      const NeighborhoodArguments * a,
                      const SampleMaps *            maps,
                      const SampleVolumes *         v,
                      const NeighborhoodVolumes *   n,
                      i64                           place,
                      CentreSums *                  sums)
{
  const int *    size = a->samples.virtualShape.size;
  const i64      voxel = n->centres[place];
  const int      i = (int)(voxel % size[0]);
  const int      j = (int)(voxel / size[0] % size[1]);
  const int      k = (int)(voxel / VoxelsOfPlane(a));
  const LaneWalk at = StartWalkAtVoxel(&a->samples, maps, i, j, k);
  const i64      moved = ComputeMovedValue(variant, a, maps, v, &at);
  float          force[3] = { 0.0f, 0.0f, 0.0f };
  if (moved > GPUREG_LEAST_MOVED_VALUE)
  {
    const NeighborhoodSums neighborhood = SumNeighborhood(variant, a, maps, v, i, j, k);
    AddCentre(variant, a, maps, v, &at, moved, &neighborhood, sums, force);
  }
  WriteForce(variant, n, place, force);
}

GPUREG_NAMESPACE_END

#endif
