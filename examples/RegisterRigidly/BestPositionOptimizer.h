// SPDX-License-Identifier: Apache-2.0
#ifndef BestPositionOptimizer_h
#define BestPositionOptimizer_h

#include "itkRegularStepGradientDescentOptimizerv4.h"

namespace example
{

/** ITK's regular step gradient descent that ends at the best of the positions that it came to, not at the last one. The
 * last one is evaluated for that, which ITK does without. Each level of a registration ends at its own best: values of
 * different levels do not compare.
 *
 * ITK's option ReturnBestParametersAndValue is on, and its record is mended: ITK 5.2 to 6.0b02 notes a value together
 * with the position after the next step, to which it does not belong. */
class BestPositionOptimizer : public itk::RegularStepGradientDescentOptimizerv4<double>
{
public:
  using Self = BestPositionOptimizer;
  using Superclass = itk::RegularStepGradientDescentOptimizerv4<double>;
  using Pointer = itk::SmartPointer<Self>;
  using ConstPointer = itk::SmartPointer<const Self>;
  itkNewMacro(Self);

  void
  StopOptimization() override
  {
    try
    {
      m_CurrentMetricValue = m_Metric->GetValue();
      this->NoteBest();
    }
    catch (const itk::ExceptionObject &)
    {
      // The last step led to where there is no value: an earlier position is the best.
    }
    Superclass::StopOptimization();
  }

protected:
  BestPositionOptimizer()
  {
    this->ReturnBestParametersAndValueOn();
  }
  ~BestPositionOptimizer() override = default;

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
    if (m_CurrentMetricValue < m_CurrentBestValue)
    {
      m_CurrentBestValue = m_CurrentMetricValue;
      m_BestParameters = this->GetCurrentPosition();
    }
  }
};

} // namespace example

#endif
