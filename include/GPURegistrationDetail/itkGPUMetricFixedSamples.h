// SPDX-License-Identifier: Apache-2.0
// What a metric's samples are given of the fixed image: made on the device, where it is loaded, or through ITK's own classes.
#ifndef itkGPUMetricFixedSamples_h
#define itkGPUMetricFixedSamples_h

#include "GPURegistrationDetail/itkGPUBinEdges.h"
#include "GPURegistrationDetail/itkGPUIsExactly.h"
#include "GPURegistrationDetail/itkGPUMetricImages.h"
#include "GPURegistrationDetail/itkGPUMetricScales.h"
#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"

#include "gpureg/Samples.h"

#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** So many voxels are few enough to be computed precisely; points always are. */
constexpr SizeValueType FewSamples = 32768;

/** What a metric wants of its fixed samples: their bins. For MetricFixedSamples.
 *  \param binOf from a fixed value to its bin. */
template <typename TBinOf>
auto
DescribeByBins(const TBinOf & binOf)
{
  return [binOf](gpureg::FixedSamples & side, const MetricScales &, const auto & maker) { maker.SetBins(side, binOf); };
}

/** Their values. */
inline auto
DescribeByValues()
{
  return [](gpureg::FixedSamples & side, const MetricScales & scales, const auto & maker) {
    side.scale.minimum = scales.fixedMinimum;
    side.scale.range = side.scale.largest = scales.fixedUnit;
    maker.SetValues(side);
  };
}

/** Their bins, and how far from the middle of its bin each value is: its place, from -1/2 to 1/2 of a bin.
 *  \param placeOfMinimum the place of the scales' minimum, from which a device finds the others in doubles; none if ITK rounds
 *  places otherwise. */
template <typename TBinOf, typename TPlaceOf>
auto
DescribeByBinsAndPlaces(const TBinOf & binOf, const TPlaceOf & placeOf, std::optional<double> placeOfMinimum)
{
  return [=](gpureg::FixedSamples & side, const MetricScales & scales, const auto & maker) {
    side.scale.range = side.scale.largest = scales.end;
    maker.SetPlaces(side, binOf, placeOf, placeOfMinimum);
  };
}

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricFixedSamples
{
public:
  MetricFixedSamples(const TMetric & metric, const MetricImages<TMetric> & images, const MetricScales & scales)
    : m_Metric(metric)
    , m_Images(images)
    , m_Scales(scales)
  {}

  /** What values are kept in. */
  gpureg::Precision
  ChoosePrecision() const
  {
    return this->ArePoints() || m_Scales.isPrecise || m_Metric.GetVirtualRegion().GetNumberOfPixels() <= FewSamples
             ? gpureg::Precision::Double
             : gpureg::Precision::Single;
  }

  /** They, with what describe() sets.
   *  \param image where they may be made of, or null. */
  template <typename TDescribe>
  gpureg::FixedSamples
  Make(const TDescribe & describe, const gpureg::LoadedImage * image)
  {
    namespace Geometry = GPURegistrationGeometry;
    const VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    gpureg::FixedSamples     side;
    side.virtualSize = Geometry::SizeOf<ImageDimension>(m_Metric.GetVirtualRegion().GetSize());
    side.precision = this->ChoosePrecision();
    side.scale.roundsToFloat = std::is_same<typename TMetric::MovingImageType::PixelType, float>::value;
    if (this->ArePoints())
    {
      const auto * const points = m_Metric.m_VirtualSampledPointSet->GetPoints();
      side.pointCount = static_cast<std::int64_t>(points->Size());
      side.points = [points, &virtualImage](std::int64_t first, std::int64_t count, void * out) {
        for (std::int64_t i = 0; i < count; ++i)
        {
          Point<double, ImageDimension> point;
          point.CastFrom(points->ElementAt(first + i));
          const auto index = Geometry::PointToIndex<ImageDimension>(virtualImage, point);
          std::copy(index.begin(), index.end(), static_cast<double *>(out) + 3 * i);
        }
      };
    }
    this->FindGrid();
    if (image != nullptr)
    {
      this->TakeFrom(*image, side);
    }
    describe(side, m_Scales, *this);
    if (m_Metric.GetGradientSourceIncludesFixed())
    {
      side.gradients = this->MakeGradientFiller();
    }
    return side;
  }

  /** For describe(). */
  template <typename TBinOf>
  void
  SetBins(gpureg::FixedSamples & side, const TBinOf & binOf) const
  {
    if (side.sampled)
    {
      side.sampled->bins = this->FindEdges(binOf);
      if (side.sampled->bins)
      {
        return;
      }
      side.sampled.reset();
    }
    side.bins = this->MakeFiller(std::uint16_t{ 0xFFFF }, binOf);
  }

  /** By the scale that it has. */
  void
  SetValues(gpureg::FixedSamples & side) const
  {
    const double minimum = side.scale.minimum;
    const double unit = side.scale.range;
    if (side.sampled)
    {
      side.sampled->wantsValues = true;
      side.sampled->minimum = minimum;
      side.sampled->unit = unit;
      return;
    }
    side.values = side.precision == gpureg::Precision::Double
                    ? this->MakeFiller(gpureg::NoFixedValue, [=](auto value) { return value - minimum; })
                    : this->MakeFiller(static_cast<float>(gpureg::NoFixedValue),
                                       [=](auto value) { return (value - minimum) / unit; });
  }

  template <typename TBinOf, typename TPlaceOf>
  void
  SetPlaces(gpureg::FixedSamples &        side,
            const TBinOf &                binOf,
            const TPlaceOf &              placeOf,
            const std::optional<double> & placeOfMinimum) const
  {
    if (side.precision == gpureg::Precision::Double)
    {
      side.values = this->MakeFiller(gpureg::NoFixedValue, placeOf);
    }
    if (side.values || !placeOfMinimum)
    {
      side.sampled.reset();
    }
    this->SetBins(side, binOf);
    if (side.sampled)
    {
      side.sampled->wantsValues = true;
      side.sampled->minimum = m_Scales.fixedMinimum;
      side.sampled->unit = m_Scales.fixedUnit;
      side.sampled->placeOfMinimum = *placeOfMinimum;
    }
    else if (side.precision == gpureg::Precision::Single)
    {
      side.values = this->MakeFiller(static_cast<float>(gpureg::NoFixedValue), placeOf);
    }
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using Superclass = typename TMetric::Superclass;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  using FixedImageType = typename TMetric::FixedImageType;
  using FixedPixelType = typename FixedImageType::PixelType;
  using VirtualImageType = typename TMetric::VirtualImageType;
  using VirtualPointType = typename TMetric::VirtualPointType;

  bool
  ArePoints() const
  {
    return m_Metric.m_UseSampledPointSet && !m_Scales.samplesEveryVoxel;
  }

  bool
  TakesNearest() const
  {
    return IsExactly<NearestNeighborInterpolateImageFunction<FixedImageType, CoordinateType>>(
      m_Metric.m_FixedInterpolator);
  }

  /** Finds out whether a linear map leads from samples to the fixed image's voxels, and whether they are these. Only of float: in
   *  double, ITK's own rounding of the point decides which side of a bin's edge a value is on. */
  void
  FindGrid()
  {
    namespace Geometry = GPURegistrationGeometry;
    m_IsLinear = std::is_same<FixedPixelType, float>::value && !this->ArePoints() &&
                 m_Metric.m_FixedImageMask.IsNull() && Geometry::IsLinear(*m_Metric.m_FixedTransform) &&
                 (this->TakesNearest() || IsExactly<LinearInterpolateImageFunction<FixedImageType, CoordinateType>>(
                                            m_Metric.m_FixedInterpolator));
    if (!m_IsLinear)
    {
      return;
    }
    const VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    m_ToFixed = Geometry::FitIndexMap<ImageDimension>(virtualImage, [&](const Geometry::IndexArray & index) {
      typename Superclass::FixedTransformType::InputPointType point;
      point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
      Point<double, ImageDimension> moved;
      moved.CastFrom(m_Metric.m_FixedTransform->TransformPoint(point));
      return Geometry::PointToIndex<ImageDimension>(*m_Metric.m_FixedImage, moved);
    });
    double error = 0;
    for (unsigned int r = 0; r < ImageDimension; ++r)
    {
      error = std::max(error, std::abs(m_ToFixed.offset[r]));
      for (unsigned int c = 0; c < ImageDimension; ++c)
      {
        error = std::max(error,
                         std::abs(m_ToFixed.matrix[3 * r + c] - (r == c ? 1.0 : 0.0)) *
                           static_cast<double>(m_Metric.GetVirtualRegion().GetSize(c)));
      }
    }
    m_IsOneGrid =
      error < 1e-9 && m_Metric.GetVirtualRegion().GetSize() == m_Metric.m_FixedImage->GetBufferedRegion().GetSize();
  }

  /** Has the device make what samples are given, where it comes to ITK's numbers. Half-way between two voxels, ITK's rounding
   *  of the point decides which one is nearest; and where few samples are to be precise, its last digit counts. */
  void
  TakeFrom(const gpureg::LoadedImage & image, gpureg::FixedSamples & side) const
  {
    if (!m_IsLinear || (!m_IsOneGrid && (this->TakesNearest() || side.precision == gpureg::Precision::Double)))
    {
      return;
    }
    gpureg::SampledImage sampled;
    sampled.image = &image;
    sampled.size =
      GPURegistrationGeometry::SizeOf<ImageDimension>(m_Metric.m_FixedImage->GetBufferedRegion().GetSize());
    sampled.isOneGrid = m_IsOneGrid;
    sampled.toImage = m_ToFixed;
    side.sampled = sampled;
  }

  template <typename TBinOf>
  std::optional<gpureg::BinEdges>
  FindEdges(const TBinOf & binOf) const
  {
    const auto range = m_Images.GetWholeFixedRange();
    return FindBinEdges(static_cast<float>(range.first), static_cast<float>(range.second), binOf);
  }

  /** Calls visit(i, virtual point) with the samples first … + count - 1, counted from there. */
  template <typename TVisit>
  void
  ForEachSamplePoint(std::int64_t first, std::int64_t count, const TVisit & visit) const
  {
    const VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    for (std::int64_t i = 0; i < count; ++i)
    {
      VirtualPointType point;
      if (this->ArePoints())
      {
        // Through the const container: the other access marks it as modified, and what depends on the points would be made anew.
        point = m_Metric.GetVirtualSampledPointSet()->GetPoints()->ElementAt(first + i);
      }
      else
      {
        virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(first + i), point);
      }
      visit(i, point);
    }
  }

  /** What is kept of each sample: ofValue(its fixed value), or invalid, of the same type. */
  template <typename TValue, typename TOfValue>
  gpureg::Filler
  MakeFiller(TValue invalid, const TOfValue & ofValue) const
  {
    const TMetric & metric = m_Metric;
    if (m_IsOneGrid)
    {
      const auto * const buffer = metric.m_FixedImage->GetBufferPointer();
      return [buffer, ofValue](std::int64_t first, std::int64_t count, void * out) {
        std::transform(buffer + first, buffer + first + count, static_cast<TValue *>(out), [&ofValue](auto value) {
          return static_cast<TValue>(ofValue(value));
        });
      };
    }
    return [self = *this, &metric, invalid, ofValue](std::int64_t first, std::int64_t count, void * out) {
      self.ForEachSamplePoint(first, count, [&](std::int64_t i, const VirtualPointType & virtualPoint) {
        typename Superclass::FixedImagePointType fixedPoint;
        typename Superclass::FixedImagePixelType value;
        static_cast<TValue *>(out)[i] = metric.TransformAndEvaluateFixedPoint(virtualPoint, fixedPoint, value)
                                          ? static_cast<TValue>(ofValue(value))
                                          : invalid;
      });
    };
  }

  /** The fixed image's gradient at each sample, 0 where it has none, scaled as fixed values are. */
  gpureg::Filler
  MakeGradientFiller() const
  {
    const TMetric & metric = m_Metric;
    const double    unit = m_Scales.fixedUnit;
    const auto      write = [unit](const auto & gradient, float * out) {
      for (unsigned int d = 0; d < 3; ++d)
      {
        out[d] = d < ImageDimension ? static_cast<float>(gradient[d] / unit) : 0.0f;
      }
    };
    const auto * const image = metric.m_FixedImageGradientImage.GetPointer();
    if (m_IsOneGrid && metric.m_UseFixedImageGradientFilter && image != nullptr &&
        image->GetBufferedRegion() == metric.m_FixedImage->GetBufferedRegion())
    {
      const auto * const buffer = image->GetBufferPointer();
      return [buffer, write](std::int64_t first, std::int64_t count, void * out) {
        for (std::int64_t i = 0; i < count; ++i)
        {
          write(buffer[first + i], static_cast<float *>(out) + 3 * i);
        }
      };
    }
    return [self = *this, &metric, write](std::int64_t first, std::int64_t count, void * out) {
      self.ForEachSamplePoint(first, count, [&](std::int64_t i, const VirtualPointType & virtualPoint) {
        typename Superclass::FixedImagePointType fixedPoint;
        typename Superclass::FixedImagePixelType value;
        typename TMetric::FixedImageGradientType gradient;
        gradient.Fill(0);
        if (metric.TransformAndEvaluateFixedPoint(virtualPoint, fixedPoint, value))
        {
          metric.ComputeFixedImageGradientAtPoint(fixedPoint, gradient);
        }
        write(gradient, static_cast<float *>(out) + 3 * i);
      });
    };
  }

  const TMetric &               m_Metric;
  const MetricImages<TMetric> & m_Images;
  const MetricScales &          m_Scales;
  bool                          m_IsLinear{ false };
  bool                          m_IsOneGrid{ false };
  gpureg::IndexMap              m_ToFixed;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
