// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMeanAbsoluteDifferencesImageToImageMetricv4_hxx
#define itkCudaMeanAbsoluteDifferencesImageToImageMetricv4_hxx

#include "itkCudaMeanAbsoluteDifferencesImageToImageMetricv4.h"

#include "GPURegistrationDetail/metric/itkGPUMetricWorkUnits.h"

#include <cmath>
#include <vector>

#define itkCudaMeanAbsoluteDifferencesClass itkGPUMetricOf(CudaMeanAbsoluteDifferencesImageToImageMetricv4)

namespace itk
{

itkGPUMetricTemplate
itkCudaMeanAbsoluteDifferencesClass::CudaMeanAbsoluteDifferencesImageToImageMetricv4()
{
  GPURegistrationDetail::MakeWorkUnits(this->m_DenseGetValueAndDerivativeThreader,
                                       this->m_SparseGetValueAndDerivativeThreader);
}

itkGPUMetricTemplate
void
itkCudaMeanAbsoluteDifferencesClass::Initialize()
{
  m_Adapter.Initialize([this] { Superclass::Initialize(); });
}

/** Computes value and derivative on the host, by double-precision sums over ITK's own samples. */
itkGPUMetricTemplate
void
itkCudaMeanAbsoluteDifferencesClass::EvaluateThroughITK() const
{
  using SamplesType = GPURegistrationDetail::MetricThroughITK<Self>;
  using SampleType = typename SamplesType::Sample;
  const SamplesType samples(*this, 64);
  const auto        difference = [](const SampleType & sample) {
    return static_cast<double>(sample.fixedValue) - static_cast<double>(sample.movingValue);
  };
  const auto sums = samples.SumUp(1, [&](const SampleType & sample, double * sum) {
    *sum += std::abs(difference(sample));
    return true;
  });
  // An evaluation is const, its results are not: like ITK's own threaders, it writes them through a const_cast.
  auto * const self = const_cast<Self *>(this);
  self->m_NumberOfValidPoints = sums.count;
  if (!this->VerifyNumberOfValidPoints(self->m_Value, *this->m_DerivativeResult))
  {
    return;
  }
  const auto valid = static_cast<double>(this->m_NumberOfValidPoints);
  self->m_Value = static_cast<typename Superclass::MeasureType>(sums.all[0] / valid);
  if (this->GetComputeDerivative())
  {
    samples.Differentiate(
      [&](const SampleType & sample) {
        const double d = difference(sample);
        return static_cast<double>((d > 0) - (d < 0));
      },
      this->HasLocalSupport() ? 1.0 : 1.0 / valid);
  }
}

itkGPUMetricTemplate
auto
itkCudaMeanAbsoluteDifferencesClass::MakeValue(const gpureg::PairResult &                  result,
                                               const GPURegistrationDetail::MetricScales & scales) const -> MeasureType
{
  return static_cast<MeasureType>(result.differences / result.count * scales.unit);
}

itkGPUMetricTemplate
void
itkCudaMeanAbsoluteDifferencesClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.Evaluate(
    [this](const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) {
      const_cast<Self *>(this)->m_Value = this->MakeValue(result, scales);
      return -m_Adapter.GetMeanDivisor(result) / scales.unit;
    },
    [this] { this->EvaluateThroughITK(); });
}

itkGPUMetricGetValuesMacro(itkCudaMeanAbsoluteDifferencesClass)
{
  return m_Adapter.EvaluateCandidates(candidates, [this](const auto & result, const auto & scales) {
    return this->MakeValue(result, scales);
  });
}

} // namespace itk

#undef itkCudaMeanAbsoluteDifferencesClass

#endif
