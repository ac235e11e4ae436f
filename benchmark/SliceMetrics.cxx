// SPDX-License-Identifier: Apache-2.0
#include "BenchmarkMetrics.h"

template class itk::ImageToImageMetricv4<bench::Slice, bench::Slice>;
template class itk::MattesMutualInformationImageToImageMetricv4<bench::Slice, bench::Slice>;
template class itk::CudaMattesNMI<bench::Slice, bench::Slice>;
