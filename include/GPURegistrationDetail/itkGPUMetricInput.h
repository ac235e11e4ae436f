// SPDX-License-Identifier: Apache-2.0
// A metric's input: what ITK's objects hold, handed to the engine.
#ifndef itkGPUMetricInput_h
#define itkGPUMetricInput_h

#include "GPURegistrationDetail/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/itkGPUMetricGradient.h"
#include "GPURegistrationDetail/itkGPUMetricImages.h"
#include "GPURegistrationDetail/itkGPUMetricScales.h"
#include "GPURegistrationDetail/itkGPUMetricSources.h"
#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/itkGPURegistrationThreads.h"

#include "gpureg/Metric.h"
#include "gpureg/Source.h"

#include "itkCentralDifferenceImageFunction.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** So many voxels are few enough to be computed precisely; points always are. */
constexpr SizeValueType FewSamples = 32768;

/** What a metric wants of its fixed samples: their bins. For MetricInput.
 *  \param binOf from a fixed value to its bin. */
template <typename TBinOf>
auto
DescribeByBins(const TBinOf & binOf)
{
  return [binOf](gpureg::FixedSamples & side, const MetricScales &, const auto & makeFiller) {
    side.bins = makeFiller(std::uint16_t{ 0xFFFF }, binOf);
  };
}

/** Their values. */
inline auto
DescribeByValues()
{
  return [](gpureg::FixedSamples & side, const MetricScales & scales, const auto & makeFiller) {
    const double minimum = scales.fixedMinimum;
    const double unit = scales.fixedUnit;
    side.scale.minimum = minimum;
    side.scale.range = side.scale.largest = unit;
    side.values =
      side.precision == gpureg::Precision::Double
        ? makeFiller(gpureg::NoFixedValue, [=](auto value) { return value - minimum; })
        : makeFiller(static_cast<float>(gpureg::NoFixedValue), [=](auto value) { return (value - minimum) / unit; });
  };
}

/** Their bins, and their places between a bin and the next, from -1/2 to 1/2. */
template <typename TBinOf, typename TPlaceOf>
auto
DescribeByBinsAndPlaces(const TBinOf & binOf, const TPlaceOf & placeOf)
{
  return [binOf, placeOf](gpureg::FixedSamples & side, const MetricScales & scales, const auto & makeFiller) {
    side.bins = makeFiller(std::uint16_t{ 0xFFFF }, binOf);
    side.scale.range = side.scale.largest = scales.end;
    side.values = side.precision == gpureg::Precision::Double
                    ? makeFiller(gpureg::NoFixedValue, placeOf)
                    : makeFiller(static_cast<float>(gpureg::NoFixedValue), placeOf);
  };
}

/** Copies a scalar image as the engine wants it: (v - minimum)/unit, or v - minimum in double precision. */
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

/** Of bins between a minimum and a maximum the one that a value is in; what lies beyond, or is not a number, is in the first
 *  or the last. */
inline SizeValueType
FindBinBetween(double value, double minimum, double maximum, SizeValueType bins)
{
  const double place = static_cast<double>(bins) * (value - minimum) / (maximum - minimum);
  return place > 0.0 ? static_cast<SizeValueType>(std::min(place, static_cast<double>(bins - 1))) : 0;
}

/** Each voxel's bin. */
template <typename TImage>
gpureg::Filler
MakeBinFiller(const TImage * image, const MetricScales & scales)
{
  const auto * const buffer = image->GetBufferPointer();
  return [buffer, scales](std::int64_t first, std::int64_t count, void * out) {
    std::transform(buffer + first, buffer + first + count, static_cast<std::uint8_t *>(out), [&scales](auto value) {
      return static_cast<std::uint8_t>(
        FindBinBetween(static_cast<double>(value), scales.minimum, scales.maximum, scales.bins));
    });
  };
}

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricInput
{
public:
  explicit MetricInput(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** The engine is another one. */
  void
  Forget()
  {
    m_ResidentFixed.Forget();
    m_ResidentMoving.Forget();
  }

  /** The samples are made anew: they are soon made, and what they depend on has many places to change in. */
  void
  BeginInitialize()
  {
    m_ResidentFixed.Forget();
    m_InitialFixedHash.reset();
    m_InitialMovingHash.reset();
  }

  /** Whether the device makes the moving image's gradient itself: see MetricGradient. */
  void
  SetMakesGradient(bool makesGradient)
  {
    m_MakesGradient = makesGradient;
  }

  bool
  MakesGradient() const
  {
    return m_MakesGradient;
  }

  /** At the metric's Initialize(): sends the engine what has changed since the last time.
   *  \param findScales gives the metric's scales of the voxels that there are now.
   *  \param describe sets what the metric wants of the fixed samples: see DescribeByBins. */
  template <typename TFindScales, typename TDescribe>
  void
  Initialize(gpureg::Metric & engine, const TFindScales & findScales, const TDescribe & describe)
  {
    m_Scales = findScales();
    const Compared fixed = this->CompareFixed();
    Compared       moving = this->CompareMoving();
    m_InitialFixedHash = fixed.found.hash;
    m_InitialMovingHash = moving.found.hash;
    moving.found.isSame = moving.found.isSame && !m_IsGradientOfOldValues;
    m_IsGradientOfOldValues = false;
    this->Send(engine, describe, fixed, moving, false);
  }

  /** The same between two of them. The moving image's range and gradient stay those of the voxels that there were then, as
   *  ITK's metrics keep them.
   *  \throws GPUBadInputError if values have become ones that are not finite */
  template <typename TFindScales, typename TDescribe>
  void
  Refresh(gpureg::Metric & engine, const TFindScales & findScales, const TDescribe & describe)
  {
    Compared fixed = this->CompareFixed();
    Compared moving = this->CompareMoving();
    if (fixed.found.isSame && moving.found.isSame)
    {
      return;
    }
    MetricImages<TMetric>(m_Metric).CheckAreFinite();
    if (!m_Scales.checksRange)
    {
      // What is there was made by other scales.
      m_Scales = findScales();
      fixed.found.isSame = false;
      moving = this->CompareMoving();
    }
    m_IsGradientOfOldValues = m_IsGradientOfOldValues || !moving.found.isSame;
    const bool mayLeaveRange = !moving.found.hash || moving.found.hash != m_InitialMovingHash;
    this->Send(engine, describe, fixed, moving, mayLeaveRange);
  }

  /** Whether the images have the values of the last Initialize(), as far as is known: hashes tell. */
  bool
  HasVoxelsOfInitialize() const
  {
    const MetricSources<TMetric> sources(m_Metric);
    const auto                   isSame = [this](const std::optional<std::uint64_t> & hash, const auto & getSource) {
      return !hash || *hash == gpureg::HashContent(getSource().memory, this->GetParallelFor());
    };
    return isSame(m_InitialFixedHash, [&] { return sources.GetFixedSource(); }) &&
           isSame(m_InitialMovingHash, [&] { return this->GetMovingSource(); });
  }

  /** Of what was sent last. */
  const MetricScales &
  GetScales() const
  {
    return m_Scales;
  }

  /** Names what of the input has no counterpart on the device; empty if there is nothing. */
  std::string
  FindWhatTheDeviceLacks() const
  {
    const auto * const interpolator = m_Metric.m_MovingInterpolator.GetPointer();
    unsigned int       order = 0;
    const bool         isSpline =
      VisitSplineInterpolator(interpolator, [&order](const auto & spline) { order = spline.GetSplineOrder(); });
    if (isSpline && order == 1)
    {
      // It mirrors at the edge, where linear interpolation repeats the last voxel.
      return std::string("The moving interpolator ") + interpolator->GetNameOfClass() + " of order 1";
    }
    if (!isSpline && !IsExactly<LinearInterpolateImageFunction<MovingImageType, CoordinateType>>(interpolator) &&
        !IsExactly<NearestNeighborInterpolateImageFunction<MovingImageType, CoordinateType>>(interpolator))
    {
      return std::string("The moving interpolator ") + interpolator->GetNameOfClass();
    }
    if (m_Metric.m_MovingImageMask.IsNotNull() &&
        !IsExactly<ImageMaskSpatialObject<ImageDimension>>(m_Metric.m_MovingImageMask))
    {
      return std::string("The moving mask ") + m_Metric.m_MovingImageMask->GetNameOfClass();
    }
    if (!m_Metric.GetGradientSourceIncludesMoving())
    {
      return "";
    }
    if (m_Metric.m_UseMovingImageGradientFilter)
    {
      if (!m_MakesGradient &&
          (m_Metric.m_MovingImageGradientImage.IsNull() ||
           m_Metric.m_MovingImageGradientImage->GetBufferedRegion() != m_Metric.m_MovingImage->GetBufferedRegion()))
      {
        return "A moving gradient image of another region than the moving image";
      }
    }
    else if (!IsExactly<typename Superclass::DefaultMovingImageGradientCalculator>(
               m_Metric.m_MovingImageGradientCalculator) ||
             !m_Metric.m_DefaultMovingImageGradientCalculator->GetUseImageDirection() ||
             m_Metric.m_MovingImageGradientCalculator.GetPointer() !=
               m_Metric.m_DefaultMovingImageGradientCalculator.GetPointer())
    {
      return std::string("The moving gradient calculator ") +
             m_Metric.m_MovingImageGradientCalculator->GetNameOfClass();
    }
    return "";
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using Superclass = typename TMetric::Superclass;
  using CoordinateType = typename Superclass::CoordinateRepresentationType;
  using FixedImageType = typename TMetric::FixedImageType;
  using MovingImageType = typename TMetric::MovingImageType;
  using VirtualImageType = typename TMetric::VirtualImageType;
  using VirtualPointType = typename TMetric::VirtualPointType;

  static constexpr bool RoundsToFloat = std::is_same<typename MovingImageType::PixelType, float>::value;

  gpureg::ParallelFor
  GetParallelFor() const
  {
    return MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits());
  }

  bool
  SamplesPoints() const
  {
    return m_Metric.m_UseSampledPointSet && !m_Scales.samplesEveryVoxel;
  }

  /** What values are kept in: the samples', and so the moving image's. */
  gpureg::Precision
  ChoosePrecision() const
  {
    return this->SamplesPoints() || m_Scales.isPrecise || m_Metric.GetVirtualRegion().GetNumberOfPixels() <= FewSamples
             ? gpureg::Precision::Double
             : gpureg::Precision::Single;
  }

  /** With what its voxels become on the device. */
  gpureg::Source
  GetMovingSource() const
  {
    gpureg::Source moving = MetricSources<TMetric>(m_Metric).GetMovingSource(!m_MakesGradient);
    AddToKey(moving.key, static_cast<double>(m_MakesGradient));
    AddToKey(moving.key, static_cast<double>(this->ChoosePrecision() == gpureg::Precision::Double));
    AddToKey(moving.key, m_Scales.minimum);
    AddToKey(moving.key, m_Scales.unit);
    return moving;
  }

  /** What samples or a moving image are made from, and whether that is what the engine has. */
  struct Compared
  {
    gpureg::Source                     source;
    gpureg::ResidentSource::Comparison found;
  };

  Compared
  CompareFixed() const
  {
    const gpureg::Source source = MetricSources<TMetric>(m_Metric).GetFixedSource();
    return { source, this->Compare(m_ResidentFixed, source) };
  }

  Compared
  CompareMoving() const
  {
    const gpureg::Source source = this->GetMovingSource();
    return { source, this->Compare(m_ResidentMoving, source) };
  }

  /** Sends what is not the same. */
  template <typename TDescribe>
  void
  Send(gpureg::Metric &  engine,
       const TDescribe & describe,
       const Compared &  fixed,
       const Compared &  moving,
       bool              mayLeaveRange)
  {
    if (!fixed.found.isSame)
    {
      m_ResidentFixed.Forget();
      engine.SetFixedSamples(this->MakeFixedSamples(describe), this->GetParallelFor());
      m_ResidentFixed.Remember(fixed.source, fixed.found);
    }
    if (!moving.found.isSame)
    {
      m_ResidentMoving.Forget();
      engine.SetMovingImage(this->MakeMovingImage(mayLeaveRange), this->GetParallelFor());
      m_ResidentMoving.Remember(moving.source, moving.found);
    }
  }

  gpureg::ResidentSource::Comparison
  Compare(const gpureg::ResidentSource & resident, const gpureg::Source & source) const
  {
    auto compared = resident.Compare(source, this->GetParallelFor());
    // Here also where the key is new, for the next evaluation is sure to compare with it.
    if (!source.isKeyTrusted && !compared.hash)
    {
      compared.hash = gpureg::HashContent(source.memory, this->GetParallelFor());
    }
    return compared;
  }

  /** Whether every virtual voxel is a voxel of the fixed image, so that no interpolation is needed. Only
   *  for float: in double, ITK's own rounding of the point decides which side of a bin's edge a value is. */
  bool
  FixedGridIsVirtualGrid() const
  {
    namespace Geometry = GPURegistrationGeometry;
    using CoordinateType = typename Superclass::CoordinateRepresentationType;
    if (!std::is_same<typename FixedImageType::PixelType, float>::value || this->SamplesPoints() ||
        m_Metric.m_FixedImageMask.IsNotNull() || !Geometry::IsLinear(*m_Metric.m_FixedTransform) ||
        !(IsExactly<LinearInterpolateImageFunction<FixedImageType, CoordinateType>>(m_Metric.m_FixedInterpolator) ||
          IsExactly<NearestNeighborInterpolateImageFunction<FixedImageType, CoordinateType>>(
            m_Metric.m_FixedInterpolator)))
    {
      return false;
    }
    const VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    const gpureg::IndexMap   map =
      Geometry::FitIndexMap<ImageDimension>(virtualImage, [&](const Geometry::IndexArray & index) {
        typename Superclass::FixedTransformType::InputPointType point;
        point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
        Point<double, ImageDimension> moved;
        moved.CastFrom(m_Metric.m_FixedTransform->TransformPoint(point));
        return Geometry::PointToIndex<ImageDimension>(*m_Metric.m_FixedImage, moved);
      });
    double error = 0;
    for (unsigned int r = 0; r < ImageDimension; ++r)
    {
      error = std::max(error, std::abs(map.offset[r]));
      for (unsigned int c = 0; c < ImageDimension; ++c)
      {
        error = std::max(error,
                         std::abs(map.matrix[3 * r + c] - (r == c ? 1.0 : 0.0)) *
                           static_cast<double>(m_Metric.GetVirtualRegion().GetSize(c)));
      }
    }
    return error < 1e-9 &&
           m_Metric.GetVirtualRegion().GetSize() == m_Metric.m_FixedImage->GetBufferedRegion().GetSize();
  }

  template <typename TDescribe>
  gpureg::FixedSamples
  MakeFixedSamples(const TDescribe & describe) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    gpureg::FixedSamples     side;
    side.virtualSize = Geometry::SizeOf<ImageDimension>(m_Metric.GetVirtualRegion().GetSize());
    side.precision = this->ChoosePrecision();
    side.scale.roundsToFloat = RoundsToFloat;
    if (this->SamplesPoints())
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
    const bool isOneGrid = this->FixedGridIsVirtualGrid();
    describe(side, m_Scales, [&](auto invalid, const auto & ofValue) {
      return this->MakeSampleFiller(isOneGrid, invalid, ofValue);
    });
    if (m_Metric.GetGradientSourceIncludesFixed())
    {
      side.gradients = this->MakeGradientFiller(isOneGrid);
    }
    return side;
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
      if (this->SamplesPoints())
      {
        point = m_Metric.m_VirtualSampledPointSet->GetPoints()->ElementAt(first + i);
      }
      else
      {
        virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(first + i), point);
      }
      visit(i, point);
    }
  }

  /** What is kept of each sample: ofValue(its fixed value), or invalid, of the same type.
   *  \param isOneGrid whether the samples are the fixed image's voxels. */
  template <typename TValue, typename TOfValue>
  gpureg::Filler
  MakeSampleFiller(bool isOneGrid, TValue invalid, const TOfValue & ofValue) const
  {
    if (isOneGrid)
    {
      const auto * const buffer = m_Metric.m_FixedImage->GetBufferPointer();
      return [buffer, ofValue](std::int64_t first, std::int64_t count, void * out) {
        std::transform(buffer + first, buffer + first + count, static_cast<TValue *>(out), [&ofValue](auto value) {
          return static_cast<TValue>(ofValue(value));
        });
      };
    }
    return [this, invalid, ofValue](std::int64_t first, std::int64_t count, void * out) {
      this->ForEachSamplePoint(first, count, [&](std::int64_t i, const VirtualPointType & virtualPoint) {
        typename Superclass::FixedImagePointType fixedPoint;
        typename Superclass::FixedImagePixelType value;
        static_cast<TValue *>(out)[i] = m_Metric.TransformAndEvaluateFixedPoint(virtualPoint, fixedPoint, value)
                                          ? static_cast<TValue>(ofValue(value))
                                          : invalid;
      });
    };
  }

  /** The fixed image's gradient at each sample, 0 where it has none, scaled as fixed values are. */
  gpureg::Filler
  MakeGradientFiller(bool isOneGrid) const
  {
    const double unit = m_Scales.fixedUnit;
    const auto   write = [unit](const auto & gradient, float * out) {
      for (unsigned int d = 0; d < 3; ++d)
      {
        out[d] = d < ImageDimension ? static_cast<float>(gradient[d] / unit) : 0.0f;
      }
    };
    const auto * const image = m_Metric.m_FixedImageGradientImage.GetPointer();
    if (isOneGrid && m_Metric.m_UseFixedImageGradientFilter && image != nullptr &&
        image->GetBufferedRegion() == m_Metric.m_FixedImage->GetBufferedRegion())
    {
      const auto * const buffer = image->GetBufferPointer();
      return [buffer, write](std::int64_t first, std::int64_t count, void * out) {
        for (std::int64_t i = 0; i < count; ++i)
        {
          write(buffer[first + i], static_cast<float *>(out) + 3 * i);
        }
      };
    }
    return [this, write](std::int64_t first, std::int64_t count, void * out) {
      this->ForEachSamplePoint(first, count, [&](std::int64_t i, const VirtualPointType & virtualPoint) {
        typename Superclass::FixedImagePointType fixedPoint;
        typename Superclass::FixedImagePixelType value;
        typename TMetric::FixedImageGradientType gradient;
        gradient.Fill(0);
        if (m_Metric.TransformAndEvaluateFixedPoint(virtualPoint, fixedPoint, value))
        {
          m_Metric.ComputeFixedImageGradientAtPoint(fixedPoint, gradient);
        }
        write(gradient, static_cast<float *>(out) + 3 * i);
      });
    };
  }

  /** \param mayLeaveRange whether the voxels may no longer be those that the range is of. */
  gpureg::MovingImage
  MakeMovingImage(bool mayLeaveRange) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const MovingImageType & image = *m_Metric.m_MovingImage;
    const double            minimum = m_Scales.minimum;
    const double            unit = m_Scales.unit;
    gpureg::MovingImage     side;
    side.size = Geometry::SizeOf<ImageDimension>(image.GetBufferedRegion().GetSize());
    side.precision = this->ChoosePrecision();
    side.values = MakeValueFiller(&image, side.precision, minimum, unit);
    if (m_Scales.bins > 0)
    {
      side.bins = MakeBinFiller(&image, m_Scales);
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
      this->SetGradient(side, unit);
    }
    this->SetMask(side);
    if (m_Scales.checksRange)
    {
      this->SetRangeCheck(side, mayLeaveRange);
    }
    return side;
  }

  /** What makes a sample invalid, if its value may leave the range. */
  void
  SetRangeCheck(gpureg::MovingImage & side, bool mayLeaveRange) const
  {
    using PixelType = typename MovingImageType::PixelType;
    const bool hasMask = m_Metric.m_MovingImageMask.IsNotNull();
    side.checksRange = mayLeaveRange || side.mask || side.coefficients;
    if (hasMask || mayLeaveRange)
    {
      const auto all = MetricImages<TMetric>(m_Metric).ComputeWholeMovingRange();
      side.scale.largest = std::max(all.second - m_Scales.minimum, m_Scales.minimum - all.first);
    }
    // ITK rounds a value to the pixel type before it asks whether it is in the range.
    const auto halfDigit = [](double value) {
      const auto pixel = static_cast<PixelType>(value);
      return 0.5 * (static_cast<double>(std::nextafter(std::abs(pixel), std::numeric_limits<PixelType>::max())) -
                    static_cast<double>(std::abs(pixel)));
    };
    side.slackBelow = halfDigit(m_Scales.minimum) / m_Scales.unit;
    side.slackAbove =
      (m_Scales.maximum + halfDigit(m_Scales.maximum) - m_Scales.minimum) / m_Scales.unit - m_Scales.end;
  }

  /** How the device makes it, the gradient image, or what central differences need. */
  void
  SetGradient(gpureg::MovingImage & side, double unit) const
  {
    if (m_Metric.m_UseMovingImageGradientFilter && m_MakesGradient)
    {
      side.gaussianGradient = MetricGradient<TMetric>(m_Metric).Describe(m_IsGradientOfOldValues);
    }
    else if (m_Metric.m_UseMovingImageGradientFilter)
    {
      const auto * const gradient = m_Metric.m_MovingImageGradientImage->GetBufferPointer();
      side.gradient = [gradient, unit](std::int64_t first, std::int64_t count, void * out) {
        auto * const vectors = static_cast<float *>(out);
        for (std::int64_t i = 0; i < count; ++i)
        {
          for (unsigned int d = 0; d < 3; ++d)
          {
            // Far from any edge a recursive Gaussian leaves denormal numbers, which processors compute slowly.
            const double component = d < ImageDimension ? gradient[first + i][d] / unit : 0.0;
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
      side.mask = [mask, &maskImage](std::int64_t first, std::int64_t count, void * out) {
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

  const TMetric &              m_Metric;
  gpureg::ResidentSource       m_ResidentFixed;
  gpureg::ResidentSource       m_ResidentMoving;
  MetricScales                 m_Scales;
  std::optional<std::uint64_t> m_InitialFixedHash;
  std::optional<std::uint64_t> m_InitialMovingHash;
  bool                         m_MakesGradient{ false };
  bool                         m_IsGradientOfOldValues{ false };
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
