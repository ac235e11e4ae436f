// SPDX-License-Identifier: Apache-2.0
// The metrics that most tests use, compiled once for all tests (TestMetrics2D.cxx, TestMetrics3D.cxx).
#ifndef TestMetrics_h
#define TestMetrics_h

#include "itkCudaMattesNMI.h"
#include "itkCudaMeanAbsoluteDifferencesImageToImageMetricv4.h"
#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUDemonsImageToImageMetricv4.h"
#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkImage.h"

namespace gpuregtest
{

template <typename TPixel, unsigned int VDimension>
using TestImage = itk::Image<TPixel, VDimension>;

/** The metric of this module. */
template <typename TPixel, unsigned int VDimension>
using OurMetric = itk::CudaMattesNMI<TestImage<TPixel, VDimension>, TestImage<TPixel, VDimension>>;

/** ITK's metric, with which ours is compared. */
template <typename TPixel, unsigned int VDimension>
using ItkMetric =
  itk::MattesMutualInformationImageToImageMetricv4<TestImage<TPixel, VDimension>, TestImage<TPixel, VDimension>>;

} // namespace gpuregtest

#ifndef GPUREG_TEST_INSTANTIATES_METRICS
// The base class of all metrics, and Mattes' metric and ours, which most tests use.
extern template class itk::ImageToImageMetricv4<itk::Image<float, 2>, itk::Image<float, 2>>;
extern template class itk::ImageToImageMetricv4<itk::Image<double, 2>, itk::Image<double, 2>>;
extern template class itk::ImageToImageMetricv4<itk::Image<float, 3>, itk::Image<float, 3>>;
extern template class itk::ImageToImageMetricv4<itk::Image<double, 3>, itk::Image<double, 3>>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<itk::Image<float, 2>, itk::Image<float, 2>>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<itk::Image<double, 2>, itk::Image<double, 2>>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<itk::Image<float, 3>, itk::Image<float, 3>>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<itk::Image<double, 3>, itk::Image<double, 3>>;
extern template class itk::CudaMattesNMI<itk::Image<float, 2>, itk::Image<float, 2>>;
extern template class itk::CudaMattesNMI<itk::Image<double, 2>, itk::Image<double, 2>>;
extern template class itk::CudaMattesNMI<itk::Image<float, 3>, itk::Image<float, 3>>;
extern template class itk::CudaMattesNMI<itk::Image<double, 3>, itk::Image<double, 3>>;
#endif

#endif
