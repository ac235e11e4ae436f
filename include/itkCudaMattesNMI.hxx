// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMattesNMI_hxx
#define itkCudaMattesNMI_hxx

#include "itkCudaMattesNMI.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define itkCudaMattesNMIClass itkGPUMetricOf(CudaMattesNMI)

namespace itk
{

namespace GPURegistrationDetail
{
/** Number of bins that the Parzen windows need beyond the range of values, on either side. */
constexpr int BinPadding = 2;
} // namespace GPURegistrationDetail

itkGPUMetricTemplate
void
itkCudaMattesNMIClass::Initialize()
{
  m_Adapter.Initialize([this] { this->ComputeIntensityRanges(); },
                       [this] {
                         if (m_Adapter.IsLeftToParent())
                         {
                           Superclass::Initialize();
                         }
                         else
                         {
                           // The Mattes metric's own Initialize() computes the intensity ranges on one thread.
                           ImageMetricType::Initialize();
                         }
                         m_InitializedBins = this->GetNumberOfHistogramBins();
                       },
                       [this] { this->UpdateEngine(true); });
}

/** Sets the joint histogram's first value and bin width as the Mattes metric does. */
itkGPUMetricTemplate
void
itkCudaMattesNMIClass::ComputeIntensityRanges()
{
  using PDFValueType = typename Superclass::PDFValueType;
  const auto & images = m_Adapter.GetImages();
  if (!images.CanBeSampled())
  {
    return; // the parent's Initialize() throws the error
  }
  const auto fixed = images.ComputeFixedRange();
  const auto moving = images.ComputeMovingRange();
  const auto inBins = [](double value) { return static_cast<PDFValueType>(value); };
  images.CheckRange("fixed", { inBins(fixed.first), inBins(fixed.second) });
  images.CheckRange("moving", { inBins(moving.first), inBins(moving.second) });

  using GPURegistrationDetail::BinPadding;
  const auto innerBins = static_cast<PDFValueType>(this->m_NumberOfHistogramBins - 2 * BinPadding);
  this->m_FixedImageTrueMin = static_cast<PDFValueType>(fixed.first);
  this->m_FixedImageTrueMax = static_cast<PDFValueType>(fixed.second);
  this->m_MovingImageTrueMin = static_cast<PDFValueType>(moving.first);
  this->m_MovingImageTrueMax = static_cast<PDFValueType>(moving.second);
  this->m_FixedImageBinSize = (this->m_FixedImageTrueMax - this->m_FixedImageTrueMin) / innerBins;
  this->m_MovingImageBinSize = (this->m_MovingImageTrueMax - this->m_MovingImageTrueMin) / innerBins;
  this->m_FixedImageNormalizedMin = this->m_FixedImageTrueMin / this->m_FixedImageBinSize - PDFValueType{ BinPadding };
  this->m_MovingImageNormalizedMin =
    this->m_MovingImageTrueMin / this->m_MovingImageBinSize - PDFValueType{ BinPadding };
}

itkGPUMetricTemplate
void
itkCudaMattesNMIClass::UpdateEngine(bool isInitializing) const
{
  const auto bins =
    static_cast<int>(std::min<SizeValueType>(this->GetNumberOfHistogramBins(), NumericTraits<int>::max()));
  const auto computeScales = [this] {
    GPURegistrationDetail::MetricScales scales;
    scales.minimum = this->m_MovingImageTrueMin;
    scales.maximum = this->m_MovingImageTrueMax;
    scales.unit = this->m_MovingImageBinSize;
    scales.end = static_cast<double>(this->GetNumberOfHistogramBins() - 2 * GPURegistrationDetail::BinPadding);
    scales.checksRange = true;
    return scales;
  };
  m_Adapter.UpdateEngine([bins](const gpureg::MattesMetric & engine) { return engine.GetNumberOfBins() != bins; },
                         [bins](const std::string & device) {
                           return std::make_unique<gpureg::MattesMetric>(device, bins);
                         },
                         computeScales,
                         GPURegistrationDetail::DescribeByBins(
                           [this](auto value) { return this->ComputeSingleFixedImageParzenWindowIndex(value); }),
                         isInitializing);
}

itkGPUMetricTemplate
void
itkCudaMattesNMIClass::GetValueAndDerivativeExecute() const
{
  m_Adapter.CheckBins(this->GetNumberOfHistogramBins(), m_InitializedBins);
  m_Adapter.Evaluate([this](GPURegistrationDetail::MetricRoute route) { this->EvaluateOnDevice(route); },
                     [this] {
                       if (m_Adapter.IsLeftToParent())
                       {
                         this->ForgetDensities();
                         Superclass::GetValueAndDerivativeExecute();
                       }
                       else
                       {
                         this->EvaluateThroughITK();
                       }
                     });
}

itkGPUMetricTemplate
void
itkCudaMattesNMIClass::EvaluateOnDevice(GPURegistrationDetail::MetricRoute route) const
{
  this->UpdateEngine(false);
  const gpureg::Forces        forces = m_Adapter.ChooseForces(route);
  const gpureg::SampleMapping mapping = GPURegistrationDetail::MetricMapping<Self>(*this).MakeMapping(route);
  const gpureg::MattesResult  result =
    m_Adapter.GetEngine().Evaluate(mapping, forces, m_Normalized, m_Adapter.GetParallelFor());
  const gpureg::JointDensity density = this->MakeDensity(result);
  const double               validPoints = density.GetCountSum() / result.countUnit;
  this->StoreValue(density, static_cast<SizeValueType>(validPoints + 0.5));
  m_Adapter.StoreDerivative(forces, result, mapping, validPoints);
}

itkGPUMetricTemplate
gpureg::JointDensity
itkCudaMattesNMIClass::MakeDensity(const gpureg::MattesResult & result) const
{
  std::vector<double> counts(result.histogram.begin(), result.histogram.end());
  return gpureg::JointDensity(std::move(counts), this->GetNumberOfHistogramBins());
}

/** Stores value, histogram and marginals in the members in which ITK's metric stores them. */
itkGPUMetricTemplate
void
itkCudaMattesNMIClass::StoreValue(const gpureg::JointDensity & density, SizeValueType validPoints) const
{
  // An evaluation is const, its results are not: like ITK's own threaders, it writes them through a const_cast.
  auto * const self = const_cast<Self *>(this);
  self->m_NumberOfValidPoints = validPoints;
  m_Adapter.CheckHasValidPoints(validPoints);
  self->m_Value = static_cast<typename Superclass::MeasureType>(m_Normalized ? -density.GetNormalizedMutualInformation()
                                                                             : -density.GetMutualInformation());
  self->m_JointPDFSum = static_cast<typename Superclass::PDFValueType>(validPoints);

  const SizeValueType                           bins = this->GetNumberOfHistogramBins();
  typename Superclass::JointPDFType::RegionType region;
  region.SetSize(0, bins);
  region.SetSize(1, bins);
  auto & joint = self->m_ThreaderJointPDF;
  joint.resize(1);
  if (joint[0].IsNull() || joint[0]->GetBufferedRegion() != region)
  {
    joint[0] = Superclass::JointPDFType::New();
    joint[0]->SetRegions(region);
    joint[0]->Allocate();
  }
  typename Superclass::JointPDFType::PointType origin;
  origin[0] = this->m_FixedImageTrueMin;
  origin[1] = this->m_MovingImageTrueMin;
  typename Superclass::JointPDFType::SpacingType spacing;
  spacing[0] = this->m_FixedImageBinSize;
  spacing[1] = this->m_MovingImageBinSize;
  joint[0]->SetOrigin(origin);
  joint[0]->SetSpacing(spacing);
  std::copy(density.GetJoint().begin(), density.GetJoint().end(), joint[0]->GetBufferPointer());
  self->m_ThreaderFixedImageMarginalPDF.resize(1);
  self->m_ThreaderFixedImageMarginalPDF[0].assign(density.GetFixedMarginal().begin(), density.GetFixedMarginal().end());
  self->m_MovingImageMarginalPDF.assign(density.GetMovingMarginal().begin(), density.GetMovingMarginal().end());
}

/** Clears what StoreValue() stored. ITK resizes these arrays without clearing them, and would add to old sums. */
itkGPUMetricTemplate
void
itkCudaMattesNMIClass::ForgetDensities() const
{
  auto * const self = const_cast<Self *>(this);
  self->m_ThreaderJointPDF.clear();
  self->m_ThreaderFixedImageMarginalPDF.clear();
}

itkGPUMetricGetValuesMacro(itkCudaMattesNMIClass)
{
  m_Adapter.CheckBins(this->GetNumberOfHistogramBins(), m_InitializedBins);
  return m_Adapter.EvaluateInformation(candidates, m_Normalized, [this] { this->UpdateEngine(false); });
}

itkGPUMetricTemplate
void
itkCudaMattesNMIClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Adapter.Print(os, indent);
  os << indent << "Normalized: " << (m_Normalized ? "On" : "Off") << std::endl;
}

} // namespace itk

#include "GPURegistrationDetail/metric/itkCudaMattesNMIThroughITK.hxx"

#undef itkCudaMattesNMIClass

#endif
