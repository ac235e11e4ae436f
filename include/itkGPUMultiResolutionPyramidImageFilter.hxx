// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMultiResolutionPyramidImageFilter_hxx
#define itkGPUMultiResolutionPyramidImageFilter_hxx

#include "itkGPUMultiResolutionPyramidImageFilter.h"

namespace itk
{

template <typename TInputImage, typename TOutputImage>
void
GPUMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::SetDevice(const GPUDevice & device)
{
  if (m_Engine.SetDevice(device))
  {
    this->Modified();
  }
}

/** As the parent's; but all of the input where a device makes the levels, and makes them wholly. */
template <typename TInputImage, typename TOutputImage>
void
GPUMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  if (GeneratorType::IsOfKnownTypes)
  {
    const_cast<TInputImage *>(this->GetInput())->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage>
void
GPUMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto onDevice = [this] {
    if constexpr (GeneratorType::IsOfKnownTypes)
    {
      GeneratorType(*this, m_Engine).Generate();
    }
  };
  if (!GPURegistrationDetail::DoOnDevice(
        *this,
        m_Engine.GetSaid(),
        "Filter a smaller image.",
        [this] { return this->FindWhatTheDeviceLacks(); },
        onDevice))
  {
    Superclass::GenerateData();
  }
}

/** A sentence that says why the device cannot do it; empty if it can. */
template <typename TInputImage, typename TOutputImage>
std::string
GPUMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::FindWhatTheDeviceLacks()
{
  return GeneratorType::IsOfKnownTypes ? m_Engine.FindWhatTheDeviceLacks()
                                       : std::string("Pyramids of these images are not made on a device.");
}

template <typename TInputImage, typename TOutputImage>
void
GPUMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Engine.Print(os, indent);
}

} // namespace itk

#endif
