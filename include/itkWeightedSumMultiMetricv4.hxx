// SPDX-License-Identifier: Apache-2.0
#ifndef itkWeightedSumMultiMetricv4_hxx
#define itkWeightedSumMultiMetricv4_hxx

#include "itkWeightedSumMultiMetricv4.h"

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include <cmath>

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
  this->GetCheckedWeights();
  Superclass::Initialize();
  m_Values.SetSize(this->GetNumberOfMetrics());
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
auto
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::GetCheckedWeights() const
  -> WeightsArrayType
{
  // ITK's getter is not const.
  const WeightsArrayType weights = const_cast<Self *>(this)->GetMetricWeights();
  double                 sum = 0;
  for (SizeValueType n = 0; n < weights.GetSize(); ++n)
  {
    if (!(weights[n] >= 0 && std::isfinite(weights[n])))
    {
      GPURegistrationDetail::ThrowBadInput(
        *this, "The weight of metric ", n, " is ", weights[n], ". Weights are finite, and at least 0.");
    }
    sum += weights[n];
  }
  if (!std::isfinite(sum))
  {
    GPURegistrationDetail::ThrowBadInput(*this, "The weights come to ", sum, " together. Set smaller ones.");
  }
  return weights;
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
template <typename TEvaluate>
auto
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::StoreSum(const TEvaluate & evaluate) const
  -> MeasureType
{
  const WeightsArrayType weights = this->GetCheckedWeights();
  if (m_Values.GetSize() != this->GetNumberOfMetrics() || weights.GetSize() != this->GetNumberOfMetrics())
  {
    itkExceptionMacro("Initialize() has not been called since metrics were added, or weights are "
                      << weights.GetSize() << " for " << this->GetNumberOfMetrics()
                      << " metrics. Set as many, and call Initialize() before asking for a value.");
  }
  MeasureType sum = 0;
  for (SizeValueType n = 0; n < this->GetNumberOfMetrics(); ++n)
  {
    m_Values[n] = evaluate(n, weights[n]);
    sum += weights[n] * m_Values[n];
  }
  this->m_Value = sum;
  return sum;
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
auto
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::GetValue() const -> MeasureType
{
  return this->StoreSum([this](SizeValueType n, double) { return this->GetMetricQueue()[n]->GetValue(); });
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
void
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::GetValueAndDerivative(
  MeasureType & value, DerivativeType & derivative) const
{
  derivative.SetSize(this->GetNumberOfParameters());
  derivative.Fill(0);
  DerivativeType ofMetric;
  value = this->StoreSum([&](SizeValueType n, double weight) {
    MeasureType valueOfMetric = 0;
    this->GetMetricQueue()[n]->GetValueAndDerivative(valueOfMetric, ofMetric);
    derivative += weight * ofMetric;
    return valueOfMetric;
  });
}

template <unsigned int VFixedDimension, unsigned int VMovingDimension, typename TVirtualImage>
void
WeightedSumMultiMetricv4<VFixedDimension, VMovingDimension, TVirtualImage>::PrintSelf(std::ostream & os,
                                                                                      Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Value: " << this->m_Value << std::endl;
  os << indent << "Values: " << m_Values << std::endl;
}

} // namespace itk

#endif
