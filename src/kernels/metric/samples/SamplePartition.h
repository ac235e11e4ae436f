// SPDX-License-Identifier: Apache-2.0
// Partition of the samples into chunks. It depends on the problem and the kind of device, never on the number of threads, so that ordered
// sums are the same everywhere on one kind of device.
// A chunk of a grid is a tile TileWidth voxels wide, (lanes / TileWidth) high and tileDepth deep, so that adjacent rows share cache lines;
// a chunk of points is lanes · tileDepth points in sequence.
// A grid of one slice has no depth to walk along. It is reshaped into slabs: virtualShape then describes slices as high as a tile, one
// behind the other as they are in memory; the last one may lack rows.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_SamplePartition_h
#define gpureg_kernels_SamplePartition_h

GPUREG_NAMESPACE_BEGIN

GPUREG_FUNCTION int
ChunkCount(const SampleArguments * a)
{
  return a->tileCount[0] * a->tileCount[1] * a->tileCount[2];
}

GPUREG_FUNCTION LaneWalk
StartLaneWalk(int variant, const SampleArguments * a, const SampleMaps * maps, int chunk, int lanes, int lane)
{
  LaneWalk walk;
  i64      remaining;
  if (VariantHas(variant, SamplesArePoints))
  {
    walk.sample = (i64)chunk * a->tileDepth * lanes + lane;
    walk.stride = lanes;
    remaining = (a->pointCount - walk.sample + lanes - 1) / lanes;
  }
  else
  {
    const int tileX = chunk % a->tileCount[0];
    const int tileY = chunk / a->tileCount[0] % a->tileCount[1];
    const int tileZ = chunk / a->tileCount[0] / a->tileCount[1];
    const int i = tileX * TileWidth + lane % TileWidth;
    const int j = tileY * (lanes / TileWidth) + lane / TileWidth;
    const int k = tileZ * a->tileDepth;
    const int isInside = i < a->virtualShape.size[0] && j < a->virtualShape.size[1];
    walk.sample = VoxelOffset(&a->virtualShape, i, j, k);
    walk.stride = (i64)a->virtualShape.size[0] * a->virtualShape.size[1];
    const int isMissing = j >= a->virtualShape.size[1] - a->missingRows;
    remaining = isInside ? a->virtualShape.size[2] - isMissing - k : 0;
    walk.x[0] = (float)i;
    walk.x[1] = (float)j;
    walk.x[2] = (float)k;
    for (int r = 0; r < 3; ++r)
    {
      // Lanes outside of the grid might be mapped too far for 64 bits.
      walk.mapped[r] = isInside ? ApplyFixedRow(&maps->toMoving, r, i, j, k) : 0;
    }
  }
  walk.count = remaining < 0 ? 0 : (remaining < a->tileDepth ? (int)remaining : a->tileDepth);
  return walk;
}

/** Returns a walk over one voxel. */
GPUREG_FUNCTION LaneWalk
StartWalkAtVoxel(const SampleArguments * a, const SampleMaps * maps, int i, int j, int k)
{
  LaneWalk walk;
  walk.sample = VoxelOffset(&a->virtualShape, i, j, k);
  walk.stride = 0;
  walk.count = 1;
  walk.x[0] = (float)i;
  walk.x[1] = (float)j;
  walk.x[2] = (float)k;
  for (int r = 0; r < 3; ++r)
  {
    walk.mapped[r] = ApplyFixedRow(&maps->toMoving, r, i, j, k);
  }
  return walk;
}

/** Returns a walk over the sample with this number. There are fewer than 2^32 samples, so that 32-bit division suffices. */
GPUREG_FUNCTION LaneWalk
StartWalkAt(int variant, const SampleArguments * a, const SampleMaps * maps, u32 sample)
{
  LaneWalk walk;
  if (VariantHas(variant, SamplesArePoints))
  {
    walk.sample = sample;
    walk.stride = 0;
    walk.count = 1;
  }
  else
  {
    const u32 row = sample / (u32)a->virtualShape.size[0];
    walk = StartWalkAtVoxel(a,
                            maps,
                            (int)(sample % (u32)a->virtualShape.size[0]),
                            (int)(row % (u32)a->virtualShape.size[1]),
                            (int)(row / (u32)a->virtualShape.size[1]));
  }
  return walk;
}

/** Advances a walk to the next sample. */
GPUREG_FUNCTION void
AdvanceLaneWalk(int variant, const SampleMaps * maps, LaneWalk * walk)
{
  walk->sample += walk->stride;
  if (!VariantHas(variant, SamplesArePoints))
  {
    walk->x[2] += 1.0f;
    for (int r = 0; r < 3; ++r)
    {
      walk->mapped[r] += maps->toMoving.row[4 * r + 2];
    }
  }
}

/** Computes the virtual index x of the sample at which a walk is, and the position in the moving buffer to which it maps. */
GPUREG_FUNCTION void
MapSample(int                     variant,
          const SampleArguments * a,
          const SampleMaps *      maps,
          const SampleVolumes *   v,
          const LaneWalk *        walk,
          float *                 x,
          i64 *                   position)
{
  const int isPoint = VariantHas(variant, SamplesArePoints);
  i64       point[3];
  for (int r = 0; r < 3; ++r)
  {
    point[r] = isPoint ? v->points[3 * walk->sample + r] : 0;
    x[r] = isPoint ? (float)point[r] * GPUREG_FIXED_UNIT : walk->x[r];
  }
  for (int r = 0; r < 3; ++r)
  {
    const i64 mapped = isPoint ? ApplyFixedRowAt(&maps->toMoving, r, point) : walk->mapped[r];
    position[r] = VariantHas(variant, SamplesAreFixedPoint) ? mapped >> maps->guardBits : mapped;
  }
  if (VariantHas(variant, SamplesAreDisplaced | SamplesAreChained))
  {
    DisplaceSample(variant, a, v, walk, position);
  }
}

GPUREG_NAMESPACE_END

#endif
