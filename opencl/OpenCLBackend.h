// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLBackend_h
#define gpureg_OpenCLBackend_h

#include "Backend.h"
#include "OpenCLDevice.h"

namespace gpureg
{

/** One device of one platform. */
class OpenCLBackend : public Backend
{
public:
  /** device: must live as long as the process, see FindOpenCLBackends(). */
  explicit OpenCLBackend(OpenCLDevice & device);

  OpenCLDevice &
  GetDevice()
  {
    return m_Device;
  }

  std::unique_ptr<Queue>
  CreateQueue() override;

private:
  OpenCLDevice & m_Device;
};

} // namespace gpureg

#endif
