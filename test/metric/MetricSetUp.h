// SPDX-License-Identifier: Apache-2.0
// Makes the images, samples and transforms of a MetricCase, and evaluates a metric with them.
#ifndef MetricSetUp_h
#define MetricSetUp_h

#include "MetricCase.h"
#include "TestImages.h"
#include "TestMetrics.h"
#include "TransformMaker.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

/** The least distance from the edges of a joint histogram's bins, relative to the range. Samples are counted in the nearest bin, so a
 *  single one in another bin shows. The distance covers the error of interpolation in floats, or of rounding to a float;
 *  FixedPointBinDistance covers that of a position's rounding to 2^-32 voxel, for values of more digits. */
constexpr double BinDistance = 2e-7;
constexpr double FixedPointBinDistance = 2e-9;
/** The largest error observed in a spline's value in floats (RMS: 5e-8): 16 or more coefficients are added up, some of them larger than
 *  the range. */
constexpr double SplineDistance = 4e-7;

/** Holds a MetricCase as objects of ITK. */
template <typename TPixel, unsigned int VDimension>
class MetricSetUp
{
public:
  using ImageType = TestImage<TPixel, VDimension>;
  using MetricType = itk::ImageToImageMetricv4<ImageType, ImageType>;
  using InDoubles = MetricSetUp<double, VDimension>;
  using GridType = Grid<VDimension>;
  using PointType = itk::Point<double, VDimension>;
  using VectorType = itk::Vector<double, VDimension>;
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using CompositeType = itk::CompositeTransform<double, VDimension>;
  using FieldTransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  using MaskImageType = typename MaskType::ImageType;
  using InterpolatorType = itk::InterpolateImageFunction<ImageType, double>;

  explicit MetricSetUp(const MetricCase & c)
    : m_Case(c)
    , m_Random(c.seed)
  {
    MakeGrids();
    MakeImages();
    if (c.masks == Masks::Fixed || c.masks == Masks::Both)
    {
      m_FixedMask = MakeMask(m_FixedGrid);
    }
    if (c.masks == Masks::Moving || c.masks == Masks::Both)
    {
      m_MovingMask = MakeMask(m_MovingGrid);
    }
    m_FixedTransform = itk::IdentityTransform<double, VDimension>::New().GetPointer();
    if (c.motion == Motion::FixedInitial)
    {
      m_FixedTransform = MakeTransformMaker(0.5).MakeAffine();
    }
    if (c.sampling != Sampling::Dense)
    {
      MakePoints();
    }
    m_IsNearEdge = HasVoxelNearBinEdge();
    if (!IsFlat() && !m_IsNearEdge)
    {
      DrawTransform();
    }
  }

  /** Makes a set-up of the same voxels, whose type is another one. */
  template <typename TOther>
  explicit MetricSetUp(const MetricSetUp<TOther, VDimension> & other)
    : m_Case(other.m_Case)
    , m_Random(other.m_Random)
    , m_FixedGrid(other.m_FixedGrid)
    , m_MovingGrid(other.m_MovingGrid)
    , m_VirtualGrid(other.m_VirtualGrid)
    , m_Fixed(ConvertImage(*other.m_Fixed))
    , m_Moving(ConvertImage(*other.m_Moving))
    , m_FixedMask(other.m_FixedMask)
    , m_MovingMask(other.m_MovingMask)
    , m_FixedTransform(other.m_FixedTransform)
    , m_Transform(other.m_Transform)
    , m_Points(other.m_Points)
    , m_IsNearEdge(other.m_IsNearEdge)
  {
    m_Case.doublePixels = std::is_same<TPixel, double>::value;
  }

  /** Sets up a metric for the case and evaluates it. */
  template <typename TMetric>
  Answer
  Evaluate(TMetric & metric) const
  {
    metric.SetFixedImage(m_Fixed);
    metric.SetMovingImage(m_Moving);
    metric.SetFixedImageMask(m_FixedMask);
    metric.SetMovingImageMask(m_MovingMask);
    metric.SetFixedTransform(m_FixedTransform);
    metric.SetMovingTransform(m_Transform);
    metric.SetFixedInterpolator(MakeInterpolator());
    metric.SetMovingInterpolator(MakeInterpolator());
    metric.SetUseMovingImageGradientFilter(m_Case.gradientFilter);
    metric.SetUseFixedImageGradientFilter(m_Case.gradientFilter);
    metric.SetGradientSource(m_Case.fixedGradient
                               ? itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_FIXED
                               : itk::ObjectToObjectMetricBaseTemplateEnums::GradientSource::GRADIENT_SOURCE_MOVING);
    if constexpr (std::is_base_of<ItkMetric<TPixel, VDimension>, TMetric>::value)
    {
      metric.SetNumberOfHistogramBins(m_Case.bins);
    }
    if constexpr (std::is_base_of<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>,
                                  TMetric>::value)
    {
      typename TMetric::RadiusType radius;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        radius[d] = m_Case.radius[d];
      }
      metric.SetRadius(radius);
    }
    if constexpr (std::is_base_of<itk::JointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>,
                                  TMetric>::value)
    {
      metric.SetNumberOfHistogramBins(m_Case.bins);
      metric.SetVarianceForJointPDFSmoothing(m_Case.variance);
    }
    if (m_Case.geometry == Geometry::OtherVirtualDomain)
    {
      metric.SetVirtualDomain(m_VirtualGrid.spacing,
                              m_VirtualGrid.origin,
                              m_VirtualGrid.direction,
                              typename ImageType::RegionType(m_VirtualGrid.start, m_VirtualGrid.size));
    }
    if (m_Case.sampling != Sampling::Dense)
    {
      metric.SetUseSampledPointSet(true);
      metric.SetUseVirtualSampledPointSet(m_Case.sampling == Sampling::VirtualPoints);
      if (m_Case.sampling == Sampling::VirtualPoints)
      {
        metric.SetVirtualSampledPointSet(MakePointSet<typename MetricType::VirtualPointSetType>());
      }
      else
      {
        metric.SetFixedSampledPointSet(MakePointSet<typename MetricType::FixedSampledPointSetType>());
      }
    }
    return InitializeAndAsk(metric);
  }

  /** Returns true if a joint histogram computes values in floats. */
  bool
  HasFloatBins() const
  {
    return m_Case.measure == Measure::JointHistogram && m_Case.many;
  }

  /** Returns true if rounding may cause larger errors than the tolerances of other cases allow. A joint histogram's forces are divided
   *  by densities, and one sample in a nearly empty bin outweighs all others. In a flat neighborhood, a neighborhood correlation's
   *  variance is what rounding leaves, and ITK tests whether that is more than 2^-52. */
  bool
  IsSensitive() const
  {
    return m_Case.measure == Measure::JointHistogram || m_Case.measure == Measure::NeighborhoodCorrelation;
  }

  /** Returns true if ITK rounds interpolated values to float, the pixel type, where the devices do not. If forces nearly cancel, this
   *  rounding shows. For the neighborhood correlation the devices round values as ITK does. */
  bool
  RoundsToFloat() const
  {
    return std::is_same<TPixel, float>::value && !m_Case.many && m_Case.measure != Measure::NeighborhoodCorrelation;
  }

  /** Returns the largest difference between a moving value of the metrics and ITK's, relative to the range. */
  double
  GetValueDistance() const
  {
    const bool isFixedPoint = m_Case.measure == Measure::JointHistogram && m_Case.doublePixels && !m_Case.many;
    return isFixedPoint ? FixedPointBinDistance : BinDistance;
  }

  /** Returns how much a metric's results change if rounding errors of the expected size are added to its input. */
  template <typename TMetric>
  Sensitivity
  ComputeSensitivity(const Answer & answer)
  {
    Sensitivity most;
    if (this->IsSensitive())
    {
      this->template AddSensitivityToValues<TMetric>(answer, most);
    }
    return most;
  }

  std::size_t
  GetNumberOfSamples() const
  {
    return GetVirtualPoints().size();
  }

  bool
  IsNearEdge() const
  {
    return m_IsNearEdge;
  }

  /** Returns true if a mask excludes nearly all but the background of an image. If that is constant, ITK's metric refuses the image,
   *  since its bins would have no width. */
  bool
  IsFlat() const
  {
    return ComputeRanges(*m_Fixed, m_FixedMask).IsFlat() || ComputeRanges(*m_Moving, m_MovingMask).IsFlat();
  }

private:
  template <typename TOther, unsigned int VOtherDimension>
  friend class MetricSetUp;

  template <typename TOther>
  static typename ImageType::Pointer
  ConvertImage(const TOther & other)
  {
    const auto image = ImageType::New();
    image->CopyInformation(&other);
    image->SetRegions(other.GetBufferedRegion());
    image->Allocate();
    std::copy_n(other.GetBufferPointer(), other.GetBufferedRegion().GetNumberOfPixels(), image->GetBufferPointer());
    return image;
  }

  /** Adds the changes of the results if each moving value, except the ends of the range, changes by a rounding error: all up, all down,
   *  or at random, which interpolation averages. ITK divides by a marginal, which in some of its versions is the other image's. If a
   *  marginal bin is empty except for what interpolation adds from a neighbour, the smaller the distance of a value from the empty bin,
   *  the larger the force. */
  template <typename TMetric>
  void
  AddSensitivityToValues(const Answer & answer, Sensitivity & most)
  {
    const Ranges range = ComputeRanges(*m_Moving, m_MovingMask);
    const bool   isSplineInFloats = m_Case.interpolation == Interpolation::BSpline && m_Case.many;
    const double step = (isSplineInFloats ? SplineDistance : GetValueDistance()) * (range.high - range.low);
    const typename ImageType::Pointer unchanged = m_Moving;
    for (int draw = 0; draw < 4; ++draw)
    {
      m_Moving = ImageType::New();
      m_Moving->CopyInformation(unchanged);
      m_Moving->SetRegions(unchanged->GetBufferedRegion());
      m_Moving->Allocate();
      std::transform(unchanged->GetBufferPointer(),
                     unchanged->GetBufferPointer() + unchanged->GetBufferedRegion().GetNumberOfPixels(),
                     m_Moving->GetBufferPointer(),
                     [&](double value) {
                       const bool isEnd = value == range.low || value == range.high;
                       const bool isUp = draw < 2 ? draw == 0 : m_Random() % 2 == 0;
                       return static_cast<TPixel>(isEnd ? value : value + (isUp ? step : -step));
                     });
      AddSensitivity(Evaluate(*TMetric::New()), answer, most);
    }
    m_Moving = unchanged;
  }

  static void
  AddSensitivity(const Answer & moved, const Answer & answer, Sensitivity & most)
  {
    most.ofDerivative = std::max(most.ofDerivative, GetRelativeError(moved.derivative, answer.derivative));
    most.ofValue = std::max(most.ofValue, std::abs(moved.value - answer.value) / std::abs(answer.value));
  }

  /** The smallest and the largest value inside of the mask, the histogram's range; and those of the whole image. */
  struct Ranges
  {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double least = low;
    double greatest = high;

    bool
    IsFlat() const
    {
      return !(high - low > 0.1 * (greatest - least));
    }
  };

  // MetricSetUpImages.hxx:
  void
  MakeGrids();

  void
  MakeFixedGrid();

  void
  RefineFixedGrid();

  void
  MakeMovingGrid();

  void
  MakeVirtualGrid();

  void
  MakeImages();

  typename MaskType::Pointer
  MakeMask(const GridType & about);

  void
  MakePoints();

  PointType
  RoundPoint(const PointType & point) const;

  template <typename TPointSet>
  typename TPointSet::Pointer
  MakePointSet() const;

  std::vector<PointType>
  GetVirtualPoints() const;

  std::vector<PointType>
  GetLookedAtPoints() const;

  std::vector<PointType>
  GetVoxels() const;

  typename InterpolatorType::Pointer
  MakeInterpolator() const;

  static Ranges
  ComputeRanges(const ImageType & image, const MaskType * mask);

  // MetricSetUpTransforms.hxx:
  TransformMaker<VDimension>
  MakeTransformMaker(double amount);

  GridType
  MakeGridAround(double angle) const;

  typename TransformType::Pointer
  MakeField();

  typename TransformType::Pointer
  MakeField(const GridType & grid);

  typename TransformType::Pointer
  MakeSpline(double angle);

  template <unsigned int VOrder>
  typename TransformType::Pointer
  MakeSplineOfOrder(double angle);

  typename TransformType::Pointer
  MakeTransform();

  static void
  OptimizeOnly(itk::SizeValueType one, CompositeType & composite);

  void
  DrawTransform();

  // UndecidedSamples.hxx:
  bool
  IsNearBinEdge(double value, const Ranges & range, double distance) const;

  bool
  HasVoxelNearBinEdge() const;

  bool
  IsUndecided(PointType point, double distance) const;

  template <unsigned int VOrder>
  static bool
  IsNearEndOf(const TransformType & transform, const PointType & point, double distance);

  static bool
  IsBetweenVectors(const TransformType & transform, const PointType & point, double distance);

  bool
  FindSampleNearEdge() const;

  PointType
  Step(const PointType & point, unsigned int axis, double voxels) const;

  typename ImageType::IndexType
  GetNearest(const PointType & point) const;

  bool
  IsInBuffer(const PointType & point) const;

  unsigned
  Decide(const PointType & point) const;

  MetricCase                      m_Case;
  Random                          m_Random;
  GridType                        m_FixedGrid;
  GridType                        m_MovingGrid;
  GridType                        m_VirtualGrid;
  typename ImageType::Pointer     m_Fixed;
  typename ImageType::Pointer     m_Moving;
  typename MaskType::Pointer      m_FixedMask;
  typename MaskType::Pointer      m_MovingMask;
  typename TransformType::Pointer m_FixedTransform;
  typename TransformType::Pointer m_Transform;
  std::vector<PointType>          m_Points;
  bool                            m_IsNearEdge = false;
};

} // namespace gpuregtest

#include "MetricSetUpImages.hxx"
#include "MetricSetUpTransforms.hxx"
#include "UndecidedSamples.hxx"

#endif
