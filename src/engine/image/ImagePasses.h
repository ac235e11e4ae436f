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

/** Returns how many states the hash of the given number of bytes has. */
inline std::int64_t
CountHashLanes(std::int64_t bytes)
{
  return (bytes + kernels::HashTaskBytes - 1) / kernels::HashTaskBytes * kernels::HashLanes;
}

/** Reads a loaded image on one device, which must compute in double precision. src/host, cuda and opencl each implement the passes in a
 *  file of this name. Every member throws Error where the device reports a failure. */
class ImagePasses
{
public:
  virtual ~ImagePasses() = default;

  /** Computes a summary of each strip of the values; see kernels::SummarizeStrip. values: real[count]; summaries:
   *  double[strips][kernels::SummaryNumbers]. */
  virtual void
  Summarize(
    std::int64_t count, Precision precision, double factor, int strips, const Memory & values, Memory & summaries) = 0;

  /** Picks one value from each of parts parts of the values; see kernels::PickValue. values: real[count]; picked: real[parts]. parts must
   *  be at most count. */
  virtual void
  Pick(std::int64_t count, Precision precision, std::int64_t parts, const Memory & values, Memory & picked) = 0;

  /** Clamps values to a range, strip by strip, as Summarize() cuts them; see kernels::ClampStrip. values, clamped: real, one per voxel of
   *  a.shape; numbers: i64[strips][kernels::ClampNumbers]. */
  virtual void
  Clamp(const kernels::ClampArguments & a,
        Precision                       precision,
        int                             strips,
        const Memory &                  values,
        Memory &                        clamped,
        Memory &                        numbers) = 0;

  /** Hashes bytes; see kernels::HashLaneOfTask. bytes: count bytes; states: u64[kernels::HashLanes] for each started task of
   *  kernels::HashTaskBytes. */
  virtual void
  Hash(std::int64_t count, const Memory & bytes, Memory & states) = 0;

  /** Samples an image and stores the samples as a.form says; see kernels::KeepImageValue. values: real; edges: real, read where bins are
   *  stored; mask: u8[count], or null; kept: count elements. */
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
