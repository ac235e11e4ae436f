// SPDX-License-Identifier: Apache-2.0
// Interpolations by kernels that a window cuts off, as ITK defines them: windowed sincs, Gaussians, and labels by Gaussians.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_WindowedInterpolation_h
#define gpureg_kernels_WindowedInterpolation_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** itk::WindowedSincInterpolateImageFunction. */
  WindowedSinc = 0,
  /** itk::GaussianInterpolateImageFunction. */
  WindowedGaussian = 1,
  /** itk::LabelImageGaussianInterpolateImageFunction. */
  WindowedLabels = 2
};

enum
{
  /** Voxels to each side that a windowed sinc reaches. */
  SincRadius = 3,
  /** Rows of its table between two voxels. */
  SincTableRows = 8192,
  /** Entries of the error function's table in a unit, and the place beyond which it is 1 but for 1e-17. */
  ErfTableEntries = 512,
  ErfEnd = 6,
  /** The most voxels along an axis that a kernel reaches. */
  MostTaps = 128,
  /** The numbers in front of the table: the value outside, for each axis the distance in voxels at which a Gaussian is cut off, and for
   *  each axis the factor from voxels to the error function's argument. */
  WindowedCut = 1,
  WindowedFactor = 4,
  WindowedTable = 7
};

/** Arguments of InterpolateWindowed. */
typedef struct WindowedArguments
{
  FixedMap toInput;
  i64      firstVoxel; /* of the output */
  int      inputSize[3];
  int      outputSize[2]; /* voxels in a row, rows in a plane */
  int      partCount;
  int      kind;
} WindowedArguments;

/** Describes the voxels along an axis that make a value. */
typedef struct WindowedTaps
{
  int first; /* voxel */
  int count;
} WindowedTaps;

/** Returns the error function by cubic Hermite interpolation, within 1e-12 in doubles. table: for each place its value, and its slope times
 *  the places' distance. */
GPUREG_REAL_FUNCTION real
InterpolateErf(GPUREG_GLOBAL const real * table, real x)
{
  const real end = (real)ErfEnd;
  const real place = ((x < -end ? -end : (x > end ? end : x)) + end) * (real)ErfTableEntries;
  const int  low = (int)place;
  const real t = place - (real)low;
  const real value = table[2 * low];
  const real slope = table[2 * low + 1];
  const real nextSlope = table[2 * low + 3];
  const real rise = table[2 * low + 2] - value;
  const real three = 3.0f;
  const real two = 2.0f;
  return value + t * (slope + t * (three * rise - two * slope - nextSlope + t * (slope + nextSlope - two * rise)));
}

/** Finds the voxels of a windowed sinc that the image has, and their weights, linear between the rows of the table: within 2e-8. */
GPUREG_REAL_FUNCTION WindowedTaps
ComputeSincTaps(GPUREG_GLOBAL const real * table, int size, int cell, real fraction, real * weights)
{
  const real                 place = fraction * (real)SincTableRows;
  const int                  low = (int)place < SincTableRows ? (int)place : SincTableRows - 1;
  const real                 t = place - (real)low;
  GPUREG_GLOBAL const real * row = table + 2 * SincRadius * low;
  const int                  first = cell + 1 - SincRadius;
  const int                  begin = first < 0 ? -first : 0;
  const int                  end = size - first < 2 * SincRadius ? size - first : 2 * SincRadius;
  WindowedTaps               taps;
  taps.first = first + begin;
  taps.count = end - begin;
  for (int n = begin; n < end; ++n)
  {
    weights[n - begin] = row[n] + t * (row[n + 2 * SincRadius] - row[n]);
  }
  return taps;
}

/** Finds the voxels of a cut Gaussian that the image has, and its integrals over them (Yushkevich 2010). Where it is cut off at a voxel's
 *  edge but for rounding, the voxel beyond is left out, as it is where nothing is rounded.
 *  \param cut distance at which it is cut off, voxels; factor from voxels to the error function's argument */
GPUREG_REAL_FUNCTION WindowedTaps
ComputeGaussianTaps(
  GPUREG_GLOBAL const real * table, real cut, real factor, int size, int cell, real fraction, real * weights)
{
  const real   halfVoxel = 0.5f;
  const real   rounding = sizeof(real) > sizeof(float) ? 2e-8f : 1e-6f;
  const int    first = (int)FloorOf(fraction + halfVoxel - cut + rounding);
  const int    behind = -(int)FloorOf(-(fraction + halfVoxel + cut) + rounding);
  const int    begin = first < -cell ? -cell : first;
  const int    end = behind < size - cell ? behind : size - cell;
  WindowedTaps taps;
  taps.first = cell + begin;
  taps.count = end > begin ? (end - begin < MostTaps ? end - begin : MostTaps) : 0;
  real before = InterpolateErf(table, factor * ((real)begin - halfVoxel - fraction));
  for (int n = 0; n < taps.count; ++n)
  {
    const real after = InterpolateErf(table, factor * ((real)(begin + n) + halfVoxel - fraction));
    weights[n] = after - before;
    before = after;
  }
  return taps;
}

/** Returns the weighted sum of voxels. first: of them; row, plane: distances of rows and planes */
GPUREG_REAL_FUNCTION real
SumTaps(GPUREG_GLOBAL const real * first,
        i64                        row,
        i64                        plane,
        const WindowedTaps *       taps,
        const real *               wx,
        const real *               wy,
        const real *               wz)
{
  real sum = 0.0f;
  for (int c = 0; c < taps[2].count; ++c)
  {
    real inPlane = 0.0f;
    for (int b = 0; b < taps[1].count; ++b)
    {
      GPUREG_GLOBAL const real * const voxels = first + c * plane + b * row;
      real                             line = 0.0f;
      for (int t = 0; t < taps[0].count; ++t)
      {
        line = MultiplyAdd(wx[t], voxels[t], line);
      }
      inPlane = MultiplyAdd(wy[b], line, inPlane);
    }
    sum = MultiplyAdd(wz[c], inPlane, sum);
  }
  return sum;
}

/** Counts for each voxel of a row of an image how many voxels have its value from there on, up to MostTaps.
 *  \param length voxels in a row */
GPUREG_REAL_FUNCTION void
CountLabelRuns(GPUREG_GLOBAL const real * labels, int length, GPUREG_GLOBAL u8 * runs, i64 row)
{
  const i64 first = row * length;
  int       run = 0;
  real      before = labels[first + length - 1];
  for (int x = length - 1; x >= 0; --x)
  {
    const real label = labels[first + x];
    run = label == before ? (run < MostTaps ? run + 1 : MostTaps) : 1;
    runs[first + x] = (u8)run;
    before = label;
  }
}

GPUREG_REAL_ITEM_KERNEL(CountLabelRuns, 16, "counting equal labels");

/** The voxels that a label is found from. 64-bit members come first. */
typedef struct LabelWindow
{
  i64 first; /* number of the first one */
  i64 row;   /* distances of rows and planes */
  i64 plane;
  int counts[3]; /* voxels along each axis */
} LabelWindow;

/** Finds the least and the largest label. */
GPUREG_REAL_FUNCTION void
ComputeLabelRange(
  const LabelWindow * a, GPUREG_GLOBAL const real * labels, GPUREG_GLOBAL const u8 * runs, real * least, real * most)
{
  *least = labels[a->first];
  *most = *least;
  for (int c = 0; c < a->counts[2]; ++c)
  {
    for (int b = 0; b < a->counts[1]; ++b)
    {
      const i64 begin = a->first + c * a->plane + b * a->row;
      for (int t = 0; t < a->counts[0]; t += runs[begin + t])
      {
        const real label = labels[begin + t];
        *least = label < *least ? label : *least;
        *most = label > *most ? label : *most;
      }
    }
  }
}

/** Returns the sum of the weights of voxels that have a label. next becomes the least label above it, if that is less than next. */
GPUREG_REAL_FUNCTION real
WeighLabel(const LabelWindow *        a,
           GPUREG_GLOBAL const real * labels,
           GPUREG_GLOBAL const u8 *   runs,
           const real *               wx,
           const real *               wy,
           const real *               wz,
           real                       label,
           real *                     next)
{
  real sum = 0.0f;
  for (int c = 0; c < a->counts[2]; ++c)
  {
    real inPlane = 0.0f;
    for (int b = 0; b < a->counts[1]; ++b)
    {
      const i64 begin = a->first + c * a->plane + b * a->row;
      real      line = 0.0f;
      for (int t = 0; t < a->counts[0];)
      {
        const real value = labels[begin + t];
        const int  behind = t + runs[begin + t];
        const int  end = behind < a->counts[0] ? behind : a->counts[0];
        *next = value > label && value < *next ? value : *next;
        for (; value == label && t < end; ++t)
        {
          line += wx[t];
        }
        t = end;
      }
      inPlane = MultiplyAdd(wy[b], line, inPlane);
    }
    sum = MultiplyAdd(wz[c], inPlane, sum);
  }
  return sum;
}

/** Returns the label of the largest sum of weights; of several the least one. Each label that is there is weighed in a pass of its own, so
 *  that no table bounds their number; mostly there is one, which needs no weights. runs: see CountLabelRuns() */
GPUREG_REAL_FUNCTION real
FindLabel(const LabelWindow *        a,
          GPUREG_GLOBAL const real * labels,
          GPUREG_GLOBAL const u8 *   runs,
          const real *               wx,
          const real *               wy,
          const real *               wz)
{
  real least, most;
  ComputeLabelRange(a, labels, runs, &least, &most);
  real best = least;
  real largest = -1.0f;
  real label = least;
  while (least < most)
  {
    real       next = most;
    const real weight = WeighLabel(a, labels, runs, wx, wy, wz, label, &next);
    best = weight > largest ? label : best;
    largest = weight > largest ? weight : largest;
    if (!(label < most))
    {
      break;
    }
    label = next;
  }
  return best;
}

/** Computes one voxel of the output. runs: of labels, see CountLabelRuns(); numbers: see WindowedCut. Outside of the half-open box [-0.5,
 *  size - 0.5) it has the value outside, as itk::ResampleImageFilter. */
GPUREG_REAL_FUNCTION void
InterpolateWindowed(const WindowedArguments *       a,
                    GPUREG_GLOBAL const real *      input,
                    GPUREG_GLOBAL const u8 *        runs,
                    GPUREG_GLOBAL const ChainPart * parts,
                    GPUREG_GLOBAL const float4 *    vectors,
                    GPUREG_GLOBAL const real *      numbers,
                    GPUREG_GLOBAL real *            output,
                    i64                             voxel)
{
  const i64 whole = a->firstVoxel + voxel;
  const i64 outputRow = whole / a->outputSize[0];
  const int x = (int)(whole - outputRow * a->outputSize[0]);
  const int y = (int)(outputRow % a->outputSize[1]);
  const int z = (int)(outputRow / a->outputSize[1]);
  real      d[3] = { 0.0f, 0.0f, 0.0f };
  DisplaceByChain(a->partCount, parts, vectors, x, y, z, d);
  GPUREG_GLOBAL const real * table = numbers + WindowedTable;
  WindowedTaps               taps[3];
  real                       weights[3][MostTaps];
  for (int r = 0; r < 3; ++r)
  {
    const i64 position = ApplyFixedRow(&a->toInput, r, x, y, z);
    const int size = a->inputSize[r];
    int       cell = IntegerPart(position);
    real      fraction;
    ComputeFraction(position, &fraction);
    MovePosition(d[r], &cell, &fraction);
    const int rounded = cell + (fraction >= 0.5f);
    if (rounded < 0 || rounded >= size)
    {
      output[voxel] = numbers[0];
      return;
    }
    taps[r] = a->kind == WindowedSinc
                ? ComputeSincTaps(table, size, cell, fraction, weights[r])
                : ComputeGaussianTaps(
                    table, numbers[WindowedCut + r], numbers[WindowedFactor + r], size, cell, fraction, weights[r]);
  }
  const i64 row = a->inputSize[0];
  const i64 plane = row * a->inputSize[1];
  const i64 first = taps[0].first + row * taps[1].first + plane * taps[2].first;
  if (a->kind == WindowedLabels)
  {
    const LabelWindow window = { first, row, plane, { taps[0].count, taps[1].count, taps[2].count } };
    output[voxel] = FindLabel(&window, input, runs, weights[0], weights[1], weights[2]);
    return;
  }
  real value = SumTaps(input + first, row, plane, taps, weights[0], weights[1], weights[2]);
  if (a->kind == WindowedGaussian)
  {
    real sums[3] = { 0.0f, 0.0f, 0.0f };
    for (int r = 0; r < 3; ++r)
    {
      for (int n = 0; n < taps[r].count; ++n)
      {
        sums[r] += weights[r][n];
      }
    }
    value /= sums[0] * sums[1] * sums[2];
  }
  output[voxel] = value;
}

GPUREG_REAL_ITEM_KERNEL(InterpolateWindowed, 1 << 10, "interpolating by a windowed kernel");

GPUREG_NAMESPACE_END

#endif
