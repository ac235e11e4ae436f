// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LinePasses_h
#define gpureg_LinePasses_h

#include "kernels/core/Prelude.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/filter/LineConvolution.h"
#include "kernels/filter/LineRecursion.h"
#include "kernels/filter/GridInterpolation.h"

#include "engine/runtime/MakePasses.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/Precision.h"

namespace gpureg
{

/** Filters lines of an array, and interpolates between its elements, on one device. Files of this name implement it: src/host for the host,
 *  src/engine for all other devices. Every member throws Error where the device reports a failure, or cannot compute in doubles. */
class LinePasses
{
public:
  virtual ~LinePasses() = default;

  /** Returns how many bytes of states Recurse() needs for the given number of lines at a time; 0 if it needs none. */
  virtual std::size_t
  GetStateBytes(int kind, int length, std::int64_t lines) const = 0;

  /** Filters lines of a volume in place. volume: real[outer][length][inner]; states: GetStateBytes() bytes, or null for none. */
  virtual void
  Recurse(int kind, const kernels::RecursionArguments & a, Precision precision, Memory & volume, Memory * states) = 0;

  /** Convolves lines. input: real[outer][length][inner]; output: real[outer][outputLength][inner]. */
  virtual void
  Convolve(const kernels::ConvolutionArguments & a, Precision precision, const Memory & input, Memory & output) = 0;

  /** Interpolates at the points of a grid. places: kernels::GridPlace[outputSize[0] + outputSize[1] + outputSize[2]]. */
  virtual void
  Interpolate(const kernels::GridInterpolationArguments & a,
              Precision                                   precision,
              const Memory &                              places,
              const Memory &                              input,
              Memory &                                    output) = 0;
};

/** The layout of a volume's lines along an axis: [outer][length][inner]. */
struct LineShape
{
  std::int64_t inner;
  std::int64_t outer;
  int          length;
};

inline LineShape
ShapeOf(const Size & size, int components, int axis)
{
  LineShape shape{ components, 1, size[static_cast<std::size_t>(axis)] };
  for (int d = 0; d < 3; ++d)
  {
    (d < axis ? shape.inner : shape.outer) *= d == axis ? 1 : size[static_cast<std::size_t>(d)];
  }
  return shape;
}

inline std::int64_t
CountElements(const kernels::GridInterpolationArguments & a)
{
  return std::int64_t{ a.components } * a.outputSize[0] * a.outputSize[1] * a.outputSize[2];
}

GPUREG_DECLARE_PASSES(LinePasses);

} // namespace gpureg

#endif
