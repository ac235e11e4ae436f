// SPDX-License-Identifier: Apache-2.0
// How the samples are cut into chunks: by the problem and the kind of device, never by the number of
// threads, so that ordered sums come out the same everywhere on one kind of device.
// A chunk of a grid is a tile TileWidth voxels wide, (lanes / TileWidth) high and tileDepth deep,
// so that neighbouring rows meet in the cache; a chunk of points is lanes · tileDepth in a row.
// A grid of one slice has no depth to walk along. It is stacked: virtualShape then stands for slices as high as a
// tile, one behind the other as they are in memory, and the last one may miss rows.
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
      // Lanes beside the grid might be mapped too far for 64 bits.
      walk.mapped[r] = isInside ? ApplyFixedRow(&maps->toMoving, r, i, j, k) : 0;
    }
  }
  walk.count = remaining < 0 ? 0 : (remaining < a->tileDepth ? (int)remaining : a->tileDepth);
  return walk;
}

/** A walk of one voxel. */
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

/** A walk of one sample, wherever it is. Fewer than 2^32: they are divided by 32 bits. */
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

/** To the next sample. */
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

/** Of the sample that a walk is at: its virtual index x, and the position in the moving buffer that it maps to. */
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
    position[r] = VariantHas(variant, SamplesArePrecise) ? mapped >> maps->guardBits : mapped;
  }
  if (VariantHas(variant, SamplesAreDisplaced | SamplesAreChained))
  {
    DisplaceSample(variant, a, v, walk, position);
  }
}

GPUREG_NAMESPACE_END

#endif
