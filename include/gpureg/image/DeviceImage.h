// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeviceImage_h
#define gpureg_DeviceImage_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Precision.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

class Backend;
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

  /** Where the values are: a pointer of that GPU, or of the host; null if there is no image, and of OpenCL. */
  void *
  GetAddress() const;
};

/** One that an engine has made there, and handed over. */
class GPURegistration_EXPORT MadeImage : public DeviceImage
{
public:
  /** \param memory all work on it is done. */
  MadeImage(std::shared_ptr<Backend> backend, std::unique_ptr<Memory> memory, Precision precision, std::int64_t count);
  ~MadeImage() override;
  MadeImage(const MadeImage &) = delete;
  MadeImage &
  operator=(const MadeImage &) = delete;

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

} // namespace gpureg

#endif
