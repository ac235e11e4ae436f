// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUSmoothingRecursiveGaussianImageFilter_hxx
#define itkGPUSmoothingRecursiveGaussianImageFilter_hxx

#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

namespace itk
{

template <typename TInputImage, typename TOutputImage>
class GPUSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::Coefficients
  : public RecursiveGaussianImageFilter<TInputImage, typename Superclass::RealImageType>
{
public:
  using Self = Coefficients;
  using Pointer = SmartPointer<Self>;
  itkNewMacro(Self);

  gpureg::RecursiveGaussian
  Compute(double spacing)
  {
    this->SetUp(spacing);
    return { { this->m_N0, this->m_N1, this->m_N2, this->m_N3 },
             { this->m_D1, this->m_D2, this->m_D3, this->m_D4 },
             { this->m_M1, this->m_M2, this->m_M3, this->m_M4 } };
  }
};

template <typename TInputImage, typename TOutputImage>
void
GPUSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto onDevice = [this] {
    if constexpr (IsOfKnownTypes)
    {
      this->GenerateDataOnDevice();
    }
  };
  m_Engine.Generate(*this,
                    IsOfKnownTypes,
                    "Images of these types are not smoothed on a device.",
                    "Filter a smaller image.",
                    onDevice,
                    [this] { Superclass::GenerateData(); });
}

template <typename TInputImage, typename TOutputImage>
void
GPUSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  constexpr unsigned int Dimension = TInputImage::ImageDimension;
  const TInputImage &    input = *this->GetInput();
  // The parent's checks.
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
    filter.SetVolume(GPUVolume::MakeInput(input, region, Precision), threads);
    GPURegistrationDetail::ReportProgress(*this, 0.2f);
    const auto coefficients = Coefficients::New();
    for (unsigned int n = 0; n < Dimension; ++n)
    {
      // The parent's order: the last axis comes first.
      const unsigned int axis = n == 0 ? Dimension - 1 : n - 1;
      coefficients->SetSigma(this->GetSigmaArray()[axis]);
      coefficients->SetNormalizeAcrossScale(this->GetNormalizeAcrossScale());
      filter.ApplyGaussian(static_cast<int>(axis), coefficients->Compute(input.GetSpacing()[axis]));
      GPURegistrationDetail::ReportProgress(*this,
                                            0.2f + 0.6f * static_cast<float>(n + 1) / static_cast<float>(Dimension));
    }
    m_Engine.WriteOutputInPlace(filter, Precision, input, output, threads);
    GPURegistrationDetail::ReportProgress(*this, 1.0f);
  });
}

} // namespace itk

#endif
