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
 * \brief A device that computes: a CUDA GPU, an OpenCL device, or the host's threads.
 *
 * A small value: copy it, compare it, print it. Naming a device neither initialises it nor takes
 * memory on it.
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
  /** The default device, see GetDefault(). */
  GPUDevice();

  /** The devices of this machine, best first; the host is always among them. */
  static std::vector<GPUDevice>
  GetAvailable();

  /** "cuda:0", "opencl:0", …, or "host".
   * \throws itk::ExceptionObject if there is no such device; the message lists those there are. */
  static GPUDevice
  FromName(const std::string & name);

  /** What objects made from now on compute on, unless they are told otherwise. */
  static void
  SetDefault(const GPUDevice & device);

  /** What SetDefault() set; else the device that the environment variable ITK_GPU_DEVICE names; else
   * the best there is. In a child that was forked after devices were looked for: the host.
   * \throws itk::ExceptionObject if ITK_GPU_DEVICE names no device of this machine. */
  static GPUDevice
  GetDefault();

  /** "cuda:0", "opencl:0", …, or "host". */
  const std::string &
  GetName() const
  {
    return m_Name;
  }

  /** Whether it is the host's threads. */
  bool
  IsHost() const
  {
    return m_Name == "host";
  }

  /** The model and what runs it, on one line. */
  const std::string &
  GetDescription() const
  {
    return m_Description;
  }

  /** Bytes. */
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
