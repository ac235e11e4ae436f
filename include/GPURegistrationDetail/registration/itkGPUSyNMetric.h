// SPDX-License-Identifier: Apache-2.0
// Says which of ITK's image metrics SyN computes on a device, and with which settings.
#ifndef itkGPUSyNMetric_h
#define itkGPUSyNMetric_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPUMaskVoxels.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "itkCudaCorrelationRatioMetric.h"
#include "itkCudaMattesNMI.h"
#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkGPUDemonsImageToImageMetricv4.h"
#include "itkGPUMeanSquaresImageToImageMetricv4.h"
#include "itkGPURegistrationFactory.h"

#include "gpureg/metric/Similarity.h"

#include "itkLinearInterpolateImageFunction.h"
#include "itkObjectToObjectMetricBase.h"

#include <algorithm>
#include <string>

namespace itk
{
namespace GPURegistrationDetail
{

/** Reads the settings of an image metric for SyN.
 *  \tparam TFixedImage, TMovingImage, TVirtualImage, TReal the parameters of the metric's class. */
template <typename TFixedImage, typename TMovingImage, typename TVirtualImage, typename TReal>
class SyNMetric
{
public:
  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  using MetricType = ImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using MaskType = SpatialObject<ImageDimension>;

  /** \param metric the metric, which must outlive this object. */
  explicit SyNMetric(MetricType & metric)
    : m_Metric(metric)
  {}

  /** Returns a sentence on what the device does not compute; an empty text if it computes the metric. */
  std::string
  FindUnsupportedFeature() const
  {
    if (!this->IsKnown())
    {
      return this->Name() + " is none of those that a device computes for SyN.";
    }
    const auto * const correlation = dynamic_cast<const CorrelationType *>(&m_Metric);
    if (correlation != nullptr && !this->HasOneRadius(*correlation))
    {
      return this->Name() + " has a radius that differs from axis to axis.";
    }
    if (m_Metric.GetUseFixedImageGradientFilter() || m_Metric.GetUseMovingImageGradientFilter())
    {
      return this->Name() + " filters gradients: a device takes central differences (SetUseFixedImageGradientFilter, "
                            "SetUseMovingImageGradientFilter).";
    }
    const auto * const ratio = dynamic_cast<const CorrelationRatioType *>(&m_Metric);
    if (ratio != nullptr && ratio->GetBorderWeightDistance() != 0)
    {
      return this->Name() + " weighs samples near the border (SetBorderWeightDistance): a device weighs all alike.";
    }
    const auto * const demons = dynamic_cast<const DemonsType *>(&m_Metric);
    if (demons != nullptr && !this->HasTermsOfITK(*demons))
    {
      return this->Name() + " has other thresholds than ITK's default.";
    }
    const bool isOfFixed = demons != nullptr;
    if (m_Metric.GetUseSampledPointSet() || m_Metric.GetGradientSourceIncludesFixed() != isOfFixed ||
        m_Metric.GetGradientSourceIncludesMoving() == isOfFixed ||
        !IsExactly<typename MetricType::DefaultMovingImageGradientCalculator>(
          m_Metric.GetModifiableMovingImageGradientCalculator()) ||
        !IsExactly<typename MetricType::DefaultFixedImageGradientCalculator>(
          m_Metric.GetModifiableFixedImageGradientCalculator()))
    {
      return this->Name() + " has sampled points, or gradients of another source than ITK's default.";
    }
    if (!IsExactly<LinearInterpolateImageFunction<TFixedImage, typename MetricType::CoordinateRepresentationType>>(
          m_Metric.GetModifiableFixedInterpolator()) ||
        !IsExactly<LinearInterpolateImageFunction<TMovingImage, typename MetricType::CoordinateRepresentationType>>(
          m_Metric.GetModifiableMovingInterpolator()))
    {
      return this->Name() + " has an interpolator that is not linear.";
    }
    return "";
  }

  /** Returns a sentence on why a device cannot use a mask of an image; an empty text if it can, or there is no mask. */
  static std::string
  FindUnsupportedFeature(const MaskType * mask, const ImageBase<ImageDimension> & image)
  {
    if (mask == nullptr)
    {
      return "";
    }
    // ITK looks at the mask's image alone.
    const auto * const plain = FindPlainMask(mask);
    if (plain == nullptr || plain->GetImage() == nullptr)
    {
      return "A mask is no ImageMaskSpatialObject of all values but 0.";
    }
    if (!GPURegistrationGeometry::HaveSameGrid<ImageDimension>(*plain->GetImage(), image) ||
        FindMaskVoxels(image, mask) == nullptr)
    {
      return "A mask has other voxels than its image.";
    }
    return "";
  }

  /** Returns the similarity's settings, of a metric of which the device lacks nothing. */
  gpureg::SimilaritySettings
  GetSettings() const
  {
    gpureg::SimilaritySettings settings{ gpureg::SimilarityKind::MeanSquares, 32, 2 };
    if (const auto * const mattes = dynamic_cast<const MattesType *>(&m_Metric))
    {
      settings.kind = this->IsNormalized() ? gpureg::SimilarityKind::NormalizedMutualInformation
                                           : gpureg::SimilarityKind::MattesMutualInformation;
      settings.bins = static_cast<int>(std::min<SizeValueType>(mattes->GetNumberOfHistogramBins(), LargestCount));
    }
    else if (const auto * const ratio = dynamic_cast<const CorrelationRatioType *>(&m_Metric))
    {
      settings.kind = gpureg::SimilarityKind::CorrelationRatio;
      settings.bins = static_cast<int>(std::min<SizeValueType>(ratio->GetNumberOfHistogramBins(), LargestCount));
    }
    else if (const auto * const correlation = dynamic_cast<const CorrelationType *>(&m_Metric))
    {
      settings.kind = gpureg::SimilarityKind::NeighborhoodCorrelation;
      settings.radius = static_cast<int>(std::min<SizeValueType>(correlation->GetRadius()[0], LargestCount));
    }
    else if (dynamic_cast<const DemonsType *>(&m_Metric) != nullptr)
    {
      settings.kind = gpureg::SimilarityKind::Demons;
    }
    return settings;
  }

private:
  using MeanSquaresType = MeanSquaresImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using OurMeanSquaresType = GPUMeanSquaresImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using MattesType = MattesMutualInformationImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using OurMattesType = CudaMattesNMI<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using CorrelationRatioType = CudaCorrelationRatioMetric<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using CorrelationType =
    ANTSNeighborhoodCorrelationImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using OurCorrelationType =
    GPUANTSNeighborhoodCorrelationImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;

  using DemonsType = DemonsImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;
  using OurDemonsType = GPUDemonsImageToImageMetricv4<TFixedImage, TMovingImage, TVirtualImage, TReal>;

  // More is out of the engine's range.
  static constexpr SizeValueType LargestCount = 1 << 20;

  bool
  IsKnown() const
  {
    return IsExactlyOneOf<MeanSquaresType,
                          OurMeanSquaresType,
                          GPUOverride<MeanSquaresType, OurMeanSquaresType>,
                          CorrelationType,
                          OurCorrelationType,
                          GPUOverride<CorrelationType, OurCorrelationType>,
                          DemonsType,
                          OurDemonsType,
                          GPUOverride<DemonsType, OurDemonsType>,
                          MattesType,
                          OurMattesType,
                          GPUOverride<MattesType, OurMattesType>,
                          CorrelationRatioType>(&m_Metric);
  }

  bool
  IsNormalized() const
  {
    const auto * const ours = dynamic_cast<const OurMattesType *>(&m_Metric);
    return ours != nullptr && ours->GetNormalized();
  }

  static bool
  HasOneRadius(const CorrelationType & correlation)
  {
    const auto radius = correlation.GetRadius();
    return std::all_of(radius.begin(), radius.end(), [&radius](SizeValueType r) { return r == radius[0]; });
  }

  static bool
  HasTermsOfITK(const DemonsType & demons)
  {
    return static_cast<double>(demons.GetIntensityDifferenceThreshold()) ==
             static_cast<double>(static_cast<TReal>(0.001)) &&
           static_cast<double>(demons.GetDenominatorThreshold()) == static_cast<double>(static_cast<TReal>(1e-9));
  }

  std::string
  Name() const
  {
    return std::string("The metric ") + m_Metric.GetNameOfClass();
  }

  MetricType & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
