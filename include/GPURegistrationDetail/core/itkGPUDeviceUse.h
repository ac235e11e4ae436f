// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUDeviceUse_h
#define itkGPUDeviceUse_h

#include "itkGPUDevice.h"
#include "itkGPUError.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/core/Error.h"

#include "itkOutputWindow.h"
#include "itkProcessObject.h"

#include <atomic>
#include <new>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Throws the itk::GPUError of the kind of an engine's error, with a text. */
[[noreturn]] GPURegistration_EXPORT
void
ThrowGPUError(const gpureg::Error & error, const std::string & text);

/** Returns an object's class name and address, for messages: "CudaMattesNMI (0x55…): " */
GPURegistration_EXPORT
std::string
NameObject(const Object & object);

/** Returns the text of a message of an object: its name, followed by the parts. */
template <typename... TParts>
std::string
JoinText(const Object & object, const TParts &... parts)
{
  std::ostringstream text;
  ((text << NameObject(object)) << ... << parts);
  return text.str();
}

/** Throws a GPUBadInputError with the text that JoinText() makes. */
template <typename... TParts>
[[noreturn]] void
ThrowBadInput(const Object & object, const TParts &... parts)
{
  ThrowGPUError(gpureg::BadInputError(""), JoinText(object, parts...));
}

/** Throws a GPUNoOverlapError with the text that JoinText() makes. */
template <typename... TParts>
[[noreturn]] void
ThrowNoOverlap(const Object & object, const TParts &... parts)
{
  throw GPUNoOverlapError(__FILE__, __LINE__, JoinText(object, parts...).c_str(), ITK_LOCATION);
}

/** Throws a GPUUnsupportedError with the text that JoinText() makes. */
template <typename... TParts>
[[noreturn]] void
ThrowUnsupported(const Object & object, const TParts &... parts)
{
  ThrowGPUError(gpureg::UnsupportedError(""), JoinText(object, parts...));
}

/** Makes overrides that this thread updates use their parent classes, as long as an object of this class lives. */
class GPURegistration_EXPORT WithoutDevices
{
public:
  WithoutDevices();
  ~WithoutDevices();
  ITK_DISALLOW_COPY_AND_MOVE(WithoutDevices);

private:
  bool m_Before;
};

/** Returns true if this thread has a WithoutDevices object. */
GPURegistration_EXPORT
bool
IsWithoutDevices();

/** Arranges that idle engines that were kept for an object (gpureg::StoreIdleEngine()) are freed when the object is deleted. */
GPURegistration_EXPORT
void
DropIdleEnginesWith(const Object & object);

/** Holds what every class has that computes on a device: the device, how it is used, and which warnings were shown. */
class DeviceUse
{
public:
  const GPUDevice &
  GetDevice() const
  {
    return m_Device;
  }

  void
  SetDevice(Object & object, const GPUDevice & device)
  {
    if (m_Device != device)
    {
      m_Device = device;
      object.Modified();
    }
  }

  /** Returns the devices that compute together with GetDevice(); most classes have none. */
  const std::vector<GPUDevice> &
  GetFurtherDevices() const
  {
    return m_FurtherDevices;
  }

  void
  SetFurtherDevices(Object & object, const std::vector<GPUDevice> & devices)
  {
    if (m_FurtherDevices != devices)
    {
      m_FurtherDevices = devices;
      object.Modified();
    }
  }

  /** Returns the names of the device and of the further ones, in this order. */
  std::vector<std::string>
  GetDeviceNames() const
  {
    std::vector<std::string> names{ m_Device.GetName() };
    for (const GPUDevice & device : m_FurtherDevices)
    {
      names.push_back(device.GetName());
    }
    return names;
  }

  void
  SetMeasuresKernelTime(bool on)
  {
    m_MeasuresKernelTime = on;
  }
  bool
  GetMeasuresKernelTime() const
  {
    return m_MeasuresKernelTime;
  }

  /** Marks the object as an override of its parent class (itk::GPUOverride): it must not fail if the parent class would work, and must
   *  see every change that the parent class would see. */
  void
  OverrideParent()
  {
    m_OverridesParent = true;
    m_TrustsTimeStamps = false;
  }
  bool
  OverridesParent() const
  {
    return m_OverridesParent;
  }

  /** Sets whether an image on the device counts as unchanged as long as the host image's time stamp is unchanged. */
  void
  SetTrustsTimeStamps(bool on)
  {
    m_TrustsTimeStamps = on;
  }
  bool
  TrustsTimeStamps() const
  {
    return m_TrustsTimeStamps;
  }

  /** Shows a warning in an object's name, unless the object has shown the same text before. */
  void
  WarnOnce(const Object & object, const std::string & text) const
  {
    if (m_Warnings.insert(text).second && Object::GetGlobalWarningDisplay())
    {
      OutputWindowDisplayWarningText(("WARNING: " + NameObject(object) + text + "\n\n").c_str());
    }
  }

  /** Shows a warning about a failure for which the parent class makes up, once per object. */
  void
  WarnOfFailure(const Object & object, const std::string & text)
  {
    if (!m_HasFailed)
    {
      m_HasFailed = true;
      this->WarnOnce(object, text + " This is said once.");
    }
  }

  /** Records that an in-place filter has begun to write, so that its parent class can no longer use the input. Called within Compute(),
   *  by any thread. */
  void
  NoteInputIsOverwritten()
  {
    m_IsInputOverwritten = true;
  }

  /** Prints the device and its use, for PrintSelf(). */
  void
  Print(std::ostream & os, Indent indent) const
  {
    os << indent << "Device: " << m_Device << std::endl;
    os << indent << "MeasuresKernelTime: " << (m_MeasuresKernelTime ? "On" : "Off") << std::endl;
  }

  /** Prints the names of the further devices, for PrintSelf() of a class that has them. */
  void
  PrintFurtherDevices(std::ostream & os, Indent indent) const
  {
    os << indent << "FurtherDevices: ";
    for (const GPUDevice & device : m_FurtherDevices)
    {
      os << device.GetName() << ' ';
    }
    os << (m_FurtherDevices.empty() ? "(none)" : "") << std::endl;
  }

  /** Computes a filter's output by onDevice() if findUnsupported() returns an empty text. Otherwise warns once of what the device lacks,
   *  and calls onParent(). If an override fails on its device, warns once, and calls onParent() without devices: filters that ITK's class
   *  makes internally may be overrides, too.
   *  \param filter the filter.
   *  \param advice what to do if the host has too little memory.
   *  \param findUnsupported returns a sentence that says what the device lacks, or an empty text.
   *  \param onDevice computes the output on the device.
   *  \param onParent computes the output by the parent class.
   *  \throws itk::GPUError if a filter fails that is no override, or that has begun to write in place. */
  template <typename TFilter, typename TFindUnsupported, typename TOnDevice, typename TOnParent>
  void
  Compute(const TFilter &          filter,
          const char *             advice,
          const TFindUnsupported & findUnsupported,
          const TOnDevice &        onDevice,
          const TOnParent &        onParent)
  {
    m_IsInputOverwritten = false;
    const std::string byParent =
      std::string(" Computed by itk::") + filter.TFilter::Superclass::GetNameOfClass() + " on the host.";
    std::string failure;
    try
    {
      if (!(m_OverridesParent && IsWithoutDevices()))
      {
        const std::string unsupported = findUnsupported();
        if (unsupported.empty())
        {
          onDevice();
          return;
        }
        this->WarnOnce(filter, unsupported + byParent);
      }
    }
    catch (const gpureg::Error & error)
    {
      if (!m_OverridesParent || m_IsInputOverwritten)
      {
        ThrowGPUError(error, NameObject(filter) + error.what());
      }
      failure = error.what();
    }
    catch (const std::bad_alloc &)
    {
      if (!m_OverridesParent || m_IsInputOverwritten)
      {
        ThrowGPUError(gpureg::OutOfMemoryError(""), NameObject(filter) + "Out of host memory. " + advice);
      }
      failure = "out of host memory";
    }
    if (failure.empty())
    {
      onParent();
      return;
    }
    this->WarnOfFailure(filter, failure + "." + byParent);
    const WithoutDevices scope;
    onParent();
  }

private:
  GPUDevice                     m_Device{ GPUDevice::GetDefault() };
  std::vector<GPUDevice>        m_FurtherDevices;
  bool                          m_MeasuresKernelTime{ false };
  bool                          m_OverridesParent{ false };
  bool                          m_TrustsTimeStamps{ true };
  bool                          m_HasFailed{ false };
  std::atomic<bool>             m_IsInputOverwritten{ false };
  mutable std::set<std::string> m_Warnings;
};

/** Reports a filter's progress.
 * \throws ProcessAborted if the filter is to abort. */
inline void
ReportProgress(ProcessObject & filter, float done)
{
  filter.UpdateProgress(done);
  if (filter.GetAbortGenerateData())
  {
    throw ProcessAborted(__FILE__, __LINE__);
  }
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
