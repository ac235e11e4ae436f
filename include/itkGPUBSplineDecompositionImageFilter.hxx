// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUBSplineDecompositionImageFilter_hxx
#define itkGPUBSplineDecompositionImageFilter_hxx

#include "itkGPUBSplineDecompositionImageFilter.h"

namespace itk
{

template <typename TInputImage, typename TOutputImage>
void
GPUBSplineDecompositionImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  const TInputImage & input = *this->GetInput();
  TOutputImage &      output = *this->GetOutput();
  const auto          region = output.GetBufferedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  const auto threads = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  m_Engine.Run([&](gpureg::VolumeFilter & filter) {
    filter.SetVolume(GPUVolume::MakeInput(input, region, Precision), threads);
    GPURegistrationDetail::ReportProgress(*this, 0.3f);
    filter.MakeSplineCoefficients(this->GetSplineOrder());
    GPURegistrationDetail::ReportProgress(*this, 0.6f);
    GPUVolume::WriteOutput(filter, Precision, output, region, threads);
    GPURegistrationDetail::ReportProgress(*this, 1.0f);
  });
}

} // namespace itk

#endif
