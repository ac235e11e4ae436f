// SPDX-License-Identifier: Apache-2.0
#ifndef itkWeightedSumMultiMetricv4_hxx
#define itkWeightedSumMultiMetricv4_hxx

#include "itkWeightedSumMultiMetricv4.h"

namespace itk
{

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
void
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::AddMetric(MetricBaseType * metric)
{
  auto * const fitting = dynamic_cast<MetricType *>(metric);
  if (fitting == nullptr)
  {
    itkExceptionMacro(
      "A metric is not of this multi-metric's dimensions and virtual image. Make both of the same images.");
  }
  Superclass::AddMetric(fitting);
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
void
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::Initialize()
{
  Superclass::Initialize();
  m_Weights = this->GetMetricWeights();
  m_Values.SetSize(this->GetNumberOfMetrics());
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
template <typename TEvaluate>
auto
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::StoreSum(const TEvaluate & evaluate) const
  -> MeasureType
{
  if (m_Weights.GetSize() != this->GetNumberOfMetrics())
  {
    itkExceptionMacro("Initialize() has not been called since metrics were added. Call it before asking for a value.");
  }
  MeasureType sum = 0;
  for (SizeValueType n = 0; n < this->GetNumberOfMetrics(); ++n)
  {
    m_Values[n] = evaluate(n);
    sum += m_Weights[n] * m_Values[n];
  }
  this->m_Value = sum;
  return sum;
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
auto
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::GetValue() const -> MeasureType
{
  return this->StoreSum([this](SizeValueType n) { return this->GetMetricQueue()[n]->GetValue(); });
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
void
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::GetValueAndDerivative(
  MeasureType & value, DerivativeType & derivative) const
{
  derivative.SetSize(this->GetNumberOfParameters());
  derivative.Fill(0);
  DerivativeType ofMetric;
  value = this->StoreSum([&](SizeValueType n) {
    MeasureType valueOfMetric = 0;
    this->GetMetricQueue()[n]->GetValueAndDerivative(valueOfMetric, ofMetric);
    derivative += m_Weights[n] * ofMetric;
    return valueOfMetric;
  });
}

} // namespace itk

#endif
