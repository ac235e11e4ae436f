// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUDevice_h
#define itkGPUDevice_h

#include "GPURegistrationExport.h"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace itk
{

/** \class GPUDevice
 * \brief Names a device that computes: a CUDA GPU, an OpenCL device, or the host's threads.
 *
 * A GPUDevice is a small value that can be copied, compared and printed. It neither initialises the device nor takes memory on it.
 *
 * \code
 * for (const auto & device : itk::GPUDevice::GetAvailable())
 *   std::cout << device.GetName() << ": " << device.GetDescription() << '\n';
 * metric->SetDevice(itk::GPUDevice::FromName("host"));
 * \endcode
 *
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUDevice
{
public:
  /** Names the default device, see GetDefault(). */
  GPUDevice();

  /** Returns the devices of this machine, the best one first; the host is always among them. */
  static std::vector<GPUDevice>
  GetAvailable();

  /** Returns the device with a name: "cuda:0", "opencl:0", …, or "host".
   * \throws itk::ExceptionObject if there is no such device; the message lists the devices of this machine. */
  static GPUDevice
  FromName(const std::string & name);

  /** Sets the device of all objects that are made from now on, unless they call SetDevice(). */
  static void
  SetDefault(const GPUDevice & device);

  /** Returns the device that SetDefault() set; else the device that the environment variable ITK_GPU_DEVICE names; else the best device.
   * In a child process that was forked after devices were looked for: the host.
   * \throws itk::ExceptionObject if ITK_GPU_DEVICE names no device of this machine. */
  static GPUDevice
  GetDefault();

  /** Returns the device's name: "cuda:0", "opencl:0", …, or "host". */
  const std::string &
  GetName() const
  {
    return m_Name;
  }

  /** Returns true if the device is the host's threads. */
  bool
  IsHost() const
  {
    return m_Name == "host";
  }

  /** Returns the device's model and driver, on one line. */
  const std::string &
  GetDescription() const
  {
    return m_Description;
  }

  /** Returns the size of the device's memory in bytes. */
  std::size_t
  GetMemorySize() const
  {
    return m_MemorySize;
  }

  friend bool
  operator==(const GPUDevice & a, const GPUDevice & b)
  {
    return a.m_Name == b.m_Name;
  }

  friend bool
  operator!=(const GPUDevice & a, const GPUDevice & b)
  {
    return !(a == b);
  }

  friend std::ostream &
  operator<<(std::ostream & os, const GPUDevice & device)
  {
    return os << device.m_Name << " (" << device.m_Description << ')';
  }

private:
  GPUDevice(std::string name, std::string description, std::size_t memorySize);

  std::string m_Name;
  std::string m_Description;
  std::size_t m_MemorySize;
};

} // namespace itk

#endif
