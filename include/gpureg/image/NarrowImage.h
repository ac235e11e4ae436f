// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NarrowImage_h
#define gpureg_NarrowImage_h

#include "GPURegistrationExport.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/NumberType.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/image/DeviceImage.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

/** Says whether floats hold all numbers of a type exactly that is shorter than they are: an integer of up to 16 bits. */
GPURegistration_EXPORT
bool
IsNarrow(NumberType type);

/** Holds an image's values on a device as integers of up to 16 bits. Registrations convert them where they read them, and find the same to
 *  the bit as of floats; nothing else takes such an image: GetMemory() returns null. */
class GPURegistration_EXPORT NarrowImage : public DeviceImage
{
public:
  /** Uploads the values. On the host nothing is copied: the values must stay where they are.
   *  \param type of the values; see IsNarrow()
   *  \param values count numbers
   *  \throws BadInputError if there are no values, or for another type; Error if there is no such device; OutOfMemoryError */
  NarrowImage(const std::string & deviceName,
              NumberType          type,
              const void *        values,
              std::int64_t        count,
              const ParallelFor & parallelFor);
  ~NarrowImage() override;
  NarrowImage(const NarrowImage &) = delete;
  NarrowImage &
  operator=(const NarrowImage &) = delete;

  const Memory *
  GetMemory() const override;

  Precision
  GetPrecision() const override;

  std::int64_t
  GetCount() const override;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetAccountBytes() const override;

  const Memory *
  GetNumbers() const override;

  NumberType
  GetNumberType() const override;

  /** Returns the statistics of the upload. */
  EvaluationStatistics
  GetStatistics() const;

private:
  struct Content;
  std::unique_ptr<Content> m_Content;
};

} // namespace gpureg

#endif
