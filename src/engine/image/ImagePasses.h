// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ImagePasses_h
#define gpureg_ImagePasses_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Geometry.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/image/InvalidSample.h"
#include "kernels/image/ImageValues.h"
#include "kernels/image/ContentHash.h"

#include "engine/runtime/MakePasses.h"
#include "gpureg/core/Precision.h"

#include <cstdint>

namespace gpureg
{

/** The states that a hash of so many bytes has. */
inline std::int64_t
CountHashLanes(std::int64_t bytes)
{
  return (bytes + kernels::HashTaskBytes - 1) / kernels::HashTaskBytes * kernels::HashLanes;
}

/** Reads a loaded image on one device, which has doubles. src/host, cuda and opencl each have it in a file of this name.
 *  Every member throws Error where the device reports a failure. */
class ImagePasses
{
public:
  virtual ~ImagePasses() = default;

  /** Cuts values into strips. values: real, count of them; summaries: double, kernels::SummaryNumbers a strip. See
   *  kernels::SummarizeStrip. */
  virtual void
  Summarize(
    std::int64_t count, Precision precision, double factor, int strips, const Memory & values, Memory & summaries) = 0;

  /** values: real, count of them; picked: real, one of each of so many parts, which are not more than there are values. See
   *  kernels::PickValue. */
  virtual void
  Pick(std::int64_t count, Precision precision, std::int64_t parts, const Memory & values, Memory & picked) = 0;

  /** Cuts values into strips, as Summarize() does. values, clamped: real, as many as the shape has voxels; numbers: i64, kernels::ClampNumbers a strip. See
   *  kernels::ClampStrip. */
  virtual void
  Clamp(const kernels::ClampArguments & a,
        Precision                       precision,
        int                             strips,
        const Memory &                  values,
        Memory &                        clamped,
        Memory &                        numbers) = 0;

  /** bytes: so many of them; states: u64, kernels::HashLanes for each kernels::HashTaskBytes or part of them. See
   *  kernels::HashLaneOfTask. */
  virtual void
  Hash(std::int64_t count, const Memory & bytes, Memory & states) = 0;

  /** values: real; edges: real, looked at where bins are wanted; mask: u8, one a sample, or null; kept: count elements, as a.form says.
   *  See kernels::KeepImageValue. */
  virtual void
  Keep(const kernels::ImageSampling & a,
       std::int64_t                   count,
       Precision                      precision,
       const Memory &                 values,
       const Memory &                 edges,
       const Memory *                 mask,
       Memory &                       kept) = 0;
};

GPUREG_DECLARE_PASSES(ImagePasses);

} // namespace gpureg

#endif
