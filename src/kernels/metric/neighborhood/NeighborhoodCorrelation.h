// SPDX-License-Identifier: Apache-2.0
// The mean correlation of two images over the neighborhoods of all voxels (Avants 2011), as
// itk::ANTSNeighborhoodCorrelationImageToImageMetricv4 computes it. The sums n, Σ f, Σ m, Σ f², Σ m² and Σ fm are over the valid samples
// within the radius of a voxel along each axis of the virtual grid; f̄ = Σ f/n and m̄ = Σ m/n:
//   sFF = Σ f² - 2 f̄ Σ f + n f̄², and sMM, sFM likewise,
//   correlation = sFM²/(sFF·sMM),
//   force = 2 sFM/(sFF·sMM)·((f - f̄) - sFM/sMM·(m - m̄))·∇m, with f, m and ∇m of the voxel itself.
// The sums are doubles, of ITK's own values, and the formulas are in ITK's order of operations: in a nearly flat neighborhood, sFF is what
// rounding leaves, and ITK tests whether it is more than 2^-52. Values and their squares are scaled by powers of two, which rounds nothing.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_NeighborhoodCorrelation_h
#define gpureg_kernels_NeighborhoodCorrelation_h

GPUREG_NAMESPACE_BEGIN

/** Places of the sums over a neighborhood. */
enum
{
  SumOfCount = 0,
  SumOfFixed = 1,
  SumOfMoving = 2,
  SumOfFixedSquares = 3,
  SumOfMovingSquares = 4,
  SumOfProducts = 5,
  NeighborhoodSumCount = 6
};

/** Places of the sums over all centres, besides forces. */
enum
{
  CentreCountSum = 0,
  CorrelationSum = 1,
  MostCentreSums = 2
};

/** The results of a centre besides its correlation. */
enum
{
  NoNeighborhoodForces = 0,
  /** ITK's forces, each of a centre's own neighborhood alone. */
  ForcesOfCentres = 1,
  /** Instead of forces, the terms from which the derivative of the sum of all correlations follows: see NeighborhoodTerms.h. */
  TermsOfCentres = 2
};

/** A moving value below this marks a voxel that is not valid. */
#define GPUREG_LEAST_MOVED_VALUE (-((i64)1 << 61))

/** Arguments of an evaluation besides the volumes and SampleMaps. 32-bit members only. */
typedef struct NeighborhoodArguments
{
  SampleArguments samples;
  int             radius[3];
  int             forces;       /* one of the enumerators above */
  int             fixedIsFloat; /* ITK squares a value in its pixel type */
  int             movingIsFloat;
  float           fixedUnit; /* factor from scaled values to ITK's, to which ITK's threshold epsilon refers */
  float           movingUnit;
  float           epsilon;
  int             firstStored; /* first plane whose moving values and sums are stored at present */
  int             keptPlanes;
  int             firstCentre; /* first plane whose voxels are centres at present */
  int             centrePlanes;
  int             segmentPlanes; /* centres that a lane processes along z */
  int             segmentCount;
  int             tileRows; /* rows of centres in a tile; 0 if there are no tiles, see NeighborhoodTiles.h */
  int             groupCount;
  int             firstPartial; /* place of the first group's sums */
  int             centreCount;  /* number of centres in a list */
} NeighborhoodArguments;

typedef struct NeighborhoodSums
{
  double sum[NeighborhoodSumCount];
} NeighborhoodSums;

GPUREG_FUNCTION i64
VoxelsOfPlane(const NeighborhoodArguments * a)
{
  return (i64)a->samples.virtualShape.size[0] * a->samples.virtualShape.size[1];
}

/** Returns the number of voxels in the planes whose moving values and sums are stored at present. */
GPUREG_FUNCTION i64
StoredVoxels(const NeighborhoodArguments * a)
{
  return VoxelsOfPlane(a) * a->keptPlanes;
}

/** Returns the number of the first voxel whose moving value and sums are stored at present. */
GPUREG_FUNCTION i64
FirstStoredVoxel(const NeighborhoodArguments * a)
{
  return VoxelsOfPlane(a) * a->firstStored;
}

/** Returns the number of floats in a group's sums: the sums over centres, what rounding leaves of them, and the sums of forces. */
GPUREG_FUNCTION int
NeighborhoodPartialCount(const NeighborhoodArguments * a)
{
  const int hasForceSums = a->forces == ForcesOfCentres && !VariantHas(a->samples.variant, WritesForces);
  return 2 * MostCentreSums + (hasForceSums ? PartialCount(a->samples.variant) : 0);
}

/** Returns the moving value at the position to which a voxel maps, or one below GPUREG_LEAST_MOVED_VALUE if the voxel is not valid. */
GPUREG_LARGE_FUNCTION i64
ComputeMovedValue(
  int variant, const NeighborhoodArguments * a, const SampleMaps * maps, const SampleVolumes * v, const LaneWalk * walk)
{
  float x[3];
  i64   position[3];
  i64   value = 2 * GPUREG_LEAST_MOVED_VALUE;
  if (HasFixedValue(variant, v, walk->sample))
  {
    MapSample(variant, &a->samples, maps, v, walk, x, position);
    if (!SampleFixedPointValue(variant, &a->samples, maps, v, position, &value))
    {
      value = 2 * GPUREG_LEAST_MOVED_VALUE;
    }
  }
  return value;
}

GPUREG_FUNCTION double
ScaledFixedValue(const SampleMaps * maps, i64 fixed)
{
  return (double)fixed * (double)maps->unitsToFixedValues;
}

GPUREG_FUNCTION double
ScaledMovingValue(const SampleMaps * maps, i64 moving)
{
  return (double)moving * (double)maps->unitsToValues;
}

/** Returns a·b, rounded to float if both are floats. */
GPUREG_FUNCTION double
MultiplyAsPixels(double a, double b, int areFloats)
{
  return areFloats ? (double)((float)a * (float)b) : a * b;
}

/** Returns what one voxel adds to the sums. */
GPUREG_FUNCTION NeighborhoodSums
ComputeSumsOfVoxel(const NeighborhoodArguments * a, const SampleMaps * maps, i64 fixed, i64 moved)
{
  NeighborhoodSums one;
  const int        isValid = moved > GPUREG_LEAST_MOVED_VALUE;
  const double     f = isValid ? ScaledFixedValue(maps, fixed) : 0.0;
  const double     m = isValid ? ScaledMovingValue(maps, moved) : 0.0;
  one.sum[SumOfCount] = isValid;
  one.sum[SumOfFixed] = f;
  one.sum[SumOfMoving] = m;
  one.sum[SumOfFixedSquares] = MultiplyAsPixels(f, f, a->fixedIsFloat);
  one.sum[SumOfMovingSquares] = MultiplyAsPixels(m, m, a->movingIsFloat);
  one.sum[SumOfProducts] = MultiplyAsPixels(f, m, a->fixedIsFloat && a->movingIsFloat);
  return one;
}

GPUREG_FUNCTION void
ClearNeighborhoodSums(NeighborhoodSums * sums)
{
  for (int s = 0; s < NeighborhoodSumCount; ++s)
  {
    sums->sum[s] = 0.0;
  }
}

/** Loads the sums of an element; sum s is at sums[s·stride], so that neighbouring lanes read adjacent elements. */
GPUREG_FUNCTION NeighborhoodSums
LoadNeighborhoodSums(GPUREG_GLOBAL const double * sums, i64 stride)
{
  NeighborhoodSums loaded;
  for (int s = 0; s < NeighborhoodSumCount; ++s)
  {
    loaded.sum[s] = sums[s * stride];
  }
  return loaded;
}

GPUREG_FUNCTION void
StoreNeighborhoodSums(const NeighborhoodSums * stored, GPUREG_GLOBAL double * sums, i64 stride)
{
  for (int s = 0; s < NeighborhoodSumCount; ++s)
  {
    sums[s * stride] = stored->sum[s];
  }
}

GPUREG_FUNCTION void
AddNeighborhoodSums(const NeighborhoodSums * one, NeighborhoodSums * sums)
{
  for (int s = 0; s < NeighborhoodSumCount; ++s)
  {
    sums->sum[s] += one->sum[s];
  }
}

/** The running sums of the last `length` elements of a line, at three additions an element, whatever the length, and without a
 *  subtraction: subtracting a bright element would leave its rounding error behind, where a flat neighborhood must be exactly flat. The
 *  line is cut into blocks of `length` elements (van Herk 1992); a running sum is that of the last elements of the block before plus
 *  that of the first elements of the current block. */
typedef struct RunningSums
{
  NeighborhoodSums started; /* sums of the current block */
  int              slot;    /* place of the next element in its block */
  int              hasBlockBefore;
} RunningSums;

GPUREG_FUNCTION void
StartRunningSums(RunningSums * running)
{
  ClearNeighborhoodSums(&running->started);
  running->slot = 0;
  running->hasBlockBefore = 0;
}

/** Replaces *element, the next one of the line, by the running sums of the last `length` elements.
 *  circularBuffer: length·NeighborhoodSumCount doubles, `stride` apart. It holds the sums of the block before that are still
 *  needed, and the elements of the current block. */
GPUREG_FUNCTION void
StepRunningSums(
  int length, GPUREG_GLOBAL double * circularBuffer, int stride, RunningSums * running, NeighborhoodSums * element)
{
  if (length == 1)
  {
    return;
  }
  const i64 step = (i64)NeighborhoodSumCount * stride;
  const int slot = running->slot;
  StoreNeighborhoodSums(element, circularBuffer + slot * step, stride);
  AddNeighborhoodSums(element, &running->started);
  *element = running->started;
  running->slot = slot + 1;
  if (running->slot < length)
  {
    if (running->hasBlockBefore)
    {
      const NeighborhoodSums rest = LoadNeighborhoodSums(circularBuffer + (slot + 1) * step, stride);
      AddNeighborhoodSums(&rest, element);
    }
    return;
  }
  NeighborhoodSums last;
  ClearNeighborhoodSums(&last);
  for (int s = length - 1; s >= 0; --s)
  {
    const NeighborhoodSums one = LoadNeighborhoodSums(circularBuffer + s * step, stride);
    AddNeighborhoodSums(&one, &last);
    StoreNeighborhoodSums(&last, circularBuffer + s * step, stride);
  }
  StartRunningSums(running);
  running->hasBlockBefore = 1;
}

/** Holds the results of one centre. */
typedef struct LocalCorrelation
{
  double correlation;
  double weight;   /* the centre's force is weight·∇m */
  double terms[3]; /* A, B and C of NeighborhoodTerms.h */
} LocalCorrelation;

GPUREG_FUNCTION LocalCorrelation
ComputeLocalCorrelation(const NeighborhoodArguments * a, const NeighborhoodSums * sums, double fixed, double moving)
{
  LocalCorrelation found;
  const double     count = sums->sum[SumOfCount];
  const double     sumF = sums->sum[SumOfFixed];
  const double     sumM = sums->sum[SumOfMoving];
  const double     meanF = sumF / count;
  const double     meanM = sumM / count;
  /* ITK's operations in ITK's order: where all values are equal, what rounding leaves decides whether there is a correlation. */
  const double ff = sums->sum[SumOfFixedSquares] - RoundedProduct(meanF, sumF) - RoundedProduct(meanF, sumF) +
                    RoundedProduct(RoundedProduct(count, meanF), meanF);
  const double mm = sums->sum[SumOfMovingSquares] - RoundedProduct(meanM, sumM) - RoundedProduct(meanM, sumM) +
                    RoundedProduct(RoundedProduct(count, meanM), meanM);
  const double fm = sums->sum[SumOfProducts] - RoundedProduct(meanM, sumF) - RoundedProduct(meanF, sumM) +
                    RoundedProduct(RoundedProduct(count, meanM), meanF);
  const double both = ff * mm;
  const double unscaledFF = ff * a->fixedUnit * a->fixedUnit;
  const double unscaledMM = mm * a->movingUnit * a->movingUnit;
  const double unscaledBoth = unscaledFF * unscaledMM;
  found.correlation = 1.0;
  found.weight = 0.0;
  found.terms[0] = found.terms[1] = found.terms[2] = 0.0;
  if (unscaledBoth > a->epsilon || -unscaledBoth > a->epsilon)
  {
    found.correlation = fm * fm / both;
  }
  if (unscaledFF > a->epsilon && unscaledMM > a->epsilon)
  {
    found.weight = 2.0 * fm / both * ((fixed - meanF) - fm / mm * (moving - meanM));
    found.terms[0] = 2.0 * fm / both;
    found.terms[1] = found.terms[0] * fm / mm;
    found.terms[2] = found.terms[1] * meanM - found.terms[0] * meanF;
  }
  return found;
}

/** Holds the sums over the centres of a lane, each followed by what rounding leaves of them. */
typedef struct CentreSums
{
  float ofCentres[2 * MostCentreSums];
  float forces[2 * ForceSumCount];
} CentreSums;

GPUREG_FUNCTION void
ClearCentreSums(CentreSums * sums)
{
  for (int s = 0; s < 2 * MostCentreSums; ++s)
  {
    sums->ofCentres[s] = 0.0f;
  }
  for (int s = 0; s < 2 * ForceSumCount; ++s)
  {
    sums->forces[s] = 0.0f;
  }
}

/** Adds the valid centre at which the walk is to its lane's sums, and computes its force, or its terms, as a->forces demands. */
GPUREG_FUNCTION void
AddCentre(int                           variant,
          const NeighborhoodArguments * a,
          const SampleMaps *            maps,
          const SampleVolumes *         v,
          const LaneWalk *              walk,
          i64                           moved,
          const NeighborhoodSums *      neighborhood,
          CentreSums *                  sums,
          float *                       force)
{
  const double           fixed = ScaledFixedValue(maps, v->fixedValuesInFixedPoint[walk->sample]);
  const LocalCorrelation found = ComputeLocalCorrelation(a, neighborhood, fixed, ScaledMovingValue(maps, moved));
  const float            correlation = (float)found.correlation;
  AddExactly(1.0f, sums->ofCentres + CentreCountSum, sums->ofCentres + MostCentreSums + CentreCountSum);
  AddExactly(correlation, sums->ofCentres + CorrelationSum, sums->ofCentres + MostCentreSums + CorrelationSum);
  sums->ofCentres[MostCentreSums + CorrelationSum] += (float)(found.correlation - correlation);
  if (a->forces == TermsOfCentres)
  {
    for (int t = 0; t < 3; ++t)
    {
      force[t] = (float)found.terms[t];
    }
    return;
  }
  if (a->forces == NoNeighborhoodForces || found.weight == 0.0)
  {
    return;
  }
  float x[3], gradient[3];
  i64   position[3];
  MapSample(variant, &a->samples, maps, v, walk, x, position);
  SampleFixedPointGradient(variant, &a->samples, maps, v, position, gradient);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = (float)(found.weight * gradient[r]);
  }
  FollowForceBack(variant, &a->samples, v, walk, force);
  if (!VariantHas(variant, WritesForces))
  {
    float fromCentre[3];
    ComputeOffsetFromCentre(&a->samples, x, fromCentre);
    AddForceExactly(sums->forces, force, fromCentre);
  }
}

GPUREG_NAMESPACE_END

#endif
