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

namespace itk
{
namespace GPURegistrationDetail
{

/** \throws the itk::GPUError of an engine's error's kind. */
[[noreturn]] GPURegistration_EXPORT
void
ThrowGPUError(const gpureg::Error & error, const std::string & text);

/** "CudaMattesNMI (0x55…): " */
GPURegistration_EXPORT
std::string
NameObject(const Object & object);

/** What an object says: its name, and the parts, one after the other. */
template <typename... TParts>
std::string
JoinText(const Object & object, const TParts &... parts)
{
  std::ostringstream text;
  ((text << NameObject(object)) << ... << parts);
  return text.str();
}

/** \throws GPUBadInputError of what an object says: see JoinText. */
template <typename... TParts>
[[noreturn]] void
ThrowBadInput(const Object & object, const TParts &... parts)
{
  ThrowGPUError(gpureg::BadInputError(""), JoinText(object, parts...));
}

/** \throws GPUNoOverlapError of the same. */
template <typename... TParts>
[[noreturn]] void
ThrowNoOverlap(const Object & object, const TParts &... parts)
{
  throw GPUNoOverlapError(__FILE__, __LINE__, JoinText(object, parts...).c_str(), ITK_LOCATION);
}

/** \throws GPUUnsupportedError of the same. */
template <typename... TParts>
[[noreturn]] void
ThrowUnsupported(const Object & object, const TParts &... parts)
{
  ThrowGPUError(gpureg::UnsupportedError(""), JoinText(object, parts...));
}

/** While it lives, stand-ins that this thread updates have their parent classes do the work. */
class GPURegistration_EXPORT WithoutDevices
{
public:
  WithoutDevices();
  ~WithoutDevices();
  ITK_DISALLOW_COPY_AND_MOVE(WithoutDevices);

private:
  bool m_Before;
};

/** Whether there is one. */
GPURegistration_EXPORT
bool
IsWithoutDevices();

/** What idle engines hold in an object's name (gpureg::KeepIdleEngine) goes with the object from now on. */
GPURegistration_EXPORT
void
DropIdleEnginesWith(const Object & object);

/** What every class that computes on a device has: the device, how it is used, and what was warned of. */
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

  /** The object was made in the place of one of its parent class (itk::GPUStandIn): it must not fail where that works,
   *  and must see all that that sees. */
  void
  StandInForParent()
  {
    m_StandsIn = true;
    m_TrustsTimeStamps = false;
  }
  bool
  StandsIn() const
  {
    return m_StandsIn;
  }

  /** Whether an image that lies on the device is taken to be the host's for as long as its time stamp stays. */
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

  /** Warns, in an object's name, unless that was said before. */
  void
  WarnOnce(const Object & object, const std::string & text) const
  {
    if (m_Warnings.insert(text).second && Object::GetGlobalWarningDisplay())
    {
      OutputWindowDisplayWarningText(("WARNING: " + NameObject(object) + text + "\n\n").c_str());
    }
  }

  /** The same, once an object, of a failure that its parent class makes up for. */
  void
  WarnOfFailure(const Object & object, const std::string & text)
  {
    if (!m_HasFailed)
    {
      m_HasFailed = true;
      this->WarnOnce(object, text + " This is said once.");
    }
  }

  /** To be called within Compute when a filter that runs in place begins to write, by any thread: nothing is left that its
   *  parent class could work on. */
  void
  NoteInputIsOverwritten()
  {
    m_IsInputOverwritten = true;
  }

  /** For PrintSelf. */
  void
  Print(std::ostream & os, Indent indent) const
  {
    os << indent << "Device: " << m_Device << std::endl;
    os << indent << "MeasuresKernelTime: " << (m_MeasuresKernelTime ? "On" : "Off") << std::endl;
  }

  /** Has a filter's work done: by onDevice() if findLack() finds nothing that the device lacks, else by onParent(), and what
   *  is lacking is warned of once. If a stand-in fails on its device, it warns of that once, and onParent() does the work,
   *  without the device: the filters that ITK's class makes for it may be stand-ins, too.
   *  \param advice what to do where host memory is out.
   *  \throws itk::GPUError where a filter that does not stand in fails, or one that has begun to write in place. */
  template <typename TFilter, typename TFindLack, typename TOnDevice, typename TOnParent>
  void
  Compute(const TFilter &   filter,
          const char *      advice,
          const TFindLack & findLack,
          const TOnDevice & onDevice,
          const TOnParent & onParent)
  {
    m_IsInputOverwritten = false;
    const std::string byParent =
      std::string(" Computed by itk::") + filter.TFilter::Superclass::GetNameOfClass() + " on the host.";
    std::string failure;
    try
    {
      if (!(m_StandsIn && IsWithoutDevices()))
      {
        const std::string lack = findLack();
        if (lack.empty())
        {
          onDevice();
          return;
        }
        this->WarnOnce(filter, lack + byParent);
      }
    }
    catch (const gpureg::Error & error)
    {
      if (!m_StandsIn || m_IsInputOverwritten)
      {
        ThrowGPUError(error, NameObject(filter) + error.what());
      }
      failure = error.what();
    }
    catch (const std::bad_alloc &)
    {
      if (!m_StandsIn || m_IsInputOverwritten)
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
  bool                          m_MeasuresKernelTime{ false };
  bool                          m_StandsIn{ false };
  bool                          m_TrustsTimeStamps{ true };
  bool                          m_HasFailed{ false };
  std::atomic<bool>             m_IsInputOverwritten{ false };
  mutable std::set<std::string> m_Warnings;
};

/** Progress of a filter, and the end of its work if it is to abort. */
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
