// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUMetricWorkUnits_h
#define itkGPUMetricWorkUnits_h

#include "itkImageToImageMetricv4GetValueAndDerivativeThreader.h"

namespace itk
{
namespace GPURegistrationDetail
{

/** Holds the number of work units, which itk::ImageToImageMetricv4 keeps in its threaders, for a metric whose parent has no threaders.
 *  The threader goes through no samples: the metric's own GetValueAndDerivativeExecute() does. */
template <typename TDomainPartitioner, typename TMetric>
class MetricWorkUnits : public ImageToImageMetricv4GetValueAndDerivativeThreader<TDomainPartitioner, TMetric>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(MetricWorkUnits);

  using Self = MetricWorkUnits;
  using Superclass = ImageToImageMetricv4GetValueAndDerivativeThreader<TDomainPartitioner, TMetric>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkTypeMacro(MetricWorkUnits, ImageToImageMetricv4GetValueAndDerivativeThreader);
  itkNewMacro(Self);

protected:
  MetricWorkUnits() = default;
  ~MetricWorkUnits() override = default;

  bool
  ProcessPoint(const typename Superclass::VirtualIndexType &,
               const typename Superclass::VirtualPointType &,
               const typename Superclass::FixedImagePointType &,
               const typename Superclass::FixedImagePixelType &,
               const typename Superclass::FixedImageGradientType &,
               const typename Superclass::MovingImagePointType &,
               const typename Superclass::MovingImagePixelType &,
               const typename Superclass::MovingImageGradientType &,
               typename Superclass::MeasureType &,
               typename Superclass::DerivativeType &,
               const ThreadIdType) const override
  {
    itkExceptionMacro("A metric of this module goes through its samples itself.");
  }
};

/** Makes both threaders of a metric, the dense and the sparse one. */
template <typename TDense, typename TSparse, typename TMetric>
void
MakeWorkUnits(SmartPointer<ImageToImageMetricv4GetValueAndDerivativeThreader<TDense, TMetric>> &  dense,
              SmartPointer<ImageToImageMetricv4GetValueAndDerivativeThreader<TSparse, TMetric>> & sparse)
{
  dense = MetricWorkUnits<TDense, TMetric>::New();
  sparse = MetricWorkUnits<TSparse, TMetric>::New();
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
