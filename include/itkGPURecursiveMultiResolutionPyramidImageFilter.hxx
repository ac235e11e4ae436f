// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveMultiResolutionPyramidImageFilter_hxx
#define itkGPURecursiveMultiResolutionPyramidImageFilter_hxx

#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"

namespace itk
{

/** Requests what the parent requests, but the whole input if a device makes the levels, which it always makes whole. */
template <typename TInputImage, typename TOutputImage>
void
GPURecursiveMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  if (GeneratorType::IsOfKnownTypes)
  {
    const_cast<TInputImage *>(this->GetInput())->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage>
void
GPURecursiveMultiResolutionPyramidImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  GeneratorType generator(*this, m_Engine);
  if (this->IsScheduleDownwardDivisible(this->GetSchedule()))
  {
    generator.GenerateRecursively();
  }
  else
  {
    generator.Generate();
  }
}

} // namespace itk

#endif
