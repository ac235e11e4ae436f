// SPDX-License-Identifier: Apache-2.0
// Convolution of a line of samples with a short kernel, computed only at the outputs that are needed, such as those of a coarser grid.
// Beyond its ends, the line's first and last sample are repeated (itk::ZeroFluxNeumannBoundaryCondition). Arithmetic is in double
// precision.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_LineConvolution_h
#define gpureg_kernels_LineConvolution_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** itk::GaussianOperator makes at most 65 weights by itk::DiscreteGaussianImageFilter's default; one more serves linear interpolation
   *  between two of its outputs. */
  MaximumTaps = 66
};

/** Describes a convolution from an array [outer][length][inner] to one [outer][outputLength][inner]. Output j is computed at the
 *  position first + (j / run)·step + j % run, or at the end of the line if that position lies beyond it. */
typedef struct ConvolutionArguments
{
  i64    inner;
  i64    outer;
  int    length;
  int    outputLength;
  int    first;
  int    step;
  int    run;
  int    end;  /* outputs from end on are 0 */
  int    left; /* the first tap is for the sample this far before the position */
  int    tapCount;
  int    truncates; /* the output is truncated to an integer */
  double taps[MaximumTaps];
} ConvolutionArguments;

GPUREG_FUNCTION int
ComputePosition(const ConvolutionArguments * a, int j)
{
  const int position = a->first + j / a->run * a->step + j % a->run;
  return position < 0 ? 0 : (position < a->length ? position : a->length - 1);
}

/** Returns the index of the sample that tap number `tap` reads for the output at a position. */
GPUREG_FUNCTION int
GetTapIndex(const ConvolutionArguments * a, int position, int tap)
{
  const int sample = position - a->left + tap;
  return sample < 0 ? 0 : (sample < a->length ? sample : a->length - 1);
}

GPUREG_FUNCTION double
FinishSum(const ConvolutionArguments * a, double sum)
{
  return a->truncates ? (double)(i64)sum : sum;
}

/** Returns output j of a line. */
GPUREG_REAL_FUNCTION double
ConvolveAt(const ConvolutionArguments * a, GPUREG_GLOBAL const real * line, int j)
{
  if (j >= a->end)
  {
    return 0.0;
  }
  const int position = ComputePosition(a, j);
  const int first = position - a->left;
  if (a->tapCount == 1)
  {
    /* Keeps the sign of -0. */
    return FinishSum(a, a->taps[0] * (double)line[GetTapIndex(a, position, 0) * a->inner]);
  }
  double sum = 0.0;
  if (first >= 0 && first + a->tapCount <= a->length)
  {
    GPUREG_GLOBAL const real * sample = line + first * a->inner;
    for (int tap = 0; tap < a->tapCount; ++tap, sample += a->inner)
    {
      sum += RoundedProduct(a->taps[tap], (double)*sample);
    }
  }
  else
  {
    for (int tap = 0; tap < a->tapCount; ++tap)
    {
      sum += RoundedProduct(a->taps[tap], (double)line[GetTapIndex(a, position, tap) * a->inner]);
    }
  }
  return FinishSum(a, sum);
}

/** Writes one element of the output. */
GPUREG_REAL_FUNCTION void
ConvolveElement(const ConvolutionArguments * a,
                GPUREG_GLOBAL const real *   input,
                GPUREG_GLOBAL real *         output,
                i64                          element)
{
  const i64                  row = a->inner * a->outputLength;
  const i64                  outer = element / row;
  const i64                  within = element - outer * row;
  const int                  j = (int)(within / a->inner);
  GPUREG_GLOBAL const real * line = input + (outer * a->inner * a->length + (within - j * a->inner));
  output[element] = (real)ConvolveAt(a, line, j);
}

GPUREG_REAL_ITEM_KERNEL(ConvolveElement, 65536, "convolving");

GPUREG_NAMESPACE_END

#endif
