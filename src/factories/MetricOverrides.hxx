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

#include <type_traits>

namespace gpuregfactories
{

/** Puts TOurs into the place of TTheirs, for images of a pixel type and an internal type. */
template <template <typename, typename, typename, typename, typename> class TTheirs,
          template <typename, typename, typename, typename, typename>
          class TOurs,
          typename TPixel,
          typename TInternal,
          unsigned int VDimension>
void
OverrideMetricOf(itk::GPURegistrationFactory & factory)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using TraitsType = itk::DefaultImageToImageMetricTraitsv4<ImageType, ImageType, ImageType, TInternal>;
  factory.Override<TTheirs<ImageType, ImageType, ImageType, TInternal, TraitsType>,
                   TOurs<ImageType, ImageType, ImageType, TInternal, TraitsType>>();
}

template <template <typename, typename, typename, typename, typename> class TTheirs,
          template <typename, typename, typename, typename, typename>
          class TOurs,
          typename TInternal,
          unsigned int VDimension>
void
OverrideMetric(itk::GPURegistrationFactory & factory)
{
  OverrideMetricOf<TTheirs, TOurs, float, TInternal, VDimension>(factory);
  if constexpr (std::is_same<TInternal, double>::value)
  {
    OverrideMetricOf<TTheirs, TOurs, double, TInternal, VDimension>(factory);
  }
}

template <typename TInternal, unsigned int VDimension>
void
MetricOverrides<TInternal, VDimension>::AddANTSNeighborhoodCorrelation(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4,
                 itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4,
                 TInternal,
                 VDimension>(factory);
}

template <typename TInternal, unsigned int VDimension>
void
MetricOverrides<TInternal, VDimension>::AddCorrelation(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::CorrelationImageToImageMetricv4, itk::GPUCorrelationImageToImageMetricv4, TInternal, VDimension>(
    factory);
}

template <typename TInternal, unsigned int VDimension>
void
MetricOverrides<TInternal, VDimension>::AddDemons(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::DemonsImageToImageMetricv4, itk::GPUDemonsImageToImageMetricv4, TInternal, VDimension>(factory);
}

template <typename TInternal, unsigned int VDimension>
void
MetricOverrides<TInternal, VDimension>::AddJointHistogram(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::JointHistogramMutualInformationImageToImageMetricv4,
                 itk::GPUJointHistogramMutualInformationImageToImageMetricv4,
                 TInternal,
                 VDimension>(factory);
}

template <typename TInternal, unsigned int VDimension>
void
MetricOverrides<TInternal, VDimension>::AddMattes(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::MattesMutualInformationImageToImageMetricv4, itk::CudaMattesNMI, TInternal, VDimension>(factory);
}

template <typename TInternal, unsigned int VDimension>
void
MetricOverrides<TInternal, VDimension>::AddMeanSquares(itk::GPURegistrationFactory & factory)
{
  OverrideMetric<itk::MeanSquaresImageToImageMetricv4, itk::GPUMeanSquaresImageToImageMetricv4, TInternal, VDimension>(
    factory);
}

} // namespace gpuregfactories

#endif
