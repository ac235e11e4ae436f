// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LoadedImage_h
#define gpureg_LoadedImage_h

#include "GPURegistrationExport.h"
#include "gpureg/DeviceImage.h"
#include "gpureg/EngineUser.h"
#include "gpureg/EvaluationStatistics.h"
#include "gpureg/ParallelFor.h"
#include "gpureg/Precision.h"
#include "gpureg/Source.h"

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

  /** Copies an image up, unless what is there was made from the same. On the host nothing is copied: there the values are to
   *  stay until the next Load().
   *  \param values float or double, count of them.
   *  \throws BadInputError if there are none, UnsupportedError on a device without doubles. */
  void
  Load(const Source &      source,
       Precision           precision,
       const void *        values,
       std::int64_t        count,
       const ParallelFor & parallelFor);

  const ImageSummary &
  GetSummary() const;

  Precision
  GetPrecision() const override;

  std::int64_t
  GetCount() const override;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  bool
  Holds(const Key & key) const override;

  const Memory *
  GetMemory() const override;

  /** Of the last Load. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
