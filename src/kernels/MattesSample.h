// SPDX-License-Identifier: Apache-2.0
// One sample of the Mattes joint histogram: where it maps to, what it reads there, which bins it
// touches, and the force it exerts. The formulas of itk::MattesMutualInformationImageToImageMetricv4.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MattesSample_h
#define gpureg_kernels_MattesSample_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Bins left free at each end, so that the cubic window never leaves the histogram. */
  HistogramPadding = 2,
  /** The fixed bin of a sample that is not valid: outside the fixed image or its mask. */
  InvalidBin = 0xFFFF,
  /** So many samples of weight 2/3, the largest there is, still fit into 32 bits in units of 2^-18. */
  MaximumSamplesPerChunk = 16384
};

/** What a problem needs beyond the plain case: every voxel of a grid, a linear transform, linear
 *  interpolation, a gradient image, no mask. A kernel compiled for one set leaves the rest out. */
enum
{
  MattesSamplesArePoints = 1, /* a list of points instead of the virtual grid's voxels */
  MattesHasDisplacement = 2,  /* a displacement field is applied first */
  MattesHasMovingMask = 4,
  MattesGradientByDifferences = 8, /* central differences instead of a gradient image */
  MattesInterpolatesSpline = 16,   /* B-spline interpolation of order splineOrder, 0 for nearest */
  MattesChecksRange = 32,          /* values outside of the histogram's range make a sample invalid */
  MattesWritesForces = 64,         /* keep each sample's force, for transforms of local support */
  MattesReadsQuads = 128,          /* the moving values are kept as quads, see InterpolateQuads */
  MattesIsPrecise = 256            /* values are 64-bit integers, as positions always are: MattesPrecise.h */
};

/** All that an evaluation depends on besides the volumes and MattesMaps. Passed by value to every kernel, so its
 *  layout is the same for every compiler: 32-bit members only. */
typedef struct MattesArguments
{
  float       displacementToIndex[9]; /* displacement in mm -> moving index, by rows */
  float       inverseSpacing[3];      /* 1 / moving spacing along physical axis d, 1/mm */
  float       centre[3];              /* virtual index that the first moments of the forces refer to */
  VolumeShape virtualShape;
  VolumeShape movingShape;
  VolumeShape maskShape;
  int         pointCount;
  int         bins;
  float       rangeEnd;    /* bins - 4: the largest value, in bin units */
  float       acceptBegin; /* what still rounds to the smallest or the largest value: 0 and rangeEnd, … */
  float       acceptEnd;   /* … widened by half of the pixel type's last digit */
  float       countUnit;   /* one count of the joint histogram in fixed point, a power of two: integers
                                     add up to the same sum in any order */
  float       lastWhole;   /* bins - 5: the last bin that a value is counted from */
  int         splineOrder;
  int         variant;      /* or-ed Mattes… flags */
  int         tileCount[3]; /* the domain's cut into chunks, see MattesPartition.h */
  int         tileDepth;
  int         missingRows;     /* from the last slice of a stacked grid, see MattesPartition.h */
  int         bandRows;        /* fixed bins whose histogram rows fit into local memory at once */
  int         histogramCopies; /* of a group's histogram, a power of two, interleaved: neighbours, which often
                                     meet in a bin, count in different ones */
  int         normalized;      /* 1: Studholme's normalised MI; 0: Mattes' MI */
} MattesArguments;

/** The rest of it, for which 32 bits are too few. Each member lies at a multiple of its size. */
typedef struct MattesMaps
{
  FixedMap toMoving;          /* virtual voxel (or point) -> position in the moving buffer */
  FixedMap toMask;            /* position in the moving buffer -> in the mask's */
  i64      differenceStep[9]; /* half a spacing along physical axis d, as a position: column d */

  /* Where the variant is precise, see MattesPrecise.h: */
  i64   minimum;       /* what values are counted from, in their own units */
  i64   range;         /* the histogram's, in the same */
  i64   binsPerUnit;   /* in units of 2^-80 */
  float unitsToBins;   /* the same as a number */
  int   roundsToFloat; /* as ITK does where that is the pixels' type */
  int   guardBits;     /* toMoving is in units of 2^-(32 + guardBits) */
  int   unused;
} MattesMaps;

/** The resident volumes. The moving image is kept in bin units above its minimum,
 *  u = (v - min) / binSize in [0, bins - 4]. */
typedef struct MattesVolumes
{
  GPUREG_GLOBAL const u16 *    fixedBins;    /* one a sample, or InvalidBin */
  GPUREG_GLOBAL const i64 *    points;       /* 3 a sample: continuous virtual index, in units of 2^-32 */
  GPUREG_GLOBAL const float *  displacement; /* 3 a virtual voxel, mm */
  GPUREG_GLOBAL const float *  moving;       /* values in bin units, … */
  GPUREG_GLOBAL const float4 * quads;        /* … or the same as quads */
  GPUREG_GLOBAL const float *  coefficients; /* B-spline coefficients of the same */
  GPUREG_GLOBAL const float4 * gradient;     /* x, y, z: gradient per mm along physical axes; w: value */
  GPUREG_GLOBAL const u8 *     mask;
  GPUREG_GLOBAL const i64 *    preciseMoving; /* instead of moving and quads, where the variant is precise */
  GPUREG_GLOBAL const i64 *    preciseCoefficients;
} MattesVolumes;

GPUREG_FUNCTION int
MattesHas(int variant, int flag)
{
  return (variant & flag) != 0;
}

/** position += D·u, by what a vector of the displacement field moves a sample. */
GPUREG_FUNCTION void
Displace(const MattesArguments * a, const float * u, i64 * position)
{
  for (int r = 0; r < 3; ++r)
  {
    position[r] += ToFixed(a->displacementToIndex[3 * r] * u[0] + a->displacementToIndex[3 * r + 1] * u[1] +
                           a->displacementToIndex[3 * r + 2] * u[2]);
  }
}

/** The displacement field at a voxel, … */
GPUREG_FUNCTION void
ReadDisplacement(const MattesVolumes * v, i64 voxel, float * u)
{
  u[0] = v->displacement[3 * voxel];
  u[1] = v->displacement[3 * voxel + 1];
  u[2] = v->displacement[3 * voxel + 2];
}

/** … and between voxels. */
GPUREG_FUNCTION void
InterpolateDisplacement(const MattesArguments * a, const MattesVolumes * v, LinearCell cell, float * u)
{
  u[0] = 0.0f;
  u[1] = 0.0f;
  u[2] = 0.0f;
  for (int corner = 0; corner < 8; ++corner)
  {
    const float weight = ((corner & 1) ? cell.fx : 1.0f - cell.fx) * ((corner & 2) ? cell.fy : 1.0f - cell.fy) *
                         ((corner & 4) ? cell.fz : 1.0f - cell.fz);
    const i64 node = cell.offset + ((corner & 1) ? a->virtualShape.stride[0] : 0) +
                     ((corner & 2) ? a->virtualShape.stride[1] : 0) + ((corner & 4) ? a->virtualShape.stride[2] : 0);
    for (int c = 0; c < 3; ++c)
    {
      u[c] = MultiplyAdd(weight, v->displacement[3 * node + c], u[c]);
    }
  }
}

/** itk::ImageMaskSpatialObject: the nearest mask voxel is in its buffer and is not 0. */
GPUREG_FUNCTION int
IsInsideMask(const MattesArguments * a, const MattesMaps * maps, const MattesVolumes * v, const i64 * position)
{
  i64 inMask[3];
  for (int r = 0; r < 3; ++r)
  {
    inMask[r] = ApplyFixedRowAt(&maps->toMask, r, position);
  }
  return IsPositionInside(&a->maskShape, inMask) && v->mask[NearestVoxelOffset(&a->maskShape, inMask)] != 0;
}

/** Whether there is a moving value at a position. */
GPUREG_FUNCTION int
IsSampleValid(
  int variant, const MattesArguments * a, const MattesMaps * maps, const MattesVolumes * v, const i64 * position)
{
  return IsPositionInside(&a->movingShape, position) &&
         (!MattesHas(variant, MattesHasMovingMask) || IsInsideMask(a, maps, v, position));
}

/** The positions half a spacing to each side along a physical axis, which a central difference is made between; 0 where
 *  either is outside of the buffer, and the difference 0 (itk::CentralDifferenceImageFunction). */
GPUREG_FUNCTION int
FindDifferencePositions(
  const MattesArguments * a, const MattesMaps * maps, const i64 * position, int axis, i64 * before, i64 * behind)
{
  for (int r = 0; r < 3; ++r)
  {
    const i64 step = maps->differenceStep[3 * r + axis];
    before[r] = position[r] - step;
    behind[r] = position[r] + step;
  }
  return a->inverseSpacing[axis] != 0.0f && IsPositionInside(&a->movingShape, before) &&
         IsPositionInside(&a->movingShape, behind);
}

/** A cell of a chunk's histogram has one counter, or the precise variants' two: first those of the high halves of all
 *  cells, then those of the low halves, see PreciseParzenWeights. */
GPUREG_FUNCTION int
CountersPerCell(int variant)
{
  return MattesHas(variant, MattesIsPrecise) ? 2 : 1;
}

/** Bytes of a cell of a chunk's histogram, and of the table: there, a float, or a 64-bit integer. */
GPUREG_FUNCTION int
CellBytes(int variant)
{
  return 4 * CountersPerCell(variant);
}

/** What a chunk's histogram has counted in a cell. */
GPUREG_FUNCTION u64
CountInChunk(int variant, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int cells, int cell)
{
  if (MattesHas(variant, MattesIsPrecise))
  {
    GPUREG_GLOBAL const u32 * counters = chunkHistograms + (i64)chunk * 2 * cells + cell;
    return ((u64)counters[0] << 16) + counters[cells];
  }
  return chunkHistograms[(i64)chunk * cells + cell];
}

/** The floats that a chunk's sums of forces take: the precise variants' have a second one for what rounding leaves. */
GPUREG_FUNCTION int
PartialCount(int variant)
{
  return MattesHas(variant, MattesIsPrecise) ? 2 * ForceSumCount : ForceSumCount;
}

/** Puts a value into the histogram's range [0, bins - 4], or says that the sample is not valid.
 *  Linear interpolation cannot leave the range but by rounding; with a mask, which narrows the range,
 *  or a spline, which overshoots, ITK rejects what is outside after rounding it to the pixel type. */
GPUREG_FUNCTION int
FitIntoRange(int variant, const MattesArguments * a, float * u)
{
  const float value = *u;
  *u = SmallerOf(LargerOf(value, 0.0f), a->rangeEnd);
  return !MattesHas(variant, MattesChecksRange) || (value >= a->acceptBegin && value <= a->acceptEnd);
}

GPUREG_FUNCTION float
InterpolateMoving(int variant, const MattesArguments * a, const MattesVolumes * v, const i64 * position)
{
  return MattesHas(variant, MattesReadsQuads) ? InterpolateQuads(v->quads, &a->movingShape, position)
                                              : InterpolateLinear(v->moving, &a->movingShape, position);
}

/** Finds the moving value at a position, in bin units. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
SampleMovingValue(int                     variant,
                  const MattesArguments * a,
                  const MattesMaps *      maps,
                  const MattesVolumes *   v,
                  const i64 *             position,
                  float *                 u)
{
  if (!IsSampleValid(variant, a, maps, v, position))
  {
    return 0;
  }
  *u = MattesHas(variant, MattesInterpolatesSpline)
         ? InterpolateBSpline(v->coefficients, &a->movingShape, a->splineOrder, position)
         : InterpolateMoving(variant, a, v, position);
  return FitIntoRange(variant, a, u);
}

/** In bins per mm. */
GPUREG_FUNCTION float
CentralDifference(int                     variant,
                  const MattesArguments * a,
                  const MattesMaps *      maps,
                  const MattesVolumes *   v,
                  const i64 *             position,
                  int                     axis)
{
  i64 before[3], behind[3];
  if (!FindDifferencePositions(a, maps, position, axis, before, behind))
  {
    return 0.0f;
  }
  return (InterpolateMoving(variant, a, v, behind) - InterpolateMoving(variant, a, v, before)) *
         a->inverseSpacing[axis];
}

/** Finds value and gradient at a position. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
SampleMovingValueAndGradient(int                     variant,
                             const MattesArguments * a,
                             const MattesMaps *      maps,
                             const MattesVolumes *   v,
                             const i64 *             position,
                             float *                 u,
                             float *                 gradient)
{
  if (MattesHas(variant, MattesHasMovingMask | MattesGradientByDifferences | MattesInterpolatesSpline))
  {
    if (!SampleMovingValue(variant, a, maps, v, position, u))
    {
      return 0;
    }
    if (MattesHas(variant, MattesGradientByDifferences))
    {
      gradient[0] = CentralDifference(variant, a, maps, v, position, 0);
      gradient[1] = CentralDifference(variant, a, maps, v, position, 1);
      gradient[2] = CentralDifference(variant, a, maps, v, position, 2);
      return 1;
    }
  }
  else if (!IsPositionInside(&a->movingShape, position))
  {
    return 0;
  }
  const float4 both = InterpolateLinear4(v->gradient, &a->movingShape, position);
  gradient[0] = both.x;
  gradient[1] = both.y;
  gradient[2] = both.z;
  if (!MattesHas(variant, MattesHasMovingMask | MattesInterpolatesSpline))
  {
    *u = both.w;
    return FitIntoRange(variant, a, u);
  }
  return 1;
}

/** The Parzen window over the moving bins: first + 0..3 are touched, t is the value's place between
 *  the second and the third (Mattes 2003, equation 6). A value at the maximum has t = 1. */
GPUREG_FUNCTION int
FirstParzenBin(float lastWhole, float u, float * t)
{
  int         whole;
  const float below = WholeBelow(u, lastWhole, &whole);
  *t = u - below;
  return whole + HistogramPadding - 1;
}

/** The window's weights in units of 1/countUnit. They sum to countUnit exactly: the second, never less
 *  than 1/6, takes what rounding leaves. */
GPUREG_FUNCTION void
FixedPointParzenWeights(float t, float countUnit, u32 * weights)
{
  float w[4];
  CubicBSplineWeights(t, w);
  weights[0] = ToCount(w[0], countUnit);
  weights[2] = ToCount(w[2], countUnit);
  weights[3] = ToCount(w[3], countUnit);
  weights[1] = (u32)countUnit - weights[0] - weights[2] - weights[3];
}

/** Second pass: the scalar that turns a sample's gradient into its force, sum over k of
 *  B3'(arg_k)·table[k], where row is the fixed bin's row of the table at the first Parzen bin. */
GPUREG_FUNCTION float
ParzenForce(float t, float r0, float r1, float r2, float r3)
{
  float d[4];
  CubicBSplineDerivatives(t, d);
  return d[0] * r0 + d[1] * r1 + d[2] * r2 + d[3] * r3;
}

/** Pass 2: the force of the sample at a position, from its fixed bin's row of the table; 0 if it is not valid. */
GPUREG_FUNCTION int
FindForce(int                        variant,
          const MattesArguments *    a,
          const MattesMaps *         maps,
          const MattesVolumes *      v,
          const i64 *                position,
          GPUREG_LOCAL const float * tableRow,
          float *                    force)
{
  float gradient[3], t, u = 0.0f;
  if (!SampleMovingValueAndGradient(variant, a, maps, v, position, &u, gradient))
  {
    return 0;
  }
  GPUREG_LOCAL const float * window = tableRow + FirstParzenBin(a->lastWhole, u, &t);
  const float                weight = ParzenForce(t, window[0], window[1], window[2], window[3]);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  return 1;
}

GPUREG_NAMESPACE_END

#endif
