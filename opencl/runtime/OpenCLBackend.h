// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLBackend_h
#define gpureg_OpenCLBackend_h

#include "engine/runtime/Backend.h"
#include "opencl/runtime/OpenCLDevice.h"

namespace gpureg
{

/** The backend of one device of one platform. */
class OpenCLBackend : public Backend
{
public:
  /** \param device must live as long as the process, see FindOpenCLBackends(). */
  explicit OpenCLBackend(OpenCLDevice & device);

  OpenCLDevice &
  GetDevice()
  {
    return m_Device;
  }

  std::unique_ptr<Queue>
  CreateQueue() override;

  std::string
  GetDriverVersion() const override;

  bool
  HasDoubles() const override
  {
    return m_Device.HasDoubles();
  }

private:
  StagingPointer
  MakePinned(std::size_t bytes) override;

  OpenCLDevice & m_Device;
};

} // namespace gpureg

#endif
