// SPDX-License-Identifier: Apache-2.0
// Recursive filters along a line of samples, forwards and then backwards: Deriche's recursive Gaussian, and the filter from samples to
// B-spline coefficients. Arithmetic is in double precision, whatever type the samples have.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_LineRecursion_h
#define gpureg_kernels_LineRecursion_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Deriche, "Recursively implementing the Gaussian and its derivatives", INRIA 1893, 1993: the sum of a causal and an anti-causal
   *  filter of fourth order. Beyond its ends, the line's first and last sample are repeated. */
  RecursionOfGaussian = 0,
  /** Unser, "Splines: a perfect fit for signal and image processing", 1999, box 2: a causal filter of first order, then an anti-causal
   *  one, for one pole. The line is mirrored about its ends. */
  RecursionOfSpline = 1
};

enum
{
  /** Numbers in a filter's state. */
  RecursionStates = 4,
  /** Samples between two stored states. */
  RecursionBlock = 16
};

/** Describes the lines along one axis of an array [outer][length][inner]; line k is at (k / inner, k % inner). */
typedef struct RecursionArguments
{
  i64    inner;
  i64    firstLine; /* number of the launch's first line */
  i64    lineCount;
  double causal[4];     /* Gaussian: weights of x(i), x(i - 1) … */
  double recursive[4];  /* Gaussian: weights of earlier outputs, to be subtracted */
  double anticausal[4]; /* Gaussian: weights of x(i + 1), x(i + 2) … */
  double causalGain;    /* the output for a constant input of 1 */
  double anticausalGain;
  double pole; /* of the spline */
  double gain;
  double lastPower; /* pole^(length - 1) */
  int    horizon;   /* the number of samples beyond which the pole's powers are negligible */
  int    length;
} RecursionArguments;

/** Returns the number of states that are stored for each block. */
GPUREG_FUNCTION int
CountStoredStates(int kind)
{
  return kind == RecursionOfGaussian ? RecursionStates : 1;
}

GPUREG_FUNCTION int
CountBlocks(int length)
{
  return (length + RecursionBlock - 1) / RecursionBlock;
}

/** Returns the offset of a line's first sample, in elements. From one sample to the next there are a->inner elements. */
GPUREG_FUNCTION i64
GetLineOffset(const RecursionArguments * a, i64 line)
{
  const i64 outer = line / a->inner;
  return outer * a->inner * a->length + (line - outer * a->inner);
}

/** Sets the state of a Gaussian filter with these weights to that after an infinite constant input `value`. now: the weight of the
 *  sample whose output is due. */
GPUREG_FUNCTION void
StartFromConstant(const double * input, const double * recursive, double now, double value, double gain, double * state)
{
  const double out = value * gain;
  state[3] = input[3] * value - recursive[3] * out;
  state[2] = input[2] * value - recursive[2] * out + state[3];
  state[1] = input[1] * value - recursive[1] * out + state[2];
  state[0] = out - now * value;
}

/** Returns Σ z^(n-1)·s(n) over n >= 1, where z is the pole and s(n) is the n-th sample before the first one of the line, which is
 *  mirrored. */
GPUREG_REAL_FUNCTION double
SumMirrored(const RecursionArguments * a, GPUREG_GLOBAL const real * line)
{
  const double z = a->pole;
  if (a->horizon < a->length)
  {
    double sum = 0.0, power = 1.0;
    for (int n = 1; n < a->horizon; ++n)
    {
      sum = MultiplyAdd(power, (double)line[n * a->inner], sum);
      power *= z;
    }
    return sum;
  }
  const double first = (double)line[0];
  double       sum = MultiplyAdd(a->lastPower, (double)line[(a->length - 1) * a->inner], first);
  double       power = z;
  double       mirrored = a->lastPower * a->lastPower / z;
  for (int n = 1; n < a->length - 1; ++n)
  {
    sum = MultiplyAdd(power + mirrored, (double)line[n * a->inner], sum);
    power *= z;
    mirrored /= z;
  }
  return (sum / (1.0 - a->lastPower * a->lastPower) - first) / z;
}

/** Computes the causal filter's state before the first sample. */
GPUREG_REAL_FUNCTION void
StartCausal(int kind, const RecursionArguments * a, GPUREG_GLOBAL const real * line, double * state)
{
  if (kind == RecursionOfGaussian)
  {
    const double after[4] = { a->causal[1], a->causal[2], a->causal[3], 0.0 };
    StartFromConstant(after, a->recursive, a->causal[0], (double)line[0], a->causalGain, state);
    return;
  }
  state[0] = a->gain * SumMirrored(a, line);
  state[1] = 0.0;
}

/** Returns the causal filter's next output, of the sample x, and updates its state. */
GPUREG_FUNCTION double
StepCausal(int kind, const RecursionArguments * a, double x, double * state)
{
  if (kind == RecursionOfGaussian)
  {
    const double y = MultiplyAdd(a->causal[0], x, state[0]);
    state[0] = MultiplyAdd(-a->recursive[0], y, MultiplyAdd(a->causal[1], x, state[1]));
    state[1] = MultiplyAdd(-a->recursive[1], y, MultiplyAdd(a->causal[2], x, state[2]));
    state[2] = MultiplyAdd(-a->recursive[2], y, MultiplyAdd(a->causal[3], x, state[3]));
    state[3] = -a->recursive[3] * y;
    return y;
  }
  state[1] = state[0];
  state[0] = MultiplyAdd(a->pole, state[0], a->gain * x);
  return state[0];
}

/** Computes the anti-causal filter's state behind the last sample. state: the causal filter's state there. */
GPUREG_FUNCTION void
StartAnticausal(int kind, const RecursionArguments * a, double last, const double * state, double * back)
{
  if (kind == RecursionOfGaussian)
  {
    StartFromConstant(a->anticausal, a->recursive, 0.0, last, a->anticausalGain, back);
    return;
  }
  const double z = a->pole;
  back[0] = MultiplyAdd(z, state[1], state[0]) / (z * z - 1.0) + state[0];
}

/** Returns the output at the sample x, of which y is the causal output, and updates the anti-causal state. */
GPUREG_FUNCTION double
StepAnticausal(int kind, const RecursionArguments * a, double x, double y, double * back)
{
  if (kind == RecursionOfGaussian)
  {
    const double w = back[0];
    back[0] = MultiplyAdd(-a->recursive[0], w, MultiplyAdd(a->anticausal[0], x, back[1]));
    back[1] = MultiplyAdd(-a->recursive[1], w, MultiplyAdd(a->anticausal[1], x, back[2]));
    back[2] = MultiplyAdd(-a->recursive[2], w, MultiplyAdd(a->anticausal[2], x, back[3]));
    back[3] = MultiplyAdd(-a->recursive[3], w, a->anticausal[3] * x);
    return y + w;
  }
  back[0] = a->pole * (back[0] - y);
  return back[0];
}

GPUREG_NAMESPACE_END

#endif
