// SPDX-License-Identifier: Apache-2.0
// Looks what observers of GPUSyNImageRegistrationMethod change. Only itkGPUSyNImageRegistrationMethod.hxx includes it, where the macros
// are that name the class.
#ifndef itkGPUSyNImageRegistrationMethodChanges_hxx
#define itkGPUSyNImageRegistrationMethodChanges_hxx

#include "GPURegistrationDetail/core/itkGPUKey.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/metric/itkGPUMetricSources.h"

#include <algorithm>
#include <string>

namespace itk
{

namespace GPURegistrationDetail
{
/** Adds an image's voxels to a source; or that there is none, if image is null. */
template <typename TImage>
void
AddImageToSource(gpureg::Source & source, const TImage * image)
{
  if (image == nullptr)
  {
    source.key.push_back(0);
    return;
  }
  AddVoxelsToKey(source.key, *image);
  source.memory.push_back(GetBuffer(*image));
}

/** Adds a chain of transforms to a source, whose key is no longer trusted if no time stamp reveals a change of a field's vectors. */
inline void
AddChainToSource(gpureg::Source & source, const gpureg::TransformChain & chain)
{
  AddToKey(source.key, chain.first);
  source.key.push_back(chain.steps.size());
  for (const gpureg::ChainStep & step : chain.steps)
  {
    const gpureg::Source & vectors = step.grid.source;
    AddToKey(source.key, step.map);
    AddToKey(source.key, step.grid.toGrid);
    source.key.insert(source.key.end(), vectors.key.begin(), vectors.key.end());
    source.memory.insert(source.memory.end(), vectors.memory.begin(), vectors.memory.end());
    source.isKeyTrusted = source.isKeyTrusted && !vectors.key.empty();
  }
}
} // namespace GPURegistrationDetail

itkGPUSyNTemplate gpureg::Source
                  itkGPUSyN::MakeInputSource() const
{
  gpureg::Source source;
  source.isKeyTrusted = m_Use.TrustsTimeStamps();
  const auto metrics = this->FindImageMetrics();
  source.key.push_back(metrics.size());
  for (SizeValueType n = 0; n < metrics.size(); ++n)
  {
    GPURegistrationDetail::AddImageToSource(source, this->GetFixedImage(n));
    GPURegistrationDetail::AddImageToSource(source, this->GetMovingImage(n));
    GPURegistrationDetail::AddMaskToSource<ImageDimension>(source, metrics[n]->GetFixedImageMask());
    GPURegistrationDetail::AddMaskToSource<ImageDimension>(source, metrics[n]->GetMovingImageMask());
  }
  for (const InitialTransformType * const initial :
       { this->GetFixedInitialTransform(), this->GetMovingInitialTransform() })
  {
    bool       isKnown = true;
    const auto chain = MakeChain(initial, isKnown);
    source.key.push_back(isKnown ? 1 : 0);
    GPURegistrationDetail::AddChainToSource(source, chain);
  }
  // Without observers nobody changes anything.
  source.isKeyTrusted = source.isKeyTrusted || !m_IsObserved;
  return source;
}

itkGPUSyNTemplate gpureg::Source
                  itkGPUSyN::MakeMiddleSource() const
{
  gpureg::Source source;
  for (const auto & transform : { this->m_FixedToMiddleTransform, this->m_MovingToMiddleTransform })
  {
    GPURegistrationDetail::AddToKey(source.key, transform.GetPointer());
    if (transform)
    {
      GPURegistrationDetail::AddImageToSource(source, transform->GetDisplacementField());
      GPURegistrationDetail::AddImageToSource(source, transform->GetInverseDisplacementField());
    }
  }
  source.isKeyTrusted = m_Use.TrustsTimeStamps() || !m_IsObserved || source.memory.empty();
  return source;
}

itkGPUSyNTemplate void
itkGPUSyN::Remember(gpureg::ResidentSource & resident, const gpureg::Source & source) const
{
  gpureg::ResidentSource::Comparison comparison;
  if (!source.isKeyTrusted)
  {
    comparison.hash = HashContent(source.memory, GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits()));
  }
  resident.Remember(source, comparison);
}

itkGPUSyNTemplate void
itkGPUSyN::CheckUnchanged(bool looksAtImages) const
{
  const auto isSame =
    [this](const gpureg::ResidentSource & resident, const gpureg::Source & source, bool looksAtValues) {
      return looksAtValues
               ? resident.Compare(source, GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits())).isSame
               : source.key == resident.GetKey();
    };
  // One middle transform is none, which ITK's code would crash on: both are made again. While the device has newer middle fields than the
  // host, their values have no meaning.
  const bool hasMiddle = this->m_FixedToMiddleTransform && this->m_MovingToMiddleTransform;
  if (!isSame(m_Inputs, this->MakeInputSource(), looksAtImages) ||
      (hasMiddle && !isSame(m_Middle, this->MakeMiddleSource(), !m_IsMiddleOnDevice)))
  {
    throw gpureg::UnsupportedError(
      "an observer has changed an image, a mask, an initial transform or a middle "
      "transform, which the device had read. Change them at the first event at the latest");
  }
}

itkGPUSyNTemplate void
itkGPUSyN::Invoke(const EventObject & event, gpureg::DiffeomorphicSettings & settings)
{
  const auto find = [this] {
    ModifiedTimeType latest =
      std::max<ModifiedTimeType>(this->GetMTime(), this->m_Metric ? this->m_Metric->GetMTime() : 0);
    for (const ImageMetricType * const metric : this->FindImageMetrics())
    {
      latest = std::max<ModifiedTimeType>(latest, metric->GetMTime());
    }
    return latest;
  };
  const ModifiedTimeType before = find();
  try
  {
    this->InvokeEvent(event);
  }
  catch (const GPUUnsupportedError & error)
  {
    if (std::string(error.GetDescription()).find(NoMiddleYet) == std::string::npos)
    {
      throw;
    }
    // DownloadMiddle() has thrown it. An override leaves the registration to ITK's class.
    throw gpureg::UnsupportedError(NoMiddleYet);
  }
  if (this->GetAbortGenerateData())
  {
    throw ProcessAborted(__FILE__, __LINE__);
  }
  const bool isFirst = m_Inputs.GetKey().empty();
  const bool looksAtImages = MultiResolutionIterationEvent().CheckEvent(&event);
  if (isFirst)
  {
    // Nothing is on the device yet. Inputs may have changed without the method's time stamp.
    m_Continues = this->m_FixedToMiddleTransform && this->m_MovingToMiddleTransform;
    this->CheckInputs();
  }
  else if (find() == before)
  {
    this->CheckUnchanged(looksAtImages);
    return;
  }
  if (m_IsTeamAtWork)
  {
    throw gpureg::UnsupportedError(
      "an observer has changed the method or a metric, and several devices go by the settings with which the first "
      "level began. Set them before, or set no further devices");
  }
  std::string unsupported = this->FindUnsupportedFeature();
  if (unsupported.empty() && !this->HasFurtherPairs())
  {
    unsupported = "Metrics beside the first one, or weights, differ from those that the registration began with.";
  }
  if (!unsupported.empty())
  {
    throw gpureg::UnsupportedError("an observer has changed what is computed: " + unsupported);
  }
  if (!isFirst)
  {
    this->CheckUnchanged(looksAtImages);
  }
  settings = this->MakeSettings();
}

} // namespace itk

#endif
