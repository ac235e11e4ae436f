// SPDX-License-Identifier: Apache-2.0
// Computes from an image's values on a device: their summary, clamped values, and the values that metrics store. It uses double
// precision, as the host does, so that a value's bin and its last digit are the same on every device.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ImageValues_h
#define gpureg_kernels_ImageValues_h

GPUREG_NAMESPACE_BEGIN

/** The forms in which a metric stores a value. */
typedef enum StoredAs
{
  StoredAsBin,    /* u16: bin */
  StoredAsByte,   /* u8: bin, of at most 256 */
  StoredAsScaled, /* float: (v - minimum)/unit */
  StoredAsPlace,  /* float: place relative to the bin: (v - minimum)/unit + placeOfMinimum - bin */
  StoredAsInteger /* i64: v - minimum, in units of 2^-exponent */
} StoredAs;

enum
{
  /** Bits of an integer value, without its sign. */
  MostValueBits = 60
};

/** Describes the samples of a grid and the image that they take their values from. 64-bit members come first. */
typedef struct ImageSampling
{
  double      toImage[12]; /* sample's index → position, by rows, the offset last */
  double      minimum;
  double      unit;
  double      placeOfMinimum;
  double      unitsPerValue[2]; /* their product is 2^exponent, which might be too small for one double */
  VolumeShape sampleShape;
  VolumeShape imageShape;
  int         form;      /* one of StoredAs */
  int         edgeCount; /* edges of bins, see FindImageBin */
  int         firstBin;
  int         isOneGrid; /* sample n is voxel n; toImage is not used */
  int         hasMask;   /* a sample is not valid where its byte is 0 */
  int         hasRange;  /* the device has the range of the values, as a summary */
} ImageSampling;

/** Numbers of a summary: the smallest and the largest finite value, the sum of the finite values times a factor, and the number of
 *  values that are not finite. */
enum
{
  SummaryOfSmallest = 0,
  SummaryOfLargest = 1,
  SummaryNumbers = 4
};

/** Summarizes a strip. If no value is finite, the smallest is above the largest. summaries: SummaryNumbers for each strip. */
GPUREG_REAL_FUNCTION void
SummarizeStrip(
  const Strips * strips, GPUREG_GLOBAL const real * values, double factor, GPUREG_GLOBAL double * summaries, i64 strip)
{
  GPUREG_GLOBAL double * summary = summaries + SummaryNumbers * strip;
  const i64              end = EndOfStrip(strips, strip);
  const i64              step = StepOfStrip(strips);
  double                 minimum = 1;
  double                 maximum = -1;
  double                 sum = 0;
  double                 notFinite = 0;
  int                    isFirst = 1;
  for (i64 i = BeginOfStrip(strips, strip); i < end; i += step)
  {
    const double value = values[i];
    if (value - value != 0) /* infinite, or not a number */
    {
      notFinite += 1;
      continue;
    }
    minimum = isFirst || value < minimum ? value : minimum;
    maximum = isFirst || value > maximum ? value : maximum;
    sum += value * factor;
    isFirst = 0;
  }
  summary[0] = minimum;
  summary[1] = maximum;
  summary[2] = sum;
  summary[3] = notFinite;
}

GPUREG_REAL_ITEM_KERNEL(SummarizeStrip, 1, "summarising an image");

/** Joins the summaries of a strip, SummaryNumbers each, into one. */
GPUREG_FUNCTION void
JoinSummaries(const Strips * strips, GPUREG_GLOBAL const double * summaries, GPUREG_GLOBAL double * joined, i64 strip)
{
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  double    minimum = 1;
  double    maximum = -1;
  double    sum = 0;
  double    notFinite = 0;
  for (i64 n = BeginOfStrip(strips, strip); n < end; n += step)
  {
    GPUREG_GLOBAL const double * one = summaries + SummaryNumbers * n;
    const int                    isFirst = minimum > maximum;
    if (one[0] <= one[1])
    {
      minimum = isFirst || one[0] < minimum ? one[0] : minimum;
      maximum = isFirst || one[1] > maximum ? one[1] : maximum;
    }
    sum += one[2];
    notFinite += one[3];
  }
  joined[SummaryNumbers * strip] = minimum;
  joined[SummaryNumbers * strip + 1] = maximum;
  joined[SummaryNumbers * strip + 2] = sum;
  joined[SummaryNumbers * strip + 3] = notFinite;
}

GPUREG_ITEM_KERNEL(JoinSummaries, 64, "summarising an image");

/** Returns the place of one of count values: in the part with this number, of `parts` equal parts, at a pseudo-random place that is the
 *  same on every device. The random place avoids picking again and again what repeats along rows. */
GPUREG_FUNCTION i64
PickPlace(i64 count, i64 parts, i64 number)
{
  const i64 first = count / parts * number + count % parts * number / parts;
  const u64 width = (u64)(count / parts);
  const u64 chance = (u64)number * 0x9E3779B97F4A7C15u >> 32; /* Knuth's multiplicative hashing */
  return first + (i64)(chance % width);
}

/** Picks the value of that place. */
GPUREG_REAL_FUNCTION void
PickValue(GPUREG_GLOBAL const real * values, i64 count, i64 parts, GPUREG_GLOBAL real * picked, i64 number)
{
  picked[number] = values[PickPlace(count, parts, number)];
}

GPUREG_REAL_ITEM_KERNEL(PickValue, 16384, "picking some of an image's values");

/** Numbers that clamping counts: the values below the range, and those above it. */
enum
{
  ClampNumbers = 2
};

/** Describes how values outside of a range are replaced. 64-bit members come first. */
typedef struct ClampArguments
{
  double      least;
  double      most;
  double      becomes[2]; /* what is below, and above, where it is not mended */
  Strips      strips;
  VolumeShape shape;
  int         mends; /* true if a value outside becomes the mean of its neighbours inside, if it has any */
} ClampArguments;

/** Returns the mean of those of a voxel's neighbours that are in the range; if there is none, a->becomes for the end of the
 *  range beyond which the voxel lies. */
GPUREG_REAL_FUNCTION double
MendValue(const ClampArguments * a, GPUREG_GLOBAL const real * values, i64 voxel)
{
  const int * size = a->shape.size;
  const i64   row = voxel / size[0];
  const int   at[3] = { (int)(voxel - row * size[0]), (int)(row % size[1]), (int)(row / size[1]) };
  int         from[3];
  int         to[3];
  double      sum = 0;
  int         count = 0;
  for (int d = 0; d < 3; ++d)
  {
    from[d] = at[d] > 0 ? at[d] - 1 : 0;
    to[d] = at[d] + 1 < size[d] ? at[d] + 1 : size[d] - 1;
  }
  for (int z = from[2]; z <= to[2]; ++z)
  {
    for (int y = from[1]; y <= to[1]; ++y)
    {
      for (int x = from[0]; x <= to[0]; ++x)
      {
        const double value = values[VoxelOffset(&a->shape, x, y, z)];
        const int    isIn = value >= a->least && value <= a->most;
        sum += isIn ? value : 0;
        count += isIn;
      }
    }
  }
  return count > 0 ? sum / count : a->becomes[values[voxel] > a->most];
}

/** Clamps the values of a strip, and counts those below and above the range. numbers: ClampNumbers for each strip. */
GPUREG_REAL_FUNCTION void
ClampStrip(const ClampArguments *     a,
           GPUREG_GLOBAL const real * values,
           GPUREG_GLOBAL real *       clamped,
           GPUREG_GLOBAL i64 *        numbers,
           i64                        strip)
{
  const i64 end = EndOfStrip(&a->strips, strip);
  const i64 step = StepOfStrip(&a->strips);
  i64       below = 0;
  i64       above = 0;
  for (i64 i = BeginOfStrip(&a->strips, strip); i < end; i += step)
  {
    double value = values[i];
    if (value < a->least || value > a->most)
    {
      below += value < a->least;
      above += value > a->most;
      value = a->mends ? MendValue(a, values, i) : a->becomes[value > a->most];
    }
    clamped[i] = (real)value;
  }
  numbers[ClampNumbers * strip] = below;
  numbers[ClampNumbers * strip + 1] = above;
}

GPUREG_REAL_ITEM_KERNEL(ClampStrip, 1, "clamping an image's values");

/** Returns the bin of a value: firstBin plus the number of edges that are not above the value. The edges are sorted, and have the
 *  image's own type, so that a value lies on the same side of an edge as on the host. */
GPUREG_REAL_FUNCTION int
FindImageBin(const ImageSampling * a, GPUREG_GLOBAL const real * edges, real value)
{
  int below = 0;
  int count = a->edgeCount;
  while (count > 0)
  {
    const int middle = count / 2;
    if (edges[below + middle] <= value)
    {
      below += middle + 1;
      count -= middle + 1;
    }
    else
    {
      count = middle;
    }
  }
  return a->firstBin + below;
}

/** Returns the edge of a number between bins of equal width over a range, of which the device has the summary. */
GPUREG_FUNCTION double
ComputeEdgeOfRange(const ImageSampling * a, GPUREG_GLOBAL const double * summary, int edge)
{
  const double minimum = summary[SummaryOfSmallest];
  return minimum + RoundedProduct(summary[SummaryOfLargest] - minimum, 1.0 + edge) / (a->edgeCount + 1);
}

/** Returns the bin of a value among bins of equal width over a range: that which FindImageBin() finds by their edges. */
GPUREG_REAL_FUNCTION int
FindBinOfRange(const ImageSampling * a, GPUREG_GLOBAL const double * summary, real value)
{
  const double minimum = summary[SummaryOfSmallest];
  const double place = ((double)value - minimum) / (summary[SummaryOfLargest] - minimum) * (a->edgeCount + 1);
  int          below = (int)(place > 0 ? (place < a->edgeCount ? place : a->edgeCount) : 0);
  while (below < a->edgeCount && (real)ComputeEdgeOfRange(a, summary, below) <= value)
  {
    ++below;
  }
  while (below > 0 && (real)ComputeEdgeOfRange(a, summary, below - 1) > value)
  {
    --below;
  }
  return a->firstBin + below;
}

/** Rounds a value, in units of 2^-exponent, to the nearest integer, and clamps it to ±2^MostValueBits; NaN becomes the lower end. */
GPUREG_FUNCTION i64
ToIntegerValue(double value)
{
  const double most = (double)((i64)1 << MostValueBits);
  return (i64)RoundOf(value > -most ? (value < most ? value : most) : -most);
}

/** Returns the value at a position inside, in the order of operations of itk::LinearInterpolateImageFunction, and rounded to the pixel
 *  type, as ITK's metrics do. Beyond the centres of the outermost voxels, their values are repeated. */
GPUREG_REAL_FUNCTION real
InterpolateValue(GPUREG_GLOBAL const real * values, const VolumeShape * shape, const double * position)
{
  int    cell[3];
  i64    step[3];
  double fraction[3];
  i64    stride = 1;
  for (int d = 0; d < 3; ++d)
  {
    const double last = shape->size[d] - 1;
    const double within = position[d] > 0.0 ? (position[d] < last ? position[d] : last) : 0.0;
    cell[d] = (int)within;
    fraction[d] = within - cell[d];
    step[d] = fraction[d] > 0.0 ? stride : 0;
    stride *= shape->size[d];
  }
  GPUREG_GLOBAL const real * p = values + VoxelOffset(shape, cell[0], cell[1], cell[2]);
  double                     planes[2];
  for (int z = 0; z < 2; ++z)
  {
    GPUREG_GLOBAL const real * q = p + z * step[2];
    planes[z] = MixSamples(MixSamples(q[0], q[step[0]], fraction[0]),
                           MixSamples(q[step[1]], q[step[1] + step[0]], fraction[0]),
                           fraction[1]);
  }
  return (real)MixSamples(planes[0], planes[1], fraction[2]);
}

/** Applies one row of an affine map to an index. */
GPUREG_FUNCTION double
ApplyRow(const double * row, int x, int y, int z)
{
  return RoundedProduct(row[0], x) + RoundedProduct(row[1], y) + RoundedProduct(row[2], z) + row[3];
}

/** Computes a sample's value. Returns 0 if the sample lies outside of the image: ITK's half-open box [-0.5, size - 0.5). A position
 *  within 2^-33 of an end of the box is taken to be at that end, as for positions elsewhere. */
GPUREG_REAL_FUNCTION int
ComputeImageValue(const ImageSampling * a, GPUREG_GLOBAL const real * values, i64 sample, real * value)
{
  if (a->isOneGrid)
  {
    *value = values[sample];
    return 1;
  }
  const double nearHalf = 0.5 + 1.0 / 8589934592.0;
  const i64    row = sample / a->sampleShape.size[0];
  const int    x = (int)(sample - row * a->sampleShape.size[0]);
  const int    y = (int)(row % a->sampleShape.size[1]);
  const int    z = (int)(row / a->sampleShape.size[1]);
  double       position[3];
  int          isInside = 1;
  for (int r = 0; r < 3; ++r)
  {
    position[r] = ApplyRow(a->toImage + 4 * r, x, y, z);
    isInside &= position[r] > -nearHalf && position[r] < a->imageShape.size[r] - nearHalf;
  }
  if (isInside)
  {
    *value = InterpolateValue(values, &a->imageShape, position);
  }
  return isInside;
}

/** Returns how far a value is above the minimum; if the device has the range, as a share of that, and 0 if all values are equal. */
GPUREG_REAL_FUNCTION double
ComputeAbove(const ImageSampling * a, GPUREG_GLOBAL const double * summary, real value)
{
  if (!a->hasRange)
  {
    return (double)value - a->minimum;
  }
  const double range = summary[SummaryOfLargest] - summary[SummaryOfSmallest];
  return range > 0 ? ((double)value - summary[SummaryOfSmallest]) / range : 0.0;
}

/** Returns the bin of a sample. If the device has the range, and all values are equal, no sample is valid. */
GPUREG_REAL_FUNCTION int
FindSampleBin(const ImageSampling *        a,
              GPUREG_GLOBAL const real *   edges,
              GPUREG_GLOBAL const double * summary,
              real                         value)
{
  if (!a->hasRange)
  {
    return FindImageBin(a, edges, value);
  }
  return summary[SummaryOfLargest] > summary[SummaryOfSmallest] ? FindBinOfRange(a, summary, value) : InvalidBin;
}

/** Writes one sample's value in the form a->form. edges: see FindImageBin; summary: of the values, read if a->hasRange; mask: one byte a
 *  sample, read if a->hasMask. */
GPUREG_REAL_FUNCTION void
StoreImageValue(const ImageSampling *        a,
                GPUREG_GLOBAL const real *   values,
                GPUREG_GLOBAL const real *   edges,
                GPUREG_GLOBAL const double * summary,
                GPUREG_GLOBAL const u8 *     mask,
                GPUREG_GLOBAL void *         kept,
                i64                          sample)
{
  real         value = 0;
  const int    isValid = ComputeImageValue(a, values, sample, &value) && (!a->hasMask || mask[sample] != 0);
  const double above = isValid ? ComputeAbove(a, summary, value) : GPUREG_NO_VALUE;
  switch (a->form)
  {
    case StoredAsBin:
      ((GPUREG_GLOBAL u16 *)kept)[sample] = (u16)(isValid ? FindSampleBin(a, edges, summary, value) : InvalidBin);
      break;
    case StoredAsByte:
      ((GPUREG_GLOBAL u8 *)kept)[sample] = (u8)FindImageBin(a, edges, value);
      break;
    case StoredAsScaled:
      ((GPUREG_GLOBAL float *)kept)[sample] = isValid ? (float)(above / a->unit) : (float)GPUREG_NO_VALUE;
      break;
    case StoredAsPlace:
      ((GPUREG_GLOBAL float *)kept)[sample] =
        isValid ? (float)(above / a->unit + a->placeOfMinimum - FindImageBin(a, edges, value)) : (float)GPUREG_NO_VALUE;
      break;
    default:
      ((GPUREG_GLOBAL i64 *)kept)[sample] = ToIntegerValue(above * a->unitsPerValue[0] * a->unitsPerValue[1]);
  }
}

GPUREG_REAL_ITEM_KERNEL(StoreImageValue, 16384, "storing an image's values");

/** Writes the quad of a voxel, see InterpolateQuads: its value with those of its next neighbours along x, y and both, the edge repeated, as
 *  StoreImageValue() scales them. */
GPUREG_REAL_FUNCTION void
StoreQuad(const ImageSampling *        a,
          GPUREG_GLOBAL const real *   values,
          GPUREG_GLOBAL const double * summary,
          GPUREG_GLOBAL float4 *       quads,
          i64                          voxel)
{
  const i64                  row = voxel / a->imageShape.size[0];
  const int                  x = (int)(voxel - row * a->imageShape.size[0]);
  const int                  y = (int)(row % a->imageShape.size[1]);
  const int                  right = x + 1 < a->imageShape.size[0] ? a->imageShape.stride[0] : 0;
  const int                  down = y + 1 < a->imageShape.size[1] ? a->imageShape.stride[1] : 0;
  GPUREG_GLOBAL const real * p = values + voxel;
  quads[voxel] = MakeFloat4((float)(ComputeAbove(a, summary, p[0]) / a->unit),
                            (float)(ComputeAbove(a, summary, p[right]) / a->unit),
                            (float)(ComputeAbove(a, summary, p[down]) / a->unit),
                            (float)(ComputeAbove(a, summary, p[down + right]) / a->unit));
}

GPUREG_REAL_ITEM_KERNEL(StoreQuad, 16384, "making quads of an image");

GPUREG_NAMESPACE_END

#endif
