// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUFinally_h
#define itkGPUFinally_h

namespace itk
{
namespace GPURegistrationDetail
{

/** Calls work() in a destructor, where an exception would end the process: it is dropped, as of a device that is lost, which the next call
 *  to the device reports, or of an observer of the program. */
template <typename TWork>
void
Finally(const TWork & work) noexcept
{
  try
  {
    work();
  }
  catch (...)
  {}
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
