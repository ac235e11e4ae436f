// SPDX-License-Identifier: Apache-2.0
// The metrics of volumes that most programs have, compiled once for all of them.
#ifndef VolumeMetrics_h
#define VolumeMetrics_h

#include "Volume.h"

#include "itkCudaMattesNMI.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"

#ifndef VolumeMetrics_instantiated
extern template class itk::ImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::MattesMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
extern template class itk::CudaMattesNMI<example::Volume, example::Volume>;
#endif

#endif
