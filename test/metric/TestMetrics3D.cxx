// SPDX-License-Identifier: Apache-2.0
#define GPUREG_TEST_INSTANTIATES_METRICS
#include "TestMetrics.h"

template class itk::ImageToImageMetricv4<itk::Image<float, 3>, itk::Image<float, 3>>;
template class itk::ImageToImageMetricv4<itk::Image<double, 3>, itk::Image<double, 3>>;
template class itk::MattesMutualInformationImageToImageMetricv4<itk::Image<float, 3>, itk::Image<float, 3>>;
template class itk::MattesMutualInformationImageToImageMetricv4<itk::Image<double, 3>, itk::Image<double, 3>>;
template class itk::CudaMattesNMI<itk::Image<float, 3>, itk::Image<float, 3>>;
template class itk::CudaMattesNMI<itk::Image<double, 3>, itk::Image<double, 3>>;
