// SPDX-License-Identifier: Apache-2.0
// Rows that resample: by itk::ResampleImageFilter, and by GPUResampleImageFilter on a device.
#ifndef ResampleRows_h
#define ResampleRows_h

#include "Bounds.h"
#include "ResampleCases.h"

#include <benchmark/benchmark.h>

#include <string>

namespace bench
{

/** The footnote about the rows' times. */
inline const char * const ResampleTimesFootnote =
  R"(  kernels         by the device's own events, the median of five calls of their own, the input there already, a cubic
                  interpolator's coefficients too
  with transfers  the engine's work: input and chain up, coefficients made, kernels, the output down and into the
                  image's memory
  as called       Update() of a filter whose input is new each time, and whose output has no memory yet; from and to
                  ordinary memory
)";

/** The footnote about ResampleWork.h. */
inline const char * const ResampleWorkFootnote =
  R"(Flops of resampling are counted in benchmark/ResampleWork.h, from the kernels, which for some of it have a shorter way
than the formula written out: an affine map goes along a row by increments (3 a voxel, a matrix 18), and a B-spline
transform shares sums of its columns along a row (some 65 a voxel; 3×64 multiply-adds and the weights would be 429).
)";

/** Objects that the rows of a case share. */
struct LoadedResampleCase
{
  ImageType::Pointer     image;
  TransformType::Pointer transform;
  std::string            interpolator;
  /** True to use a new transform each time, so that nothing computed from it can be used again. */
  bool isTransformNew = false;
  /** ITK's result, once it is computed. */
  ImageType::Pointer expected;
};

/** Measures ITK's filter, whose result is the expected one. */
void
MeasureITKResample(benchmark::State & state, LoadedResampleCase & loaded);

void
MeasureOurResample(benchmark::State & state, LoadedResampleCase & loaded, const itk::GPUDevice & device);

} // namespace bench

#endif
