// SPDX-License-Identifier: Apache-2.0
// A loop over every metric of this module that takes a linear transform.
#ifndef EachMetric_h
#define EachMetric_h

#include "TestMetrics.h"

#include "itkCudaCorrelationRatioMetric.h"
#include "itkCudaPartialVolumeMutualInformationImageToImageMetricv4.h"

namespace gpuregtest
{

/** Calls work(metric, name) with a new metric of each class. */
template <typename TImage, typename TWork>
void
ForEachMetric(const TWork & work)
{
  work(itk::CudaMattesNMI<TImage, TImage>::New(), "CudaMattesNMI");
  const auto mattes = itk::CudaMattesNMI<TImage, TImage>::New();
  mattes->NormalizedOff();
  work(mattes, "CudaMattesNMI, not normalised");
  work(itk::CudaCorrelationRatioMetric<TImage, TImage>::New(), "CudaCorrelationRatioMetric");
  work(itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<TImage, TImage>::New(), "partial volume");
  work(itk::GPUJointHistogramMutualInformationImageToImageMetricv4<TImage, TImage>::New(), "joint histogram");
  work(itk::GPUMeanSquaresImageToImageMetricv4<TImage, TImage>::New(), "mean squares");
  work(itk::GPUCorrelationImageToImageMetricv4<TImage, TImage>::New(), "correlation");
  work(itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<TImage, TImage>::New(), "absolute differences");
  work(itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<TImage, TImage>::New(), "neighborhood correlation");
}

} // namespace gpuregtest

#endif
