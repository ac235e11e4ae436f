// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMeanSquaresImageToImageMetricv4_hxx
#define itkGPUMeanSquaresImageToImageMetricv4_hxx

#include "itkGPUMeanSquaresImageToImageMetricv4.h"

#define itkGPUMeanSquaresClass                                      \
  GPUMeanSquaresImageToImageMetricv4<TFixedImage,                   \
                                     TMovingImage,                  \
                                     TVirtualImage,                 \
                                     TInternalComputationValueType, \
                                     TMetricTraits>

namespace itk
{

itkGPUMetricTemplate
void
itkGPUMeanSquaresClass::Initialize()
{
  m_Face.Initialize([this] { Superclass::Initialize(); });
}

itkGPUMetricTemplate
void
itkGPUMeanSquaresClass::GetValueAndDerivativeExecute() const
{
  m_Face.Evaluate(
    [this](const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) {
      const double unit = scales.unit;
      const_cast<Self *>(this)->m_Value =
        static_cast<typename Superclass::MeasureType>(result.differences / result.count * unit * unit);
      return -0.5 * m_Face.GetMeanDivisor(result) / (unit * unit);
    },
    [this] { Superclass::GetValueAndDerivativeExecute(); });
}

itkGPUMetricTemplate
void
itkGPUMeanSquaresClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Face.Print(os, indent);
}

} // namespace itk

#undef itkGPUMeanSquaresClass

#endif
