// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LoadedImage_h
#define gpureg_LoadedImage_h

#include "GPURegistrationExport.h"
#include "gpureg/image/DeviceImage.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"
#include "gpureg/image/Source.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

/** Summarises an image's values. */
struct ImageSummary
{
  /** Least value, greatest value and mean. Least and greatest are those of the finite values, 0 if there are none; the mean counts other
   *  values as 0. */
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  /** Number of values that are infinite or not a number. */
  std::int64_t notFinite = 0;
};

/** Holds on a device that has double precision (HasDoubles()) the values of an image of one component, as they are on the host, and
 *  their summary. Metrics compute from these values on the device: see SampledImage, and MovingImage::image.
 *
 *  Load() reuses the values on the device if the host's bytes are the same, which it proves by comparing the hash of both.
 *
 *  Use one object from one thread at a time, and do not change it until an operation that reads it has returned. Every function throws
 *  gpureg::Error; after a Load() that failed there is no image. */
class GPURegistration_EXPORT LoadedImage
  : public Engine
  , public DeviceImage
{
public:
  /** Makes an object without an image.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit LoadedImage(const std::string & deviceName);
  ~LoadedImage() override;

  /** Uploads an image, unless the values on the device are proved to be the same. They are not proved to be the same if the source has
   *  no key, or another key than what was last loaded from the same address. On the host nothing is copied: the values must stay where
   *  they are until the next Load().
   *  \param source where the values come from.
   *  \param precision the type of the values.
   *  \param values count floats or doubles: all of the source's memory, if it has some.
   *  \param count the number of values.
   *  \param parallelFor the threads to use.
   *  \throws BadInputError if there are no values; UnsupportedError on a device without double precision. */
  void
  Load(const Source &      source,
       Precision           precision,
       const void *        values,
       std::int64_t        count,
       const ParallelFor & parallelFor);

  /** Takes over an image of this device.
   *  \param image the image.
   *  \param copy the host's memory that has the same values now. A later Load() of this memory compares hashes. */
  void
  Adopt(std::unique_ptr<DeviceImage> image, const MemoryRange & copy);

  /** Returns the summary of the values, which it computes on its first call. There must be an image. */
  const ImageSummary &
  Summarize(const ParallelFor & parallelFor);

  /** Returns the key, for EngineUser and Holds(), of what was loaded from this memory. */
  static Key
  KeyOf(const MemoryRange & memory);

  Precision
  GetPrecision() const override;

  std::int64_t
  GetCount() const override;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Returns true if the image was loaded from the memory whose key this is: see KeyOf(). */
  bool
  Holds(const Key & key) const override;

  const Memory *
  GetMemory() const override;

  /** Returns 0 on the host, where the values stay the caller's. */
  std::size_t
  GetAccountBytes() const override
  {
    return this->GetHeldBytes();
  }

  /** Returns the statistics of the last Load(), and of Summarize(). */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
