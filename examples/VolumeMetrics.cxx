// SPDX-License-Identifier: Apache-2.0
#include "VolumeMetrics.h"

template class itk::ImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::MattesMutualInformationImageToImageMetricv4<example::Volume, example::Volume>;
template class itk::CudaMattesNMI<example::Volume, example::Volume>;
