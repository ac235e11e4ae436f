// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPULineSearch_h
#define itkGPULineSearch_h

#include "GPURegistrationDetail/core/itkGPUUndisturbed.h"

#include "itkCommand.h"
#include "itkEventObject.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** One of ITK's optimizers that search along a line, which tells this module's metrics that no code of the program runs between two
 *  evaluations of a search. A metric that replaces ITK's then looks at the images' values once for a search, not at each evaluation.
 *  The optimizer's own numbers are ITK's.
 *  \tparam TOptimizer the optimizer's class. */
template <typename TOptimizer>
class LineSearch : public TOptimizer
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(LineSearch);

  using Self = LineSearch;
  using Superclass = TOptimizer;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

protected:
  /** The program's observers are called after this one, which is the first that the object has. */
  LineSearch()
    : m_Observer(this->AddObserver(AnyEvent(), [](const EventObject &) { Undisturbed::End(); }))
  {}
  ~LineSearch() override = default;

  /** Makes this object replace ITK's class: see GPUOverride. */
  void
  OverrideParent()
  {}

  void
  AdvanceOneStep() override
  {
    const Undisturbed time;
    if (this->GetCommand(m_Observer) == nullptr)
    {
      // The program has removed all observers, and may have added others.
      Undisturbed::End();
    }
    Superclass::AdvanceOneStep();
  }

private:
  const unsigned long m_Observer;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
