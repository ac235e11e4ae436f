// SPDX-License-Identifier: Apache-2.0
// Filters along lines in OpenCL C: the entry points. src/kernels/filter/LineKernels.h, LineConvolution.h and GridInterpolation.h have the
// work of a work-item; opencl/filter/LinePasses.cpp launches them.
//
// The host defines GPUREG_RECURSION, a filter's kind, and GPUREG_HAS_TILES, 1 if a tile fits into local memory, when it compiles this
// source.

GPUREG_KERNEL void
RecurseLines(const RecursionArguments arguments, __global real * volume, __global double * states)
{
  const i64 item = FindItem();
  if (item < arguments.lineCount)
  {
    RecurseLine(GPUREG_RECURSION, &arguments, item, volume, states);
  }
}

#if GPUREG_HAS_TILES
GPUREG_KERNEL void
RecurseTiles(const RecursionArguments arguments, __global real * volume, __global double * states)
{
  __local real tile[GPUREG_LANES * RecursionTileWidth];
  RecurseTile(GPUREG_RECURSION, &arguments, volume, states, tile);
}
#endif

GPUREG_KERNEL void
Convolve(const ConvolutionArguments arguments, __global const real * input, __global real * output)
{
  const i64 element = FindItem();
  if (element < arguments.inner * arguments.outputLength * arguments.outer)
  {
    ConvolveElement(&arguments, input, output, element);
  }
}

GPUREG_KERNEL void
Interpolate(const GridInterpolationArguments arguments,
            __global const GridPlace *       places,
            __global const real *            input,
            __global real *                  output,
            const i64                        count)
{
  const i64 element = FindItem();
  if (element < count)
  {
    InterpolateElement(&arguments, places, input, output, element);
  }
}
