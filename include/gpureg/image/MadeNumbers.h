// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MadeNumbers_h
#define gpureg_MadeNumbers_h

#include "GPURegistrationExport.h"
#include "gpureg/core/NumberType.h"

#include <memory>
#include <string>

namespace gpureg
{

class Backend;
class Memory;

/** Holds numbers of any type that an engine has computed on a device and handed over. */
class GPURegistration_EXPORT MadeNumbers
{
public:
  /** Takes over memory.
   *  \param backend the backend of the device.
   *  \param memory the numbers; no work on them is pending.
   *  \param type the type of the numbers. */
  MadeNumbers(std::shared_ptr<Backend> backend, std::unique_ptr<Memory> memory, NumberType type);
  ~MadeNumbers();
  MadeNumbers(const MadeNumbers &) = delete;
  MadeNumbers &
  operator=(const MadeNumbers &) = delete;

  /** Returns the address of the numbers: a pointer on the GPU, or on the host; null for OpenCL. */
  void *
  GetAddress() const;

  NumberType
  GetType() const;

  const std::string &
  GetDeviceName() const;

private:
  struct Content;
  std::unique_ptr<Content> m_Content;
};

} // namespace gpureg

#endif
