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

/** What an image's values are like. */
struct ImageSummary
{
  /** Of the values that are finite: 0 where none is. The mean counts those that are not as 0. */
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  /** How many are infinite, or not a number. */
  std::int64_t notFinite = 0;
};

/** The values of an image of one component on a device that has doubles (HasDoubles()), as they are on the host, and their
 *  summary. Metrics make there what they read: see SampledImage, and MovingImage::image.
 *
 *  What is there is used again for the same bytes of the host, if the device's hash of it is the host's of them.
 *
 *  One object serves one thread at a time, and until what reads it has returned it must stay as it is. Every function throws
 *  gpureg::Error; after a Load that failed there is no image. */
class GPURegistration_EXPORT LoadedImage
  : public Engine
  , public DeviceImage
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit LoadedImage(const std::string & deviceName);
  ~LoadedImage() override;

  /** Copies an image up, unless what is there is proved to be the same. Nothing is proved, and the image is copied, where the source
   *  has no key, or another one than what was loaded from the same place. On the host nothing is copied: there the values are to
   *  stay until the next Load().
   *  \param values float or double, count of them: all of the source's memory, where it has some.
   *  \throws BadInputError if there are none, UnsupportedError on a device without doubles. */
  void
  Load(const Source &      source,
       Precision           precision,
       const void *        values,
       std::int64_t        count,
       const ParallelFor & parallelFor);

  /** Takes over an image of this device. copy: where the host has the same values now; whoever loads from there has them proved. */
  void
  Adopt(std::unique_ptr<DeviceImage> image, const MemoryRange & copy);

  /** Looks through the values, where that has not been done. There is an image. */
  const ImageSummary &
  Summarize(const ParallelFor & parallelFor);

  /** The key, for EngineUser and Holds, of what was loaded from somewhere. */
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

  /** \param key see KeyOf. */
  bool
  Holds(const Key & key) const override;

  const Memory *
  GetMemory() const override;

  /** Of the last Load, and of Summarize. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
