// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NumberConverter_h
#define gpureg_NumberConverter_h

#include "GPURegistrationExport.h"
#include "gpureg/image/BorrowedImage.h"
#include "gpureg/image/DeviceImage.h"
#include "gpureg/runtime/EngineUser.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/image/MadeNumbers.h"
#include "gpureg/core/NumberType.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

/** Converts numbers of any type on a device to images, and images to numbers, without copies to or from the host.
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error; for OpenCL, UnsupportedError. */
class GPURegistration_EXPORT NumberConverter : public Engine
{
public:
  /** Makes a converter for one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit NumberConverter(const std::string & deviceName);
  ~NumberConverter() override;
  NumberConverter(const NumberConverter &) = delete;
  NumberConverter &
  operator=(const NumberConverter &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** Returns an image of the numbers, in the given precision.
   *  \throws Error as BorrowedImage's constructor does. */
  std::unique_ptr<DeviceImage>
  MakeImage(const BorrowedMemory & numbers, Precision precision, const ParallelFor & parallelFor);

  /** Returns a mask of the numbers, in floats: 1 where a number is not 0, else 0.
   *  \throws Error as BorrowedImage's constructor does. */
  std::unique_ptr<DeviceImage>
  MakeMask(const BorrowedMemory & numbers, const ParallelFor & parallelFor);

  /** Returns the image's values as numbers of a type. For integer types a value is rounded to the nearest number, half-way cases to the
   *  even one, and clamped to the type's range; a NaN becomes 0. For bool a value of at least a half is true.
   *  \throws BadInputError if there is no image, or it is on another device. */
  std::unique_ptr<MadeNumbers>
  MakeNumbers(const DeviceImage & image, NumberType type, const ParallelFor & parallelFor);

  /** Returns the statistics of the last conversion. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
