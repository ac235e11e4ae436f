// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUCorrelationImageToImageMetricv4_hxx
#define itkGPUCorrelationImageToImageMetricv4_hxx

#include "itkGPUCorrelationImageToImageMetricv4.h"

#include <limits>

#define itkGPUCorrelationClass itkGPUMetricOf(GPUCorrelationImageToImageMetricv4)

namespace itk
{

itkGPUMetricTemplate
void
itkGPUCorrelationClass::Initialize()
{
  m_Adapter.Initialize([this] { Superclass::Initialize(); });
}

itkGPUMetricTemplate
void
itkGPUCorrelationClass::InitializeForIteration() const
{
  m_Adapter.InitializeForIteration();
}

/** Returns false if ITK's class would take one of the two images for constant. */
itkGPUMetricTemplate
bool
itkGPUCorrelationClass::Varies(const gpureg::PairResult &                  result,
                               const GPURegistrationDetail::MetricScales & scales) const
{
  const double fixedSquares = result.fixedSquares * scales.fixedUnit * scales.fixedUnit;
  const double movingSquares = result.movingSquares * scales.unit * scales.unit;
  return fixedSquares * movingSquares > NumericTraits<TInternalComputationValueType>::epsilon();
}

itkGPUMetricTemplate
auto
itkGPUCorrelationClass::MakeValue(const gpureg::PairResult &                  result,
                                  const GPURegistrationDetail::MetricScales & scales) const -> MeasureType
{
  const double both = result.fixedSquares * result.movingSquares;
  return this->Varies(result, scales) ? static_cast<MeasureType>(-result.products * result.products / both) : 0;
}

itkGPUMetricTemplate
void
itkGPUCorrelationClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.Evaluate(
    [this](const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) {
      const_cast<Self *>(this)->m_Value = this->MakeValue(result, scales);
      const double both = result.fixedSquares * result.movingSquares;
      return this->Varies(result, scales) && result.products != 0.0 ? -0.5 * both / result.products
                                                                    : std::numeric_limits<double>::infinity();
    },
    [this] {
      Superclass::InitializeForIteration();
      Superclass::GetValueAndDerivativeExecute();
    });
}

itkGPUMetricGetValuesMacro(itkGPUCorrelationClass)
{
  return m_Adapter.EvaluateCandidates(candidates, [this](const auto & result, const auto & scales) {
    return this->MakeValue(result, scales);
  });
}

} // namespace itk

#undef itkGPUCorrelationClass

#endif
