// SPDX-License-Identifier: Apache-2.0
// A problem for CudaCorrelationRatioMetric, and the metric's definition in double precision, with ITK's interpolators and transforms.
#ifndef CorrelationRatioProblem_h
#define CorrelationRatioProblem_h

#include "MetricProblem.h"

#include "itkCudaCorrelationRatioMetric.h"

#include "itkAffineTransform.h"
#include "itkCentralDifferenceImageFunction.h"
#include "itkGradientRecursiveGaussianImageFilter.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace gpuregtest
{

/** A problem, with everything that a case may change. */
template <typename TPixel, unsigned int VDimension>
struct RatioProblem : MetricProblem<TPixel, VDimension>
{
  using ImageType = typename MetricProblem<TPixel, VDimension>::ImageType;
  using MetricType = itk::CudaCorrelationRatioMetric<ImageType, ImageType>;

  using MetricProblem<TPixel, VDimension>::MetricProblem;

  typename MetricType::Pointer
  MakeMetric(const itk::GPUDevice & device) const
  {
    const auto metric = MetricType::New();
    metric->SetDevice(device);
    this->GiveTo(*metric);
    metric->SetNumberOfHistogramBins(bins);
    metric->SetUseMovingImageGradientFilter(usesGradientFilter);
    metric->SetScheme(scheme);
    metric->SetBorderWeightDistance(borderDistance);
    return metric;
  }

  unsigned int                   bins = 64;
  bool                           usesGradientFilter = true;
  gpureg::CorrelationRatioScheme scheme = gpureg::CorrelationRatioScheme::SharedMerge;
  double                         borderDistance = 0; // mm
};

/** Returns a problem of a whole head's size: its chunks have the most samples possible, and so the coarsest unit. */
inline RatioProblem<float, 3>
MakeProblemOfAWholeHeadsSize(std::uint64_t seed)
{
  RatioProblem<float, 3> problem(seed);
  Grid<3>                grid;
  grid.size = { { 150, 170, 160 } };
  grid.spacing.Fill(1.0);
  std::tie(problem.fixed, problem.moving) = MakeImagePair<itk::Image<float, 3>>(grid, grid, 31);
  const auto affine = itk::AffineTransform<double, 3>::New();
  affine->Rotate3D(itk::Vector<double, 3>(1.0), 0.05);
  problem.transform = affine;
  return problem;
}

/** The metric's definition. */
template <typename TPixel, unsigned int VDimension>
class Definition
{
public:
  using ProblemType = RatioProblem<TPixel, VDimension>;
  using ImageType = typename ProblemType::ImageType;
  using PointType = typename ProblemType::PointType;

  explicit Definition(const ProblemType & problem)
    : m_Problem(problem)
    , m_Fixed(itk::LinearInterpolateImageFunction<ImageType, double>::New())
  {
    m_Fixed->SetInputImage(problem.fixed);
    problem.interpolator->SetInputImage(problem.moving);
    ComputeRange();
    problem.ForEachPoint([this](const PointType & point) { this->Add(point); });
    ComputeSummands();
  }

  double
  GetValue() const
  {
    return m_Within / m_Deviations;
  }

  /** Returns value and derivative; the derivative takes longer than the value. */
  Answer
  Evaluate()
  {
    MakeGradient();
    Answer answer;
    answer.validPoints = m_Samples.size();
    answer.value = GetValue();
    const bool isLocal = m_Problem.transform->GetTransformCategory() ==
                         ProblemType::TransformType::TransformCategoryEnum::DisplacementField;
    answer.derivative.assign(m_Problem.transform->GetNumberOfParameters(), 0.0);
    typename ProblemType::TransformType::JacobianType jacobian;
    for (const Sample & s : m_Samples)
    {
      m_Problem.transform->ComputeJacobianWithRespectToParameters(s.point, jacobian);
      const double fromBin = s.value - m_Bins[s.bin].mean;
      const double fromMean = s.value - m_All.mean;
      const auto   force =
        ComputeGradient(s.moved) * (-2.0 / m_Deviations * s.weight * (fromBin - answer.value * fromMean)) +
        ComputeSlope(s.moved) * (-1.0 / m_Deviations * (fromBin * fromBin - answer.value * fromMean * fromMean));
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
    PointType    moved;
    std::size_t  voxel;
    unsigned int bin;
    double       value;
    double       weight;
  };

  struct Sums
  {
    double weight = 0, mean = 0;
  };

  /** Returns the weight of a sample near the border. */
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

  /** Returns the derivative of the weight by the moved point. */
  VectorType
  ComputeSlope(const PointType & moved) const
  {
    VectorType slope;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      // So small a step that hardly a sample has a kink of the weight within it.
      const double step = 1e-6;
      PointType    before = moved;
      PointType    behind = moved;
      before[d] -= step;
      behind[d] += step;
      slope[d] = m_Problem.borderDistance > 0 ? (WeighPoint(behind) - WeighPoint(before)) / (2 * step) : 0.0;
    }
    return slope;
  }

  VectorType
  ComputeGradient(const PointType & moved) const
  {
    if (!m_Problem.usesGradientFilter)
    {
      return m_Differences->Evaluate(moved);
    }
    VectorType gradient;
    const auto interpolated = m_GradientAt->Evaluate(moved);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      gradient[d] = interpolated[d];
    }
    return gradient;
  }

  void
  ComputeRange()
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
    // As itk::ImageToImageMetricv4 configures it.
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
    sample.moved = moved;
    sample.voxel = m_Problem.fixed->ComputeOffset(m_Problem.fixed->TransformPhysicalPointToIndex(point));
    // The metric reads both values as pixels, as all of ITK's metrics do.
    const auto fixedValue = static_cast<TPixel>(m_Fixed->Evaluate(point));
    sample.bin = std::min(m_Problem.bins - 1,
                          static_cast<unsigned int>(
                            std::max(0.0, m_Problem.bins * (fixedValue - m_Minimum) / (m_Maximum - m_Minimum))));
    sample.value = static_cast<TPixel>(m_Problem.interpolator->Evaluate(moved));
    sample.weight = WeighPoint(moved);
    m_Samples.push_back(sample);
  }

  void
  ComputeSummands()
  {
    m_Bins.resize(m_Problem.bins);
    for (const Sample & s : m_Samples)
    {
      for (Sums * sums : { &m_Bins[s.bin], &m_All })
      {
        sums->weight += s.weight;
        sums->mean += s.weight * s.value;
      }
    }
    for (Sums & sums : m_Bins)
    {
      sums.mean /= sums.weight > 0 ? sums.weight : 1.0;
    }
    m_All.mean /= m_All.weight;
    for (const Sample & s : m_Samples)
    {
      m_Within += s.weight * std::pow(s.value - m_Bins[s.bin].mean, 2);
      m_Deviations += s.weight * std::pow(s.value - m_All.mean, 2);
    }
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
  std::vector<Sums>                                                                      m_Bins;
  Sums                                                                                   m_All;
  double                                                                                 m_Within = 0;
  double                                                                                 m_Deviations = 0;
};

} // namespace gpuregtest

#endif
