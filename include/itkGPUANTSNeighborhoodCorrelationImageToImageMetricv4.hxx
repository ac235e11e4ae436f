// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4_hxx
#define itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4_hxx

#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"

#include "GPURegistrationDetail/core/itkGPUConstantMemory.h"

#include "gpureg/runtime/Device.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define itkGPUNeighborhoodCorrelationClass itkGPUMetricOf(GPUANTSNeighborhoodCorrelationImageToImageMetricv4)

namespace itk
{

itkGPUMetricTemplate
void
itkGPUNeighborhoodCorrelationClass::Initialize()
{
  m_Adapter.Initialize([this] { Superclass::Initialize(); }, [this] { this->UpdateEngine(true); });
}

itkGPUMetricTemplate
bool
itkGPUNeighborhoodCorrelationClass::HasPointOutside() const
{
  if (!this->m_UseSampledPointSet)
  {
    return false;
  }
  gpureg::Source source = GPURegistrationDetail::MetricSources<Self>(*this).GetPointsSource();
  GPURegistrationDetail::AddToKey(source.key, this->GetVirtualImage());
  const bool mayMove =
    !source.isKeyTrusted && !GPURegistrationDetail::ConstantMemory::GetVariable(source.memory).empty();
  if (mayMove || source.key != m_KeyOfPoints)
  {
    const auto & points = this->m_VirtualSampledPointSet->GetPoints()->CastToSTLConstContainer();
    m_HasPointOutside = std::any_of(points.begin(), points.end(), [this](const auto & point) {
      return !this->GetVirtualRegion().IsInside(this->GetVirtualImage()->TransformPhysicalPointToIndex(point));
    });
    m_KeyOfPoints = std::move(source.key);
  }
  return m_HasPointOutside;
}

itkGPUMetricTemplate
std::string
itkGPUNeighborhoodCorrelationClass::FindUnsupportedFeature() const
{
  return !gpureg::HasDoubles(m_Use.GetDevice().GetName()) ? "A neighborhood correlation, whose sums are doubles,"
         : this->HasPointOutside()                        ? "A sampled point outside of the virtual domain"
                                                          : "";
}

itkGPUMetricTemplate
void
itkGPUNeighborhoodCorrelationClass::UpdateEngine(bool isInitializing) const
{
  const auto describeByValues = GPURegistrationDetail::DescribeByValues();
  bool       isSent = false;
  m_Adapter.UpdateEngine([](const gpureg::NeighborhoodCorrelationMetric &) { return false; },
                         [](const std::string & device) {
                           return std::make_unique<gpureg::NeighborhoodCorrelationMetric>(device);
                         },
                         [this] {
                           // Neighborhoods need all voxels, with ITK's own values: exact to the bit where fixed point can hold them.
                           auto scales = m_Adapter.GetImages().ComputeScalesOfTwo();
                           scales.isFixedPoint = true;
                           scales.samplesEveryVoxel = true;
                           return scales;
                         },
                         [&](auto & side, const auto & scales, const auto & maker) {
                           describeByValues(side, scales, maker);
                           isSent = true;
                         },
                         isInitializing);
  if (isSent)
  {
    this->UploadCentres();
  }
}

/** Uploads the offsets of the voxels nearest to the sampled points. */
itkGPUMetricTemplate
void
itkGPUNeighborhoodCorrelationClass::UploadCentres() const
{
  const auto * const points =
    this->m_UseSampledPointSet ? &this->m_VirtualSampledPointSet->GetPoints()->CastToSTLConstContainer() : nullptr;
  const auto & virtualImage = *this->GetVirtualImage();
  m_Adapter.GetEngine().SetCentres(
    points != nullptr ? static_cast<std::int64_t>(points->size()) : 0,
    [points, &virtualImage](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t i = 0; i < count; ++i)
      {
        static_cast<std::int64_t *>(out)[i] =
          virtualImage.ComputeOffset(virtualImage.TransformPhysicalPointToIndex((*points)[first + i]));
      }
    },
    m_Adapter.GetParallelFor());
}

itkGPUMetricTemplate
gpureg::NeighborhoodTerms
itkGPUNeighborhoodCorrelationClass::MakeTerms() const
{
  gpureg::NeighborhoodTerms terms;
  terms.radius = {};
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    terms.radius[d] = this->GetRadius()[d];
  }
  terms.flat = gpureg::GetFlatNeighborhoodsOfITK<typename TFixedImage::PixelType,
                                                 typename TMovingImage::PixelType,
                                                 TInternalComputationValueType>();
  return terms;
}

itkGPUMetricTemplate
void
itkGPUNeighborhoodCorrelationClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.Evaluate([this](GPURegistrationDetail::MetricRoute route) { this->EvaluateOnDevice(route); },
                     [this] { Superclass::GetValueAndDerivativeExecute(); });
}

itkGPUMetricTemplate
void
itkGPUNeighborhoodCorrelationClass::EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const
{
  this->UpdateEngine(false);
  const gpureg::Forces             forces = m_Adapter.ChooseForces(route);
  const gpureg::SampleMapping      mapping = GPURegistrationDetail::MetricMapping<Self>(*this).MakeMapping(route);
  const gpureg::NeighborhoodResult result =
    m_Adapter.GetEngine().Evaluate(mapping, this->MakeTerms(), forces, m_Adapter.GetParallelFor());
  // An evaluation is const, its results are not: like ITK's own threaders, it writes them through a const_cast.
  auto & self = const_cast<Self &>(*this);
  self.m_NumberOfValidPoints = static_cast<SizeValueType>(result.count + 0.5);
  if (!self.VerifyNumberOfValidPoints(self.m_Value, *self.m_DerivativeResult))
  {
    return;
  }
  self.m_Value = static_cast<typename Superclass::MeasureType>(-result.correlations / result.count);
  m_Adapter.StoreDerivative(forces, result, mapping, this->HasLocalSupport() ? -1.0 : -result.count);
}

itkGPUMetricGetValuesMacro(itkGPUNeighborhoodCorrelationClass)
{
  return m_Adapter.EvaluateResults(
    candidates,
    [this](const gpureg::CandidateMaps & maps) {
      this->UpdateEngine(false);
      return m_Adapter.GetEngine().EvaluateBatch(maps, this->MakeTerms(), m_Adapter.GetParallelFor());
    },
    [](const gpureg::NeighborhoodResult & result) {
      return static_cast<MeasureType>(-result.correlations / result.count);
    });
}

} // namespace itk

#undef itkGPUNeighborhoodCorrelationClass

#endif
