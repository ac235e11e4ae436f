// SPDX-License-Identifier: Apache-2.0
// Computes with the values of a loaded image in OpenCL C: the entry points. The formulas are in src/kernels/image/ImageValues.h;
// opencl/image/ImagePasses.cpp launches them.

GPUREG_KERNEL void
Summarize(
  __global const real * values, const i64 count, const int strips, const double factor, __global double * summaries)
{
  const int strip = GroupIndex() * GPUREG_LANES + LaneIndex();
  if (strip < strips)
  {
    SummarizeStrip(values, strip, strips, count, factor, summaries + SummaryNumbers * strip);
  }
}

GPUREG_KERNEL void
Pick(__global const real * values, const i64 count, const i64 parts, __global real * picked)
{
  const i64 number = FindItem();
  if (number < parts)
  {
    picked[number] = PickValue(values, count, parts, number);
  }
}

GPUREG_KERNEL void
Clamp(const ClampArguments  a,
      __global const real * values,
      const int             strips,
      __global real *       clamped,
      __global i64 *        numbers)
{
  const int strip = GroupIndex() * GPUREG_LANES + LaneIndex();
  if (strip < strips)
  {
    ClampStrip(&a, values, strip, strips, a.count, clamped, numbers + ClampNumbers * strip);
  }
}

GPUREG_KERNEL void
Hash(__global const uchar * bytes, const i64 count, const i64 lanes, __global ulong * states)
{
  const i64 number = FindItem();
  if (number < lanes)
  {
    states[number] = HashLaneOfTask(bytes, count, number);
  }
}

GPUREG_KERNEL void
Keep(const ImageSampling    sampling,
     const i64              count,
     __global const real *  values,
     __global const real *  edges,
     __global const uchar * mask,
     __global char *        kept)
{
  const i64 sample = FindItem();
  if (sample < count)
  {
    KeepImageValue(&sampling, values, edges, mask, sample, kept);
  }
}
