// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_BorrowedImage_h
#define gpureg_BorrowedImage_h

#include "GPURegistrationExport.h"
#include "gpureg/image/DeviceImage.h"
#include "gpureg/runtime/BorrowedMemory.h"
#include "gpureg/core/Precision.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

/** Floats or doubles as an image, which is read where it is: nothing is copied, and the memory does not count as the engine's. A
 *  change is seen by whatever reads the image from then on, and must not be made while something does. NumberConverter makes images of
 *  other numbers. */
class GPURegistration_EXPORT BorrowedImage : public DeviceImage
{
public:
  /** Waits until they are made.
   *  \throws BadInputError if there are none, of another type, or not on the device; UnsupportedError of OpenCL, whose memory is of one
   *  context alone; Error if there is no such device. */
  BorrowedImage(const std::string & deviceName, BorrowedMemory memory);
  ~BorrowedImage() override;
  BorrowedImage(const BorrowedImage &) = delete;
  BorrowedImage &
  operator=(const BorrowedImage &) = delete;

  const Memory *
  GetMemory() const override;

  Precision
  GetPrecision() const override;

  std::int64_t
  GetCount() const override;

  const std::string &
  GetDeviceName() const override;

private:
  struct Content;
  std::unique_ptr<Content> m_Content;
};

/** The stream of a device that who makes values may order itself before, to name it in BorrowedMemory; 0 if a device has none. It lives
 *  as long as the process.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::uintptr_t
GetMeetingStream(const std::string & deviceName);

/** The device in whose memory an address is; empty if it is no GPU's. */
GPURegistration_EXPORT
std::string
FindDeviceOf(const void * address);

} // namespace gpureg

#endif
