// SPDX-License-Identifier: Apache-2.0
#include "BenchmarkMetrics.h"

template class itk::CudaCorrelationRatioMetric<example::Volume, example::Volume>;
template class itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::JointHistogramMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::GPUJointHistogramMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
