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

/** Numbers of any type on a device, which an engine has made there and handed over. */
class GPURegistration_EXPORT MadeNumbers
{
public:
  /** \param memory all work on it is done. */
  MadeNumbers(std::shared_ptr<Backend> backend, std::unique_ptr<Memory> memory, NumberType type);
  ~MadeNumbers();
  MadeNumbers(const MadeNumbers &) = delete;
  MadeNumbers &
  operator=(const MadeNumbers &) = delete;

  /** A pointer of that GPU, or of the host; null of OpenCL. */
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
