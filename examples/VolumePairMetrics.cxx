// SPDX-License-Identifier: Apache-2.0
#include "VolumeMetrics.h"

template class itk::MeanSquaresImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::GPUMeanSquaresImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::CorrelationImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::GPUCorrelationImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<example::Volume, example::Volume>;
