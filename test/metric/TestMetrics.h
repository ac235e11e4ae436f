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

// Lists the classes of a dimension: the base class of all metrics, Mattes' metric and ours, which most tests use, also for double pixels,
// and each other metric with ITK's that it overrides. A template cannot list explicit instantiations.
#define GPUREG_TEST_METRICS_OF(instance, TPixel, D)                                                        \
  instance itk::ImageToImageMetricv4<itk::Image<TPixel, D>, itk::Image<TPixel, D>>;                        \
  instance itk::MattesMutualInformationImageToImageMetricv4<itk::Image<TPixel, D>, itk::Image<TPixel, D>>; \
  instance itk::CudaMattesNMI<itk::Image<TPixel, D>, itk::Image<TPixel, D>>
#define GPUREG_TEST_METRICS(instance, D)                                                                            \
  GPUREG_TEST_METRICS_OF(instance, double, D);                                                                      \
  GPUREG_TEST_METRICS_OF(instance, float, D);                                                                       \
  instance itk::MeanSquaresImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;                        \
  instance itk::CorrelationImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;                        \
  instance itk::DemonsImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;                             \
  instance itk::JointHistogramMutualInformationImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;    \
  instance itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;        \
  instance itk::GPUMeanSquaresImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;                     \
  instance itk::GPUCorrelationImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;                     \
  instance itk::GPUDemonsImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;                          \
  instance itk::GPUJointHistogramMutualInformationImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>; \
  instance itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>;     \
  instance itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<itk::Image<float, D>, itk::Image<float, D>>

#ifndef GPUREG_TEST_INSTANTIATES_METRICS
GPUREG_TEST_METRICS(extern template class, 2);
GPUREG_TEST_METRICS(extern template class, 3);
#endif

#endif
