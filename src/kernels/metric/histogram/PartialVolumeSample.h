// SPDX-License-Identifier: Apache-2.0
// One sample of the joint histogram by partial volume (Collignon 1995; Maes 1997; Sun 2010, section 3.2): it adds its weights of linear
// interpolation to the moving bins of all voxels around the position that it maps to. Its force is the sum of the gradients of these
// weights (Maes 1999), each multiplied by the table's entry of its bin. The moving image is stored as cells of 8 bins, one byte each, which
// one load fetches.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_PartialVolumeSample_h
#define gpureg_kernels_PartialVolumeSample_h

GPUREG_NAMESPACE_BEGIN

enum
{
  CellCorners = 8,
  /** The most bins: a byte holds a bin. */
  MostPartialVolumeBins = 256,
  /** The most samples in a chunk: so many of weight 1 fit into 32 bits in units of 2^-18, and a quarter of them in units of 2^-20, even
   *  if all add to one entry. */
  MostPartialVolumeSamplesPerChunk = 16382
};

/** Arguments of an evaluation besides the volumes and SampleMaps. 32-bit members only. */
typedef struct PartialVolumeArguments
{
  HistogramArguments histogram;
  float              indexByMm[9]; /* derivative of the moving index by physical coordinates, per mm, by rows */
  int                normalized;   /* 1: Studholme's normalized MI; 0: MI */
} PartialVolumeArguments;

GPUREG_FUNCTION int
BinOfCorner(u64 bins, int corner)
{
  return (int)((bins >> (8 * corner)) & 0xFF);
}

/** Returns 1 if all corners of a cell have the same bin, as in the background, or where bins are wide. */
GPUREG_FUNCTION int
IsOneBin(u64 bins)
{
  return bins == (bins & 0xFF) * (((u64)0x01010101 << 32) | 0x01010101);
}

/** Computes the corners' weights in units of 1/countUnit. Each axis divides the weights of the axes before, so that they sum to
 *  countUnit. */
GPUREG_FUNCTION void
ComputeCornerWeights(LinearCell cell, float countUnit, u32 * weights)
{
  const u32 unit = (u32)countUnit;
  const u32 far = ToCount(cell.fz, countUnit);
  for (int z = 0; z < 2; ++z)
  {
    const u32 slice = z ? far : unit - far;
    const u32 behind = ToCount(cell.fy, (float)slice);
    for (int y = 0; y < 2; ++y)
    {
      const u32 row = y ? behind : slice - behind;
      const u32 right = ToCount(cell.fx, (float)row);
      weights[4 * z + 2 * y] = row - right;
      weights[4 * z + 2 * y + 1] = right;
    }
  }
}

/** Returns 1 if the weights have a slope along an axis: they have none where the position was moved to the edge. */
GPUREG_FUNCTION int
HasSlope(const VolumeShape * shape, int axis, i64 position)
{
  return position >= 0 && position <= ((i64)(shape->size[axis] - 1) << 32);
}

/** Computes the force along physical axes, from the differences of the corners' table entries to the first corner's entry. */
GPUREG_FUNCTION void
ComputeCornerForce(const PartialVolumeArguments * a,
                   const i64 *                    position,
                   const float *                  entries,
                   float                          fx,
                   float                          fy,
                   float                          fz,
                   float *                        force)
{
  const VolumeShape * shape = &a->histogram.samples.movingShape;
  const float         x = Mix(Mix(entries[1] - entries[0], entries[3] - entries[2], fy),
                      Mix(entries[5] - entries[4], entries[7] - entries[6], fy),
                      fz);
  const float         y = Mix(Mix(entries[2] - entries[0], entries[3] - entries[1], fx),
                      Mix(entries[6] - entries[4], entries[7] - entries[5], fx),
                      fz);
  const float         z = Mix(Mix(entries[4] - entries[0], entries[5] - entries[1], fx),
                      Mix(entries[6] - entries[2], entries[7] - entries[3], fx),
                      fy);
  const float         slopes[3] = { HasSlope(shape, 0, position[0]) ? x : 0.0f,
                            HasSlope(shape, 1, position[1]) ? y : 0.0f,
                            HasSlope(shape, 2, position[2]) ? z : 0.0f };
  for (int r = 0; r < 3; ++r)
  {
    force[r] = a->indexByMm[r] * slopes[0] + a->indexByMm[3 + r] * slopes[1] + a->indexByMm[6 + r] * slopes[2];
  }
}

/** Returns the count in an entry of a chunk's histogram, in the histogram's unit. */
GPUREG_FUNCTION u64
ReadChunk(
  int variant, const PartialVolumeArguments * a, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int entry)
{
  return CountInChunk(variant, chunkHistograms, chunk, a->histogram.rows * a->histogram.columns, entry);
}

/** Pass 2: computes the force of the sample at a position, from its fixed bin's row of the table. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeForce(int                            variant,
             const PartialVolumeArguments * a,
             const SampleMaps *             maps,
             const SampleVolumes *          v,
             i64                            sample,
             const i64 *                    position,
             GPUREG_LOCAL const float *     tableRow,
             float *                        force)
{
  (void)sample;
  if (!IsSampleValid(variant, &a->histogram.samples, maps, v, position))
  {
    return 0;
  }
  const LinearCell cell = LocateLinearCell(&a->histogram.samples.movingShape, position);
  const u64        bins = v->movingBins[cell.offset];
  if (IsOneBin(bins))
  {
    force[0] = force[1] = force[2] = 0.0f;
    return 1;
  }
  float       entries[CellCorners];
  const float first = tableRow[BinOfCorner(bins, 0)];
  for (int corner = 0; corner < CellCorners; ++corner)
  {
    entries[corner] = tableRow[BinOfCorner(bins, corner)] - first;
  }
  ComputeCornerForce(a, position, entries, cell.fx, cell.fy, cell.fz, force);
  return 1;
}

GPUREG_NAMESPACE_END

#endif
