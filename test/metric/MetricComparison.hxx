// SPDX-License-Identifier: Apache-2.0
// Evaluates our metric of a MetricCase and the one it is compared with.
#ifndef MetricComparison_hxx
#define MetricComparison_hxx

#include "MetricSetUp.h"
#include "ReferenceMeanAbsoluteDifferences.h"
#include "TestMetrics.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

/** Evaluates TOurs. Failures name the device. */
template <typename TOurs, typename TSetUp>
DeviceAnswer
AskOnDevice(const TSetUp & setUp, const std::string & deviceName)
{
  try
  {
    const auto ours = TOurs::New();
    if constexpr (std::is_base_of<itk::MattesMutualInformationImageToImageMetricv4<typename TOurs::FixedImageType,
                                                                                   typename TOurs::MovingImageType>,
                                  TOurs>::value)
    {
      ours->NormalizedOff();
    }
    ours->SetDevice(itk::GPUDevice::FromName(deviceName));
    DeviceAnswer answer;
    answer.device = deviceName;
    answer.ours = setUp.Evaluate(*ours);
    answer.isOnDevice = ours->GetEvaluationStatistics().launches > 0;
    return answer;
  }
  catch (const std::exception & error)
  {
    throw std::runtime_error("on " + deviceName + ": " + error.what());
  }
}

/** Evaluates TTheirs, and TOurs on each device. \tparam TTheirsInDoubles ITK's metric of images of doubles. */
template <typename TOurs, typename TTheirs, typename TTheirsInDoubles, typename TSetUp>
MetricComparison
CompareMetrics(TSetUp & setUp, const std::vector<std::string> & deviceNames)
{
  MetricComparison comparison;
  comparison.isFlat = setUp.IsFlat();
  comparison.isNearEdge = setUp.IsNearEdge();
  if (comparison.isFlat || comparison.isNearEdge)
  {
    return comparison;
  }
  comparison.samples = setUp.GetNumberOfSamples();
  comparison.itk = setUp.Evaluate(*TTheirs::New());
  for (const std::string & name : deviceNames)
  {
    comparison.devices.push_back(AskOnDevice<TOurs>(setUp, name));
  }
  // This needs some more evaluations of ITK's metric, so it is done only if one of the devices differs.
  const auto isAside = [&comparison](const DeviceAnswer & answer) {
    return GetRelativeError(answer.ours.derivative, comparison.itk.derivative) > 1e-5 ||
           std::abs(answer.ours.value - comparison.itk.value) > 1e-6 * std::abs(comparison.itk.value);
  };
  if (std::any_of(comparison.devices.begin(), comparison.devices.end(), isAside))
  {
    if (setUp.RoundsToFloat())
    {
      typename TSetUp::InDoubles inDoubles(setUp);
      comparison.itk = inDoubles.Evaluate(*TTheirsInDoubles::New());
      comparison.isInDoubles = true;
      comparison.sensitivity = inDoubles.template ComputeSensitivity<TTheirsInDoubles>(comparison.itk);
    }
    else
    {
      comparison.sensitivity = setUp.template ComputeSensitivity<TTheirs>(comparison.itk);
    }
  }
  return comparison;
}

template <typename TPixel, unsigned int VDimension>
MetricComparison
CompareImages(const MetricCase & c, const std::vector<std::string> & deviceNames)
{
  using Image = TestImage<TPixel, VDimension>;
  using Doubles = TestImage<double, VDimension>;
  MetricSetUp<TPixel, VDimension> setUp(c);
  switch (c.measure)
  {
    case Measure::MeanSquares:
      return CompareMetrics<itk::GPUMeanSquaresImageToImageMetricv4<Image, Image>,
                            itk::MeanSquaresImageToImageMetricv4<Image, Image>,
                            itk::MeanSquaresImageToImageMetricv4<Doubles, Doubles>>(setUp, deviceNames);
    case Measure::Correlation:
      return CompareMetrics<itk::GPUCorrelationImageToImageMetricv4<Image, Image>,
                            itk::CorrelationImageToImageMetricv4<Image, Image>,
                            itk::CorrelationImageToImageMetricv4<Doubles, Doubles>>(setUp, deviceNames);
    case Measure::Demons:
      return CompareMetrics<itk::GPUDemonsImageToImageMetricv4<Image, Image>,
                            itk::DemonsImageToImageMetricv4<Image, Image>,
                            itk::DemonsImageToImageMetricv4<Doubles, Doubles>>(setUp, deviceNames);
    case Measure::MeanAbsoluteDifferences:
      return CompareMetrics<itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<Image, Image>,
                            ReferenceMeanAbsoluteDifferences<Image>,
                            ReferenceMeanAbsoluteDifferences<Doubles>>(setUp, deviceNames);
    case Measure::NeighborhoodCorrelation:
      return CompareMetrics<itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<Image, Image>,
                            itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<Image, Image>,
                            itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<Doubles, Doubles>>(setUp, deviceNames);
    case Measure::JointHistogram:
      return CompareMetrics<itk::GPUJointHistogramMutualInformationImageToImageMetricv4<Image, Image>,
                            itk::JointHistogramMutualInformationImageToImageMetricv4<Image, Image>,
                            itk::JointHistogramMutualInformationImageToImageMetricv4<Doubles, Doubles>>(setUp,
                                                                                                        deviceNames);
    default:
      return CompareMetrics<OurMetric<TPixel, VDimension>,
                            ItkMetric<TPixel, VDimension>,
                            ItkMetric<double, VDimension>>(setUp, deviceNames);
  }
}

template <unsigned int VDimension>
MetricComparison
Compare(const MetricCase & c, const std::vector<std::string> & deviceNames)
{
  return c.doublePixels ? CompareImages<double, VDimension>(c, deviceNames)
                        : CompareImages<float, VDimension>(c, deviceNames);
}

} // namespace gpuregtest

#endif
