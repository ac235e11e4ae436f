// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUOrParent_h
#define itkGPUOrParent_h

#include "gpureg/Error.h"

#include "itkProcessObject.h"

#include <new>
#include <set>
#include <sstream>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Does a filter's work on its device: calls onDevice() if findLack() finds nothing that the device lacks. Otherwise
 * says so, once.
 * \param said what was said before.
 * \param advice what to do where host memory is out.
 * \returns whether it is done; if not, the parent class is to do it.
 * \throws itk::ExceptionObject with the engine's errors. */
template <typename TFilter, typename TFindLack, typename TOnDevice>
bool
DoOnDevice(const TFilter &         filter,
           std::set<std::string> & said,
           const char *            advice,
           const TFindLack &       findLack,
           const TOnDevice &       onDevice)
{
  const auto toldBy = [&filter](const std::string & text) {
    std::ostringstream message;
    message << filter.GetNameOfClass() << " (" << &filter << "): " << text;
    return message.str();
  };
  try
  {
    const std::string lack = findLack();
    if (lack.empty())
    {
      onDevice();
      return true;
    }
    if (said.insert(lack).second && Object::GetGlobalWarningDisplay())
    {
      const std::string parent = filter.TFilter::Superclass::GetNameOfClass();
      const std::string text = toldBy(lack + " Computed by itk::" + parent + " on the host.");
      OutputWindowDisplayWarningText(("WARNING: " + text + "\n\n").c_str());
    }
    return false;
  }
  catch (const gpureg::Error & error)
  {
    throw ExceptionObject(__FILE__, __LINE__, "ITK ERROR: " + toldBy(error.what()), ITK_LOCATION);
  }
  catch (const std::bad_alloc &)
  {
    const std::string text = std::string("Out of host memory. ") + advice;
    throw ExceptionObject(__FILE__, __LINE__, "ITK ERROR: " + toldBy(text), ITK_LOCATION);
  }
}

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
