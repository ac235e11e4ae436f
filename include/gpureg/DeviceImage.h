// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeviceImage_h
#define gpureg_DeviceImage_h

#include "GPURegistrationExport.h"
#include "gpureg/Precision.h"

#include <cstdint>
#include <string>

namespace gpureg
{

class Memory;

/** An image's values on a device, of one component, which operations there read: one that was sent, or one that was made there.
 *  Until what reads it has returned it must stay as it is. */
class GPURegistration_EXPORT DeviceImage
{
public:
  virtual ~DeviceImage();

  /** The values: float or double. Null if there is no image. */
  virtual const Memory *
  GetMemory() const = 0;

  virtual Precision
  GetPrecision() const = 0;

  virtual std::int64_t
  GetCount() const = 0;

  virtual const std::string &
  GetDeviceName() const = 0;
};

} // namespace gpureg

#endif
