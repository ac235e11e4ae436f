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

/** Presents floats or doubles that are already on a device as an image, which is read in place: nothing is copied, and the memory does
 *  not count as the engine's. Operations see a change of the values from the next one on; do not change values while an operation reads
 *  them. NumberConverter makes images of other numbers. */
class GPURegistration_EXPORT BorrowedImage : public DeviceImage
{
public:
  /** Waits until the values are complete.
   *  \throws BadInputError if there are no values, if they have another type, or are not on the device; UnsupportedError for OpenCL,
   *  whose memory belongs to one context; Error if there is no such device. */
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

  std::size_t
  GetAccountBytes() const override
  {
    return 0;
  }

private:
  struct Content;
  std::unique_ptr<Content> m_Content;
};

/** Returns a stream of a device that code which computes values can order itself before, and name in BorrowedMemory; 0 if a device has
 *  none. The stream lives as long as the process.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::uintptr_t
GetMeetingStream(const std::string & deviceName);

/** Returns the name of the device whose memory contains an address; empty if it is no GPU's memory. */
GPURegistration_EXPORT
std::string
FindDeviceOf(const void * address);

} // namespace gpureg

#endif
