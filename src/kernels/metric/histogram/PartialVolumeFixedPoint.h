// SPDX-License-Identifier: Apache-2.0
// The fixed-point counterpart of PartialVolumeSample.h, for few samples, with weights in units of 2^-32 (see FixedPointSamples.h); and
// CountSample() for both.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_PartialVolumeFixedPoint_h
#define gpureg_kernels_PartialVolumeFixedPoint_h

GPUREG_NAMESPACE_BEGIN

/** Computes the corners' weights in units of 2^-32. */
GPUREG_FUNCTION void
ComputeFixedPointCornerWeights(const FixedPointCell * cell, i64 * weights)
{
  const i64 far = cell->fraction[2];
  for (int z = 0; z < 2; ++z)
  {
    const i64 slice = z ? far : GPUREG_FIXED_ONE - far;
    const i64 behind = MultiplyFixedToNearest(slice, cell->fraction[1]);
    for (int y = 0; y < 2; ++y)
    {
      const i64 row = y ? behind : slice - behind;
      const i64 right = MultiplyFixedToNearest(row, cell->fraction[0]);
      weights[4 * z + 2 * y] = row - right;
      weights[4 * z + 2 * y + 1] = right;
    }
  }
}

/** Pass 1: counts the sample at a position, if it is valid: see WindowCount.h. */
GPUREG_GROUP_FUNCTION void
CountSample(int                            variant,
            const PartialVolumeArguments * a,
            const SampleMaps *             maps,
            const SampleVolumes *          v,
            const i64 *                    position,
            GPUREG_LOCAL u32 *             histogram,
            int                            rowEntry,
            int                            lowEntries,
            int                            stride,
            u64 *                          laneSum)
{
  (void)laneSum;
  const VolumeShape * shape = &a->histogram.samples.movingShape;
  if (!IsSampleValid(variant, &a->histogram.samples, maps, v, position))
  {
    return;
  }
  if (CountsHalves(variant))
  {
    i64                  weights[CellCorners];
    const FixedPointCell cell = LocateFixedPointCell(shape, position);
    const u64            bins = v->movingBins[cell.offset];
    ComputeFixedPointCornerWeights(&cell, weights);
    for (int corner = 0; corner < CellCorners; ++corner)
    {
      const int at = rowEntry + BinOfCorner(bins, corner);
      AddToEntry(histogram, at, stride, (u32)(weights[corner] >> 16));
      AddToEntry(histogram, lowEntries + at, stride, (u32)weights[corner] & 0xFFFFu);
    }
    return;
  }
  const LinearCell cell = LocateLinearCell(shape, position);
  const u64        bins = v->movingBins[cell.offset];
  if (IsOneBin(bins))
  {
    AddToSharedEntry(histogram, rowEntry + BinOfCorner(bins, 0), stride, (u32)a->histogram.countUnit);
    return;
  }
  u32 weights[CellCorners];
  ComputeCornerWeights(cell, a->histogram.countUnit, weights);
  for (int corner = 0; corner < CellCorners; ++corner)
  {
    // In an image of one slice, four corners have no weight.
    if (weights[corner] != 0)
    {
      AddToEntry(histogram, rowEntry + BinOfCorner(bins, corner), stride, weights[corner]);
    }
  }
}

/** Computes ComputeForce from a table in units of 2^-32. Differences of its entries are taken before they become floats. */
GPUREG_FUNCTION int
ComputeFixedPointForce(int                            variant,
                       const PartialVolumeArguments * a,
                       const SampleMaps *             maps,
                       const SampleVolumes *          v,
                       i64                            sample,
                       const i64 *                    position,
                       GPUREG_LOCAL const i64 *       tableRow,
                       float *                        force)
{
  (void)sample;
  if (!IsSampleValid(variant, &a->histogram.samples, maps, v, position))
  {
    return 0;
  }
  const FixedPointCell cell = LocateFixedPointCell(&a->histogram.samples.movingShape, position);
  const u64            bins = v->movingBins[cell.offset];
  const i64            first = tableRow[BinOfCorner(bins, 0)];
  float                entries[CellCorners];
  for (int corner = 0; corner < CellCorners; ++corner)
  {
    entries[corner] = (float)(tableRow[BinOfCorner(bins, corner)] - first) * GPUREG_FIXED_UNIT;
  }
  ComputeCornerForce(a,
                     position,
                     entries,
                     (float)cell.fraction[0] * GPUREG_FIXED_UNIT,
                     (float)cell.fraction[1] * GPUREG_FIXED_UNIT,
                     (float)cell.fraction[2] * GPUREG_FIXED_UNIT,
                     force);
  return 1;
}

GPUREG_NAMESPACE_END

#endif
