// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPURecursiveGaussianImageFilter_hxx
#define itkGPURecursiveGaussianImageFilter_hxx

#include "itkGPURecursiveGaussianImageFilter.h"

namespace itk
{

template <typename TInputImage, typename TOutputImage>
void
GPURecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  // makes the parent's checks, and computes its coefficients
  this->BeforeThreadedGenerateData();
  const TInputImage & input = *this->GetInput();
  TOutputImage &      output = *this->GetOutput();
  const auto          region = output.GetRequestedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  const auto threads = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  m_Engine.Run([&](gpureg::VolumeFilter & filter) {
    filter.SetVolume(GPUVolume::MakeInput(input, region, Precision), threads);
    GPURegistrationDetail::ReportProgress(*this, 0.3f);
    filter.ApplyGaussian(static_cast<int>(this->GetDirection()),
                         { { this->m_N0, this->m_N1, this->m_N2, this->m_N3 },
                           { this->m_D1, this->m_D2, this->m_D3, this->m_D4 },
                           { this->m_M1, this->m_M2, this->m_M3, this->m_M4 } });
    GPURegistrationDetail::ReportProgress(*this, 0.6f);
    m_Engine.WriteOutputInPlace(filter, Precision, input, output, threads);
    GPURegistrationDetail::ReportProgress(*this, 1.0f);
  });
}

} // namespace itk

#endif
