// SPDX-License-Identifier: Apache-2.0
#ifndef BestPosition_h
#define BestPosition_h

#include "itkRegularStepGradientDescentOptimizerv4.h"

namespace example
{

/** One of ITK's optimizers that ends at the best of the evaluated positions, not at the last one. The last one is evaluated for this,
 *  which ITK does not do. Each level of a registration ends at its own best position, since values of different levels are not
 *  comparable.
 *
 *  ITK's option ReturnBestParametersAndValue is on, and its record is corrected: ITK 5.2 to 6.0b02 records a value together with the
 *  position after the next step, to which it does not belong.
 *
 *  \tparam TOptimizer an itk::GradientDescentOptimizerv4, or a class derived from it */
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
      // There is no value at the last position: an earlier one is the best.
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
  /** Records the position if it is the best one. Called while the value belongs to the position: before each step, and at the end. The
   *  value that ITK records after a step is no smaller, and changes nothing. */
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

/** Steps become shorter where the gradient changes its direction. */
using BestPositionOptimizer = BestPosition<itk::RegularStepGradientDescentOptimizerv4<double>>;

} // namespace example

#endif
