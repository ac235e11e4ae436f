// SPDX-License-Identifier: Apache-2.0
// The correlation ratio of the moving image by the fixed image's bins (Roche 1998; Li 2015, equations 1 to 3). For a fixed bin i, N_i, S_i
// = Σ Y and Q_i = Σ Y² are sums over the moving values Y of its samples, scaled to [0, 1]; N, S, Q are the sums over all bins.
//   A = Σ_i (Q_i - S_i²/N_i) = Q - Σ_i S_i²/N_i,  B = Q - S²/N,  value = A/B = 1 - η.
// Only Q is needed, not the Q_i: a lane sums Y² in a register, see CorrelationRatioCount.h.
// With the means m_i = S_i/N_i and m = S/N: ∂(A/B)/∂Y = (2/B)·[(Y - m_i) - (A/B)(Y - m)], so the weight of a sample's gradient is linear in
// Y.
// Where samples have weights w near the border (BorderWeight.h), N_i is Σ w, S_i is Σ wY and Q_i is Σ wY². The derivative by Y is then w
// times the one above, and ∂(A/B)/∂w = (1/B)·[(Y - m_i)² - (A/B)(Y - m)²].
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_CorrelationRatio_h
#define gpureg_kernels_CorrelationRatio_h

GPUREG_NAMESPACE_BEGIN

/** The columns of the histogram: the entries of each fixed bin. */
enum
{
  CorrelationRatioCount = 0,
  CorrelationRatioSum = 1,
  /** Σ Y². It may contain samples of any fixed bin: only its sum over all bins has a meaning. */
  CorrelationRatioSquares = 2,
  /** The number of samples, in variants that count weights in 16-bit halves. */
  CorrelationRatioPoints = 3,
  /** The most columns that there may be, see CountCorrelationRatioColumns. */
  CorrelationRatioColumns = 4,
  /** The columns to which a sample adds, in variants that do not count weights in 16-bit halves. */
  CorrelationRatioWindow = 2
};

/** In a chunk's 32-bit counters, Σ Y is known to 2^-18. This shows in the derivative where the fixed bins nearly determine the moving
 *  values. So the remainder of each value below the histogram's unit is counted, too, in 2^-CorrelationRatioRestBits of the unit: in the
 *  low bits of the count's entry, which the count leaves free. Σ Y² is counted in the remainders' unit, in two entries: that of an even row
 *  counts units of 2^16. So the number of rows is even, and so is that of a band's rows. */
enum
{
  CorrelationRatioRestBits = 5,
  CorrelationRatioCountShift = 18,
  CorrelationRatioSquaresShift = 16,
  /** The most samples in a chunk: so many of weight 1 fit into 32 bits in units of 2^-18, and so many remainders into 18 bits. */
  MostSamplesOfCorrelationRatio = 8191
};

/** The entries of a fixed bin's row of the table, see WeighValue. */
enum
{
  CorrelationRatioMeanOfBin = 0,
  CorrelationRatioMeanRest = 1,
  CorrelationRatioMean = 2,
  CorrelationRatioRatio = 3,
  CorrelationRatioTableColumns = 4
};

/** Arguments of an evaluation besides the volumes and SampleMaps. 32-bit members only. */
typedef struct CorrelationRatioArguments
{
  HistogramArguments histogram;
  BorderArguments    border;
} CorrelationRatioArguments;

/** A range of samples of one fixed bin, in the order sorted by bin: the work of one group of the scheme ConflictFree. 32-bit members
 *  only. */
typedef struct Workload
{
  u32 first;
  u32 count;
} Workload;

/** Returns the number of entries of each fixed bin. Entries of three columns spread over all banks of local memory, those of four over a
 *  quarter of them. */
GPUREG_FUNCTION int
CountCorrelationRatioColumns(int variant)
{
  return CountsHalves(variant) ? CorrelationRatioColumns : CorrelationRatioPoints;
}

/** Returns a fraction of the unit, in [0, 1), in steps of 2^-CorrelationRatioRestBits, rounded to the nearest: the result may stand for
 *  1. */
GPUREG_FUNCTION u32
ToRest(float fraction)
{
  return ToCount(fraction, (float)(1 << CorrelationRatioRestBits));
}

/** Pass 1: computes the weights that the sample at a position adds to its fixed bin's window, and its Y² in 2^-CorrelationRatioRestBits
 *  of the histogram's unit. Returns 0 if the sample is not valid. Values are in [0, 1] but for rounding. */
GPUREG_FUNCTION int
ComputeWindow(int                               variant,
              const CorrelationRatioArguments * a,
              const SampleMaps *                maps,
              const SampleVolumes *             v,
              const i64 *                       position,
              u32 *                             weights,
              u32 *                             squares)
{
  float y = 0.0f;
  if (!SampleMovingValue(variant, &a->histogram.samples, maps, v, position, &y))
  {
    return 0;
  }
  y = SaturateOf(y);
  const float units = y * a->histogram.countUnit;
  const float unitsOfSquare = y * units;
  const u32   whole = (u32)unitsOfSquare;
  weights[CorrelationRatioSum] = (u32)units;
  weights[CorrelationRatioCount] =
    ((u32)1 << CorrelationRatioCountShift) + ToRest(units - (float)weights[CorrelationRatioSum]);
  *squares = (whole << CorrelationRatioRestBits) + ToRest(unitsOfSquare - (float)whole);
  return 1;
}

/** Computes the fixed-point moving value of the sample at a position, scaled to [0, 1] in units of 2^-32. Returns 0 if the sample is not
 *  valid. */
GPUREG_FUNCTION int
ComputeFixedPointScaledValue(int                               variant,
                             const CorrelationRatioArguments * a,
                             const SampleMaps *                maps,
                             const SampleVolumes *             v,
                             const i64 *                       position,
                             i64 *                             y)
{
  i64 value;
  if (!SampleFixedPointValue(variant, &a->histogram.samples, maps, v, position, &value))
  {
    return 0;
  }
  value = value < 0 ? 0 : (value < maps->range ? value : maps->range);
  *y = MultiplyFixed(value, maps->valuesPerUnit) >> 16;
  return 1;
}

/** Computes the scaled moving value of the sample at a position in units of 2^-32, known to a float's digits unless the variant is
 *  fixed-point. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeFixedValue(int                               variant,
                  const CorrelationRatioArguments * a,
                  const SampleMaps *                maps,
                  const SampleVolumes *             v,
                  const i64 *                       position,
                  i64 *                             y)
{
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    return ComputeFixedPointScaledValue(variant, a, maps, v, position, y);
  }
  float value = 0.0f;
  if (!SampleMovingValue(variant, &a->histogram.samples, maps, v, position, &value))
  {
    return 0;
  }
  *y = (i64)(SaturateOf(value) * GPUREG_FIXED_UNITS);
  return 1;
}

/** Computes the weights that the sample at a position adds to its fixed bin's entries, in units of 2^-32, in variants that count weights
 *  in 16-bit halves. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeFixedPointWindow(int                               variant,
                        const CorrelationRatioArguments * a,
                        const SampleMaps *                maps,
                        const SampleVolumes *             v,
                        const i64 *                       position,
                        u32 *                             high,
                        u32 *                             low)
{
  i64 y, weights[WindowEntries];
  if (!ComputeFixedValue(variant, a, maps, v, position, &y))
  {
    return 0;
  }
  weights[CorrelationRatioCount] = GPUREG_FIXED_ONE;
  weights[CorrelationRatioSum] = y;
  weights[CorrelationRatioPoints] = 0;
  if (VariantHas(variant, WeighsBorder))
  {
    const float weight = ComputeBorderWeight(&a->border, &a->histogram.samples.movingShape, position);
    weights[CorrelationRatioCount] = (i64)(weight * GPUREG_FIXED_UNITS);
    weights[CorrelationRatioSum] = MultiplyFixedToNearest(weights[CorrelationRatioCount], y);
    weights[CorrelationRatioPoints] = GPUREG_FIXED_ONE;
  }
  weights[CorrelationRatioSquares] = MultiplyFixedToNearest(weights[CorrelationRatioSum], y);
  SplitWeights(weights, high, low);
  return 1;
}

/** Returns (Y - m_i) - (A/B)(Y - m). The weights of a bin add up to nearly 0, so the rounding of its mean to a float would show: a
 *  second float holds what the first one leaves. */
GPUREG_FUNCTION float
WeighValue(GPUREG_LOCAL const float * tableRow, float y)
{
  const float fromBin = (y - tableRow[CorrelationRatioMeanOfBin]) - tableRow[CorrelationRatioMeanRest];
  return MultiplyAdd(-tableRow[CorrelationRatioRatio], y - tableRow[CorrelationRatioMean], fromBin);
}

/** Turns the force of a sample of weight 1 into that of a sample near the border: w times the force, plus ½[(Y - m_i)² - (A/B)(Y - m)²]
 *  ∂w/∂x. */
GPUREG_FUNCTION void
AddBorderForce(
  const CorrelationRatioArguments * a, const i64 * position, float fromBin, float fromMean, float ratio, float * force)
{
  float       gradient[3];
  const float weight =
    ComputeBorderWeightAndGradient(&a->border, &a->histogram.samples.movingShape, position, gradient);
  const float ofWeight = 0.5f * MultiplyAdd(-ratio * fromMean, fromMean, fromBin * fromBin);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = MultiplyAdd(weight, force[r], ofWeight * gradient[r]);
  }
}

/** Pass 2: computes the force of the sample at a position, from its fixed bin's row of the table. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeForce(int                               variant,
             const CorrelationRatioArguments * a,
             const SampleMaps *                maps,
             const SampleVolumes *             v,
             i64                               sample,
             const i64 *                       position,
             GPUREG_LOCAL const float *        tableRow,
             float *                           force)
{
  (void)sample;
  float gradient[3], y = 0.0f;
  if (!SampleMovingValueAndGradient(variant, &a->histogram.samples, maps, v, position, &y, gradient))
  {
    return 0;
  }
  y = SaturateOf(y);
  const float weight = WeighValue(tableRow, y);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  if (VariantHas(variant, WeighsBorder))
  {
    const float fromBin = (y - tableRow[CorrelationRatioMeanOfBin]) - tableRow[CorrelationRatioMeanRest];
    const float fromMean = y - tableRow[CorrelationRatioMean];
    AddBorderForce(a, position, fromBin, fromMean, tableRow[CorrelationRatioRatio], force);
  }
  return 1;
}

/** Pass 2: computes the force of the sample at a position, from its fixed bin's row of a table in units of 2^-32. Returns 0 if the
 *  sample is not valid. */
GPUREG_FUNCTION int
ComputeFixedPointForce(int                               variant,
                       const CorrelationRatioArguments * a,
                       const SampleMaps *                maps,
                       const SampleVolumes *             v,
                       i64                               sample,
                       const i64 *                       position,
                       GPUREG_LOCAL const i64 *          tableRow,
                       float *                           force)
{
  (void)sample;
  i64   y;
  float gradient[3];
  if (!ComputeFixedPointScaledValue(variant, a, maps, v, position, &y))
  {
    return 0;
  }
  SampleFixedPointGradient(variant, &a->histogram.samples, maps, v, position, gradient);
  const i64   fromMean = MultiplyFixed(tableRow[CorrelationRatioRatio], y - tableRow[CorrelationRatioMean]);
  const float weight = (float)(y - tableRow[CorrelationRatioMeanOfBin] - fromMean) * GPUREG_FIXED_UNIT;
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  if (VariantHas(variant, WeighsBorder))
  {
    AddBorderForce(a,
                   position,
                   (float)(y - tableRow[CorrelationRatioMeanOfBin]) * GPUREG_FIXED_UNIT,
                   (float)(y - tableRow[CorrelationRatioMean]) * GPUREG_FIXED_UNIT,
                   (float)tableRow[CorrelationRatioRatio] * GPUREG_FIXED_UNIT,
                   force);
  }
  return 1;
}

/** Returns a/b for 0 <= a <= b in units of 2^-32; 0 if b is 0. */
GPUREG_FUNCTION i64
DivideFixed(u64 a, u64 b)
{
  for (; b >> 32 != 0; b >>= 1)
  {
    a >>= 1;
  }
  return b > 0 ? (i64)((a << 31) / b * 2) : 0;
}

/** Returns the count in an entry of a row, joined with the remainders that were counted in the low bits of the count's entry, in
 *  2^-CorrelationRatioRestBits of the histogram's unit. */
GPUREG_FUNCTION u64
JoinCounters(const CorrelationRatioArguments * a, int row, int column, u32 counted, u32 count)
{
  if (column == CorrelationRatioCount)
  {
    return (u64)(count >> CorrelationRatioCountShift) * ((u64)a->histogram.countUnit << CorrelationRatioRestBits);
  }
  if (column == CorrelationRatioSum)
  {
    return ((u64)counted << CorrelationRatioRestBits) + (count & (((u32)1 << CorrelationRatioCountShift) - 1));
  }
  return (u64)counted << (row % 2 == 0 ? CorrelationRatioSquaresShift : 0);
}

/** Returns the count in an entry of a chunk's histogram, in 2^-CorrelationRatioRestBits of the histogram's unit; in the unit itself for
 *  variants that count weights in 16-bit halves. */
GPUREG_FUNCTION u64
ReadChunk(
  int variant, const CorrelationRatioArguments * a, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int entry)
{
  const int entries = a->histogram.rows * a->histogram.columns;
  if (CountsHalves(variant))
  {
    return CountInChunk(variant, chunkHistograms, chunk, entries, entry);
  }
  const int                 row = entry / a->histogram.columns;
  const int                 column = entry % a->histogram.columns;
  GPUREG_GLOBAL const u32 * counters = chunkHistograms + (i64)chunk * entries + entry - column;
  return JoinCounters(a, row, column, counters[column], counters[CorrelationRatioCount]);
}

/** Joins the counters of a row to the counts of its entries, in the unit of ReadChunk. counters: one an entry; in variants that count
 *  weights in 16-bit halves, the high halves, whose low halves are in `low`. */
GPUREG_FUNCTION void
JoinRow(int variant, const CorrelationRatioArguments * a, int row, const u32 * counters, const u32 * low, u64 * entries)
{
  for (int k = 0; k < CountCorrelationRatioColumns(variant); ++k)
  {
    entries[k] = CountsHalves(variant) ? ((u64)counters[k] << 16) + low[k]
                                       : JoinCounters(a, row, k, counters[k], counters[CorrelationRatioCount]);
  }
}

/** Computes what the sample at a position adds to its fixed bin's entries, in the unit of ReadChunk. Returns 0 if the sample is not
 *  valid. */
GPUREG_FUNCTION int
ComputeEntries(int                               variant,
               const CorrelationRatioArguments * a,
               const SampleMaps *                maps,
               const SampleVolumes *             v,
               const i64 *                       position,
               u64 *                             entries)
{
  u32       squares = 0;
  u32       weights[WindowEntries], low[WindowEntries];
  const int isValid = CountsHalves(variant) ? ComputeFixedPointWindow(variant, a, maps, v, position, weights, low)
                                            : ComputeWindow(variant, a, maps, v, position, weights, &squares);
  if (isValid)
  {
    weights[CorrelationRatioSquares] = CountsHalves(variant) ? weights[CorrelationRatioSquares] : squares;
    JoinRow(variant, a, 1, weights, low, entries);
  }
  return isValid;
}

/** Holds N, Σ Y and Σ Y² of some samples, in one unit. */
typedef struct CorrelationRatioSums
{
  u64 count;
  u64 sum;
  u64 squares;
} CorrelationRatioSums;

/** Adds the sums of one row of the histogram. */
GPUREG_FUNCTION void
AddSums(GPUREG_GLOBAL const u64 * entries, CorrelationRatioSums * sums)
{
  sums->count += entries[CorrelationRatioCount];
  sums->sum += entries[CorrelationRatioSum];
  sums->squares += entries[CorrelationRatioSquares];
}

/** Returns the sums of one row of the histogram: those of a fixed bin, except for Σ Y². */
GPUREG_FUNCTION CorrelationRatioSums
ReadSums(GPUREG_GLOBAL const u64 * entries)
{
  CorrelationRatioSums sums = { 0, 0, 0 };
  AddSums(entries, &sums);
  return sums;
}

/** Returns the mean Σ Y/N, in units of 2^-32. */
GPUREG_FUNCTION i64
ComputeMean(const CorrelationRatioSums * sums)
{
  return DivideFixed(sums->sum, sums->count);
}

/** Returns (Σ Y)²/N, in the sums' unit, as 2m Σ Y - m² N, so that an error of the mean m enters only as its square. */
GPUREG_FUNCTION u64
SquareOfSum(const CorrelationRatioSums * sums)
{
  const i64 mean = ComputeMean(sums);
  return (u64)MultiplyFixed(mean, 2 * (i64)sums->sum - MultiplyFixed(mean, (i64)sums->count));
}

/** Returns Σ Y² - (Σ Y)²/N, in the sums' unit. */
GPUREG_FUNCTION i64
SumOfDeviations(const CorrelationRatioSums * sums)
{
  return (i64)(sums->squares - SquareOfSum(sums));
}

/** Returns A/B, in [0, 1], in units of 2^-32. */
GPUREG_FUNCTION i64
RatioOfDeviations(i64 within, i64 all)
{
  const i64 a = within < 0 ? 0 : within;
  return all > 0 ? DivideFixed((u64)(a < all ? a : all), (u64)all) : 0;
}

/** Writes a fixed bin's row of the table: floats; in fixed-point variants integers in units of 2^-32, as meanOfBin, mean and ratio are. */
GPUREG_FUNCTION void
WriteTableRow(int variant, int row, i64 meanOfBin, i64 mean, i64 ratio, GPUREG_GLOBAL void * table)
{
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    GPUREG_GLOBAL i64 * entries = (GPUREG_GLOBAL i64 *)table + row * CorrelationRatioTableColumns;
    entries[CorrelationRatioMeanOfBin] = meanOfBin;
    entries[CorrelationRatioMeanRest] = 0;
    entries[CorrelationRatioMean] = mean;
    entries[CorrelationRatioRatio] = ratio;
  }
  else
  {
    /* The upper 24 of 32 bits fit into a float. */
    const i64             coarse = meanOfBin & ~(i64)0xFF;
    GPUREG_GLOBAL float * entries = (GPUREG_GLOBAL float *)table + row * CorrelationRatioTableColumns;
    entries[CorrelationRatioMeanOfBin] = (float)coarse * GPUREG_FIXED_UNIT;
    entries[CorrelationRatioMeanRest] = (float)(meanOfBin - coarse) * GPUREG_FIXED_UNIT;
    entries[CorrelationRatioMean] = (float)mean * GPUREG_FIXED_UNIT;
    entries[CorrelationRatioRatio] = (float)ratio * GPUREG_FIXED_UNIT;
  }
}

/** Writes the numbers behind the table's rows: 1/B, in the sums' unit, and A/B. */
GPUREG_FUNCTION void
WriteNumbersBehindTable(int variant, int rows, const CorrelationRatioSums * all, i64 ratio, GPUREG_GLOBAL void * table)
{
  const int             entryFloats = TableEntryBytes(variant) / (int)sizeof(float);
  GPUREG_GLOBAL float * numbers = (GPUREG_GLOBAL float *)table + rows * CorrelationRatioTableColumns * entryFloats;
  const i64             deviations = SumOfDeviations(all);
  numbers[EvaluatedFactor] = deviations > 0 ? 1.0f / (float)deviations : 0.0f;
  numbers[EvaluatedValue] = all->count > 0 ? (float)ratio * GPUREG_FIXED_UNIT : GPUREG_NO_EVALUATED_VALUE;
}

GPUREG_NAMESPACE_END

#endif
