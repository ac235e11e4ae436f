// SPDX-License-Identifier: Apache-2.0
// A problem for CudaCorrelationRatioMetric, and the metric's definition in double precision, from ITK's interpolators and
// transforms.
#ifndef CorrelationRatioProblem_h
#define CorrelationRatioProblem_h

#include "RandomGrid.h"
#include "TestAnswer.h"
#include "TestImages.h"

#include "itkCudaCorrelationRatioMetric.h"

#include "itkAffineTransform.h"
#include "itkCentralDifferenceImageFunction.h"
#include "itkDisplacementFieldTransform.h"
#include "itkGradientRecursiveGaussianImageFilter.h"
#include "itkImageMaskSpatialObject.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

/** A problem, and everything in it that a case may change. */
template <typename TPixel, unsigned int VDimension>
struct Problem
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using MetricType = itk::CudaCorrelationRatioMetric<ImageType, ImageType>;
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using InterpolatorType = itk::InterpolateImageFunction<ImageType, double>;
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  using PointType = typename ImageType::PointType;

  explicit Problem(std::uint64_t seed)
  {
    Grid<VDimension> grid;
    grid.size.Fill(VDimension == 3 ? 37 : 230);
    grid.size[1] -= 5;
    grid.spacing[0] = 1.7;
    grid.origin.Fill(-31.0);
    grid.direction = MakeRotation<VDimension>(0.3);
    Grid<VDimension> movingGrid = grid;
    movingGrid.direction = MakeRotation<VDimension>(-0.2);
    movingGrid.spacing[1] = 0.9;
    movingGrid.start.Fill(3);
    movingGrid.SetCentre(grid.GetCentre());
    std::tie(fixed, moving) = MakeImagePair<ImageType>(grid, movingGrid, seed);
    const auto affine = itk::AffineTransform<double, VDimension>::New();
    affine->SetCenter(grid.GetCentre());
    auto   parameters = affine->GetParameters();
    Random random(seed + 1);
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      parameters[p] += Uniform(random, -0.06, 0.06) * (p < VDimension * VDimension ? 1.0 : 20.0);
    }
    affine->SetParameters(parameters);
    transform = affine;
    interpolator = itk::LinearInterpolateImageFunction<ImageType, double>::New();
  }

  typename MetricType::Pointer
  MakeMetric(const itk::GPUDevice & device) const
  {
    const auto metric = MetricType::New();
    metric->SetDevice(device);
    metric->SetFixedImage(fixed);
    metric->SetMovingImage(moving);
    metric->SetMovingTransform(transform);
    metric->SetMovingInterpolator(interpolator);
    metric->SetFixedImageMask(fixedMask);
    metric->SetMovingImageMask(movingMask);
    metric->SetNumberOfHistogramBins(bins);
    metric->SetUseMovingImageGradientFilter(usesGradientFilter);
    metric->SetScheme(scheme);
    metric->SetBorderWeightDistance(borderDistance);
    if (!points.empty())
    {
      const auto set = MetricType::FixedSampledPointSetType::New();
      for (std::size_t n = 0; n < points.size(); ++n)
      {
        set->SetPoint(static_cast<itk::IdentifierType>(n), points[n]);
      }
      metric->SetFixedSampledPointSet(set);
      metric->SetUseSampledPointSet(true);
    }
    return metric;
  }

  typename ImageType::Pointer        fixed;
  typename ImageType::Pointer        moving;
  typename TransformType::Pointer    transform;
  typename InterpolatorType::Pointer interpolator;
  typename MaskType::Pointer         fixedMask;
  typename MaskType::Pointer         movingMask;
  std::vector<PointType>             points;
  unsigned int                       bins = 64;
  bool                               usesGradientFilter = true;
  gpureg::CorrelationRatioScheme     scheme = gpureg::CorrelationRatioScheme::SharedMerge;
  double                             borderDistance = 0; // mm
};

/** So many voxels of the fixed image, some of them several times. */
template <typename TPixel, unsigned int VDimension>
void
AddRandomPoints(Problem<TPixel, VDimension> & problem, int count, std::uint64_t seed)
{
  Random     random(seed);
  const auto region = problem.fixed->GetBufferedRegion();
  for (int n = 0; n < count; ++n)
  {
    auto index = region.GetIndex();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] += Draw(random, static_cast<unsigned int>(region.GetSize(d)));
    }
    typename Problem<TPixel, VDimension>::PointType point;
    problem.fixed->TransformIndexToPhysicalPoint(index, point);
    problem.points.push_back(point);
  }
}

/** The metric's definition. */
template <typename TPixel, unsigned int VDimension>
class Definition
{
public:
  using ProblemType = Problem<TPixel, VDimension>;
  using ImageType = typename ProblemType::ImageType;
  using PointType = typename ProblemType::PointType;

  explicit Definition(const ProblemType & problem)
    : m_Problem(problem)
    , m_Fixed(itk::LinearInterpolateImageFunction<ImageType, double>::New())
  {
    m_Fixed->SetInputImage(problem.fixed);
    problem.interpolator->SetInputImage(problem.moving);
    FindRange();
    MakeGradient();
    const auto region = problem.fixed->GetBufferedRegion();
    if (problem.points.empty())
    {
      for (itk::ImageRegionIteratorWithIndex<ImageType> it(problem.fixed, region); !it.IsAtEnd(); ++it)
      {
        PointType point;
        problem.fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
        Add(point);
      }
    }
    for (const PointType & point : problem.points)
    {
      Add(point);
    }
  }

  Answer
  Evaluate() const
  {
    struct Sums
    {
      double weight = 0, mean = 0;
    };
    std::vector<Sums> bins(m_Problem.bins);
    Sums              all;
    for (const Sample & s : m_Samples)
    {
      for (Sums * sums : { &bins[s.bin], &all })
      {
        sums->weight += s.weight;
        sums->mean += s.weight * s.value;
      }
    }
    for (Sums & sums : bins)
    {
      sums.mean /= sums.weight > 0 ? sums.weight : 1.0;
    }
    all.mean /= all.weight;
    double within = 0, deviations = 0;
    for (const Sample & s : m_Samples)
    {
      within += s.weight * std::pow(s.value - bins[s.bin].mean, 2);
      deviations += s.weight * std::pow(s.value - all.mean, 2);
    }
    Answer answer;
    answer.validPoints = m_Samples.size();
    answer.value = within / deviations;
    const bool isLocal = m_Problem.transform->GetTransformCategory() ==
                         ProblemType::TransformType::TransformCategoryEnum::DisplacementField;
    answer.derivative.assign(m_Problem.transform->GetNumberOfParameters(), 0.0);
    for (const Sample & s : m_Samples)
    {
      typename ProblemType::TransformType::JacobianType jacobian;
      m_Problem.transform->ComputeJacobianWithRespectToParameters(s.point, jacobian);
      const double fromBin = s.value - bins[s.bin].mean;
      const double fromMean = s.value - all.mean;
      const auto   force = s.gradient * (-2.0 / deviations * s.weight * (fromBin - answer.value * fromMean)) +
                         s.slope * (-1.0 / deviations * (fromBin * fromBin - answer.value * fromMean * fromMean));
      for (unsigned int p = 0; p < jacobian.cols(); ++p)
      {
        for (unsigned int d = 0; d < VDimension; ++d)
        {
          answer.derivative[p + (isLocal ? s.voxel * VDimension : 0)] += jacobian[d][p] * force[d];
        }
      }
    }
    return answer;
  }

private:
  using VectorType = itk::CovariantVector<double, VDimension>;

  struct Sample
  {
    PointType    point;
    std::size_t  voxel;
    unsigned int bin;
    double       value;
    VectorType   gradient;
    double       weight;
    VectorType   slope; // of the weight
  };

  /** What a sample weighs near the border. */
  double
  WeighPoint(const PointType & moved) const
  {
    const auto & moving = *m_Problem.moving;
    const auto   region = moving.GetBufferedRegion();
    const auto   index = moving.template TransformPhysicalPointToContinuousIndex<double>(moved);
    double       weight = 1.0;
    for (unsigned int d = 0; d < VDimension && m_Problem.borderDistance > 0; ++d)
    {
      const double begin = static_cast<double>(region.GetIndex(d)) - 0.5;
      const double end = begin + static_cast<double>(region.GetSize(d));
      const double millimetres = std::min(index[d] - begin, end - index[d]) * moving.GetSpacing()[d];
      weight *= std::min(1.0, millimetres / m_Problem.borderDistance);
    }
    return weight;
  }

  void
  FindRange()
  {
    m_Minimum = std::numeric_limits<double>::max();
    m_Maximum = std::numeric_limits<double>::lowest();
    const auto region = m_Problem.fixed->GetBufferedRegion();
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(m_Problem.fixed, region); !it.IsAtEnd(); ++it)
    {
      PointType point;
      m_Problem.fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      if (!m_Problem.fixedMask || m_Problem.fixedMask->IsInsideInWorldSpace(point))
      {
        m_Minimum = std::min<double>(m_Minimum, it.Get());
        m_Maximum = std::max<double>(m_Maximum, it.Get());
      }
    }
  }

  void
  MakeGradient()
  {
    if (!m_Problem.usesGradientFilter)
    {
      m_Differences = itk::CentralDifferenceImageFunction<ImageType, double>::New();
      m_Differences->UseImageDirectionOn();
      m_Differences->SetInputImage(m_Problem.moving);
      return;
    }
    // As itk::ImageToImageMetricv4 sets it up.
    const auto filter = itk::GradientRecursiveGaussianImageFilter<ImageType>::New();
    filter->SetInput(m_Problem.moving);
    filter->SetSigma(m_Problem.moving->GetSpacing().GetVnlVector().max_value());
    filter->SetNormalizeAcrossScale(true);
    filter->SetUseImageDirection(true);
    filter->Update();
    m_Gradient = filter->GetOutput();
    m_GradientAt = itk::VectorLinearInterpolateImageFunction<GradientImageType, double>::New();
    m_GradientAt->SetInputImage(m_Gradient);
  }

  void
  Add(const PointType & point)
  {
    const PointType moved = m_Problem.transform->TransformPoint(point);
    if (!m_Fixed->IsInsideBuffer(point) || !m_Problem.interpolator->IsInsideBuffer(moved) ||
        (m_Problem.fixedMask && !m_Problem.fixedMask->IsInsideInWorldSpace(point)) ||
        (m_Problem.movingMask && !m_Problem.movingMask->IsInsideInWorldSpace(moved)))
    {
      return;
    }
    Sample sample;
    sample.point = point;
    sample.voxel = m_Problem.fixed->ComputeOffset(m_Problem.fixed->TransformPhysicalPointToIndex(point));
    // Both are pixels to the metric, as to all of ITK's.
    const auto fixedValue = static_cast<TPixel>(m_Fixed->Evaluate(point));
    sample.bin = std::min(m_Problem.bins - 1,
                          static_cast<unsigned int>(
                            std::max(0.0, m_Problem.bins * (fixedValue - m_Minimum) / (m_Maximum - m_Minimum))));
    sample.value = static_cast<TPixel>(m_Problem.interpolator->Evaluate(moved));
    if (m_Problem.usesGradientFilter)
    {
      const auto gradient = m_GradientAt->Evaluate(moved);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        sample.gradient[d] = gradient[d];
      }
    }
    else
    {
      sample.gradient = m_Differences->Evaluate(moved);
    }
    sample.weight = WeighPoint(moved);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      // So near that hardly a sample has a kink of the weight in between.
      const double step = 1e-6;
      PointType    before = moved;
      PointType    behind = moved;
      before[d] -= step;
      behind[d] += step;
      sample.slope[d] = (WeighPoint(behind) - WeighPoint(before)) / (2 * step);
    }
    m_Samples.push_back(sample);
  }

  using GradientImageType = typename itk::GradientRecursiveGaussianImageFilter<ImageType>::OutputImageType;

  const ProblemType &                                                                    m_Problem;
  typename itk::LinearInterpolateImageFunction<ImageType, double>::Pointer               m_Fixed;
  typename GradientImageType::Pointer                                                    m_Gradient;
  typename itk::VectorLinearInterpolateImageFunction<GradientImageType, double>::Pointer m_GradientAt;
  typename itk::CentralDifferenceImageFunction<ImageType, double>::Pointer               m_Differences;
  double                                                                                 m_Minimum = 0;
  double                                                                                 m_Maximum = 0;
  std::vector<Sample>                                                                    m_Samples;
};

template <unsigned int VDimension>
typename itk::ImageMaskSpatialObject<VDimension>::Pointer
MakeMask(const itk::ImageBase<VDimension> & like)
{
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;
  const auto image = MaskType::ImageType::New();
  image->CopyInformation(&like);
  image->SetRegions(like.GetLargestPossibleRegion());
  image->Allocate();
  const auto start = like.GetLargestPossibleRegion().GetIndex();
  for (itk::ImageRegionIteratorWithIndex<typename MaskType::ImageType> it(image, image->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    it.Set(it.GetIndex()[0] - start[0] > 7 && it.GetIndex()[1] - start[1] < 25);
  }
  const auto mask = MaskType::New();
  mask->SetImage(image);
  mask->Update();
  return mask;
}

template <unsigned int VDimension>
typename itk::DisplacementFieldTransform<double, VDimension>::Pointer
MakeField(const itk::ImageBase<VDimension> & like)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  const auto field = FieldType::New();
  field->CopyInformation(&like);
  field->SetRegions(like.GetLargestPossibleRegion());
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename FieldType::PixelType vector;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      vector[d] = 1.3 * std::sin(0.11 * static_cast<double>(it.GetIndex()[d]) + d);
    }
    it.Set(vector);
  }
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform;
}

/** Calls check(a pixel, the dimension) for images of floats and of doubles, in two and in three dimensions. */
template <typename TCheck>
void
ForEachImageType(const TCheck & check)
{
  const auto inDimension = [&check](auto dimension) {
    const std::string name = std::to_string(dimension) + "D, ";
    {
      SCOPED_TRACE(name + "float");
      check(float{}, dimension);
    }
    {
      SCOPED_TRACE(name + "double");
      check(double{}, dimension);
    }
  };
  inDimension(std::integral_constant<unsigned int, 2>{});
  inDimension(std::integral_constant<unsigned int, 3>{});
}

} // namespace gpuregtest

#endif
