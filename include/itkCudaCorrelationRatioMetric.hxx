// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaCorrelationRatioMetric_hxx
#define itkCudaCorrelationRatioMetric_hxx

#include "itkCudaCorrelationRatioMetric.h"

#include "GPURegistrationDetail/itkGPUMetricWorkUnits.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

// One definition of a member of CudaCorrelationRatioMetric; every one has the same five parameters.
#define itkCudaCorrelationRatioTemplate             \
  template <typename TFixedImage,                   \
            typename TMovingImage,                  \
            typename TVirtualImage,                 \
            typename TInternalComputationValueType, \
            typename TMetricTraits>
#define itkCudaCorrelationRatioClass \
  CudaCorrelationRatioMetric<TFixedImage, TMovingImage, TVirtualImage, TInternalComputationValueType, TMetricTraits>

namespace itk
{

itkCudaCorrelationRatioTemplate
itkCudaCorrelationRatioClass::CudaCorrelationRatioMetric()
{
  using GPURegistrationDetail::MetricWorkUnits;
  this->m_DenseGetValueAndDerivativeThreader =
    MetricWorkUnits<ThreadedImageRegionPartitioner<ImageDimension>, Superclass>::New();
  this->m_SparseGetValueAndDerivativeThreader = MetricWorkUnits<ThreadedIndexedContainerPartitioner, Superclass>::New();
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::Initialize()
{
  m_Face.Initialize(
    [this] {
      Superclass::Initialize();
      this->FindRanges();
      m_InitializedBins = m_NumberOfHistogramBins;
    },
    [this] { this->UpdateEngine(true); });
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::FindRanges()
{
  const GPURegistrationDetail::MetricImages<Self> images(*this);
  const auto                                      fixed = images.ComputeMaskedFixedRange();
  auto                                            moving = images.ComputeWholeMovingRange();
  images.CheckRange("fixed", fixed);
  images.CheckRange("moving", moving);
  // A spline's values lie between its coefficients.
  GPURegistrationDetail::VisitSplineInterpolator(
    this->m_MovingInterpolator.GetPointer(), [&](const auto & interpolator) {
      using InterpolatorType = std::decay_t<decltype(interpolator)>;
      const auto * const coefficients =
        GPURegistrationDetail::BSplineAccess<InterpolatorType>::GetCoefficients(interpolator);
      if (interpolator.GetSplineOrder() > 1 && coefficients != nullptr)
      {
        const auto all = images.ComputeRangeOf(*coefficients);
        moving = { std::min(moving.first, all.first), std::max(moving.second, all.second) };
      }
    });
  m_FixedMinimum = fixed.first;
  m_FixedRange = fixed.second - fixed.first;
  m_MovingMinimum = moving.first;
  m_MovingRange = moving.second - moving.first;
}

itkCudaCorrelationRatioTemplate SizeValueType
itkCudaCorrelationRatioClass::FindBin(double fixedValue) const
{
  // Interpolation may leave the range of the voxels by rounding, a spline by more.
  const double place = static_cast<double>(m_InitializedBins) * (fixedValue - m_FixedMinimum) / m_FixedRange;
  return std::min(m_InitializedBins - 1, static_cast<SizeValueType>(std::max(place, 0.0)));
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::UpdateEngine(bool isInitializing) const
{
  const auto bins = static_cast<int>(std::min<SizeValueType>(m_InitializedBins, NumericTraits<int>::max()));
  GPURegistrationDetail::MetricScales scales;
  GPURegistrationDetail::AddToKey(scales.fixed, m_FixedMinimum);
  GPURegistrationDetail::AddToKey(scales.fixed, m_FixedRange);
  scales.minimum = m_MovingMinimum;
  scales.maximum = m_MovingMinimum + m_MovingRange;
  scales.unit = m_MovingRange;
  scales.end = 1.0;
  m_Face.UpdateEngine(
    [bins](const gpureg::CorrelationRatioMetric & engine) { return engine.GetNumberOfBins() != bins; },
    [bins](const std::string & device) { return std::make_unique<gpureg::CorrelationRatioMetric>(device, bins); },
    scales,
    [this](auto value) { return this->FindBin(static_cast<double>(value)); },
    isInitializing);
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::GetValueAndDerivativeExecute() const
{
  if (m_InitializedBins != 0 && m_NumberOfHistogramBins != m_InitializedBins)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The number of histogram bins is ",
                                         m_NumberOfHistogramBins,
                                         ", and was ",
                                         m_InitializedBins,
                                         " when Initialize() was called. Call it again.");
  }
  m_Face.Evaluate([this](GPURegistrationDetail::MetricRoute route) { this->EvaluateOnDevice(route); },
                  [this] { this->EvaluateThroughITK(); });
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const
{
  this->UpdateEngine(false);
  const gpureg::Forces                 forces = m_Face.ChooseForces(route);
  const gpureg::SampleMapping          mapping = GPURegistrationDetail::MetricMapping<Self>(*this).MakeMapping(route);
  const gpureg::CorrelationRatioResult result = m_Face.GetEngine().Evaluate(mapping, forces, m_Face.GetParallelFor());
  this->StoreValue(result.within, result.all, result.count);
  m_Face.StoreDerivative(forces, result, mapping, 0.5 * result.all);
}

/** The same, from double-precision sums of ITK's own samples. */
itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::EvaluateThroughITK() const
{
  using SamplesType = GPURegistrationDetail::MetricThroughITK<Self>;
  using SumsType = std::vector<std::array<double, 3>>; // N, Σ Y, Σ Y² of each bin
  const SamplesType     samples(*this, 64);
  std::vector<SumsType> parts(samples.GetNumberOfTasks());
  samples.ForEachTask([&](std::int64_t task) {
    parts[task].assign(m_InitializedBins, {});
    samples.ForEachSample(task, [&](const typename SamplesType::Sample & sample) {
      const double y = sample.movingValue - m_MovingMinimum;
      auto &       sums = parts[task][this->FindBin(sample.fixedValue)];
      sums[0] += 1.0;
      sums[1] += y;
      sums[2] += y * y;
    });
  });
  SumsType              bins(m_InitializedBins);
  std::array<double, 3> whole{};
  for (const SumsType & part : parts)
  {
    for (SizeValueType bin = 0; bin < m_InitializedBins; ++bin)
    {
      for (unsigned int k = 0; k < 3; ++k)
      {
        bins[bin][k] += part[bin][k];
        whole[k] += part[bin][k];
      }
    }
  }
  const auto deviations = [](const std::array<double, 3> & sums) {
    return sums[0] > 0 ? sums[2] - sums[1] * sums[1] / sums[0] : 0.0;
  };
  double within = 0;
  for (const auto & sums : bins)
  {
    within += deviations(sums);
  }
  const double all = deviations(whole);
  this->StoreValue(within, all, whole[0]);
  if (this->GetComputeDerivative())
  {
    samples.Differentiate(
      [&](const typename SamplesType::Sample & sample) {
        const auto & sums = bins[this->FindBin(sample.fixedValue)];
        const double y = sample.movingValue - m_MovingMinimum;
        return y - sums[1] / sums[0] - within / all * (y - whole[1] / whole[0]);
      },
      -2.0 / all);
  }
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::StoreValue(double within, double all, double count) const
{
  // ITK's own threaders write to these through a const_cast: an evaluation is const, its results are not.
  auto * const self = const_cast<Self *>(this);
  self->m_NumberOfValidPoints = static_cast<SizeValueType>(count + 0.5);
  if (this->m_NumberOfValidPoints == 0)
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "All samples map outside moving image buffer. The images do not sufficiently overlap, or a mask "
      "leaves nothing of the overlap. Initialize the transform so that they do, for instance with "
      "itk::CenteredTransformInitializer.");
  }
  if (!(all > 0))
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "The moving image is constant where the samples map to: the correlation ratio is not defined. Initialize the "
      "transform so that the images overlap more.");
  }
  self->m_Value = static_cast<typename Superclass::MeasureType>(std::min(1.0, std::max(0.0, within / all)));
}

itkCudaCorrelationRatioTemplate void
itkCudaCorrelationRatioClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Face.Print(os, indent);
  os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
}

} // namespace itk

#undef itkCudaCorrelationRatioTemplate
#undef itkCudaCorrelationRatioClass

#endif
