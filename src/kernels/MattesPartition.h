// SPDX-License-Identifier: Apache-2.0
// How the samples are cut into chunks: by the problem alone, never by the number of threads or
// multiprocessors, so that ordered sums come out the same everywhere on one kind of device.
// A chunk of a grid is a tile TileWidth voxels wide, (lanes / TileWidth) high and tileDepth deep,
// so that neighbouring rows meet in the cache; a chunk of points is lanes · tileDepth in a row.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MattesPartition_h
#define gpureg_kernels_MattesPartition_h

GPUREG_NAMESPACE_BEGIN

enum
{
  TileWidth = 32
};

GPUREG_FUNCTION int
ChunkCount(const MattesArguments * a)
{
  return a->tileCount[0] * a->tileCount[1] * a->tileCount[2];
}

/** The virtual index x of step `step` of lane `lane` of a chunk, and its place in the domain;
 *  0 if there is no such sample. */
GPUREG_FUNCTION int
FindSample(int                     variant,
           const MattesArguments * a,
           const MattesVolumes *   v,
           int                     chunk,
           int                     lanes,
           int                     lane,
           int                     step,
           float *                 x,
           i64 *                   sample)
{
  if (MattesHas(variant, MattesSamplesArePoints))
  {
    *sample = ((i64)chunk * a->tileDepth + step) * lanes + lane;
    if (*sample >= a->pointCount)
    {
      return 0;
    }
    GPUREG_GLOBAL const float * point = v->points + 3 * *sample;
    x[0] = point[0];
    x[1] = point[1];
    x[2] = point[2];
    return 1;
  }
  const int tileX = chunk % a->tileCount[0];
  const int tileY = chunk / a->tileCount[0] % a->tileCount[1];
  const int tileZ = chunk / a->tileCount[0] / a->tileCount[1];
  const int i = tileX * TileWidth + lane % TileWidth;
  const int j = tileY * (lanes / TileWidth) + lane / TileWidth;
  const int k = tileZ * a->tileDepth + step;
  if (i >= a->virtualSize[0] || j >= a->virtualSize[1] || k >= a->virtualSize[2])
  {
    return 0;
  }
  x[0] = (float)i;
  x[1] = (float)j;
  x[2] = (float)k;
  *sample = VoxelOffset(a->virtualSize, i, j, k);
  return 1;
}

GPUREG_NAMESPACE_END

#endif
