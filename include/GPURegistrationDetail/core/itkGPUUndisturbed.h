// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUUndisturbed_h
#define itkGPUUndisturbed_h

#include "GPURegistrationExport.h"

#include "itkCompositeTransform.h"

#include <cstdint>

namespace itk
{
namespace GPURegistrationDetail
{

/** Marks a period in which no code of the program runs on this thread, so a hash stays valid. Begin() starts a period. An ITK event that
 *  calls observers, and this object's constructor and destructor, end it. */
class GPURegistration_EXPORT Undisturbed
{
public:
  Undisturbed();
  ~Undisturbed();
  ITK_DISALLOW_COPY_AND_MOVE(Undisturbed);

  /** Starts another period of this thread. An object of this class must exist. */
  static void
  Begin();

  /** Ends this thread's period. */
  static void
  End();

  /** Returns a number that only this thread's period has, or 0 outside of a period. */
  static std::uint64_t
  GetCurrent();
};

/** Returns true if code of the program runs when a transform's parameters change. */
template <typename TScalar, unsigned int VDimension>
bool
CallsObservers(const Transform<TScalar, VDimension, VDimension> & transform)
{
  if (const auto * const composite = dynamic_cast<const CompositeTransform<TScalar, VDimension> *>(&transform))
  {
    for (SizeValueType n = 0; n < composite->GetNumberOfTransforms(); ++n)
    {
      if (CallsObservers<TScalar, VDimension>(*composite->GetNthTransformConstPointer(n)))
      {
        return true;
      }
    }
  }
  return transform.HasObserver(ModifiedEvent());
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
