// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DeviceImage_h
#define gpureg_DeviceImage_h

#include "GPURegistrationExport.h"
#include "gpureg/core/NumberType.h"
#include "gpureg/core/Precision.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gpureg
{

class Backend;
class Memory;

/** Holds the values of an image of one component on a device, uploaded or computed there, for operations that read them. Do not change
 *  an image until an operation that reads it has returned. */
class GPURegistration_EXPORT DeviceImage
{
public:
  virtual ~DeviceImage();

  /** Returns the values, floats or doubles; null if there is no image. */
  virtual const Memory *
  GetMemory() const = 0;

  virtual Precision
  GetPrecision() const = 0;

  virtual std::int64_t
  GetCount() const = 0;

  virtual const std::string &
  GetDeviceName() const = 0;

  /** Returns the values as they are stored, of GetNumberType(): those of GetMemory(), unless they are integers. Then GetMemory() returns
   *  null, and GetPrecision() the precision that holds them exactly. */
  virtual const Memory *
  GetNumbers() const
  {
    return this->GetMemory();
  }
  virtual NumberType
  GetNumberType() const
  {
    return TypeOf(this->GetPrecision());
  }

  /** Returns how many bytes the device's memory account counts for the values: none for what is another owner's memory. */
  virtual std::size_t
  GetAccountBytes() const;

  /** Returns the address of the values: a pointer on the GPU, or on the host; null if there is no image, and for OpenCL. */
  void *
  GetAddress() const;
};

/** Holds an image that an engine has computed on a device and handed over. */
class GPURegistration_EXPORT MadeImage : public DeviceImage
{
public:
  /** Takes over memory with count values.
   *  \param backend the backend of the device.
   *  \param memory the values; no work on them is pending.
   *  \param precision the type of the values.
   *  \param count the number of values. */
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
