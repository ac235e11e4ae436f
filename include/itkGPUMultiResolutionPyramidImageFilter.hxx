// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMultiResolutionPyramidImageFilter_hxx
#define itkGPUMultiResolutionPyramidImageFilter_hxx

#include "itkGPUMultiResolutionPyramidImageFilter.h"

namespace itk
{

/** Requests what the parent requests, but the whole input if a device makes the levels, which it always makes whole. */
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
GPUMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  GeneratorType(*this, m_Engine).Generate();
}

} // namespace itk

#endif
