// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUSmoothingRecursiveGaussianImageFilter_hxx
#define itkGPUSmoothingRecursiveGaussianImageFilter_hxx

#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include "GPURegistrationDetail/filter/itkGPUGaussianWeights.h"

namespace itk
{

template <typename TInputImage, typename TOutputImage>
void
GPUSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  constexpr unsigned int Dimension = TInputImage::ImageDimension;
  const TInputImage &    input = *this->GetInput();
  // makes the parent's checks
  for (unsigned int d = 0; d < Dimension; ++d)
  {
    if (input.GetRequestedRegion().GetSize(d) < 4)
    {
      GPURegistrationDetail::ThrowBadInput(*this,
                                           "The number of pixels along dimension " + std::to_string(d) +
                                             " is less than 4. This filter requires a minimum of four pixels along the "
                                             "dimension to be processed.");
    }
    if (this->GetSigmaArray()[d] <= 0.0)
    {
      GPURegistrationDetail::ThrowBadInput(*this, "Sigma must be greater than zero.");
    }
  }
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  TOutputImage & output = *this->GetOutput();
  const auto     region = output.GetRequestedRegion();
  const auto     threads = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  m_Engine.Run([&](gpureg::VolumeFilter & filter) {
    m_Engine.SetInput(filter, input, region, Precision, threads);
    GPURegistrationDetail::ReportProgress(*this, 0.2f);
    for (unsigned int n = 0; n < Dimension; ++n)
    {
      // The parent smooths along the last axis first.
      const unsigned int axis = n == 0 ? Dimension - 1 : n - 1;
      filter.ApplyGaussian(static_cast<int>(axis),
                           GPURegistrationDetail::GaussianWeights::Compute(GaussianOrderEnum::ZeroOrder,
                                                                           this->GetSigmaArray()[axis],
                                                                           this->GetNormalizeAcrossScale(),
                                                                           input.GetSpacing()[axis]));
      GPURegistrationDetail::ReportProgress(*this,
                                            0.2f + 0.6f * static_cast<float>(n + 1) / static_cast<float>(Dimension));
    }
    m_Engine.WriteOutputInPlace(filter, Precision, input, output, threads);
    m_Engine.LeaveOutput(filter, output, Precision);
    GPURegistrationDetail::ReportProgress(*this, 1.0f);
  });
}

} // namespace itk

#endif
