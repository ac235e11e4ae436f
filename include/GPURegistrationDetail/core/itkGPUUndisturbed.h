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

/** Bounds times in which no code of the program runs on this thread: what was proved about the program's memory stays true. A time begins
 *  with Begin(), and ends when an event of ITK calls the program's observers, or with this object, whose beginning ends one, too. */
class GPURegistration_EXPORT Undisturbed
{
public:
  Undisturbed();
  ~Undisturbed();
  ITK_DISALLOW_COPY_AND_MOVE(Undisturbed);

  /** Begins another time of this thread, within an object of this class. */
  static void
  Begin();

  /** Ends this thread's time. */
  static void
  End();

  /** Returns the number of this thread's time, which no other has; 0 if there is none. */
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
