// SPDX-License-Identifier: Apache-2.0
// Makes a metric's samples of the fixed image, on a device that has the image or through ITK's own classes.
#ifndef itkGPUMetricFixedSamples_h
#define itkGPUMetricFixedSamples_h

#include "GPURegistrationDetail/metric/itkGPUBinEdges.h"
#include "GPURegistrationDetail/core/itkGPULoadedImage.h"
#include "GPURegistrationDetail/core/itkGPUMaskVoxels.h"
#include "GPURegistrationDetail/metric/itkGPUMetricFixedGrid.h"
#include "GPURegistrationDetail/metric/itkGPUMetricImages.h"
#include "GPURegistrationDetail/metric/itkGPUMetricScales.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include "gpureg/metric/samples/Samples.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** Largest number of voxels that are computed in fixed point with 64 bits; sampled points always are. */
constexpr SizeValueType FewSamples = 32768;

/** Returns a function that tells MetricFixedSamples to make the bins of fixed samples.
 *  \param binOf returns the bin of a fixed value. */
template <typename TBinOf>
auto
DescribeByBins(const TBinOf & binOf)
{
  return [binOf](gpureg::FixedSamples & side, const MetricScales &, const auto & maker) { maker.SetBins(side, binOf); };
}

/** Returns a function that tells MetricFixedSamples to make the values of fixed samples. */
inline auto
DescribeByValues()
{
  return [](gpureg::FixedSamples & side, const MetricScales & scales, const auto & maker) {
    side.scale.minimum = scales.fixedMinimum;
    side.scale.range = side.scale.largest = scales.fixedUnit;
    maker.SetValues(side);
  };
}

/** Returns a function that tells MetricFixedSamples to make the bins of fixed samples, and the offset of each value from the middle of
 *  its bin, from -1/2 to 1/2 of a bin.
 *  \param binOf returns the bin of a fixed value.
 *  \param placeOf returns the offset of a fixed value.
 *  \param placeOfMinimum the continuous bin index of the scales' minimum, from which a device computes the others in double precision;
 *  none if ITK rounds these indices in another way. */
template <typename TBinOf, typename TPlaceOf>
auto
DescribeByBinsAndPlaces(const TBinOf & binOf, const TPlaceOf & placeOf, std::optional<double> placeOfMinimum)
{
  return [=](gpureg::FixedSamples & side, const MetricScales & scales, const auto & maker) {
    side.scale.range = side.scale.largest = scales.end;
    maker.SetPlaces(side, binOf, placeOf, placeOfMinimum);
  };
}

/** Makes the fixed samples of a metric for its engine. The metric names this class a friend. */
template <typename TMetric>
class MetricFixedSamples
{
public:
  MetricFixedSamples(const TMetric & metric, const MetricImages<TMetric> & images, const MetricScales & scales)
    : m_Metric(metric)
    , m_Images(images)
    , m_Scales(scales)
  {}

  /** Returns the precision in which values are stored. */
  gpureg::Precision
  ChoosePrecision() const
  {
    return this->ArePoints() || m_Scales.isFixedPoint || m_Metric.GetVirtualRegion().GetNumberOfPixels() <= FewSamples
             ? gpureg::Precision::Double
             : gpureg::Precision::Single;
  }

  /** Returns the samples, with what describe() sets.
   *  \param describe one of the Describe functions above.
   *  \param image the image on the device from which samples may be made, or null.
   *  \param gradient how the device makes the fixed image's gradient, if forces follow it, and samples are voxels of the image on the
   *  device. Otherwise ITK's gradient image exists, if the metric uses one. */
  template <typename TDescribe>
  gpureg::FixedSamples
  Make(const TDescribe &                               describe,
       const gpureg::LoadedImage *                     image,
       const std::optional<gpureg::GaussianGradient> & gradient)
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
    else
    {
      this->FindVoxels();
    }
    if (image != nullptr)
    {
      this->TakeFrom(*image, side);
    }
    describe(side, m_Scales, *this);
    side.gaussianGradient = gradient;
    if (!gradient && m_Metric.GetGradientSourceIncludesFixed())
    {
      side.gradients = this->MakeGradientFiller();
    }
    return side;
  }

  /** Sets the samples' bins, for describe(). */
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

  /** Sets the samples' values, in the scale that side has, for describe(). */
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
  using FixedImageType = typename TMetric::FixedImageType;
  using FixedPixelType = typename FixedImageType::PixelType;
  using VirtualImageType = typename TMetric::VirtualImageType;
  using VirtualPointType = typename TMetric::VirtualPointType;

  static constexpr bool IsFloat = std::is_same<FixedPixelType, float>::value;

  bool
  ArePoints() const
  {
    return m_Metric.m_UseSampledPointSet && !m_Scales.samplesEveryVoxel;
  }

  /** Determines whether samples are voxels of the fixed image, or how a linear map leads to it. */
  void
  FindVoxels()
  {
    m_Grid = MetricFixedGrid<TMetric>(m_Metric);
    m_MaskVoxels = m_Grid->IsOneGrid() && this->HasMask()
                     ? FindMaskVoxels<ImageDimension>(*m_Metric.m_FixedImage, m_Metric.m_FixedImageMask.GetPointer())
                     : nullptr;
  }

  bool
  HasMask() const
  {
    return m_Metric.m_FixedImageMask.IsNotNull();
  }

  /** Returns true if sample n is voxel n of the fixed image. */
  bool
  AreVoxels() const
  {
    return m_Grid && m_Grid->IsOneGrid();
  }

  /** Lets the device make what samples need, if that gives ITK's numbers. Two cases do not. Half-way between two voxels, ITK's
   *  rounding of the point decides which voxel is nearest. And if few samples are in fixed point, or values are doubles, the last digit
   *  of the position counts. */
  void
  TakeFrom(const gpureg::LoadedImage & image, gpureg::FixedSamples & side) const
  {
    const bool lastDigitCounts = !IsFloat || side.precision == gpureg::Precision::Double;
    if (!m_Grid || !m_Grid->IsLinear() || (!this->AreVoxels() && (m_Grid->TakesNearest() || lastDigitCounts)))
    {
      return;
    }
    gpureg::SampledImage sampled;
    sampled.image = &image;
    sampled.size =
      GPURegistrationGeometry::SizeOf<ImageDimension>(m_Metric.m_FixedImage->GetBufferedRegion().GetSize());
    sampled.isOneGrid = m_Grid->IsOneGrid();
    sampled.toImage = m_Grid->GetMap();
    if (this->HasMask())
    {
      sampled.inside = this->MakeInsideFiller();
    }
    side.sampled = sampled;
  }

  /** Writes whether each sample is inside the mask: from the mask's own voxels, or by evaluating the mask. Half-way between two voxels
   *  of the mask, ITK's rounding of the point decides. */
  gpureg::Filler
  MakeInsideFiller() const
  {
    if (m_MaskVoxels != nullptr)
    {
      return [voxels = m_MaskVoxels](std::int64_t first, std::int64_t count, void * out) {
        std::copy_n(voxels + first, count, static_cast<std::uint8_t *>(out));
      };
    }
    return [self = *this](std::int64_t first, std::int64_t count, void * out) {
      const TMetric & metric = self.m_Metric;
      self.ForEachSamplePoint(first, count, [&](std::int64_t i, const VirtualPointType & virtualPoint) {
        typename TMetric::FixedTransformType::InputPointType point;
        point.CastFrom(virtualPoint);
        typename Superclass::FixedImagePointType fixedPoint;
        fixedPoint.CastFrom(metric.m_FixedTransform->TransformPoint(point));
        static_cast<std::uint8_t *>(out)[i] = metric.m_FixedImageMask->IsInsideInWorldSpace(fixedPoint) ? 1 : 0;
      });
    };
  }

  /** Returns the edges between the bins of all values that samples may have; nothing if a device would not get ITK's bins by these
   * edges. */
  template <typename TBinOf>
  std::optional<gpureg::BinEdges>
  FindEdges(const TBinOf & binOf) const
  {
    auto bins = FindEdgesWithin(m_Images.GetWholeFixedRange(), binOf);
    // Far outside the range that a metric's formula is made for, it may return no bin, or the first bin again. If samples are voxels,
    // only values inside the mask count.
    if (!bins || bins->edges.empty())
    {
      bins = this->AreVoxels() ? FindEdgesWithin(m_Images.ComputeMaskedFixedRange(), binOf) : std::nullopt;
    }
    return bins && this->AreBinsOfVoxels(*bins, binOf) ? bins : std::nullopt;
  }

  template <typename TBinOf>
  static std::optional<gpureg::BinEdges>
  FindEdgesWithin(const typename MetricImages<TMetric>::Range & range, const TBinOf & binOf)
  {
    if constexpr (IsLoadable<FixedImageType>)
    {
      // A range with its ends reversed means that nothing is inside the mask.
      if (range.first <= range.second)
      {
        return ComputeBinEdges(static_cast<FixedPixelType>(range.first),
                               static_cast<FixedPixelType>(range.second),
                               binOf);
      }
    }
    return std::nullopt;
  }

  /** Returns true if each sample that is a voxel has its voxel's bin, although ITK interpolates at a rounded position. For floats this
   *  is true, since the interpolated value is rounded to the voxel's own value. For doubles, ITK evaluates the samples close to an
   *  edge, of which images of whole numbers may have many. */
  template <typename TBinOf>
  bool
  AreBinsOfVoxels(const gpureg::BinEdges & bins, const TBinOf & binOf) const
  {
    if (IsFloat || !this->AreVoxels() || m_Grid->TakesNearest())
    {
      return true;
    }
    const auto   range = m_Images.GetWholeFixedRange();
    const double largest = std::max(std::abs(range.first), std::abs(range.second));
    const double distance = 4 * MetricFixedGrid<TMetric>::LargestShift * (range.second - range.first) + 1e-14 * largest;
    const auto * const buffer = m_Metric.m_FixedImage->GetBufferPointer();
    const auto         isClose = [&bins, distance](double value) {
      const auto edge = std::lower_bound(bins.edges.begin(), bins.edges.end(), value - distance);
      return edge != bins.edges.end() && *edge <= value + distance;
    };
    const auto         count = static_cast<std::int64_t>(m_Metric.GetVirtualRegion().GetNumberOfPixels());
    const std::int64_t perTask = std::int64_t{ 1 } << 16;
    std::atomic<bool>  areEqual{ true };
    MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())((count + perTask - 1) / perTask, [&](std::int64_t task) {
      for (std::int64_t i = task * perTask; i < std::min(count, (task + 1) * perTask) && areEqual; ++i)
      {
        if (isClose(static_cast<double>(buffer[i])) && !this->HasBinOfVoxel(i, binOf))
        {
          areEqual = false;
        }
      }
    });
    return areEqual;
  }

  /** Returns true if one sample has its voxel's bin, or is not valid. */
  template <typename TBinOf>
  bool
  HasBinOfVoxel(std::int64_t sample, const TBinOf & binOf) const
  {
    bool isEqual = true;
    this->ForEachSamplePoint(sample, 1, [&](std::int64_t, const VirtualPointType & virtualPoint) {
      typename Superclass::FixedImagePointType fixedPoint;
      typename Superclass::FixedImagePixelType value;
      isEqual = !m_Metric.TransformAndEvaluateFixedPoint(virtualPoint, fixedPoint, value) ||
                binOf(value) == binOf(m_Metric.m_FixedImage->GetBufferPointer()[sample]);
    });
    return isEqual;
  }

  /** Calls visit(i, virtual point) for the samples first … first + count - 1, with i counted from first. */
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
        // The other access marks the container as modified; everything that depends on the points would then be made again.
        point = m_Metric.GetVirtualSampledPointSet()->GetPoints()->ElementAt(first + i);
      }
      else
      {
        virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(first + i), point);
      }
      visit(i, point);
    }
  }

  /** Writes for each sample ofValue(its fixed value), or invalid, of the same type. */
  template <typename TValue, typename TOfValue>
  gpureg::Filler
  MakeFiller(TValue invalid, const TOfValue & ofValue) const
  {
    const TMetric & metric = m_Metric;
    // For doubles ITK interpolates the values: see AreBinsOfVoxels().
    if (IsFloat && this->AreVoxels() && (m_MaskVoxels != nullptr || !this->HasMask()))
    {
      const auto * const buffer = metric.m_FixedImage->GetBufferPointer();
      return [buffer, voxels = m_MaskVoxels, invalid, ofValue](std::int64_t first, std::int64_t count, void * out) {
        for (std::int64_t i = 0; i < count; ++i)
        {
          const std::int64_t n = first + i;
          static_cast<TValue *>(out)[i] =
            voxels == nullptr || voxels[n] != 0 ? static_cast<TValue>(ofValue(buffer[n])) : invalid;
        }
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

  /** Writes the fixed image's gradient at each sample, 0 where it has none, scaled as fixed values are. */
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
    if (this->AreVoxels() && metric.m_UseFixedImageGradientFilter && image != nullptr &&
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
  /** Empty if points are sampled. */
  std::optional<MetricFixedGrid<TMetric>> m_Grid;
  /** The mask's voxels, if samples are voxels that coincide with the mask's voxels; else null. */
  const unsigned char * m_MaskVoxels{ nullptr };
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
