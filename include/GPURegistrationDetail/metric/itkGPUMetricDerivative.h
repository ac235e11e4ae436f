// SPDX-License-Identifier: Apache-2.0
// Computes a metric's derivative with respect to the moving transform's parameters from the forces of its samples.
#ifndef itkGPUMetricDerivative_h
#define itkGPUMetricDerivative_h

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/metric/itkGPUMetricMapping.h"

#include "gpureg/runtime/LargePages.h"
#include "gpureg/metric/Metric.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Stores a metric's derivative, -1/divisor times a sum over forces. The metric names this class a friend. */
template <typename TMetric>
class MetricDerivative
{
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using JacobianType = typename TMetric::JacobianType;
  using DerivativeValueType = typename TMetric::DerivativeValueType;
  using ScalarType = typename TMetric::Superclass::CoordinateRepresentationType;

public:
  using MovingTransformType = typename TMetric::MovingTransformType;

  explicit MetricDerivative(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Adds -1/divisor times the derivative, which it computes from the forces of an evaluation.
   *  \param engine the engine, which stores the forces of each sample.
   *  \param forces what the evaluation did with the forces.
   *  \param result the evaluation's sums of forces.
   *  \param mapping where the samples mapped to.
   *  \param divisor divides the sum. */
  void
  Store(gpureg::Metric &              engine,
        gpureg::Forces                forces,
        const gpureg::ForceResult &   result,
        const gpureg::SampleMapping & mapping,
        double                        divisor) const
  {
    if (forces == gpureg::Forces::None)
    {
      return;
    }
    if (forces == gpureg::Forces::Summed && mapping.chain.transform.steps.empty())
    {
      this->StoreGlobal(*m_Metric.m_MovingTransform, {}, result, divisor);
      return;
    }
    const MetricMapping<TMetric> transforms(m_Metric);
    const auto                   jacobian = transforms.GetJacobianBehindOptimized();
    if (forces == gpureg::Forces::Summed || mapping.preTransforms)
    {
      const gpureg::ForceResult sums =
        mapping.preTransforms ? engine.SumForces(MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())) : result;
      this->StoreGlobal(*transforms.GetOptimizedLinear(),
                        transforms.GetMapBeforeOptimized(),
                        this->FollowBack(sums, jacobian),
                        divisor);
    }
    else if (mapping.spline)
    {
      this->StoreByControlPoints(engine, jacobian, divisor);
    }
    else
    {
      this->StoreLocal(engine, jacobian, divisor);
    }
  }

  /** Adds Σ J(x)ᵀ f(x), computed from Σ f and Σ f ⊗ x: see src/kernels/metric/samples/ForceSums.h. It takes the optimised transform's
   *  own Jacobian at the domain's centre and one step from it along each axis.
   *  \param optimized the optimised transform.
   *  \param before maps virtual points to points of the optimised transform.
   *  \param result the sums of forces.
   *  \param divisor divides the sum. */
  void
  StoreGlobal(const MovingTransformType & optimized,
              const gpureg::IndexMap &    before,
              const gpureg::ForceResult & result,
              double                      divisor) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    auto &                                     derivative = *m_Metric.m_DerivativeResult;
    const auto                                 parameters = m_Metric.GetNumberOfParameters();
    const auto                                 jacobianAt = [&](const Geometry::IndexArray & index) {
      JacobianType                                 jacobian;
      typename MovingTransformType::InputPointType point;
      const auto                                   at = Geometry::IndexToPoint<ImageDimension>(virtualImage, index);
      for (unsigned int r = 0; r < ImageDimension; ++r)
      {
        double coordinate = before.offset[r];
        for (unsigned int c = 0; c < ImageDimension; ++c)
        {
          coordinate += before.matrix[3 * r + c] * at[c];
        }
        point[r] = static_cast<ScalarType>(coordinate);
      }
      optimized.ComputeJacobianWithRespectToParameters(point, jacobian);
      return jacobian;
    };
    const JacobianType  middle = jacobianAt(result.centre);
    std::vector<double> sums(parameters, 0.0);
    for (unsigned int p = 0; p < parameters; ++p)
    {
      for (unsigned int c = 0; c < ImageDimension; ++c)
      {
        sums[p] += middle[c][p] * result.forceSums[c];
      }
    }
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      Geometry::IndexArray index = result.centre;
      const double         step = std::max<double>(1.0, static_cast<double>(m_Metric.GetVirtualRegion().GetSize(d)));
      index[d] += step;
      const JacobianType there = jacobianAt(index);
      for (unsigned int p = 0; p < parameters; ++p)
      {
        for (unsigned int c = 0; c < ImageDimension; ++c)
        {
          sums[p] += (there[c][p] - middle[c][p]) / step * result.forceSums[3 + 3 * d + c];
        }
      }
    }
    for (unsigned int p = 0; p < parameters; ++p)
    {
      derivative[p] += static_cast<DerivativeValueType>(-sums[p] / divisor);
    }
  }

  /** Returns sums of forces as derivatives with respect to a point before a linear map.
   * \param result the sums as derivatives with respect to the point after the map.
   * \param matrix the map's matrix, stored row by row. */
  static gpureg::ForceResult
  FollowBack(const gpureg::ForceResult & result, const std::array<double, 9> & matrix)
  {
    gpureg::ForceResult followed = result;
    for (unsigned int sum = 0; sum < 12; sum += 3)
    {
      for (unsigned int c = 0; c < 3; ++c)
      {
        followed.forceSums[sum + c] = 0;
        for (unsigned int r = 0; r < 3; ++r)
        {
          followed.forceSums[sum + c] += matrix[3 * r + c] * result.forceSums[sum + r];
        }
      }
    }
    return followed;
  }

  /** Sets all derivatives to 0, on many threads. */
  void
  Clear() const
  {
    auto &     derivative = *m_Metric.m_DerivativeResult;
    const auto count = m_Metric.GetNumberOfParameters();
    const auto parallelFor = MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits());
    if (derivative.GetSize() != count)
    {
      derivative.SetSize(count);
      gpureg::PrepareForWriting(derivative.data_block(), count * sizeof(DerivativeValueType), parallelFor);
    }
    const std::int64_t perTask = 1 << 16;
    const auto         size = static_cast<std::int64_t>(count);
    parallelFor((size + perTask - 1) / perTask, [&](std::int64_t task) {
      const std::int64_t first = task * perTask;
      std::fill_n(derivative.data_block() + first, std::min(perTask, size - first), DerivativeValueType{ 0 });
    });
  }

  /** Adds each sample's force, which the engine has stored, to its displacement's derivative, after applying the Jacobian of what
   * follows the field. */
  void
  StoreLocal(gpureg::Metric & engine, const std::array<double, 9> & jacobian, double divisor) const
  {
    auto &     derivative = *m_Metric.m_DerivativeResult;
    const auto parallelFor = MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits());
    const auto add = [&](const float * force, SizeValueType offset) {
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        double sum = 0;
        for (unsigned int r = 0; r < ImageDimension; ++r)
        {
          sum += jacobian[3 * r + d] * force[r];
        }
        derivative[offset + d] += static_cast<DerivativeValueType>(-sum / divisor);
      }
    };
    if (!m_Metric.m_UseSampledPointSet)
    {
      engine.TakeForces(
        [&add](std::int64_t first, std::int64_t count, const float * forces) {
          for (std::int64_t n = 0; n < count; ++n)
          {
            add(forces + 3 * n, static_cast<SizeValueType>(first + n) * ImageDimension);
          }
        },
        parallelFor);
      return;
    }
    // Points may share a voxel, so their forces are added one after the other.
    std::vector<float> all(3 * m_Metric.GetNumberOfDomainPoints());
    engine.TakeForces([&all](std::int64_t  first,
                             std::int64_t  count,
                             const float * forces) { std::copy_n(forces, 3 * count, all.data() + 3 * first); },
                      parallelFor);
    for (SizeValueType sample = 0; sample < m_Metric.GetNumberOfDomainPoints(); ++sample)
    {
      const auto index = m_Metric.GetVirtualImage()->TransformPhysicalPointToIndex(
        m_Metric.GetVirtualSampledPointSet()->GetPoint(sample));
      // A point outside the virtual domain has no place in the derivative.
      if (m_Metric.GetVirtualRegion().IsInside(index))
      {
        add(&all[3 * sample], m_Metric.ComputeParameterOffsetFromVirtualIndex(index, ImageDimension));
      }
    }
  }

  /** Adds the control points' sums of forces (adjoint B-spline interpolation), after applying the Jacobian of what follows the spline.
   *  ITK stores all control points' derivatives along x first, then those along y, and so on. */
  void
  StoreByControlPoints(gpureg::Metric & engine, const std::array<double, 9> & jacobian, double divisor) const
  {
    const auto forces = engine.InterpolateForcesAdjointly(MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits()));
    auto &     derivative = *m_Metric.m_DerivativeResult;
    for (std::size_t n = 0; n < forces.size(); ++n)
    {
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        double sum = 0;
        for (unsigned int r = 0; r < ImageDimension; ++r)
        {
          sum += jacobian[3 * r + d] * forces[n][r];
        }
        derivative[d * forces.size() + n] += static_cast<DerivativeValueType>(-sum / divisor);
      }
    }
  }

private:
  const TMetric & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
