// SPDX-License-Identifier: Apache-2.0
// The metrics of volumes that most programs use, compiled once for all of them: ITK's, and ours; and ITK's B-spline transform.
#ifndef VolumeMetrics_h
#define VolumeMetrics_h

#include "Volume.h"

#include "itkBSplineTransform.h"
#include "itkCudaMattesNMI.h"
#include "itkCudaMeanAbsoluteDifferencesImageToImageMetricv4.h"
#include "itkGPUCorrelationImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"

extern template class itk::ImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::CudaMattesNMI<example::Volume, example::Volume>;
extern template class itk::MeanSquaresImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::GPUMeanSquaresImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::CorrelationImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::GPUCorrelationImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::BSplineInterpolationWeightFunction<double, 3, 3>;
extern template class itk::BSplineBaseTransform<double, 3, 3>;
extern template class itk::BSplineTransform<double, 3, 3>;

#endif
