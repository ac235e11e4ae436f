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

/** One of ITK's optimizers that search along a line, which tells this module's metrics that no code of the program runs from one event to
 *  the next: between the observers of one iteration and those of the next one. A metric that replaces ITK's then looks at the program's
 *  values once for an iteration, not at each evaluation. The optimizer's own numbers are ITK's; HasObserver() is true from the beginning,
 *  since its own observer must be called before the program's.
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

  void
  ResumeOptimization() override
  {
    const Undisturbed times;
    Superclass::ResumeOptimization();
  }

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
    if (Undisturbed::GetCurrent() == 0)
    {
      this->BeginTime();
    }
    // ends with the event of the iteration
    Superclass::AdvanceOneStep();
    this->BeginTime();
  }

private:
  /** Begins a time without the program's code, which the next event ends. */
  void
  BeginTime()
  {
    Undisturbed::End();
    // The program may have removed all observers, and have added others.
    if (this->GetCommand(m_Observer) != nullptr)
    {
      Undisturbed::Begin();
    }
  }

  const unsigned long m_Observer;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
