// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUJointHistogramMutualInformationImageToImageMetricv4_hxx
#define itkGPUJointHistogramMutualInformationImageToImageMetricv4_hxx

#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"

#include "GPURegistrationDetail/metric/itkGPUJointHistogramMarginals.h"

#include "itkGaussianOperator.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <optional>
#include <type_traits>
#include <vector>

#define itkGPUJointHistogramClass itkGPUMetricOf(GPUJointHistogramMutualInformationImageToImageMetricv4)

namespace itk
{

namespace GPURegistrationDetail
{
/** Number of bins at each end that values do not reach, as in ITK. */
constexpr int JointHistogramPadding = 2;
} // namespace GPURegistrationDetail

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::Initialize()
{
  m_ParentIsInitialized = false;
  m_Adapter.Initialize([this] { this->CheckHistogram(); },
                       [this] {
                         // The parent's own Initialize() computes the ranges on one thread.
                         ImageMetricType::Initialize();
                         const auto & images = m_Adapter.GetImages();
                         m_FixedRange = images.ComputeMaskedFixedRange();
                         m_MovingRange = images.ComputeMovingRange();
                         m_InitializedBins = this->GetNumberOfHistogramBins();
                         this->ShapeJointPDF();
                       },
                       [this] { this->UpdateEngine(true); });
  if (m_Adapter.IsForITK())
  {
    this->InitializeParent();
  }
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::InitializeParent() const
{
  if (!m_ParentIsInitialized)
  {
    const_cast<Self *>(this)->Superclass::Initialize();
    m_ParentIsInitialized = true;
  }
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::CheckHistogram() const
{
  const SizeValueType bins = this->GetNumberOfHistogramBins();
  if (bins < gpureg::JointHistogramMetric::LeastBins)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The number of histogram bins is ",
                                         bins,
                                         ", of which 4 are left free and one is for the ends of the range. Set ",
                                         gpureg::JointHistogramMetric::LeastBins,
                                         " or more.");
  }
  const double variance = const_cast<Self *>(this)->GetVarianceForJointPDFSmoothing();
  if (!std::isfinite(variance))
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The variance for the smoothing of the joint PDF is ",
                                         variance,
                                         ". Set 0, for none, or a finite number.");
  }
  const auto & images = m_Adapter.GetImages();
  if (images.AreThere())
  {
    images.CheckRange("fixed", images.ComputeMaskedFixedRange());
    images.CheckRange("moving", images.ComputeMovingRange());
  }
}

/** Gives the joint density the geometry that ITK's Initialize() gives it, since ITK's rounding decides on which side of a bin's edge a
 * value is. */
itkGPUMetricTemplate
void
itkGPUJointHistogramClass::ShapeJointPDF()
{
  using ValueType = TInternalComputationValueType;
  auto &     joint = *this->GetModifiableJointPDF();
  const auto padding = static_cast<ValueType>(GPURegistrationDetail::JointHistogramPadding);
  typename Superclass::JointPDFRegionType      region;
  typename Superclass::JointPDFSpacingType     spacing;
  typename Superclass::JointPDFType::PointType origin;
  region.SetSize(0, m_InitializedBins);
  region.SetSize(1, m_InitializedBins);
  spacing.Fill(1 / static_cast<ValueType>(static_cast<ValueType>(m_InitializedBins) - padding * 2 - 1));
  joint.SetRegions(region);
  joint.SetSpacing(spacing);
  origin.Fill(joint.GetSpacing()[0] * padding * (-1.0));
  joint.SetOrigin(origin);
  joint.Allocate(true);
}

/** Returns the continuous bin index of a value in its image's range. */
itkGPUMetricTemplate
double
itkGPUJointHistogramClass::ComputePlace(double value, const Range & range) const
{
  using ValueType = TInternalComputationValueType;
  const auto                             minimum = static_cast<ValueType>(range.first);
  const auto                             maximum = static_cast<ValueType>(range.second);
  typename Superclass::JointPDFPointType point;
  point.Fill(static_cast<ValueType>((static_cast<ValueType>(value) - minimum) / (maximum - minimum)));
  return this->GetJointPDF()->template TransformPhysicalPointToContinuousIndex<double>(point)[0];
}

itkGPUMetricTemplate
SizeValueType
itkGPUJointHistogramClass::ComputeBin(double value, const Range & range) const
{
  const double place = this->ComputePlace(value, range);
  // outside the histogram, or not a number
  if (!(place >= -0.5 && place < static_cast<double>(m_InitializedBins) - 0.5))
  {
    return NumericTraits<std::uint16_t>::max();
  }
  return static_cast<SizeValueType>(Math::RoundHalfIntegerUp<OffsetValueType>(place));
}

/** Finds to which of two bins ITK rounds a value half-way between them. Images of whole numbers may have such values. */
itkGPUMetricTemplate
std::vector<bool>
itkGPUJointHistogramClass::FindTies() const
{
  using PixelType = typename TMovingImage::PixelType;
  constexpr int     padding = GPURegistrationDetail::JointHistogramPadding;
  const auto        bins = static_cast<int>(m_InitializedBins);
  const double      inner = bins - 2 * padding - 1;
  std::vector<bool> goDown(m_InitializedBins, false);
  for (int bin = padding + 1; bin < bins - padding; ++bin)
  {
    const double between = (bin - padding - 0.5) / inner;
    const auto   value =
      static_cast<PixelType>(m_MovingRange.first + between * (m_MovingRange.second - m_MovingRange.first));
    goDown[bin] = this->ComputeBin(value, m_MovingRange) < static_cast<SizeValueType>(bin);
  }
  return goDown;
}

/** Returns the weights of ITK's Gaussian, from the centre on. */
itkGPUMetricTemplate
std::vector<double>
itkGPUJointHistogramClass::MakeSmoothing() const
{
  const double variance = const_cast<Self *>(this)->GetVarianceForJointPDFSmoothing();
  if (!(variance > 0))
  {
    return { 1.0 };
  }
  GaussianOperator<double, 1> gaussian;
  gaussian.SetDirection(0);
  gaussian.SetVariance(variance);
  gaussian.SetMaximumError(static_cast<double>(.01f));
  gaussian.SetMaximumKernelWidth(32);
  gaussian.CreateDirectional();
  std::vector<double> weights;
  for (auto place = gaussian.Size() / 2; place < gaussian.Size(); ++place)
  {
    weights.push_back(gaussian[place]);
  }
  return weights;
}

itkGPUMetricTemplate
gpureg::JointHistogramOptions
itkGPUJointHistogramClass::MakeOptions() const
{
  gpureg::JointHistogramOptions options;
  options.smoothing = this->MakeSmoothing();
  options.usesMarginalOfFixed = GPURegistrationDetail::SwapsMarginals<Superclass>();
  options.leastDensity = NumericTraits<TInternalComputationValueType>::epsilon();
  options.tiesGoDown = this->FindTies();
  return options;
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::UpdateEngine(bool isInitializing) const
{
  const auto bins = static_cast<int>(m_InitializedBins);
  const auto computeScales = [this] {
    GPURegistrationDetail::MetricScales scales;
    scales.end = static_cast<double>(m_InitializedBins) - 2 * GPURegistrationDetail::JointHistogramPadding - 1;
    scales.minimum = m_MovingRange.first;
    scales.maximum = m_MovingRange.second;
    scales.unit = (scales.maximum - scales.minimum) / scales.end;
    scales.fixedMinimum = m_FixedRange.first;
    scales.fixedUnit = (m_FixedRange.second - m_FixedRange.first) / scales.end;
    scales.checksRange = true;
    // A Gaussian as wide as the histogram leaves counts that hardly differ, which floats could not tell apart.
    const double variance = const_cast<Self *>(this)->GetVarianceForJointPDFSmoothing();
    scales.isFixedPoint = 16.0 * variance > static_cast<double>(m_InitializedBins * m_InitializedBins);
    return scales;
  };
  const auto binOf = [this](auto value) { return this->ComputeBin(static_cast<double>(value), m_FixedRange); };
  const auto placeOf = [this](auto value) {
    const double place = this->ComputePlace(static_cast<double>(value), m_FixedRange);
    return place - std::floor(place + 0.5);
  };
  std::optional<double> placeOfMinimum;
  if (std::is_same<TInternalComputationValueType, double>::value)
  {
    placeOfMinimum = GPURegistrationDetail::JointHistogramPadding;
  }
  m_Adapter.UpdateEngine(
    [bins](const gpureg::JointHistogramMetric & engine) { return engine.GetNumberOfBins() != bins; },
    [bins](const std::string & device) { return std::make_unique<gpureg::JointHistogramMetric>(device, bins); },
    computeScales,
    GPURegistrationDetail::DescribeByBinsAndPlaces(binOf, placeOf, placeOfMinimum),
    isInitializing);
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::InitializeForIteration() const
{
  m_Adapter.InitializeForIteration();
}

itkGPUMetricTemplate
typename itkGPUJointHistogramClass::Superclass::MeasureType
itkGPUJointHistogramClass::GetValue() const
{
  return ImageMetricType::GetValue();
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.CheckBins(this->GetNumberOfHistogramBins(), m_InitializedBins);
  m_Adapter.Evaluate([this](GPURegistrationDetail::MetricRoute route) { this->EvaluateOnDevice(route); },
                     [this] { this->EvaluateThroughITK(); });
}

itkGPUMetricTemplate
std::string
itkGPUJointHistogramClass::FindUnsupportedFeature() const
{
  constexpr auto most = gpureg::JointHistogramMetric::MostBins;
  return m_InitializedBins > most ? "A joint histogram of more than " + std::to_string(most) + " bins" : std::string();
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const
{
  this->UpdateEngine(false);
  const gpureg::JointHistogramOptions options = this->MakeOptions();
  const gpureg::Forces                forces = m_Adapter.ChooseForces(route);
  const gpureg::SampleMapping         mapping = GPURegistrationDetail::MetricMapping<Self>(*this).MakeMapping(route);
  const gpureg::JointHistogramResult  result =
    m_Adapter.GetEngine().Evaluate(mapping, forces, options, m_Adapter.GetParallelFor());
  // An evaluation is const, its results are not: like ITK's own threaders, it writes them through a const_cast.
  auto * const self = const_cast<Self *>(this);
  self->m_JointHistogramTotalCount = result.count;
  self->m_NumberOfValidPoints = forces == gpureg::Forces::None ? result.count : result.countOfForces;
  if (!this->VerifyNumberOfValidPoints(self->m_Value, *this->m_DerivativeResult))
  {
    return;
  }
  this->StoreValue(gpureg::SmoothedDensity(result.histogram, static_cast<int>(m_InitializedBins), options));
  const double samples = this->HasLocalSupport() ? 1.0 : static_cast<double>(result.countOfForces);
  m_Adapter.StoreDerivative(forces, result, mapping, samples * result.divisor / m_Adapter.GetScales().unit);
}

/** Stores value and joint density in the members in which ITK's metric stores them. */
itkGPUMetricTemplate
void
itkGPUJointHistogramClass::StoreValue(const gpureg::SmoothedDensity & density) const
{
  auto * const self = const_cast<Self *>(this);
  self->m_Value = static_cast<MeasureType>(-density.GetMutualInformation());
  auto & joint = *self->GetModifiableJointPDF();
  for (SizeValueType cell = 0; cell < density.GetJoint().size(); ++cell)
  {
    // In ITK's image, fixed bins are contiguous.
    joint.GetBufferPointer()[cell / m_InitializedBins + cell % m_InitializedBins * m_InitializedBins] =
      static_cast<typename Superclass::JointPDFValueType>(density.GetJoint()[cell]);
  }
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::EvaluateThroughITK() const
{
  auto * const self = const_cast<Self *>(this);
  if (!m_ParentIsInitialized)
  {
    m_Adapter.WarnIfRefilled("the range of values");
    this->InitializeParent();
  }
  Superclass::InitializeForIteration();
  if (this->GetComputeDerivative())
  {
    Superclass::GetValueAndDerivativeExecute();
    return;
  }
  self->m_NumberOfValidPoints = this->m_JointHistogramTotalCount;
  if (this->VerifyNumberOfValidPoints(self->m_Value, *this->m_DerivativeResult))
  {
    self->m_Value = this->ComputeValue();
  }
}

itkGPUMetricGetValuesMacro(itkGPUJointHistogramClass)
{
  m_Adapter.CheckBins(this->GetNumberOfHistogramBins(), m_InitializedBins);
  return m_Adapter.EvaluateCandidates(candidates, [this](const gpureg::CandidateMaps & maps) {
    this->UpdateEngine(false);
    std::vector<MeasureType> values;
    for (const gpureg::JointHistogramValue & value :
         m_Adapter.GetEngine().EvaluateBatch(maps, this->MakeOptions(), m_Adapter.GetParallelFor()))
    {
      values.push_back(value.count > 0 ? static_cast<MeasureType>(-value.mutualInformation)
                                       : GPURegistrationDetail::MetricCandidates<Self>::GetWorst());
    }
    return values;
  });
}

itkGPUMetricTemplate
void
itkGPUJointHistogramClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Adapter.Print(os, indent);
  os << indent << "FixedRange: " << m_FixedRange.first << " to " << m_FixedRange.second << std::endl;
  os << indent << "MovingRange: " << m_MovingRange.first << " to " << m_MovingRange.second << std::endl;
  os << indent << "VarianceForJointPDFSmoothing: " << const_cast<Self *>(this)->GetVarianceForJointPDFSmoothing()
     << std::endl;
}

} // namespace itk

#undef itkGPUJointHistogramClass

#endif
