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

/** Makes images of numbers of any type that are on a device, and the other way round, there. Nothing crosses the bus.
 *
 *  One object serves one thread at a time. Every function throws gpureg::Error, UnsupportedError on OpenCL. */
class GPURegistration_EXPORT NumberConverter : public Engine
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit NumberConverter(const std::string & deviceName);
  ~NumberConverter() override;
  NumberConverter(const NumberConverter &) = delete;
  NumberConverter &
  operator=(const NumberConverter &) = delete;

  const std::string &
  GetDeviceName() const override;

  std::size_t
  GetHeldBytes() const override;

  /** \throws as BorrowedImage's constructor does. */
  std::unique_ptr<DeviceImage>
  MakeImage(const BorrowedMemory & numbers, Precision precision, const ParallelFor & parallelFor);

  /** The same of a mask: 1 where a number is not 0, else 0, in floats. */
  std::unique_ptr<DeviceImage>
  MakeMask(const BorrowedMemory & numbers, const ParallelFor & parallelFor);

  /** Of whole numbers, rounded to the nearest one, of two the even one, and to the ends of their range; 0 of what is not a number. A
   *  truth is what is a half at least.
   *  \throws BadInputError if there is no image, or it is on another device. */
  std::unique_ptr<MadeNumbers>
  MakeNumbers(const DeviceImage & image, NumberType type, const ParallelFor & parallelFor);

  /** Of the last one that it made. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
