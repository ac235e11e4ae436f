// SPDX-License-Identifier: Apache-2.0
// Describes a metric's moving image to its engine.
#ifndef itkGPUMetricMovingImage_h
#define itkGPUMetricMovingImage_h

#include "GPURegistrationDetail/core/itkGPUMaskVoxels.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/metric/itkGPUBinEdges.h"
#include "GPURegistrationDetail/metric/itkGPUMetricImages.h"
#include "GPURegistrationDetail/metric/itkGPUMetricScales.h"

#include "gpureg/metric/Metric.h"

#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** Writes a scalar image's values for the engine: (v - minimum)/unit, or v - minimum in double precision. */
template <typename TImage>
gpureg::Filler
MakeValueFiller(const TImage * image, gpureg::Precision precision, double minimum, double unit)
{
  const auto * const buffer = image->GetBufferPointer();
  if (precision == gpureg::Precision::Double)
  {
    return [buffer, minimum](std::int64_t first, std::int64_t count, void * out) {
      std::transform(buffer + first, buffer + first + count, static_cast<double *>(out), [minimum](auto value) {
        return static_cast<double>(value) - minimum;
      });
    };
  }
  return [buffer, minimum, unit](std::int64_t first, std::int64_t count, void * out) {
    auto * const values = static_cast<float *>(out);
    for (std::int64_t i = 0; i < count; ++i)
    {
      values[i] = static_cast<float>((buffer[first + i] - minimum) / unit);
    }
  };
}

/** Writes the bin of each voxel. */
template <typename TImage>
gpureg::Filler
MakeBinFiller(const TImage * image, const MetricScales & scales)
{
  const auto * const buffer = image->GetBufferPointer();
  return [buffer, scales](std::int64_t first, std::int64_t count, void * out) {
    std::transform(buffer + first, buffer + first + count, static_cast<std::uint8_t *>(out), [&scales](auto value) {
      return static_cast<std::uint8_t>(
        ComputeBinBetween(static_cast<double>(value), scales.minimum, scales.maximum, scales.bins));
    });
  };
}

/** Describes the moving image of a metric to its engine. The metric names this class a friend. */
template <typename TMetric>
class MetricMovingImage
{
public:
  MetricMovingImage(const TMetric & metric, const MetricImages<TMetric> & images, const MetricScales & scales)
    : m_Metric(metric)
    , m_Images(images)
    , m_Scales(scales)
  {}

  /** Returns the description of the moving image for the engine.
   *  \param loaded the image on the device from which values may be taken, or null.
   *  \param precision the precision in which values are stored.
   *  \param gradient how the device computes the gradient, if it does. Otherwise ITK's gradient image exists, if the metric uses one.
   *  \param mayLeaveRange true if the voxels may have changed since their range was computed. */
  gpureg::MovingImage
  Make(const gpureg::LoadedImage *                     loaded,
       gpureg::Precision                               precision,
       const std::optional<gpureg::GaussianGradient> & gradient,
       bool                                            mayLeaveRange) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const MovingImageType & image = *m_Metric.m_MovingImage;
    const double            minimum = m_Scales.minimum;
    const double            unit = m_Scales.unit;
    gpureg::MovingImage     side;
    side.size = Geometry::SizeOf<ImageDimension>(image.GetBufferedRegion().GetSize());
    side.precision = precision;
    side.image = loaded;
    if (loaded == nullptr)
    {
      side.values = MakeValueFiller(&image, side.precision, minimum, unit);
    }
    if (m_Scales.bins > 0)
    {
      this->SetBins(side);
    }

    if (IsExactly<NearestNeighborInterpolateImageFunction<MovingImageType, CoordinateType>>(
          m_Metric.m_MovingInterpolator))
    {
      side.splineOrder = 0;
    }
    VisitSplineInterpolator(m_Metric.m_MovingInterpolator.GetPointer(), [&](const auto & interpolator) {
      using InterpolatorType = std::decay_t<decltype(interpolator)>;
      side.splineOrder = static_cast<int>(interpolator.GetSplineOrder());
      if (side.splineOrder > 1)
      {
        side.coefficients = MakeValueFiller(BSplineAccess<InterpolatorType>::GetCoefficients(interpolator),
                                            side.precision,
                                            minimum,
                                            unit);
      }
    });
    side.unit = unit;
    side.scale.minimum = minimum;
    side.scale.range = side.scale.largest = m_Scales.maximum - minimum;
    side.scale.roundsToFloat = RoundsToFloat;
    if (m_Metric.GetGradientSourceIncludesMoving())
    {
      this->SetGradient(side, gradient);
    }
    this->SetMask(side);
    if (m_Scales.checksRange)
    {
      this->SetRangeCheck(side, mayLeaveRange);
    }
    return side;
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using CoordinateType = typename TMetric::Superclass::CoordinateRepresentationType;
  using MovingImageType = typename TMetric::MovingImageType;

  static constexpr bool RoundsToFloat = std::is_same<typename MovingImageType::PixelType, float>::value;

  void
  SetBins(gpureg::MovingImage & side) const
  {
    using PixelType = typename MovingImageType::PixelType;
    if constexpr (IsLoadable<MovingImageType>)
    {
      if (side.image != nullptr)
      {
        const auto range = m_Images.GetWholeMovingRange();
        side.binEdges = ComputeBinEdges(
          static_cast<PixelType>(range.first), static_cast<PixelType>(range.second), [this](PixelType value) {
            return ComputeBinBetween(static_cast<double>(value), m_Scales.minimum, m_Scales.maximum, m_Scales.bins);
          });
      }
    }
    if (!side.binEdges)
    {
      side.bins = MakeBinFiller(m_Metric.m_MovingImage.GetPointer(), m_Scales);
    }
  }

  /** Sets the range outside which values make a sample invalid, if values can be outside. */
  void
  SetRangeCheck(gpureg::MovingImage & side, bool mayLeaveRange) const
  {
    using PixelType = typename MovingImageType::PixelType;
    const bool hasMask = m_Metric.m_MovingImageMask.IsNotNull();
    side.checksRange = mayLeaveRange || side.mask || side.coefficients;
    if (hasMask || mayLeaveRange)
    {
      const auto all = m_Images.GetWholeMovingRange();
      side.scale.largest = std::max(all.second - m_Scales.minimum, m_Scales.minimum - all.first);
    }
    // ITK rounds a value to the pixel type before it compares it with the range.
    const auto halfDigit = [](double value) {
      const auto pixel = static_cast<PixelType>(value);
      return 0.5 * (static_cast<double>(std::nextafter(std::abs(pixel), std::numeric_limits<PixelType>::max())) -
                    static_cast<double>(std::abs(pixel)));
    };
    side.slackBelow = halfDigit(m_Scales.minimum) / m_Scales.unit;
    side.slackAbove =
      (m_Scales.maximum + halfDigit(m_Scales.maximum) - m_Scales.minimum) / m_Scales.unit - m_Scales.end;
  }

  /** Sets how the device computes the gradient, or ITK's gradient image, or what central differences need. */
  void
  SetGradient(gpureg::MovingImage & side, const std::optional<gpureg::GaussianGradient> & gradient) const
  {
    if (gradient)
    {
      side.gaussianGradient = gradient;
    }
    else if (m_Metric.m_UseMovingImageGradientFilter)
    {
      const auto * const vectorsOfITK = m_Metric.m_MovingImageGradientImage->GetBufferPointer();
      side.gradient = [vectorsOfITK, unit = m_Scales.unit](std::int64_t first, std::int64_t count, void * out) {
        auto * const vectors = static_cast<float *>(out);
        for (std::int64_t i = 0; i < count; ++i)
        {
          for (unsigned int d = 0; d < 3; ++d)
          {
            // Far from edges, a recursive Gaussian leaves denormal numbers, with which processors compute slowly.
            const double component = d < ImageDimension ? vectorsOfITK[first + i][d] / unit : 0.0;
            vectors[3 * i + d] = std::abs(component) > 1e-20 ? static_cast<float>(component) : 0.0f;
          }
        }
      };
    }
    else
    {
      const MovingImageType &     image = *m_Metric.m_MovingImage;
      const std::array<double, 9> toIndex = GPURegistrationGeometry::GetVectorToIndexMatrix<ImageDimension>(image);
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        const double spacing = image.GetSpacing()[d];
        side.inverseSpacing[d] = 1.0 / spacing;
        for (unsigned int r = 0; r < ImageDimension; ++r)
        {
          side.differenceStep[3 * r + d] = 0.5 * spacing * toIndex[3 * r + d];
        }
      }
    }
  }

  void
  SetMask(gpureg::MovingImage & side) const
  {
    namespace Geometry = GPURegistrationGeometry;
    using MaskType = ImageMaskSpatialObject<ImageDimension>;
    if (const auto * const mask = dynamic_cast<const MaskType *>(m_Metric.m_MovingImageMask.GetPointer()))
    {
      const auto & maskImage = *mask->GetImage();
      side.maskSize = Geometry::SizeOf<ImageDimension>(maskImage.GetBufferedRegion().GetSize());
      const bool isPlain = FindPlainMask<ImageDimension>(mask) != nullptr;
      side.mask = [mask, &maskImage, isPlain](std::int64_t first, std::int64_t count, void * out) {
        if (isPlain)
        {
          std::copy_n(maskImage.GetBufferPointer() + first, count, static_cast<std::uint8_t *>(out));
          return;
        }
        for (std::int64_t i = 0; i < count; ++i)
        {
          typename MaskType::PointType point;
          maskImage.TransformIndexToPhysicalPoint(maskImage.ComputeIndex(first + i), point);
          static_cast<std::uint8_t *>(out)[i] = mask->IsInsideInObjectSpace(point) ? 1 : 0;
        }
      };
      const MovingImageType & image = *m_Metric.m_MovingImage;
      side.toMask = Geometry::FitIndexMap<ImageDimension>(image, [&](const Geometry::IndexArray & index) {
        return Geometry::PointToIndex<ImageDimension>(maskImage,
                                                      mask->GetObjectToWorldTransformInverse()->TransformPoint(
                                                        Geometry::IndexToPoint<ImageDimension>(image, index)));
      });
    }
  }

  const TMetric &               m_Metric;
  const MetricImages<TMetric> & m_Images;
  const MetricScales &          m_Scales;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
