// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMeanSquaresImageToImageMetricv4_hxx
#define itkGPUMeanSquaresImageToImageMetricv4_hxx

#include "itkGPUMeanSquaresImageToImageMetricv4.h"

#define itkGPUMeanSquaresClass itkGPUMetricOf(GPUMeanSquaresImageToImageMetricv4)

namespace itk
{

itkGPUMetricTemplate
void
itkGPUMeanSquaresClass::Initialize()
{
  m_Adapter.Initialize([this] { Superclass::Initialize(); });
}

itkGPUMetricTemplate
void
itkGPUMeanSquaresClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.Evaluate(
    [this](const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) {
      const_cast<Self *>(this)->m_Value = m_Adapter.MakeMeanSquare(result, scales);
      return -0.5 * m_Adapter.GetMeanDivisor(result) / (scales.unit * scales.unit);
    },
    [this] { Superclass::GetValueAndDerivativeExecute(); });
}

itkGPUMetricGetValuesMacro(itkGPUMeanSquaresClass)
{
  return m_Adapter.EvaluateCandidates(candidates, [this](const auto & result, const auto & scales) {
    return m_Adapter.MakeMeanSquare(result, scales);
  });
}

} // namespace itk

#undef itkGPUMeanSquaresClass

#endif
