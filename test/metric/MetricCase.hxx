// SPDX-License-Identifier: Apache-2.0
// Makes the images, samples and transforms of a MetricCase, and evaluates our metric and the one it is compared with.
#ifndef MetricCase_hxx
#define MetricCase_hxx

#include "MetricCase.h"

#include "ReferenceMeanAbsoluteDifferences.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkScaleTransform.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkTranslationTransform.h"
#include "itkVersorRigid3DTransform.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <type_traits>

namespace gpuregtest
{

/** The distance in voxels from a decision within which rounding may decide about a mapped sample. The matrix that maps indices is
 *  rounded to 2^-33; if samples are many, displacements of up to 5 voxels are floats. */
constexpr double EdgeDistance = 5e-8;
constexpr double EdgeDistanceOfMany = 1e-6;
/** The least distance from the ends of the histogram's range, relative to the range: values are floats. */
constexpr double RangeDistance = 5e-7;

/** The least distance from the edges of a joint histogram's bins, relative to the range. Samples are counted in the nearest bin, so a
 *  single one in another bin shows. The distance covers the error of interpolation in floats, or of rounding to a float;
 *  FixedPointBinDistance covers that of a position's rounding to 2^-32 voxel, for values of more digits. */
constexpr double BinDistance = 2e-7;
constexpr double FixedPointBinDistance = 2e-9;
/** The largest error observed in a spline's value in floats (RMS: 5e-8): 16 or more coefficients are added up, some of them larger than
 *  the range. */
constexpr double SplineDistance = 4e-7;
/** The error of the value of a single voxel, which is rounded once. */
constexpr double VoxelBinDistance = 7e-8;

/** Draws random linear transforms about a centre. */
template <unsigned int VDimension>
class TransformMaker
{
public:
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using PointType = itk::Point<double, VDimension>;
  using VectorType = itk::Vector<double, VDimension>;

  /** \param amount scales rotations, scales and shears, which are at most 0.08 for 1; \param reach the largest translation, mm. */
  TransformMaker(Random & random, const PointType & centre, double amount, const VectorType & reach)
    : m_Random(random)
    , m_Centre(centre)
    , m_Amount(0.08 * amount)
    , m_Reach(reach)
  {}

  typename TransformType::Pointer
  Make(Motion motion)
  {
    switch (motion)
    {
      case Motion::Translation:
      {
        const auto transform = itk::TranslationTransform<double, VDimension>::New();
        transform->Translate(MakeTranslation());
        return transform.GetPointer();
      }
      case Motion::Rigid:
      case Motion::Versor:
        return MakeRigid(motion == Motion::Versor);
      case Motion::Similarity:
        return MakeSimilarity();
      case Motion::Scale:
      {
        const auto transform = itk::ScaleTransform<double, VDimension>::New();
        transform->SetCenter(m_Centre);
        auto scale = transform->GetScale();
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          scale[d] = 1.0 + Draw();
        }
        transform->SetScale(scale);
        return transform.GetPointer();
      }
      default:
        return MakeAffine();
    }
  }

  typename TransformType::Pointer
  MakeAffine()
  {
    const auto transform = itk::AffineTransform<double, VDimension>::New();
    transform->SetCenter(m_Centre);
    auto matrix = transform->GetMatrix();
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        matrix[r][c] += Draw();
      }
    }
    transform->SetMatrix(matrix);
    transform->SetTranslation(MakeTranslation());
    return transform.GetPointer();
  }

private:
  double
  Draw()
  {
    return Uniform(m_Random, -m_Amount, m_Amount);
  }

  VectorType
  MakeTranslation()
  {
    VectorType translation;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      translation[d] = Uniform(m_Random, -m_Reach[d], m_Reach[d]);
    }
    return translation;
  }

  typename TransformType::Pointer
  MakeRigid(bool versor)
  {
    if constexpr (VDimension == 2)
    {
      const auto transform = itk::Euler2DTransform<double>::New();
      transform->SetCenter(m_Centre);
      transform->SetAngle(Draw());
      transform->SetTranslation(MakeTranslation());
      return transform.GetPointer();
    }
    else if (versor)
    {
      const auto transform = itk::VersorRigid3DTransform<double>::New();
      SetVersor(*transform);
      return transform.GetPointer();
    }
    else
    {
      const auto transform = itk::Euler3DTransform<double>::New();
      transform->SetCenter(m_Centre);
      const double x = Draw(), y = Draw(), z = Draw();
      transform->SetRotation(x, y, z);
      transform->SetTranslation(MakeTranslation());
      return transform.GetPointer();
    }
  }

  typename TransformType::Pointer
  MakeSimilarity()
  {
    if constexpr (VDimension == 2)
    {
      const auto transform = itk::Similarity2DTransform<double>::New();
      transform->SetCenter(m_Centre);
      transform->SetAngle(Draw());
      transform->SetScale(1.0 + Draw());
      transform->SetTranslation(MakeTranslation());
      return transform.GetPointer();
    }
    else
    {
      const auto transform = itk::Similarity3DTransform<double>::New();
      SetVersor(*transform);
      transform->SetScale(1.0 + Draw());
      return transform.GetPointer();
    }
  }

  template <typename TVersorTransform>
  void
  SetVersor(TVersorTransform & transform)
  {
    transform.SetCenter(m_Centre);
    itk::Versor<double>    versor;
    itk::Vector<double, 3> axis;
    axis[0] = 0.6;
    axis[1] = -0.3;
    axis[2] = 0.7;
    versor.Set(axis, Draw());
    transform.SetRotation(versor);
    transform.SetTranslation(MakeTranslation());
  }

  Random &   m_Random;
  PointType  m_Centre;
  double     m_Amount;
  VectorType m_Reach;
};

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

  TransformMaker<VDimension>
  MakeTransformMaker(double amount)
  {
    // A slice must stay in the slice: within half of its thickness.
    const bool slice = m_Case.geometry == Geometry::OneSlice;
    VectorType reach;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      reach[d] = amount * (slice && d == 2 ? 0.15 * m_FixedGrid.spacing[d] : 0.07 * m_FixedGrid.GetExtent(d));
    }
    // The centre is not at a voxel: a scale or a rotation about it would leave that voxel half-way between others.
    VectorType aside;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      aside[d] = 0.3 * reach[d];
    }
    return { m_Random, m_FixedGrid.GetCentre() + aside, slice ? 0.1 * amount : amount, reach };
  }

  void
  MakeGrids()
  {
    MakeFixedGrid();
    if (m_Case.many)
    {
      RefineFixedGrid();
    }
    MakeMovingGrid();
    MakeVirtualGrid();
  }

  void
  MakeFixedGrid()
  {
    GridType & grid = m_FixedGrid;
    const bool threeD = VDimension == 3;
    grid.size.Fill(threeD ? 25 : 113);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.origin[d] = Uniform(m_Random, -5.0, 5.0);
    }
    switch (m_Case.geometry)
    {
      case Geometry::Plain:
        grid.origin.Fill(0.0);
        break;
      case Geometry::Anisotropic:
      case Geometry::OtherVirtualDomain:
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          grid.spacing[d] = 0.7 + 0.9 * d;
        }
        break;
      case Geometry::Oblique:
        grid.direction = MakeRotation<VDimension>(0.5);
        grid.spacing[0] = 1.6;
        break;
      case Geometry::StartIndex:
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          grid.start[d] = d == 1 ? -9 : 7 + static_cast<int>(d);
        }
        break;
      case Geometry::FarOrigin:
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          grid.origin[d] = d == 1 ? -1e4 : 1e4;
        }
        grid.spacing.Fill(0.8);
        break;
      case Geometry::OddSizes:
        grid.size[0] = threeD ? 37 : 151;
        grid.size[1] = threeD ? 23 : 83;
        grid.size[VDimension - 1] = threeD ? 17 : 83;
        break;
      case Geometry::OneSlice:
        grid.size.Fill(113);
        grid.size[0] = 119;
        grid.size[VDimension - 1] = threeD ? 1 : 113;
        grid.spacing[VDimension - 1] = 3.0;
        break;
    }
  }

  /** Replaces the fixed grid by one of the same extent with 35 000 or more voxels. */
  void
  RefineFixedGrid()
  {
    GridType &   grid = m_FixedGrid;
    const bool   isFlat = VDimension == 2 || m_Case.geometry == Geometry::OneSlice;
    const double factor = isFlat ? 1.75 : 1.5;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      if (grid.size[d] > 1)
      {
        grid.size[d] = static_cast<itk::SizeValueType>(factor * static_cast<double>(grid.size[d]));
        grid.spacing[d] /= factor;
      }
    }
  }

  /** Makes another grid around the same centre. */
  void
  MakeMovingGrid()
  {
    const GridType & grid = m_FixedGrid;
    m_MovingGrid = grid;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      if (grid.size[d] > 1)
      {
        m_MovingGrid.size[d] += 2 + d;
        m_MovingGrid.spacing[d] *= 0.93 - 0.05 * d;
      }
    }
    if (m_Case.geometry == Geometry::Oblique)
    {
      m_MovingGrid.direction = MakeRotation<VDimension>(-0.3);
    }
    if (m_Case.geometry == Geometry::StartIndex)
    {
      m_MovingGrid.start.Fill(-4);
    }
    m_MovingGrid.SetCentre(grid.GetCentre());
  }

  void
  MakeVirtualGrid()
  {
    const GridType & grid = m_FixedGrid;
    m_VirtualGrid = grid;
    if (m_Case.geometry == Geometry::OtherVirtualDomain)
    {
      // Coarser, rotated, and extending beyond the fixed image.
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        m_VirtualGrid.size[d] = grid.size[d] - 1 - d;
        m_VirtualGrid.spacing[d] *= 1.13;
        m_VirtualGrid.start[d] = 3 - static_cast<int>(d);
      }
      m_VirtualGrid.direction = MakeRotation<VDimension>(0.1);
      m_VirtualGrid.SetCentre(grid.GetCentre());
    }
  }

  void
  MakeImages()
  {
    std::tie(m_Fixed, m_Moving) = MakeImagePair<ImageType>(m_FixedGrid, m_MovingGrid, m_Random());
    if (m_Case.flatBackground)
    {
      // Half of the space is flat, with a soft border: a border as sharp as a voxel would turn the rounding of displacements, 5e-7 voxel,
      // into an error of 100 bins times that. The flat value is the smallest one; for splines, whose ripples would put those samples at the
      // very end of the range, where rounding decides, it is in the middle of the range.
      const SmoothFunction where(m_Random, 0.6 * m_FixedGrid.GetExtent(0), 1.5 * m_FixedGrid.GetExtent(0));
      const bool           inTheMiddle = m_Case.interpolation == Interpolation::BSpline;
      const auto           flatten = [&](ImageType & image, double least, double middle) {
        const double flat = inTheMiddle ? middle : least;
        for (itk::ImageRegionIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
        {
          PointType point;
          image.TransformIndexToPhysicalPoint(it.GetIndex(), point);
          const double inside = std::min(1.0, std::max(0.0, 3.0 * where(point - m_FixedGrid.GetCentre())));
          it.Set(static_cast<TPixel>(inside > 0 ? flat + inside * (it.Get() - flat) : flat));
        }
      };
      flatten(*m_Fixed, 0.0, 101.3);
      flatten(*m_Moving, -45.0, 21.7);
    }
  }

  /** Returns a mask of a soft-edged blob, on a grid of its own, in a spatial object with a transform. */
  typename MaskType::Pointer
  MakeMask(const GridType & about)
  {
    GridType grid = about;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.start[d] = static_cast<int>(d) - 2;
      if (about.size[d] > 1)
      {
        grid.size[d] += 3;
        grid.spacing[d] *= 0.87;
      }
    }
    if (m_Case.geometry != Geometry::OneSlice)
    {
      grid.direction = MakeRotation<VDimension>(Uniform(m_Random, -0.2, 0.2));
    }
    grid.SetCentre(about.GetCentre());
    const SmoothFunction shape(m_Random, 0.5 * about.GetExtent(0), 1.2 * about.GetExtent(0));
    const auto           image =
      MakeImage<MaskImageType>(grid, [&](const PointType & p) { return shape(p - about.GetCentre()) > -0.35 ? 3 : 0; });
    const auto mask = MaskType::New();
    mask->SetImage(image);
    const auto move = MaskType::TransformType::New();
    VectorType offset;
    offset.Fill(0.0);
    offset[0] = 0.31 * grid.spacing[0];
    move->SetOffset(offset);
    mask->SetObjectToParentTransform(move);
    mask->Update();
    return mask;
  }

  /** Makes random points in three of five voxels of the virtual domain. No voxel has two points: for a displacement field, ITK's Mattes
   *  metric would weigh all of them by the bins of the last one, which is no reference (ContractTest tests our result). */
  void
  MakePoints()
  {
    const typename ImageType::RegionType region(m_VirtualGrid.start, m_VirtualGrid.size);
    const auto                           voxels = ImageType::New();
    voxels->SetRegions(region);
    // ITK's neighborhood correlation sums the neighborhood of each point separately.
    const double share = m_Case.measure == Measure::NeighborhoodCorrelation ? 0.1 : 0.6;
    for (itk::SizeValueType n = 0; n < region.GetNumberOfPixels(); ++n)
    {
      if (Uniform(m_Random, 0.0, 1.0) > share)
      {
        continue;
      }
      const auto voxel = voxels->ComputeIndex(n);
      VectorType index;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        index[d] = static_cast<double>(voxel[d] - m_VirtualGrid.start[d]) + Uniform(m_Random, -0.49, 0.49);
      }
      m_Points.push_back(RoundPoint(m_VirtualGrid.GetPoint(index)));
    }
  }

  /** Returns a point as ITK's point sets store it: in floats, which at 10^4 mm are exact to 0.5 µm. */
  PointType
  RoundPoint(const PointType & point) const
  {
    typename MetricType::VirtualPointSetType::PointType rounded;
    if (m_Case.sampling == Sampling::FixedPoints)
    {
      rounded.CastFrom(m_FixedTransform->TransformPoint(point));
      PointType fixedPoint;
      fixedPoint.CastFrom(rounded);
      rounded.CastFrom(m_FixedTransform->GetInverseTransform()->TransformPoint(fixedPoint));
    }
    else
    {
      rounded.CastFrom(point);
    }
    PointType result;
    result.CastFrom(rounded);
    return result;
  }

  template <typename TPointSet>
  typename TPointSet::Pointer
  MakePointSet() const
  {
    const auto set = TPointSet::New();
    for (std::size_t n = 0; n < m_Points.size(); ++n)
    {
      typename TPointSet::PointType point;
      const bool                    isFixed = m_Case.sampling == Sampling::FixedPoints;
      point.CastFrom(isFixed ? m_FixedTransform->TransformPoint(m_Points[n]) : m_Points[n]);
      set->SetPoint(n, point);
    }
    return set;
  }

  typename InterpolatorType::Pointer
  MakeInterpolator() const
  {
    switch (m_Case.interpolation)
    {
      case Interpolation::Nearest:
        return itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New().GetPointer();
      case Interpolation::BSpline:
        return itk::BSplineInterpolateImageFunction<ImageType, double, double>::New().GetPointer();
      default:
        return itk::LinearInterpolateImageFunction<ImageType, double>::New().GetPointer();
    }
  }

  /** Returns a grid for a field that is not optimized, around all points to which a transform may lead. Its indices begin at 0;
   *  otherwise ITK's metric would read its field outside of the buffer. */
  GridType
  MakeGridAround(double angle) const
  {
    GridType   grid = m_VirtualGrid;
    const bool isSlice = m_Case.geometry == Geometry::OneSlice;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.start[d] = 0;
      grid.spacing[d] *= 2.6;
      grid.size[d] = grid.size[d] > 1 ? (3 * grid.size[d]) / 4 + d : 1;
    }
    if (!isSlice)
    {
      grid.direction = MakeRotation<VDimension>(angle);
    }
    grid.SetCentre(m_VirtualGrid.GetCentre());
    return grid;
  }

  typename TransformType::Pointer
  MakeField()
  {
    return MakeField(m_VirtualGrid);
  }

  typename TransformType::Pointer
  MakeField(const GridType & grid)
  {
    using VectorPixel = typename FieldType::PixelType;
    std::vector<SmoothFunction> components;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      components.emplace_back(m_Random, 0.4 * m_VirtualGrid.GetExtent(0), m_VirtualGrid.GetExtent(0));
    }
    const auto field = FieldType::New();
    grid.ApplyTo(*field);
    field->Allocate();
    for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      PointType point;
      field->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      VectorPixel u;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        const double amplitude = m_Case.geometry == Geometry::OneSlice && d == 2 ? 0.1 * m_FixedGrid.spacing[d]
                                                                                 : 0.04 * m_FixedGrid.GetExtent(d);
        u[d] = amplitude * components[d](point - m_FixedGrid.GetCentre());
      }
      it.Set(u);
    }
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform.GetPointer();
  }

  /** Makes a B-spline that is optimized: over most of the virtual domain, or rotated by an angle against it. */
  typename TransformType::Pointer
  MakeSpline(double angle)
  {
    switch (m_Case.splineOrder)
    {
      case 1:
        return MakeSplineOfOrder<1>(angle);
      case 2:
        return MakeSplineOfOrder<2>(angle);
      default:
        return MakeSplineOfOrder<3>(angle);
    }
  }

  template <unsigned int VOrder>
  typename TransformType::Pointer
  MakeSplineOfOrder(double angle)
  {
    using SplineType = itk::BSplineTransform<double, VDimension, VOrder>;
    const bool isSlice = m_Case.geometry == Geometry::OneSlice && VDimension == 3;
    // A spline that does not cover the whole domain leaves some samples in place. Such splines are made in random cases only, since a
    // sample that is left in place may lie on an edge.
    const bool coversAll = m_Case.geometry == Geometry::Plain || m_Case.many || m_Random() % 4 > 0;
    const auto turn = MakeRotation<VDimension>(isSlice ? 0.0 : angle);
    const auto direction = m_VirtualGrid.direction * turn;
    typename SplineType::PhysicalDimensionsType dimensions;
    typename SplineType::MeshSizeType           mesh;
    VectorType                                  first, half;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      double extent = 0;
      for (unsigned int e = 0; e < VDimension; ++e)
      {
        extent += std::abs(turn[e][d]) * m_VirtualGrid.GetExtent(e);
      }
      const bool isThin = isSlice && d == 2;
      first[d] = isThin ? -0.6 : 1.37 + d;
      dimensions[d] = isThin      ? 1.2 * m_VirtualGrid.spacing[d]
                      : coversAll ? 1.15 * extent
                                  : 0.9 * m_VirtualGrid.GetExtent(d);
      half[d] = 0.5 * dimensions[d];
      mesh[d] = isThin ? 1 : 3 + d;
    }
    const auto spline = SplineType::New();
    spline->SetTransformDomainOrigin(coversAll ? m_VirtualGrid.GetCentre() - direction * half
                                               : m_VirtualGrid.GetPoint(first));
    spline->SetTransformDomainDirection(direction);
    spline->SetTransformDomainPhysicalDimensions(dimensions);
    spline->SetTransformDomainMeshSize(mesh);
    auto              parameters = spline->GetParameters();
    const std::size_t controlPoints = parameters.size() / VDimension;
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      const auto   d = static_cast<unsigned int>(p / controlPoints);
      const double amplitude = isSlice && d == 2 ? 0.1 * m_FixedGrid.spacing[d] : 0.05 * m_FixedGrid.GetExtent(d);
      parameters[p] = Uniform(m_Random, -amplitude, amplitude);
    }
    spline->SetParametersByValue(parameters);
    return spline.GetPointer();
  }

  typename TransformType::Pointer
  MakeTransform()
  {
    auto       maker = MakeTransformMaker(1.0);
    const auto composite = CompositeType::New();
    switch (m_Case.motion)
    {
      case Motion::CompositeOfTwo: // both are optimized
        composite->AddTransform(maker.Make(Motion::Rigid));
        composite->AddTransform(maker.Make(Motion::Affine));
        return composite.GetPointer();
      case Motion::MovingInitial: // as in ImageRegistrationMethodv4
        composite->AddTransform(maker.Make(Motion::Affine));
        composite->AddTransform(maker.Make(Motion::Rigid));
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::Field:
        return MakeField();
      case Motion::FieldInComposite:
        composite->AddTransform(MakeField());
        return composite.GetPointer();
      case Motion::AffineThenField:
        composite->AddTransform(maker.Make(Motion::Affine));
        composite->AddTransform(MakeField());
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::FieldThenAffine:
        composite->AddTransform(MakeField(MakeGridAround(0.2)));
        composite->AddTransform(maker.Make(Motion::Affine));
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::FieldThenField:
        composite->AddTransform(MakeField(MakeGridAround(0.2)));
        composite->AddTransform(MakeField());
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::Spline:
        return MakeSpline(0.0);
      case Motion::SplineAside:
        return MakeSpline(0.3);
      case Motion::AffineThenSpline:
        composite->AddTransform(maker.Make(Motion::Affine));
        composite->AddTransform(MakeSpline(0.0));
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::FieldThenSpline:
        composite->AddTransform(MakeField(MakeGridAround(0.2)));
        composite->AddTransform(MakeSpline(m_Random() % 2 == 0 ? 0.0 : -0.2));
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::SeveralThenAffine:
        composite->AddTransform(MakeField(MakeGridAround(-0.1)));
        composite->AddTransform(MakeTransformMaker(0.4).MakeAffine());
        composite->AddTransform(MakeField(MakeGridAround(0.2)));
        composite->AddTransform(MakeTransformMaker(0.4).MakeAffine());
        composite->SetOnlyMostRecentTransformToOptimizeOn();
        return composite.GetPointer();
      case Motion::AffineBehindField:
        composite->AddTransform(maker.Make(Motion::Affine));
        composite->AddTransform(MakeField(MakeGridAround(0.2)));
        OptimizeOnly(0, *composite);
        return composite.GetPointer();
      case Motion::AffineBehindSpline:
        composite->AddTransform(maker.Make(Motion::Affine));
        composite->AddTransform(MakeSpline(0.0));
        OptimizeOnly(0, *composite);
        return composite.GetPointer();
      case Motion::AffineAmongGrids:
        composite->AddTransform(MakeField(MakeGridAround(-0.1)));
        composite->AddTransform(MakeTransformMaker(0.4).MakeAffine());
        composite->AddTransform(MakeTransformMaker(0.4).MakeAffine());
        composite->AddTransform(MakeSpline(0.3));
        OptimizeOnly(2, *composite);
        return composite.GetPointer();
      case Motion::SplineBehindAffine:
        composite->AddTransform(MakeSpline(0.0));
        composite->AddTransform(MakeTransformMaker(0.4).MakeAffine());
        OptimizeOnly(0, *composite);
        return composite.GetPointer();
      default:
        return maker.Make(m_Case.motion);
    }
  }

  /** Optimizes only the transform with this number, in the order of adding. */
  static void
  OptimizeOnly(itk::SizeValueType one, CompositeType & composite)
  {
    for (itk::SizeValueType n = 0; n < composite.GetNumberOfTransforms(); ++n)
    {
      composite.SetNthTransformToOptimize(n, n == one);
    }
  }

  /** Draws transforms until rounding decides about no sample. */
  void
  DrawTransform()
  {
    for (int attempt = 0; attempt < 400; ++attempt)
    {
      m_Transform = MakeTransform();
      m_IsNearEdge = FindSampleNearEdge();
      if (!m_IsNearEdge)
      {
        return;
      }
    }
  }

  /** Returns the positions of the samples. */
  std::vector<PointType>
  GetVirtualPoints() const
  {
    return m_Case.sampling == Sampling::Dense ? GetVoxels() : m_Points;
  }

  /** Returns all positions that are evaluated, those of the voxels around a sample, too. */
  std::vector<PointType>
  GetLookedAtPoints() const
  {
    return m_Case.measure == Measure::NeighborhoodCorrelation ? GetVoxels() : GetVirtualPoints();
  }

  /** Returns the positions of the virtual grid's voxels. */
  std::vector<PointType>
  GetVoxels() const
  {
    const auto grid = ImageType::New();
    m_VirtualGrid.ApplyTo(*grid);
    std::vector<PointType> points(grid->GetLargestPossibleRegion().GetNumberOfPixels());
    for (std::size_t n = 0; n < points.size(); ++n)
    {
      grid->TransformIndexToPhysicalPoint(grid->ComputeIndex(n), points[n]);
    }
    return points;
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

  static Ranges
  ComputeRanges(const ImageType & image, const MaskType * mask)
  {
    Ranges ranges;
    for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      PointType point;
      image.TransformIndexToPhysicalPoint(it.GetIndex(), point);
      ranges.least = std::min<double>(ranges.least, it.Get());
      ranges.greatest = std::max<double>(ranges.greatest, it.Get());
      if (!mask || mask->IsInsideInWorldSpace(point))
      {
        ranges.low = std::min<double>(ranges.low, it.Get());
        ranges.high = std::max<double>(ranges.high, it.Get());
      }
    }
    return ranges;
  }

  /** Returns true if a value is closer than `distance`, relative to the range, to an edge between two bins of a joint histogram. */
  bool
  IsNearBinEdge(double value, const Ranges & range, double distance) const
  {
    const double inner = static_cast<double>(m_Case.bins) - 5;
    const double place = inner * (value - range.low) / (range.high - range.low);
    return std::abs(place - std::floor(place) - 0.5) < inner * distance;
  }

  /** Returns true if rounding may decide about the bin of a voxel's own value, read without interpolation: no transform can avoid such a
   *  voxel. */
  bool
  HasVoxelNearBinEdge() const
  {
    if (!HasFloatBins() || m_Case.interpolation != Interpolation::Nearest)
    {
      return false;
    }
    const Ranges         range = ComputeRanges(*m_Moving, m_MovingMask);
    const TPixel * const values = m_Moving->GetBufferPointer();
    return std::any_of(values, values + m_Moving->GetBufferedRegion().GetNumberOfPixels(), [&](double value) {
      return IsNearBinEdge(value, range, VoxelBinDistance);
    });
  }

  /** Returns true if a step of `distance` spacings changes the transform at a point: whether the point is in a spline's domain, or, if
   *  other transforms precede a field, which of its vectors is nearest, at which ITK computes the derivative. */
  bool
  IsUndecided(PointType point, double distance) const
  {
    const auto composite = dynamic_cast<const CompositeType *>(m_Transform.GetPointer());
    const int  count = composite ? static_cast<int>(composite->GetNumberOfTransforms()) : 1;
    for (int n = count - 1; n >= 0; --n)
    {
      const TransformType & transform = composite ? *composite->GetNthTransformConstPointer(n) : *m_Transform;
      if (IsNearEndOf<1>(transform, point, distance) || IsNearEndOf<2>(transform, point, distance) ||
          IsNearEndOf<3>(transform, point, distance) || (n < count - 1 && IsBetweenVectors(transform, point, distance)))
      {
        return true;
      }
      point = transform.TransformPoint(point);
    }
    return false;
  }

  /** Returns true if a point is in a spline's domain, where all control points of its order exist. */
  template <unsigned int VOrder>
  static bool
  IsNearEndOf(const TransformType & transform, const PointType & point, double distance)
  {
    const auto spline = dynamic_cast<const itk::BSplineTransform<double, VDimension, VOrder> *>(&transform);
    if (!spline)
    {
      return false;
    }
    const auto & subsample = *spline->GetCoefficientImages()[0];
    const auto   place = subsample.template TransformPhysicalPointToContinuousIndex<double>(point);
    const auto   size = subsample.GetLargestPossibleRegion().GetSize();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const double low = 0.5 * (VOrder - 1);
      const double high = static_cast<double>(size[d]) - 1 - low;
      if (std::abs(place[d] - low) < distance || std::abs(place[d] - high) < distance)
      {
        return true;
      }
    }
    return false;
  }

  static bool
  IsBetweenVectors(const TransformType & transform, const PointType & point, double distance)
  {
    const auto field = dynamic_cast<const FieldTransformType *>(&transform);
    if (!field)
    {
      return false;
    }
    const auto place = field->GetDisplacementField()->template TransformPhysicalPointToContinuousIndex<double>(point);
    return std::any_of(place.Begin(), place.End(), [distance](double index) {
      return std::abs(index - std::floor(index) - 0.5) < distance;
    });
  }

  /** Returns true if rounding may decide about an evaluated point: if a step of EdgeDistance changes whether it is valid, whether its
   *  gradient is, its nearest voxel, or the transform there; if RangeDistance decides whether its value is in the histogram's range; or
   *  if BinDistance decides about its bin. All is computed in double precision, by ITK's own objects. */
  bool
  FindSampleNearEdge() const
  {
    const auto interpolator = MakeInterpolator();
    interpolator->SetInputImage(m_Moving);
    const Ranges range = ComputeRanges(*m_Moving, m_MovingMask);
    const double distance = RangeDistance * (range.high - range.low);

    // If the range is that of the whole image, only a spline leaves it.
    const bool overshoots = m_Case.interpolation == Interpolation::BSpline;
    const bool lowMatters = overshoots || range.low > range.least;
    const bool highMatters = overshoots || range.high < range.greatest;
    const bool binMatters = m_Case.measure == Measure::JointHistogram && m_Case.interpolation != Interpolation::Nearest;
    const double ofEdge = m_Case.many ? EdgeDistanceOfMany : EdgeDistance;
    const double ofBin = GetValueDistance();

    for (const PointType & virtualPoint : GetLookedAtPoints())
    {
      const PointType point = m_Transform->TransformPoint(virtualPoint);
      const unsigned  decisions = Decide(point);
      bool            isNear = IsUndecided(virtualPoint, ofEdge);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        isNear = isNear || Decide(Step(point, d, ofEdge)) != decisions || Decide(Step(point, d, -ofEdge)) != decisions;
        if (m_Case.interpolation == Interpolation::Nearest)
        {
          isNear = isNear || GetNearest(Step(point, d, ofEdge)) != GetNearest(Step(point, d, -ofEdge));
        }
      }
      if ((lowMatters || highMatters || binMatters) && !isNear && (decisions & 1u))
      {
        const double value = interpolator->Evaluate(point);
        const bool   isExact = !overshoots && (value == range.low || value == range.high); // a voxel's own value
        isNear = !isExact && ((lowMatters && std::abs(value - range.low) < distance) ||
                              (highMatters && std::abs(value - range.high) < distance));
        isNear = isNear || (binMatters && IsNearBinEdge(value, range, ofBin));
      }
      if (isNear)
      {
        return true;
      }
    }
    return false;
  }

  PointType
  Step(const PointType & point, unsigned int axis, double voxels) const
  {
    auto index = m_Moving->template TransformPhysicalPointToContinuousIndex<double>(point);
    index[axis] += voxels;
    return m_Moving->template TransformContinuousIndexToPhysicalPoint<double>(index);
  }

  typename ImageType::IndexType
  GetNearest(const PointType & point) const
  {
    return m_Moving->TransformPhysicalPointToIndex(point);
  }

  bool
  IsInBuffer(const PointType & point) const
  {
    typename ImageType::IndexType index;
    return m_Moving->TransformPhysicalPointToIndex(point, index);
  }

  /** Returns bits: bit 0 is set if the sample is valid, bit 1 + d if component d of its central difference is. */
  unsigned
  Decide(const PointType & point) const
  {
    if (!IsInBuffer(point) || (m_MovingMask && !m_MovingMask->IsInsideInWorldSpace(point)))
    {
      return 0;
    }
    unsigned decisions = 1;
    if (!m_Case.gradientFilter)
    {
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        VectorType step;
        step.Fill(0.0);
        step[d] = 0.5 * m_Moving->GetSpacing()[d];
        decisions |= IsInBuffer(point + step) && IsInBuffer(point - step) ? 2u << d : 0u;
      }
    }
    return decisions;
  }

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
