// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaCorrelationRatioMetric_hxx
#define itkCudaCorrelationRatioMetric_hxx

#include "itkCudaCorrelationRatioMetric.h"

#include "GPURegistrationDetail/metric/itkGPUMetricWorkUnits.h"

#include <algorithm>
#include <limits>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#define itkCudaCorrelationRatioClass itkGPUMetricOf(CudaCorrelationRatioMetric)

namespace itk
{

namespace GPURegistrationDetail
{
/** Returns the names of all schemes, for an error message: "GlobalAtomic, …, SharedWarp or ConflictFree". */
inline std::string
ListCorrelationRatioSchemes()
{
  std::string list;
  for (int n = 0; n < gpureg::NumberOfCorrelationRatioSchemes; ++n)
  {
    list += n == 0 ? "" : n + 1 < gpureg::NumberOfCorrelationRatioSchemes ? ", " : " or ";
    list += gpureg::GetName(static_cast<gpureg::CorrelationRatioScheme>(n));
  }
  return list;
}
} // namespace GPURegistrationDetail

itkGPUMetricTemplate
itkCudaCorrelationRatioClass::CudaCorrelationRatioMetric()
{
  GPURegistrationDetail::MakeWorkUnits(this->m_DenseGetValueAndDerivativeThreader,
                                       this->m_SparseGetValueAndDerivativeThreader);
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::SetBorderWeightDistance(double millimetres)
{
  if (!(millimetres >= 0.0) || !std::isfinite(millimetres))
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The border weight distance is ",
                                         millimetres,
                                         " mm. Set 0, for none, or a positive number of them.");
  }
  if (m_BorderWeightDistance != millimetres)
  {
    m_BorderWeightDistance = millimetres;
    this->Modified();
  }
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::SetWorkloadLimit(int samples)
{
  if (samples < 1)
  {
    GPURegistrationDetail::ThrowBadInput(*this, "The workload limit is ", samples, " samples. Set a positive number.");
  }
  if (m_WorkloadLimit != samples)
  {
    m_WorkloadLimit = samples;
    this->Modified();
  }
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::SetLaunchShape(const gpureg::LaunchShape & shape)
{
  if (!shape.IsValid())
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "There is no launch of ",
      shape.groups,
      " groups of ",
      shape.lanes,
      " lanes. Set 0 or more groups, and 0 lanes, for the device's own, or a power of "
      "two from ",
      gpureg::LaunchShape::LeastLanes,
      " to ",
      gpureg::LaunchShape::MostLanes,
      ".");
  }
  if (m_LaunchShape.groups != shape.groups || m_LaunchShape.lanes != shape.lanes)
  {
    m_LaunchShape = shape;
    this->Modified();
  }
}

itkGPUMetricTemplate
gpureg::LaunchShape
itkCudaCorrelationRatioClass::GetUsedLaunchShape() const
{
  const gpureg::CorrelationRatioMetric * const engine = m_Adapter.FindEngine();
  return engine ? engine->GetUsedLaunchShape() : gpureg::LaunchShape();
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::SetScheme(SchemeEnum scheme)
{
  if (!gpureg::IsCorrelationRatioScheme(scheme))
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "There is no scheme ",
                                         static_cast<int>(scheme),
                                         ". Set ",
                                         GPURegistrationDetail::ListCorrelationRatioSchemes(),
                                         ".");
  }
  if (m_Scheme != scheme)
  {
    m_Scheme = scheme;
    this->Modified();
  }
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::SetScheme(const std::string & name)
{
  for (int n = 0; n < gpureg::NumberOfCorrelationRatioSchemes; ++n)
  {
    const auto scheme = static_cast<SchemeEnum>(n);
    if (name == gpureg::GetName(scheme))
    {
      this->SetScheme(scheme);
      return;
    }
  }
  GPURegistrationDetail::ThrowBadInput(
    *this, "There is no scheme \"", name, "\". Set ", GPURegistrationDetail::ListCorrelationRatioSchemes(), ".");
}

itkGPUMetricTemplate
std::string
itkCudaCorrelationRatioClass::GetSchemeName() const
{
  return gpureg::GetName(m_Scheme);
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::Initialize()
{
  m_Adapter.Initialize(
    [this] {
      Superclass::Initialize();
      this->ComputeFixedRange();
      m_InitializedBins = m_NumberOfHistogramBins;
    },
    [this] { this->UpdateEngine(true); });
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::ComputeFixedRange()
{
  m_Adapter.CheckNumberOfBins(m_NumberOfHistogramBins);
  const auto & images = m_Adapter.GetImages();
  m_FixedRange = images.ComputeRangeOfFixedBins();
  images.CheckRange("moving", images.GetWholeMovingRange());
}

itkGPUMetricTemplate
SizeValueType
itkCudaCorrelationRatioClass::ComputeBin(double fixedValue) const
{
  // An interpolated value may lie outside the range of the voxels: by rounding, or further for a spline.
  return GPURegistrationDetail::ComputeBinBetween(fixedValue,
                                                  m_FixedRange.first,
                                                  m_FixedRange.second,
                                                  m_InitializedBins);
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::UpdateEngine(bool isInitializing) const
{
  const auto bins = static_cast<int>(m_InitializedBins);
  m_Adapter.UpdateEngine(
    [bins](const gpureg::CorrelationRatioMetric & engine) { return engine.GetNumberOfBins() != bins; },
    [bins](const std::string & device) { return std::make_unique<gpureg::CorrelationRatioMetric>(device, bins); },
    [this] { return m_Adapter.GetImages().ComputeMovingScales(); },
    GPURegistrationDetail::DescribeByBins([this](auto value) { return this->ComputeBin(static_cast<double>(value)); }),
    isInitializing);
  m_Adapter.GetEngine().SetScheme(m_Scheme);
  m_Adapter.GetEngine().SetWorkloadLimit(m_WorkloadLimit);
  m_Adapter.GetEngine().SetLaunchShape(m_LaunchShape);
  m_Adapter.GetEngine().SetBorderWeight(BorderWeightType(*this->m_MovingImage, m_BorderWeightDistance).MakeForDevice());
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.CheckBins(m_NumberOfHistogramBins, m_InitializedBins);
  m_Adapter.Evaluate([this](GPURegistrationDetail::MetricRoute route) { this->EvaluateOnDevice(route); },
                     [this] { this->EvaluateThroughITK(); });
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const
{
  this->UpdateEngine(false);
  const gpureg::Forces                 forces = m_Adapter.ChooseForces(route);
  const gpureg::SampleMapping          mapping = GPURegistrationDetail::MetricMapping<Self>(*this).MakeMapping(route);
  const gpureg::CorrelationRatioResult result =
    m_Adapter.GetEngine().Evaluate(mapping, forces, m_Adapter.GetParallelFor());
  if (result.count > 0 && !result.isResolved)
  {
    m_Use.WarnOnce(
      *this,
      "The moving values of the samples hardly vary against the range of the whole image, which is too much "
      "for the sums on " +
        m_Use.GetDevice().GetName() +
        ": the host computes them through ITK's own classes, which is slower. Cut off what lies far outside.");
    m_Adapter.CallITK([this] { this->EvaluateThroughITK(); });
    return;
  }
  this->StoreValue(result.within, result.all, result.count);
  m_Adapter.StoreDerivative(forces, result, mapping, 0.5 * result.all);
}

/** Computes value and derivative on the host, by double-precision sums over ITK's own samples. */
itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::EvaluateThroughITK() const
{
  using SamplesType = GPURegistrationDetail::MetricThroughITK<Self>;
  using SampleType = typename SamplesType::Sample;
  using VectorType = typename SamplesType::VectorType;
  const SamplesType      samples(*this, 64);
  const double           offset = samples.ComputeMeanMovingValue();
  const BorderWeightType weightAt(*this->m_MovingImage, m_BorderWeightDistance);
  // Σ w, Σ wY, Σ wY² of each bin
  const auto bins = samples.SumUp(3 * m_InitializedBins, [&](const SampleType & sample, double * sums) {
    VectorType     slope;
    const double   weight = weightAt.Evaluate(sample.movingPoint, slope);
    const double   y = sample.movingValue - offset;
    double * const bin = sums + 3 * this->ComputeBin(sample.fixedValue);
    bin[0] += weight;
    bin[1] += weight * y;
    bin[2] += weight * y * y;
    return true;
  });
  // Σ w, Σ wY, Σ wY² of all bins
  std::array<double, 3> whole{};
  for (const std::vector<double> & part : bins.ofTasks)
  {
    for (std::size_t n = 0; n < part.size(); ++n)
    {
      whole[n % 3] += part[n];
    }
  }
  const auto deviations = [](const double * sums) { return sums[0] > 0 ? sums[2] - sums[1] * sums[1] / sums[0] : 0.0; };
  double     within = 0;
  for (SizeValueType bin = 0; bin < m_InitializedBins; ++bin)
  {
    within += deviations(&bins.all[3 * bin]);
  }
  // For a constant image, the sum of squared deviations is only rounding error.
  const double all = deviations(whole.data()) > 1e-13 * whole[2] ? deviations(whole.data()) : 0.0;
  this->StoreValue(within, all, static_cast<double>(bins.count));
  if (this->GetComputeDerivative())
  {
    samples.DifferentiateForces(
      [&](const SampleType & sample, VectorType & force) {
        const double * const sums = &bins.all[3 * this->ComputeBin(sample.fixedValue)];
        const double         y = sample.movingValue - offset;
        // A bin may have only samples of weight 0.
        const double fromBin = sums[0] > 0 ? y - sums[1] / sums[0] : 0.0;
        const double fromMean = y - whole[1] / whole[0];
        const double ratio = within / all;
        VectorType   slope;
        const double weight = weightAt.Evaluate(sample.movingPoint, slope);
        force = samples.ComputeGradient(sample) * (weight * (fromBin - ratio * fromMean)) +
                slope * (0.5 * (fromBin * fromBin - ratio * fromMean * fromMean));
        return 1.0;
      },
      -2.0 / all);
  }
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::StoreValue(double within, double all, double count) const
{
  // An evaluation is const, its results are not: like ITK's own threaders, it writes them through a const_cast.
  auto * const self = const_cast<Self *>(this);
  self->m_NumberOfValidPoints = static_cast<SizeValueType>(count + 0.5);
  m_Adapter.CheckHasValidPoints(this->m_NumberOfValidPoints);
  if (!(all > 0))
  {
    GPURegistrationDetail::ThrowBadInput(
      *this,
      "The moving image is constant where the samples map to: the correlation ratio is not defined. Initialize the "
      "transform so that the images overlap more.");
  }
  self->m_Value = static_cast<typename Superclass::MeasureType>(std::min(1.0, std::max(0.0, within / all)));
}

itkGPUMetricGetValuesMacro(itkCudaCorrelationRatioClass)
{
  m_Adapter.CheckBins(m_NumberOfHistogramBins, m_InitializedBins);
  return m_Adapter.EvaluateCandidates(candidates, [this](const gpureg::CandidateMaps & maps) {
    this->UpdateEngine(false);
    std::vector<MeasureType> values;
    for (const auto & of : m_Adapter.GetEngine().EvaluateBatch(maps, m_Adapter.GetParallelFor()))
    {
      const double value = std::min(1.0, std::max(0.0, of.within / of.all));
      values.push_back(of.count < 0.5  ? GPURegistrationDetail::MetricCandidates<Self>::GetWorst()
                       : of.isResolved ? static_cast<MeasureType>(value)
                                       : std::numeric_limits<MeasureType>::quiet_NaN());
    }
    return values;
  });
}

itkGPUMetricTemplate
void
itkCudaCorrelationRatioClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Adapter.Print(os, indent);
  os << indent << "NumberOfHistogramBins: " << m_NumberOfHistogramBins << std::endl;
  os << indent << "BorderWeightDistance: " << m_BorderWeightDistance << std::endl;
  os << indent << "Scheme: " << m_Scheme << std::endl;
  os << indent << "WorkloadLimit: " << m_WorkloadLimit << std::endl;
  os << indent << "LaunchShape: " << m_LaunchShape.groups << " groups, " << m_LaunchShape.lanes << " lanes"
     << std::endl;
}

} // namespace itk

#undef itkCudaCorrelationRatioClass

#endif
