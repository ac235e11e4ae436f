// SPDX-License-Identifier: Apache-2.0
// Computes what no device can: a metric's samples, one by one, through ITK's own interpolators, transforms, masks and
// gradients, in double precision.
#ifndef itkGPUMetricThroughITK_h
#define itkGPUMetricThroughITK_h

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include "itkIntTypes.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Computes a metric's sums and derivative on the host, sample by sample, through ITK's classes. The metric names this class a friend. */
template <typename TMetric>
class MetricThroughITK
{
public:
  /** A valid sample. */
  struct Sample
  {
    typename TMetric::VirtualPointType     virtualPoint;
    typename TMetric::MovingImagePointType movingPoint;
    typename TMetric::FixedImagePixelType  fixedValue;
    typename TMetric::MovingImagePixelType movingValue;
  };

  /** Prepares the samples of a metric.
   *  \param metric the metric.
   *  \param tasks the largest number of tasks into which samples are cut. Tasks follow from the problem, not from the threads, so that
   *  partial sums are added in a fixed order. */
  MetricThroughITK(const TMetric & metric, std::int64_t tasks)
    : m_Metric(metric)
    , m_Samples(static_cast<std::int64_t>(metric.GetNumberOfDomainPoints()))
    , m_Tasks(std::min(m_Samples, std::max<std::int64_t>(1, tasks)))
  {}

  /** Holds the sums over samples. */
  struct Sums
  {
    std::vector<double>              all;
    std::vector<std::vector<double>> ofTasks; // the tasks' sums, which add up to `all` in this order
    SizeValueType                    count;   // number of samples that count
  };

  /** Returns sums over the valid samples. Each task has its own sums, which are added in the tasks' order, so that rounding does not
   *  depend on threads.
   *  \param numberOfSums the number of sums.
   *  \param add adds a valid sample to the sums, by add(sample, sums), and returns true if the sample counts. */
  template <typename TAdd>
  Sums
  SumUp(SizeValueType numberOfSums, const TAdd & add) const
  {
    Sums result{ std::vector<double>(numberOfSums), std::vector<std::vector<double>>(m_Tasks), 0 };
    std::vector<SizeValueType> counts(m_Tasks);
    this->ForEachTask([&](std::int64_t task) {
      auto & sums = result.ofTasks[task];
      sums.assign(numberOfSums, 0.0);
      this->ForEachSample(task, [&](const Sample & sample) { counts[task] += add(sample, sums.data()) ? 1 : 0; });
    });
    for (const std::vector<double> & sums : result.ofTasks)
    {
      std::transform(result.all.begin(), result.all.end(), sums.begin(), result.all.begin(), std::plus<>());
    }
    result.count = std::accumulate(counts.begin(), counts.end(), SizeValueType{ 0 });
    return result;
  }

  /** Returns the mean of the valid samples' moving values; 0 without samples. Squares relative to the mean lose no accuracy, whatever
   * the values. */
  double
  ComputeMeanMovingValue() const
  {
    const Sums sums = this->SumUp(1, [](const Sample & sample, double * sum) {
      *sum += sample.movingValue;
      return true;
    });
    return sums.count > 0 ? sums.all[0] / static_cast<double>(sums.count) : 0.0;
  }

  /** Adds factor·Σ J(x)ᵀ·weightOf(sample)·gradient to the derivative of a transform of global support; for a transform of local
   *  support, adds each sample's term at its place. */
  template <typename TWeightOf>
  void
  Differentiate(const TWeightOf & weightOf, double factor) const
  {
    this->DifferentiateForces(
      [&](const Sample & sample, VectorType & force) {
        const double weight = weightOf(sample);
        if (weight == 0.0)
        {
          return 0.0;
        }
        force = this->ComputeGradient(sample);
        return weight;
      },
      factor);
  }

  /** Adds factor·Σ J(x)ᵀ·weight·force to the derivative, as Differentiate() does, where weight = forceOf(sample, force) sets the force
   * unless the weight is 0. */
  template <typename TForceOf>
  void
  DifferentiateForces(const TForceOf & forceOf, double factor) const
  {
    const bool                       isLocal = m_Metric.HasLocalSupport();
    std::vector<std::vector<double>> sums(m_Tasks);
    const auto                       differentiate = [&](std::int64_t task) {
      sums[task].assign(isLocal ? 0 : m_Metric.GetNumberOfLocalParameters(), 0.0);
      this->AddForces(task, forceOf, factor, sums[task]);
    };
    if (isLocal && m_Metric.m_UseSampledPointSet)
    {
      // Points may share a voxel, and so a place in the derivative: they are added one after the other.
      for (std::int64_t task = 0; task < m_Tasks; ++task)
      {
        differentiate(task);
      }
    }
    else
    {
      this->ForEachTask(differentiate);
    }
    auto & derivative = *m_Metric.m_DerivativeResult;
    for (const std::vector<double> & part : sums)
    {
      for (std::size_t p = 0; p < part.size(); ++p)
      {
        derivative[p] += static_cast<DerivativeValueType>(factor * part[p]);
      }
    }
  }

  using VectorType = typename TMetric::MovingImageGradientType;

  /** Returns the moving image's gradient at the position that a sample maps to. */
  VectorType
  ComputeGradient(const Sample & sample) const
  {
    VectorType gradient;
    m_Metric.ComputeMovingImageGradientAtPoint(sample.movingPoint, gradient);
    return gradient;
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using DerivativeValueType = typename TMetric::DerivativeValueType;
  using JacobianType = typename TMetric::JacobianType;

  /** Calls work(task) for each task, on the metric's threads. */
  template <typename TWork>
  void
  ForEachTask(const TWork & work) const
  {
    MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())(m_Tasks, work);
  }

  /** Calls visit(sample) for each valid sample of a task. */
  template <typename TVisit>
  void
  ForEachSample(std::int64_t task, const TVisit & visit) const
  {
    Sample sample;
    for (std::int64_t n = m_Samples * task / m_Tasks; n < m_Samples * (task + 1) / m_Tasks; ++n)
    {
      if (this->MakeSample(n, sample))
      {
        visit(sample);
      }
    }
  }

  /** Returns true if sample n is valid, and then sets `sample`. */
  bool
  MakeSample(std::int64_t n, Sample & sample) const
  {
    if (m_Metric.m_UseSampledPointSet)
    {
      sample.virtualPoint = m_Metric.GetVirtualSampledPointSet()->GetPoint(n);
    }
    else
    {
      const auto & virtualImage = *m_Metric.GetVirtualImage();
      virtualImage.TransformIndexToPhysicalPoint(virtualImage.ComputeIndex(n), sample.virtualPoint);
    }
    typename TMetric::FixedImagePointType fixedPoint;
    return m_Metric.TransformAndEvaluateFixedPoint(sample.virtualPoint, fixedPoint, sample.fixedValue) &&
           m_Metric.TransformAndEvaluateMovingPoint(sample.virtualPoint, sample.movingPoint, sample.movingValue);
  }

  /** Adds the forces of a task's samples to its sums; for a transform of local support, to the derivative itself. */
  template <typename TForceOf>
  void
  AddForces(std::int64_t task, const TForceOf & forceOf, double factor, std::vector<double> & sums) const
  {
    const auto   parameters = m_Metric.GetNumberOfLocalParameters();
    JacobianType jacobian(ImageDimension, parameters);
    JacobianType cache;
    this->ForEachSample(task, [&](const Sample & sample) {
      VectorType   force;
      const double weight = forceOf(sample, force);
      if (weight == 0.0)
      {
        return;
      }
      typename TMetric::MovingTransformType::InputPointType point;
      point.CastFrom(sample.virtualPoint);
      m_Metric.m_MovingTransform->ComputeJacobianWithRespectToParametersCachedTemporaries(point, jacobian, cache);
      const auto pull = [&](unsigned int p) {
        double product = 0;
        for (unsigned int d = 0; d < ImageDimension; ++d)
        {
          product += jacobian[d][p] * force[d];
        }
        return product;
      };
      if (!m_Metric.HasLocalSupport())
      {
        for (unsigned int p = 0; p < parameters; ++p)
        {
          sums[p] += weight * pull(p);
        }
        return;
      }
      const auto index = m_Metric.GetVirtualImage()->TransformPhysicalPointToIndex(sample.virtualPoint);
      if (m_Metric.GetVirtualRegion().IsInside(index))
      {
        const auto offset = m_Metric.ComputeParameterOffsetFromVirtualIndex(index, parameters);
        for (unsigned int p = 0; p < parameters; ++p)
        {
          (*m_Metric.m_DerivativeResult)[offset + p] += static_cast<DerivativeValueType>(factor * weight * pull(p));
        }
      }
    });
  }

  const TMetric & m_Metric;
  std::int64_t    m_Samples;
  std::int64_t    m_Tasks;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
