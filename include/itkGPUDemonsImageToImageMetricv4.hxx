// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUDemonsImageToImageMetricv4_hxx
#define itkGPUDemonsImageToImageMetricv4_hxx

#include "itkGPUDemonsImageToImageMetricv4.h"

#define itkGPUDemonsClass itkGPUMetricOf(GPUDemonsImageToImageMetricv4)

namespace itk
{

itkGPUMetricTemplate
void
itkGPUDemonsClass::Initialize()
{
  // ITK's class would read the images before its parent class checks that they are set.
  if (this->m_FixedImage.IsNull())
  {
    itkExceptionMacro("FixedImage is not present");
  }
  if (this->m_MovingImage.IsNull())
  {
    itkExceptionMacro("MovingImage is not present");
  }
  if (this->m_MovingTransform.IsNull())
  {
    itkExceptionMacro("MovingTransform is not present");
  }
  m_Adapter.Initialize([this] { Superclass::Initialize(); });
}

itkGPUMetricTemplate
gpureg::DemonsTerms
itkGPUDemonsClass::ComputeDemonsTerms(const GPURegistrationDetail::MetricScales & scales) const
{
  gpureg::DemonsTerms terms;
  terms.normalizer = static_cast<double>(this->GetNormalizer());
  terms.leastDifference = static_cast<double>(this->GetIntensityDifferenceThreshold()) / scales.unit;
  terms.leastDenominator = static_cast<double>(this->GetDenominatorThreshold()) / (scales.unit * scales.unit);
  return terms;
}

itkGPUMetricTemplate
void
itkGPUDemonsClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.Evaluate(
    [this](gpureg::PairMetric & engine, const GPURegistrationDetail::MetricScales & scales) {
      engine.SetDemonsTerms(this->ComputeDemonsTerms(scales));
    },
    [this](const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) {
      const_cast<Self *>(this)->m_Value = m_Adapter.MakeMeanSquare(result, scales);
      return -1.0;
    },
    [this] { Superclass::GetValueAndDerivativeExecute(); });
}

itkGPUMetricGetValuesMacro(itkGPUDemonsClass)
{
  return m_Adapter.EvaluateCandidates(candidates, [this](const auto & result, const auto & scales) {
    return m_Adapter.MakeMeanSquare(result, scales);
  });
}

} // namespace itk

#undef itkGPUDemonsClass

#endif
