// SPDX-License-Identifier: Apache-2.0
// The metrics that several benchmarks use, and no example, compiled once for all of them; see VolumeMetrics.h.
#ifndef BenchmarkMetrics_h
#define BenchmarkMetrics_h

#include "VolumeMetrics.h"

#include "itkCudaCorrelationRatioMetric.h"
#include "itkCudaPartialVolumeMutualInformationImageToImageMetricv4.h"
#include "itkGPUJointHistogramMutualInformationImageToImageMetricv4.h"

namespace bench
{

/** A two-dimensional image. */
using Slice = itk::Image<float, 2>;

} // namespace bench

extern template class itk::CudaCorrelationRatioMetric<example::Volume, example::Volume>;
extern template class itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::JointHistogramMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::GPUJointHistogramMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;

extern template class itk::ImageToImageMetricv4<bench::Slice, bench::Slice>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<bench::Slice, bench::Slice>;
extern template class itk::CudaMattesNMI<bench::Slice, bench::Slice>;

#endif
