// SPDX-License-Identifier: Apache-2.0
// The mean of absolute differences as a metric built from ITK's classes, sample by sample: the reference for CudaMeanAbsoluteDifferences….
#ifndef ReferenceMeanAbsoluteDifferences_h
#define ReferenceMeanAbsoluteDifferences_h

#include "itkImageToImageMetricv4.h"
#include "itkImageToImageMetricv4GetValueAndDerivativeThreader.h"

#include <cmath>

namespace gpuregtest
{

template <typename TDomainPartitioner, typename TMetric>
class AbsoluteDifferencesThreader
  : public itk::ImageToImageMetricv4GetValueAndDerivativeThreader<TDomainPartitioner, TMetric>
{
public:
  using Self = AbsoluteDifferencesThreader;
  using Superclass = itk::ImageToImageMetricv4GetValueAndDerivativeThreader<TDomainPartitioner, TMetric>;
  using Pointer = itk::SmartPointer<Self>;

  itkNewMacro(Self);

protected:
  bool
  ProcessPoint(const typename Superclass::VirtualIndexType &,
               const typename Superclass::VirtualPointType & virtualPoint,
               const typename Superclass::FixedImagePointType &,
               const typename Superclass::FixedImagePixelType & fixedValue,
               const typename Superclass::FixedImageGradientType &,
               const typename Superclass::MovingImagePointType &,
               const typename Superclass::MovingImagePixelType &    movingValue,
               const typename Superclass::MovingImageGradientType & movingGradient,
               typename Superclass::MeasureType &                   value,
               typename Superclass::DerivativeType &                derivative,
               const itk::ThreadIdType                              threadId) const override
  {
    const double difference = static_cast<double>(fixedValue) - static_cast<double>(movingValue);
    value = std::abs(difference);
    if (!this->GetComputeDerivative())
    {
      return true;
    }
    const double sign = difference > 0 ? 1.0 : difference < 0 ? -1.0 : 0.0;
    auto &       jacobian = this->m_GetValueAndDerivativePerThreadVariables[threadId].MovingTransformJacobian;
    auto & positional = this->m_GetValueAndDerivativePerThreadVariables[threadId].MovingTransformJacobianPositional;
    this->m_Associate->GetMovingTransform()->ComputeJacobianWithRespectToParametersCachedTemporaries(virtualPoint,
                                                                                                     jacobian,
                                                                                                     positional);
    for (unsigned int p = 0; p < this->GetCachedNumberOfLocalParameters(); ++p)
    {
      derivative[p] = 0;
      for (unsigned int d = 0; d < TMetric::MovingImageDimension; ++d)
      {
        derivative[p] += sign * jacobian(d, p) * movingGradient[d];
      }
    }
    return true;
  }
};

template <typename TImage>
class ReferenceMeanAbsoluteDifferences : public itk::ImageToImageMetricv4<TImage, TImage>
{
public:
  using Self = ReferenceMeanAbsoluteDifferences;
  using Superclass = itk::ImageToImageMetricv4<TImage, TImage>;
  using Pointer = itk::SmartPointer<Self>;

  itkNewMacro(Self);

protected:
  ReferenceMeanAbsoluteDifferences()
  {
    this->m_DenseGetValueAndDerivativeThreader =
      AbsoluteDifferencesThreader<itk::ThreadedImageRegionPartitioner<TImage::ImageDimension>, Superclass>::New();
    this->m_SparseGetValueAndDerivativeThreader =
      AbsoluteDifferencesThreader<itk::ThreadedIndexedContainerPartitioner, Superclass>::New();
  }
};

} // namespace gpuregtest

#endif
