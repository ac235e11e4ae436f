// SPDX-License-Identifier: Apache-2.0
// Computes the weights of a recursive Gaussian by itk::RecursiveGaussianImageFilter.
#ifndef itkGPUGaussianWeights_h
#define itkGPUGaussianWeights_h

#include "gpureg/filter/RecursiveGaussian.h"

#include "itkImage.h"
#include "itkRecursiveGaussianImageFilter.h"

namespace itk
{
namespace GPURegistrationDetail
{

class GaussianWeights : public RecursiveGaussianImageFilter<Image<float, 2>>
{
public:
  using Self = GaussianWeights;
  using Superclass = RecursiveGaussianImageFilter<Image<float, 2>>;
  using Pointer = SmartPointer<Self>;
  itkSimpleNewMacro(Self);

  /** Returns the weights of ITK's recursive Gaussian.
   *  \param order the order of the derivative.
   *  \param sigma the standard deviation, in the unit of spacing.
   *  \param normalizesAcrossScale true to normalise across scale, as ITK's filter does.
   *  \param spacing the spacing of the axis.
   *  \throws ExceptionObject if the spacing is 0. */
  static gpureg::RecursiveGaussian
  Compute(GaussianOrderEnum order, double sigma, bool normalizesAcrossScale, double spacing)
  {
    const auto filter = Self::New();
    filter->SetOrder(order);
    filter->SetSigma(sigma);
    filter->SetNormalizeAcrossScale(normalizesAcrossScale);
    filter->SetUp(spacing);
    return { { filter->m_N0, filter->m_N1, filter->m_N2, filter->m_N3 },
             { filter->m_D1, filter->m_D2, filter->m_D3, filter->m_D4 },
             { filter->m_M1, filter->m_M2, filter->m_M3, filter->m_M4 } };
  }
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
