// SPDX-License-Identifier: Apache-2.0
// The variants of a metric's samples for which kernels are compiled: plain and frequent ones each, all others together.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_SampleVariants_h
#define gpureg_kernels_SampleVariants_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** The plain case over a grid. */
  PlainVariant = ReadsQuads,
  /** The plain case over a grid with few samples, in fixed point. */
  PlainFixedPointVariant = SamplesAreFixedPoint,
  /** The plain case over points. */
  PlainPointsVariant = SamplesAreFixedPoint | SamplesArePoints,
  /** Displacement fields over a grid, for values and for forces along the interpolation's derivative; some metrics have kernels for
   *  these. */
  FieldValueVariant = ReadsQuads | SamplesAreDisplaced,
  SlopeForceVariant = FieldValueVariant | WritesForces | GradientOfInterpolation,
  /** Displacement fields with forces along the moving image's gradient, and along the fixed image's. */
  FieldForceVariant = FieldValueVariant | WritesForces,
  FixedFieldForceVariant = FieldForceVariant | GradientOfFixed,
  /** For a metric that weights the border: the plain case with border weights. */
  PlainBorderVariant = ReadsQuads | WeighsBorder,
  /** All other variants that are not fixed-point (points always are), looked up at run time. */
  AnyVariant = -1,
  /** All other fixed-point variants, whose integers need more registers, looked up at run time. */
  FixedPointVariant = -2,
  /** All other variants with border weights that are not fixed-point, looked up at run time. */
  BorderVariant = -3,
  /** Chains, in floats and in fixed point; their arrays would take registers from the other variants. */
  ChainedVariant = -4,
  FixedPointChainedVariant = -5
};

/** Returns the variant of samples, of which a compiled variant says what its kernel knows beforehand. */
GPUREG_FUNCTION int
GetVariant(int compiled, const SampleArguments * a)
{
  const int special = SamplesAreFixedPoint | SamplesArePoints | WeighsBorder | SamplesAreChained;
  switch (compiled)
  {
    case FixedPointVariant:
      return (a->variant & ~SamplesAreChained) | SamplesAreFixedPoint;
    case FixedPointChainedVariant:
      return a->variant | SamplesAreFixedPoint | SamplesAreChained;
    case AnyVariant:
      return a->variant & ~special;
    case ChainedVariant:
      return (a->variant & ~special) | SamplesAreChained;
    case BorderVariant:
      return (a->variant & ~(SamplesAreFixedPoint | SamplesArePoints)) | WeighsBorder;
    default:
      return compiled;
  }
}

#ifdef __cplusplus
/** Returns the compiled variant that serves a variant, for a metric without border weights and without kernels for displacement fields. */
constexpr int
ChooseVariant(int variant)
{
  if (variant == PlainVariant || variant == PlainFixedPointVariant || variant == PlainPointsVariant)
  {
    return variant;
  }
  if (variant & SamplesAreFixedPoint)
  {
    return variant & SamplesAreChained ? FixedPointChainedVariant : FixedPointVariant;
  }
  return variant & SamplesAreChained ? ChainedVariant : AnyVariant;
}

/** Returns true if a batch may have a compiled variant: candidates are linear maps only. */
constexpr bool
CanBeBatched(int compiled)
{
  return compiled != ChainedVariant && compiled != FixedPointChainedVariant && compiled != FieldValueVariant &&
         compiled != SlopeForceVariant;
}
#endif

GPUREG_NAMESPACE_END

#endif
