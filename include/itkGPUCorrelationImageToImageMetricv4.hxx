// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUCorrelationImageToImageMetricv4_hxx
#define itkGPUCorrelationImageToImageMetricv4_hxx

#include "itkGPUCorrelationImageToImageMetricv4.h"

#include <limits>

#define itkGPUCorrelationClass                                      \
  GPUCorrelationImageToImageMetricv4<TFixedImage,                   \
                                     TMovingImage,                  \
                                     TVirtualImage,                 \
                                     TInternalComputationValueType, \
                                     TMetricTraits>

namespace itk
{

itkGPUMetricTemplate
void
itkGPUCorrelationClass::Initialize()
{
  m_Face.Initialize([this] { Superclass::Initialize(); });
}

itkGPUMetricTemplate
void
itkGPUCorrelationClass::InitializeForIteration() const
{
  ImageMetricType::InitializeForIteration();
}

itkGPUMetricTemplate
void
itkGPUCorrelationClass::GetValueAndDerivativeExecute() const
{
  m_Face.Evaluate(
    [this](const gpureg::PairResult & result, const GPURegistrationDetail::MetricScales & scales) {
      const double fixedSquares = result.fixedSquares * scales.fixedUnit * scales.fixedUnit;
      const double movingSquares = result.movingSquares * scales.unit * scales.unit;
      auto &       value = const_cast<Self *>(this)->m_Value;
      // As ITK has it where one of the two does not vary.
      if (!(fixedSquares * movingSquares > NumericTraits<TInternalComputationValueType>::epsilon()))
      {
        value = 0;
        return std::numeric_limits<double>::infinity();
      }
      const double both = result.fixedSquares * result.movingSquares;
      value = static_cast<typename Superclass::MeasureType>(-result.products * result.products / both);
      return result.products != 0.0 ? -0.5 * both / result.products : std::numeric_limits<double>::infinity();
    },
    [this] {
      Superclass::InitializeForIteration();
      Superclass::GetValueAndDerivativeExecute();
    });
}

itkGPUMetricTemplate
void
itkGPUCorrelationClass::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_Face.Print(os, indent);
}

} // namespace itk

#undef itkGPUCorrelationClass

#endif
