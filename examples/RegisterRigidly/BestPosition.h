// SPDX-License-Identifier: Apache-2.0
#ifndef BestPosition_h
#define BestPosition_h

#include "itkRegularStepGradientDescentOptimizerv4.h"

namespace example
{

/** One of ITK's optimizers that ends at the best of the positions that it came to, not at the last one. The last one is evaluated for
 * that, which ITK does without. Each level of a registration ends at its own best: values of different levels do not compare.
 *
 * ITK's option ReturnBestParametersAndValue is on, and its record is mended: ITK 5.2 to 6.0b02 notes a value together with the position
 * after the next step, to which it does not belong.
 *
 * \tparam TOptimizer an itk::GradientDescentOptimizerv4, or one that is derived from it */
template <typename TOptimizer>
class BestPosition : public TOptimizer
{
public:
  using Self = BestPosition;
  using Superclass = TOptimizer;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);

  void
  StopOptimization() override
  {
    try
    {
      this->m_CurrentMetricValue = this->m_Metric->GetValue();
      this->NoteBest();
    }
    catch (const itk::ExceptionObject &)
    {
      // The last step led to where there is no value: an earlier position is the best.
    }
    Superclass::StopOptimization();
  }

protected:
  BestPosition()
  {
    this->ReturnBestParametersAndValueOn();
  }
  ~BestPosition() override = default;

  void
  AdvanceOneStep() override
  {
    this->NoteBest();
    Superclass::AdvanceOneStep();
  }

private:
  /** Called while the value is that of the position: before each step, and at the end. What ITK notes after a step is
   * no less than that, and changes nothing. */
  void
  NoteBest()
  {
    if (this->m_CurrentMetricValue < this->m_CurrentBestValue)
    {
      this->m_CurrentBestValue = this->m_CurrentMetricValue;
      this->m_BestParameters = this->GetCurrentPosition();
    }
  }
};

/** In steps that get shorter where the gradient turns. */
using BestPositionOptimizer = BestPosition<itk::RegularStepGradientDescentOptimizerv4<double>>;

} // namespace example

#endif
