// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartialVolumeMutualInformationImageToImageMetricv4_hxx
#define itkCudaPartialVolumeMutualInformationImageToImageMetricv4_hxx

#include "itkCudaPartialVolumeMutualInformationImageToImageMetricv4.h"

#include "GPURegistrationDetail/metric/itkGPUMetricWorkUnits.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#define itkCudaPartialVolumeClass itkGPUMetricOf(CudaPartialVolumeMutualInformationImageToImageMetricv4)

namespace itk
{

itkGPUMetricTemplate
struct itkCudaPartialVolumeClass::Corners
{
  static constexpr unsigned int                                   Count = 1u << ImageDimension;
  std::array<SizeValueType, Count>                                bins{};
  std::array<double, Count>                                       weights{};
  std::array<typename Superclass::MovingImageGradientType, Count> slopes{};
};

itkGPUMetricTemplate
itkCudaPartialVolumeClass::CudaPartialVolumeMutualInformationImageToImageMetricv4()
{
  GPURegistrationDetail::MakeWorkUnits(this->m_DenseGetValueAndDerivativeThreader,
                                       this->m_SparseGetValueAndDerivativeThreader);
  // The gradient filters would take most of the time of Initialize(), for gradients that nothing reads.
  this->m_UseFixedImageGradientFilter = false;
  this->m_UseMovingImageGradientFilter = false;
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::Initialize()
{
  m_Adapter.Initialize(
    [this] {
      Superclass::Initialize();
      this->ComputeRanges();
      m_InitializedBins = m_NumberOfHistogramBins;
    },
    [this] { this->UpdateEngine(true); });
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::ComputeRanges()
{
  m_Adapter.CheckNumberOfBins(m_NumberOfHistogramBins);
  const auto & images = m_Adapter.GetImages();
  m_FixedRange = images.ComputeRangeOfFixedBins();
  m_MovingRange = images.ComputeMovingRange();
  images.CheckRange("moving", m_MovingRange);
}

itkGPUMetricTemplate
SizeValueType
itkCudaPartialVolumeClass::ComputeBin(double value, const Range & range) const
{
  return GPURegistrationDetail::ComputeBinBetween(value, range.first, range.second, m_InitializedBins);
}

/** Returns the derivative of a moving index with respect to the position in mm, row by row. */
itkGPUMetricTemplate
std::array<double, 9>
itkCudaPartialVolumeClass::GetIndexByMm() const
{
  return GPURegistrationGeometry::GetVectorToIndexMatrix<ImageDimension>(*this->m_MovingImage);
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::UpdateEngine(bool isInitializing) const
{
  const auto bins = static_cast<int>(m_InitializedBins);
  const auto computeScales = [this] {
    GPURegistrationDetail::MetricScales scales;
    scales.minimum = m_MovingRange.first;
    scales.maximum = m_MovingRange.second;
    scales.unit = scales.maximum - scales.minimum;
    scales.bins = static_cast<unsigned int>(m_InitializedBins);
    // Values are checked against the ranges that Initialize() computed.
    scales.checksRange = true;
    return scales;
  };
  const auto binOf = [this](auto value) { return this->ComputeBin(static_cast<double>(value), m_FixedRange); };
  m_Adapter.UpdateEngine(
    [bins](const gpureg::PartialVolumeMetric & engine) { return engine.GetNumberOfBins() != bins; },
    [bins](const std::string & device) { return std::make_unique<gpureg::PartialVolumeMetric>(device, bins); },
    computeScales,
    GPURegistrationDetail::DescribeByBins(binOf),
    isInitializing);
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.CheckBins(m_NumberOfHistogramBins, m_InitializedBins);
  m_Adapter.Evaluate([this](GPURegistrationDetail::MetricRoute route) { this->EvaluateOnDevice(route); },
                     [this] { this->EvaluateThroughITK(); });
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const
{
  this->UpdateEngine(false);
  const gpureg::Forces              forces = m_Adapter.ChooseForces(route);
  const gpureg::SampleMapping       mapping = GPURegistrationDetail::MetricMapping<Self>(*this).MakeMapping(route);
  const gpureg::PartialVolumeResult result =
    m_Adapter.GetEngine().Evaluate(mapping, forces, m_Normalized, this->GetIndexByMm(), m_Adapter.GetParallelFor());
  const DensityType density(std::vector<double>(result.histogram.begin(), result.histogram.end()), m_InitializedBins);
  const double      count = density.GetCountSum() / result.countUnit;
  this->StoreValue(density, count);
  // The stored derivative is that of the mutual information, which is -value.
  m_Adapter.StoreDerivative(forces, result, mapping, -count);
}

itkGPUMetricTemplate
typename itkCudaPartialVolumeClass::Corners
itkCudaPartialVolumeClass::LocateCorners(const typename Superclass::MovingImagePointType & point) const
{
  const auto &                       image = *this->m_MovingImage;
  const auto                         region = image.GetBufferedRegion();
  const auto                         position = image.template TransformPhysicalPointToContinuousIndex<double>(point);
  typename TMovingImage::IndexType   first;
  std::array<double, ImageDimension> fractions;
  std::array<bool, ImageDimension>   haveSlope;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    const double begin = static_cast<double>(region.GetIndex(d));
    const double end = begin + static_cast<double>(region.GetSize(d)) - 1.0;
    const double inside = std::min(std::max(position[d], begin), end);
    first[d] = static_cast<IndexValueType>(std::max(begin, std::min(std::floor(inside), end - 1.0)));
    fractions[d] = inside - static_cast<double>(first[d]);
    haveSlope[d] = position[d] == inside && region.GetSize(d) > 1;
  }
  const std::array<double, 9> indexByMm = this->GetIndexByMm();
  Corners                     corners;
  for (unsigned int corner = 0; corner < Corners::Count; ++corner)
  {
    auto                               index = first;
    std::array<double, ImageDimension> factors;
    corners.weights[corner] = 1.0;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      const bool isFar = ((corner >> d) & 1u) != 0;
      factors[d] = isFar ? fractions[d] : 1.0 - fractions[d];
      corners.weights[corner] *= factors[d];
      index[d] += isFar && region.GetSize(d) > 1 ? 1 : 0;
    }
    corners.bins[corner] = this->ComputeBin(image.GetPixel(index), m_MovingRange);
    corners.slopes[corner].Fill(0);
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      double slope = haveSlope[d] ? (((corner >> d) & 1u) != 0 ? 1.0 : -1.0) : 0.0;
      for (unsigned int other = 0; other < ImageDimension; ++other)
      {
        slope *= other != d ? factors[other] : 1.0;
      }
      for (unsigned int r = 0; r < ImageDimension; ++r)
      {
        corners.slopes[corner][r] += slope * indexByMm[3 * d + r];
      }
    }
  }
  return corners;
}

/** Computes value and derivative on the host, by double-precision sums over ITK's own samples. */
itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::EvaluateThroughITK() const
{
  using SamplesType = GPURegistrationDetail::MetricThroughITK<Self>;
  using SampleType = typename SamplesType::Sample;
  const SamplesType samples(*this, 64);
  const auto        rowOf = [this](const SampleType & sample) {
    return m_InitializedBins * this->ComputeBin(sample.fixedValue, m_FixedRange);
  };
  auto sums = samples.SumUp(m_InitializedBins * m_InitializedBins, [&](const SampleType & sample, double * histogram) {
    const Corners  corners = this->LocateCorners(sample.movingPoint);
    double * const row = histogram + rowOf(sample);
    for (unsigned int corner = 0; corner < Corners::Count; ++corner)
    {
      row[corners.bins[corner]] += corners.weights[corner];
    }
    return true;
  });
  const auto        count = static_cast<double>(sums.count);
  const DensityType density(std::move(sums.all), m_InitializedBins);
  this->StoreValue(density, count);
  if (this->GetComputeDerivative())
  {
    const std::vector<double> table = density.GetDerivativeTable(m_Normalized);
    samples.DifferentiateForces(
      [&](const SampleType & sample, typename SamplesType::VectorType & force) {
        const Corners       corners = this->LocateCorners(sample.movingPoint);
        const SizeValueType row = rowOf(sample);
        force.Fill(0);
        for (unsigned int corner = 0; corner < Corners::Count; ++corner)
        {
          force += corners.slopes[corner] * table[row + corners.bins[corner]];
        }
        return 1.0;
      },
      1.0 / count);
  }
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::StoreValue(const DensityType & density, double count) const
{
  // An evaluation is const, its results are not: like ITK's own threaders, it writes them through a const_cast.
  auto * const self = const_cast<Self *>(this);
  self->m_NumberOfValidPoints = static_cast<SizeValueType>(count + 0.5);
  m_Adapter.CheckHasValidPoints(this->m_NumberOfValidPoints);
  const double value = m_Normalized ? density.GetNormalizedMutualInformation() : density.GetMutualInformation();
  if (!std::isfinite(value))
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "Both images are constant where the samples are: normalised mutual information is not defined. Initialize the "
      "transform so that the images overlap more, or use NormalizedOff().");
  }
  self->m_Value = static_cast<typename Superclass::MeasureType>(-value);
}

itkGPUMetricGetValuesMacro(itkCudaPartialVolumeClass)
{
  m_Adapter.CheckBins(m_NumberOfHistogramBins, m_InitializedBins);
  return m_Adapter.EvaluateInformation(candidates, m_Normalized, [this] { this->UpdateEngine(false); });
}

itkGPUMetricTemplate
void
itkCudaPartialVolumeClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Adapter.Print(os, indent);
  os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
  os << indent << "Normalized: " << (m_Normalized ? "On" : "Off") << std::endl;
  os << indent << "FixedRange: " << m_FixedRange.first << " to " << m_FixedRange.second << std::endl;
  os << indent << "MovingRange: " << m_MovingRange.first << " to " << m_MovingRange.second << std::endl;
}

} // namespace itk

#undef itkCudaPartialVolumeClass

#endif
