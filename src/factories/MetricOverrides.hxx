// SPDX-License-Identifier: Apache-2.0
#ifndef MetricOverrides_hxx
#define MetricOverrides_hxx

#include "MetricOverrides.h"

#include "itkCudaMattesNMI.h"
#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUDemonsImageToImageMetricv4.h"
#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"

#include "itkImage.h"

namespace gpuregfactories
{

/** Puts TOurs into the place of TTheirs, for images of a pixel type, computed in double. */
template <template <typename, typename, typename, typename, typename> class TTheirs,
          template <typename, typename, typename, typename, typename>
          class TOurs,
          typename TPixel,
          unsigned int VDimension>
void
OverrideMetricOf(itk::GPURegistrationFactory & factory)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using TraitsType = itk::DefaultImageToImageMetricTraitsv4<ImageType, ImageType, ImageType, double>;
  factory.Override<TTheirs<ImageType, ImageType, ImageType, double, TraitsType>,
                   TOurs<ImageType, ImageType, ImageType, double, TraitsType>>();
}

template <template <typename, typename, typename, typename, typename> class TTheirs,
          template <typename, typename, typename, typename, typename>
          class TOurs,
          unsigned int VDimension>
void
OverrideMetric(itk::GPURegistrationFactory & factory)
{
  OverrideMetricOf<TTheirs, TOurs, float, VDimension>(factory);
  OverrideMetricOf<TTheirs, TOurs, double, VDimension>(factory);
}

template <unsigned int VDimension>
void
MetricOverrides<VDimension>::AddANTSNeighborhoodCorrelation(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4,
                 itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4,
                 VDimension>(factory);
}

template <unsigned int VDimension>
void
MetricOverrides<VDimension>::AddCorrelation(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::CorrelationImageToImageMetricv4, itk::GPUCorrelationImageToImageMetricv4, VDimension>(factory);
}

template <unsigned int VDimension>
void
MetricOverrides<VDimension>::AddDemons(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::DemonsImageToImageMetricv4, itk::GPUDemonsImageToImageMetricv4, VDimension>(factory);
}

template <unsigned int VDimension>
void
MetricOverrides<VDimension>::AddJointHistogram(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::JointHistogramMutualInformationImageToImageMetricv4,
                 itk::GPUJointHistogramMutualInformationImageToImageMetricv4,
                 VDimension>(factory);
}

template <unsigned int VDimension>
void
MetricOverrides<VDimension>::AddMattes(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::MattesMutualInformationImageToImageMetricv4, itk::CudaMattesNMI, VDimension>(factory);
}

template <unsigned int VDimension>
void
MetricOverrides<VDimension>::AddMeanSquares(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::MeanSquaresImageToImageMetricv4, itk::GPUMeanSquaresImageToImageMetricv4, VDimension>(factory);
}

} // namespace gpuregfactories

#endif
