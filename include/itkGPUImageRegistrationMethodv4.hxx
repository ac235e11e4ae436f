// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUImageRegistrationMethodv4_hxx
#define itkGPUImageRegistrationMethodv4_hxx

#include "itkGPUImageRegistrationMethodv4.h"

#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/registration/itkGPUSamplePoints.h"

#include <cmath>

// All members have the same template parameters.
#define itkGPUImageRegistrationTemplate \
  template <typename TFixedImage,       \
            typename TMovingImage,      \
            typename TOutputTransform,  \
            typename TVirtualImage,     \
            typename TPointSet>
#define itkGPUImageRegistration \
  GPUImageRegistrationMethodv4<TFixedImage, TMovingImage, TOutputTransform, TVirtualImage, TPointSet>

namespace itk
{

itkGPUImageRegistrationTemplate void
itkGPUImageRegistration::GenerateData()
{
  GPURegistrationDetail::ConstantMemory constant;
  struct Reset
  {
    ~Reset()
    {
      method.m_Constant = nullptr;
      method.m_SamplePoints.clear();
    }
    Self & method;
  };
  const Reset reset{ *this };
  m_Constant = &constant;
  Superclass::GenerateData();
  this->EndLevel();
}

itkGPUImageRegistrationTemplate void
itkGPUImageRegistration::InitializeRegistrationAtEachLevel(const SizeValueType level)
{
  this->EndLevel();
  m_SamplePoints.clear();
  Superclass::InitializeRegistrationAtEachLevel(level);
  this->BeginLevel();
}

itkGPUImageRegistrationTemplate void
itkGPUImageRegistration::BeginLevel()
{
  if (m_Constant == nullptr)
  {
    return;
  }
  for (SizeValueType n = 0; n < this->m_FixedSmoothImages.size(); ++n)
  {
    this->NameUnlessInput(this->m_FixedSmoothImages[n].GetPointer(), this->GetFixedImage(n));
  }
  for (SizeValueType n = 0; n < this->m_MovingSmoothImages.size(); ++n)
  {
    this->NameUnlessInput(this->m_MovingSmoothImages[n].GetPointer(), this->GetMovingImage(n));
  }
  for (const auto & set : m_SamplePoints)
  {
    const typename MetricSamplePointSetType::PointsContainer::ConstPointer points = set->GetPoints();
    if (points.IsNull())
    {
      continue; // no point is inside the mask
    }
    m_Constant->Add([set, points] {
      const auto & container = set->GetPoints()->CastToSTLConstContainer();
      return gpureg::MemoryRange{ container.data(), container.size() * sizeof(container.front()) };
    });
  }
  m_Constant->Seal(GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits()));
}

itkGPUImageRegistrationTemplate template <typename TImage>
void
itkGPUImageRegistration::NameUnlessInput(const TImage * image, const TImage * input)
{
  if (image == nullptr || image == input || image->GetPixelContainer() == input->GetPixelContainer() ||
      image->GetBufferPointer() == input->GetBufferPointer())
  {
    return;
  }
  // The image may be given another container, but this one's memory has no other use as long as it is kept.
  const typename TImage::ConstPointer                 owner = image;
  const typename TImage::PixelContainer::ConstPointer container = image->GetPixelContainer();
  m_Constant->Add([owner, container] { return GPURegistrationDetail::GetBuffer(*owner); });
}

itkGPUImageRegistrationTemplate void
itkGPUImageRegistration::EndLevel()
{
  if (m_Constant == nullptr)
  {
    return;
  }
  const bool hasChanged = m_Constant->HasChanged(GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits()));
  m_Constant->Clear();
  if (hasChanged)
  {
    GPURegistrationDetail::ThrowBadInput(*this,
                                         "The smoothed images, or the sampled points, of level ",
                                         this->m_CurrentLevel - 1,
                                         " were changed during the level, although they are constant. Change the input "
                                         "images instead, between two levels, or do without the override of "
                                         "ImageRegistrationMethodv4.");
  }
}

itkGPUImageRegistrationTemplate auto
itkGPUImageRegistration::FindImageMetrics() const -> std::vector<ImageMetricType *>
{
  std::vector<ImageMetricType *> metrics;
  if (const auto * const multi = dynamic_cast<const MultiMetricType *>(this->m_Metric.GetPointer()))
  {
    for (const auto & one : multi->GetMetricQueue())
    {
      metrics.push_back(dynamic_cast<ImageMetricType *>(one.GetPointer()));
    }
  }
  else
  {
    metrics.push_back(dynamic_cast<ImageMetricType *>(this->m_Metric.GetPointer()));
  }
  for (const ImageMetricType * const metric : metrics)
  {
    if (metric == nullptr)
    {
      return {};
    }
  }
  return metrics;
}

itkGPUImageRegistrationTemplate void
itkGPUImageRegistration::SetMetricSamplePoints()
{
  const auto         metrics = this->FindImageMetrics();
  const auto * const grid = metrics.empty() ? nullptr : metrics.front()->GetVirtualImage();
  const bool         isKnown = this->m_MetricSamplingStrategy == MetricSamplingStrategyEnum::REGULAR ||
                       this->m_MetricSamplingStrategy == MetricSamplingStrategyEnum::RANDOM;
  if (!isKnown || grid == nullptr || grid->GetRequestedRegion().GetNumberOfPixels() == 0 ||
      !grid->GetBufferedRegion().IsInside(grid->GetRequestedRegion()))
  {
    // ITK's code throws its own errors.
    Superclass::SetMetricSamplePoints();
    return;
  }
  const int firstSeed = this->m_CurrentRandomSeed;
  for (SizeValueType n = 0; n < metrics.size(); ++n)
  {
    // Each new generator takes one of the process' seeds, as ITK's does.
    const auto randomizer = GPURegistrationDetail::RandomGenerator::New();
    this->SeedAsITK(*randomizer);
    const auto seed = static_cast<std::uint32_t>(randomizer->GetSeed());
    if (n == 0 && !GPURegistrationDetail::DrawsEqually(*randomizer))
    {
      // This version of ITK draws other numbers.
      this->m_CurrentRandomSeed = firstSeed;
      Superclass::SetMetricSamplePoints();
      return;
    }
    const auto points = this->DrawSamplePoints(*metrics.front(), seed);
    metrics[n]->SetVirtualSampledPointSet(points);
    metrics[n]->UseSampledPointSetOn();
    metrics[n]->UseVirtualSampledPointSetOn();
    m_SamplePoints.emplace_back(points);
  }
}

itkGPUImageRegistrationTemplate void
itkGPUImageRegistration::SeedAsITK(Statistics::MersenneTwisterRandomVariateGenerator & generator)
{
  if (this->m_ReseedIterator)
  {
    generator.SetSeed();
  }
  else
  {
    generator.SetSeed(this->m_CurrentRandomSeed++);
  }
}

itkGPUImageRegistrationTemplate auto
itkGPUImageRegistration::DrawSamplePoints(const ImageMetricType & metric, std::uint32_t seed) ->
  typename MetricSamplePointSetType::Pointer
{
  const auto & grid = *metric.GetVirtualImage();
  const auto   region = grid.GetRequestedRegion();
  const auto   voxels = region.GetNumberOfPixels();
  const auto   part = this->m_MetricSamplingPercentagePerLevel[this->m_CurrentLevel];
  const auto   points = MetricSamplePointSetType::PointsContainer::New();
  const auto   make = [&](SizeValueType count, const auto & findVoxel) {
    GPURegistrationDetail::MakeSamplePoints(grid,
                                            region,
                                            count,
                                            findVoxel,
                                            metric.GetFixedImageMask(),
                                            seed,
                                            GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits()),
                                            points->CastToSTLContainer());
  };
  if (this->m_MetricSamplingStrategy == MetricSamplingStrategyEnum::REGULAR)
  {
    const auto step = static_cast<SizeValueType>(std::ceil(1.0 / part));
    // A part so small that its inverse is no integer is that of one voxel.
    make(step == 0 ? 1 : (voxels - 1) / step + 1, [step](SizeValueType n) { return n * step; });
  }
  else
  {
    const auto count = static_cast<SizeValueType>(static_cast<float>(voxels) * part);
    const auto generator = GPURegistrationDetail::RandomGenerator::New();
    this->SeedAsITK(*generator);
    const auto positions = GPURegistrationDetail::DrawPositions(*generator, count, voxels);
    make(count, [&positions](SizeValueType n) { return positions[n]; });
  }
  const auto set = MetricSamplePointSetType::New();
  set->Initialize();
  if (points->Size() > 0)
  {
    set->SetPoints(points);
  }
  return set;
}

} // namespace itk

#undef itkGPUImageRegistrationTemplate
#undef itkGPUImageRegistration

#endif
