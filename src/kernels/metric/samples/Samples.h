// SPDX-License-Identifier: Apache-2.0
// The samples of a metric: the position to which each maps, and the moving image's value and gradient there, as itk::ImageToImageMetricv4
// defines them. Each metric defines what it computes from these.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Samples_h
#define gpureg_kernels_Samples_h

GPUREG_NAMESPACE_BEGIN

/** The features that a problem needs beyond the plain case: every voxel of a grid, a linear transform, linear interpolation, a gradient
 *  image, no mask. A kernel that is compiled for one set of features leaves out the code of the others. */
enum
{
  SamplesArePoints = 1,    /* a list of points instead of the virtual grid's voxels */
  SamplesAreDisplaced = 2, /* a displacement field is applied first */
  MovingHasMask = 4,
  GradientByDifferences = 8,     /* central differences instead of a gradient image */
  InterpolatesSpline = 16,       /* B-spline interpolation of order splineOrder, 0 for nearest */
  ChecksRange = 32,              /* moving values outside of their range make a sample invalid */
  WritesForces = 64,             /* store each sample's force, for transforms of local support */
  ReadsQuads = 128,              /* the moving values are stored as quads, see InterpolateQuads */
  SamplesAreFixedPoint = 256,    /* values are 64-bit integers, as positions always are: FixedPointSamples.h */
  WeighsBorder = 512,            /* samples weigh less near the moving image's edge: BorderWeight.h */
  GradientOfFixed = 1024,        /* forces point along the fixed image's gradient, one for each sample */
  SamplesAreChained = 2048,      /* samples pass through the grids of a chain of transforms: SampleChain.h */
  GradientOfInterpolation = 4096 /* forces point along the interpolation's own derivative, by the moving index */
};

/** The points by which forces are derivatives: 0, the moving points; otherwise the points that enter the chain's first grid, with the
 *  Jacobians computed in one of these ways. */
enum
{
  ForcesFollowJacobians = 1,  /* by an array of Jacobians */
  ForcesFollowDerivatives = 2 /* by the exact derivative of the parts' displacements */
};

/** The walk of one lane over its samples in a chunk: `count` samples, `stride` apart, and the current one. Over a grid, a lane walks
 *  along z. */
typedef struct LaneWalk
{
  i64   sample;
  i64   stride;
  int   count;
  float x[3];      /* virtual index of a grid's sample */
  i64   mapped[3]; /* position to which the sample maps, in toMoving's units */
} LaneWalk;

/** Arguments of the samples besides the volumes and SampleMaps. Passed by value to every kernel, so its layout must be the same for
 *  every compiler: 32-bit members only. */
typedef struct SampleArguments
{
  float displacementToIndex[9]; /* displacement in mm -> index of the chain's first grid, without one of the moving
                                         image, by rows */
  float movingIndexToPoint[9];  /* moving index -> mm, by rows */
  float inverseSpacing[3];      /* 1 / moving spacing along physical axis d, 1/mm */
  float centre[3];              /* the virtual index to which the sums f x refer */
  VolumeShape virtualShape;
  VolumeShape movingShape;
  VolumeShape maskShape;
  int         pointCount;
  int         splineOrder;
  int         variant;      /* or-ed flags from above */
  int         tileCount[3]; /* partition of the domain into chunks, see SamplePartition.h */
  int         tileDepth;
  int         missingRows;         /* rows that the last slab of a reshaped grid lacks, see SamplePartition.h */
  int         rowsOfSlab;          /* rows of a slab of a reshaped grid; 0 if the grid is not reshaped */
  int         movesInFixedPoint;   /* displacements and the chain's vectors are fixed-point, see FixedPointGrid.h */
  int         partCount;           /* number of parts of the chain */
  int         hasOwnDisplacements; /* one displacement for each sample, not for each voxel of the virtual grid */
  int         forcesFollowChain;   /* 0, or one of the enumerators above */
} SampleArguments;

/** The arguments of the samples for which 32 bits are too few. Each member lies at a multiple of its size. */
typedef struct SampleMaps
{
  FixedMap toMoving;          /* virtual voxel (or point) -> position in the moving buffer */
  FixedMap toMask;            /* position in the moving buffer -> in the mask's */
  i64      differenceStep[9]; /* half a spacing along physical axis d, as a position: column d */

  /* In fixed-point variants, see FixedPointSamples.h: */
  i64   minimum;       /* the value to which values are relative, in their own units */
  i64   range;         /* the largest value, in the same units */
  i64   valuesPerUnit; /* scaled values per unit, in units of 2^-80 */
  float unitsToValues; /* scaled values per unit */
  int   roundsToFloat; /* true if the pixel type is float, to which ITK rounds */
  int   guardBits;     /* toMoving is in units of 2^-(32 + guardBits) */
  float unitsToFixedValues;
} SampleMaps;

/** The arrays on the device. The moving image is stored relative to its minimum, and scaled as its metric needs: v = (value -
 *  minimum)·scale. */
typedef struct SampleVolumes
{
  GPUREG_GLOBAL const u16 * fixedBins; /* one for each sample, or InvalidBin */
  GPUREG_GLOBAL const float *
    fixedValues; /* or one scaled value for each sample; less than all others if it is not valid */
  GPUREG_GLOBAL const i64 *    points;       /* 3 for each sample: continuous virtual index, in units of 2^-32 */
  GPUREG_GLOBAL const float *  displacement; /* 3 for each virtual voxel, or each sample, in mm */
  GPUREG_GLOBAL const float *  moving;       /* scaled values */
  GPUREG_GLOBAL const float4 * quads;        /* or the scaled values as quads */
  GPUREG_GLOBAL const float *  coefficients; /* B-spline coefficients of the scaled values */
  GPUREG_GLOBAL const float4 * gradient;     /* x, y, z: scaled gradient per mm along physical axes; w: scaled value */
  GPUREG_GLOBAL const u8 *     mask;
  GPUREG_GLOBAL const float *  fixedGradients;     /* 3 for each sample, scaled, per mm along physical axes */
  GPUREG_GLOBAL const i64 *    movingInFixedPoint; /* replaces moving and quads in fixed-point variants */
  GPUREG_GLOBAL const i64 *    coefficientsInFixedPoint;
  GPUREG_GLOBAL const i64 *    fixedValuesInFixedPoint;
  GPUREG_GLOBAL const i64 *
    displacementInFixedPoint;                 /* replaces displacement in fixed-point variants, in units of positions */
  GPUREG_GLOBAL const u64 *       movingBins; /* of each voxel: its bin and those of its 7 next ones, one byte each */
  GPUREG_GLOBAL const ChainPart * chainParts;
  GPUREG_GLOBAL const float4 *    chainVectors;
  GPUREG_GLOBAL const i64 *
    chainVectorsInFixedPoint;                 /* replaces chainVectors in fixed-point variants, 3 for each vector */
  GPUREG_GLOBAL const float * chainJacobians; /* 9 for each vector, by rows: see SampleChain.h */
} SampleVolumes;

GPUREG_FUNCTION int
VariantHas(int variant, int flag)
{
  return (variant & flag) != 0;
}

/** Computes the offset of a virtual index x from the centre to which the sums f x refer. */
GPUREG_FUNCTION void
ComputeOffsetFromCentre(const SampleArguments * a, const float * x, float * fromCentre)
{
  for (int d = 0; d < 3; ++d)
  {
    fromCentre[d] = x[d] - a->centre[d];
  }
}

/** Returns 1 if the mask contains a position, as in itk::ImageMaskSpatialObject: the nearest mask voxel is in its buffer and is not 0. */
GPUREG_FUNCTION int
IsInsideMask(const SampleArguments * a, const SampleMaps * maps, const SampleVolumes * v, const i64 * position)
{
  i64 inMask[3];
  for (int r = 0; r < 3; ++r)
  {
    inMask[r] = ApplyFixedRowAt(&maps->toMask, r, position);
  }
  return IsPositionInside(&a->maskShape, inMask) && v->mask[NearestVoxelOffset(&a->maskShape, inMask)] != 0;
}

/** Returns 1 if there is a moving value at a position. */
GPUREG_FUNCTION int
IsSampleValid(
  int variant, const SampleArguments * a, const SampleMaps * maps, const SampleVolumes * v, const i64 * position)
{
  return IsPositionInside(&a->movingShape, position) &&
         (!VariantHas(variant, MovingHasMask) || IsInsideMask(a, maps, v, position));
}

/** Computes the two positions half a spacing to each side along a physical axis, for a central difference. Returns 0 if either one is
 *  outside of the buffer; then the difference is 0 (itk::CentralDifferenceImageFunction). */
GPUREG_FUNCTION int
ComputeDifferencePositions(
  const SampleArguments * a, const SampleMaps * maps, const i64 * position, int axis, i64 * before, i64 * behind)
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

/** Returns the number of floats in a chunk's sums of forces; fixed-point variants have a second float for what rounding leaves of each
 *  sum. */
GPUREG_FUNCTION int
PartialCount(int variant)
{
  return VariantHas(variant, SamplesAreFixedPoint) ? 2 * ForceSumCount : ForceSumCount;
}

GPUREG_LARGE_FUNCTION float
InterpolateMoving(int variant, const SampleArguments * a, const SampleVolumes * v, const i64 * position)
{
  return VariantHas(variant, ReadsQuads) ? InterpolateQuads(v->quads, &a->movingShape, position)
                                         : InterpolateLinear(v->moving, &a->movingShape, position);
}

/** Computes the scaled moving value at a position. Returns 0 if the sample is not valid. */
GPUREG_LARGE_FUNCTION int
SampleMovingValue(int                     variant,
                  const SampleArguments * a,
                  const SampleMaps *      maps,
                  const SampleVolumes *   v,
                  const i64 *             position,
                  float *                 u)
{
  if (!IsSampleValid(variant, a, maps, v, position))
  {
    return 0;
  }
  *u = VariantHas(variant, InterpolatesSpline)
         ? InterpolateBSpline(v->coefficients, &a->movingShape, a->splineOrder, position)
         : InterpolateMoving(variant, a, v, position);
  return 1;
}

/** Returns the central difference of scaled moving values along a physical axis, per mm. */
GPUREG_LARGE_FUNCTION float
CentralDifference(int                     variant,
                  const SampleArguments * a,
                  const SampleMaps *      maps,
                  const SampleVolumes *   v,
                  const i64 *             position,
                  int                     axis)
{
  i64 before[3], behind[3];
  if (!ComputeDifferencePositions(a, maps, position, axis, before, behind))
  {
    return 0.0f;
  }
  return (InterpolateMoving(variant, a, v, behind) - InterpolateMoving(variant, a, v, before)) *
         a->inverseSpacing[axis];
}

/** Returns the moving value at a position inside, and computes its derivative by the position. On the edge of the buffer, and in the
 *  half voxel beyond it, the value is the edge's, and the derivative 0. */
GPUREG_FUNCTION float
InterpolateMovingWithSlopes(
  int variant, const SampleArguments * a, const SampleVolumes * v, const i64 * position, float * slopes)
{
  const float u = VariantHas(variant, ReadsQuads)
                    ? InterpolateQuadsWithSlopes(v->quads, &a->movingShape, position, slopes)
                    : InterpolateLinearWithSlopes(v->moving, &a->movingShape, position, slopes);
  for (int r = 0; r < 3; ++r)
  {
    const int cell = IntegerPart(position[r]);
    slopes[r] = cell >= 0 && cell < a->movingShape.size[r] - 1 ? slopes[r] : 0.0f;
  }
  return u;
}

/** Computes the moving value and its gradient at a position. Returns 0 if the sample is not valid. */
GPUREG_LARGE_FUNCTION int
SampleMovingValueAndGradient(int                     variant,
                             const SampleArguments * a,
                             const SampleMaps *      maps,
                             const SampleVolumes *   v,
                             const i64 *             position,
                             float *                 u,
                             float *                 gradient)
{
  if (VariantHas(variant, GradientOfInterpolation))
  {
    const int isValid = IsSampleValid(variant, a, maps, v, position);
    if (isValid)
    {
      *u = InterpolateMovingWithSlopes(variant, a, v, position, gradient);
    }
    return isValid;
  }
  if (VariantHas(variant, MovingHasMask | GradientByDifferences | InterpolatesSpline))
  {
    if (!SampleMovingValue(variant, a, maps, v, position, u))
    {
      return 0;
    }
    if (VariantHas(variant, GradientByDifferences))
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
  if (!VariantHas(variant, MovingHasMask | InterpolatesSpline))
  {
    *u = both.w;
  }
  return 1;
}

GPUREG_NAMESPACE_END

#endif
