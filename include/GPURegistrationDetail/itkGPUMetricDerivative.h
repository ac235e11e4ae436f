// SPDX-License-Identifier: Apache-2.0
// From the forces of a metric's samples to its derivative by the moving transform's parameters.
#ifndef itkGPUMetricDerivative_h
#define itkGPUMetricDerivative_h

#include "GPURegistrationDetail/itkGPURegistrationThreads.h"
#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"

#include "gpureg/Samples.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Of a metric that names it a friend. What it stores is -1/divisor times the sum. */
template <typename TMetric>
class MetricDerivative
{
public:
  explicit MetricDerivative(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** Σ J(x)ᵀ f(x) from Σ f and Σ f ⊗ x, see src/kernels/ForceSums.h: the transform's own Jacobian at the
   *  domain's centre and one step from it along each axis. */
  void
  StoreGlobal(const gpureg::ForceResult & result, double divisor) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    auto &                                     derivative = *m_Metric.m_DerivativeResult;
    const auto                                 parameters = m_Metric.GetNumberOfParameters();
    const auto                                 jacobianAt = [&](const Geometry::IndexArray & index) {
      JacobianType                                 jacobian;
      typename MovingTransformType::InputPointType point;
      point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
      m_Metric.m_MovingTransform->ComputeJacobianWithRespectToParameters(point, jacobian);
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

  /** By rows, of what follows the displacement field. */
  std::array<double, 9>
  FindJacobianBehindField(const gpureg::SampleMapping & mapping) const
  {
    namespace Geometry = GPURegistrationGeometry;
    // The map u ↦ moving point is affine: index map, back to physical space.
    std::array<double, 9> jacobian{};
    const auto            origin = Geometry::IndexToPoint<ImageDimension>(*m_Metric.m_MovingImage, { 0, 0, 0 });
    for (unsigned int r = 0; r < ImageDimension; ++r)
    {
      Geometry::IndexArray unit{ 0, 0, 0 };
      unit[r] = 1.0;
      const auto axis = Geometry::IndexToPoint<ImageDimension>(*m_Metric.m_MovingImage, unit) - origin;
      for (unsigned int c = 0; c < ImageDimension; ++c)
      {
        for (unsigned int row = 0; row < ImageDimension; ++row)
        {
          jacobian[3 * row + c] += axis[row] * mapping.displacementToIndex[3 * r + c];
        }
      }
    }
    return jacobian;
  }

  /** A displacement's derivative is its sample's force, by the Jacobian of what follows the field. */
  void
  StoreLocal(const gpureg::ForceResult & result, const std::array<double, 9> & jacobian, double divisor) const
  {
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    auto &                                     derivative = *m_Metric.m_DerivativeResult;

    const auto store = [&](SizeValueType sample, SizeValueType offset) {
      for (unsigned int d = 0; d < ImageDimension; ++d)
      {
        double sum = 0;
        for (unsigned int r = 0; r < ImageDimension; ++r)
        {
          sum += jacobian[3 * r + d] * result.forces[3 * sample + r];
        }
        derivative[offset + d] += static_cast<DerivativeValueType>(-sum / divisor);
      }
    };
    if (m_Metric.m_UseSampledPointSet)
    {
      // Points may share a voxel: one after the other.
      for (SizeValueType sample = 0; sample < m_Metric.GetNumberOfDomainPoints(); ++sample)
      {
        const auto index =
          virtualImage.TransformPhysicalPointToIndex(m_Metric.GetVirtualSampledPointSet()->GetPoint(sample));
        // A point outside of the virtual domain has no place in the derivative.
        if (m_Metric.GetVirtualRegion().IsInside(index))
        {
          store(sample, m_Metric.ComputeParameterOffsetFromVirtualIndex(index, ImageDimension));
        }
      }
      return;
    }
    const auto         samples = static_cast<std::int64_t>(m_Metric.GetVirtualRegion().GetNumberOfPixels());
    const std::int64_t perTask = 65536;
    MakeParallelFor(m_Metric.GetMaximumNumberOfWorkUnits())((samples + perTask - 1) / perTask, [&](std::int64_t task) {
      const std::int64_t end = std::min(samples, (task + 1) * perTask);
      for (std::int64_t sample = task * perTask; sample < end; ++sample)
      {
        store(sample, sample * ImageDimension);
      }
    });
  }

private:
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using JacobianType = typename TMetric::JacobianType;
  using MovingTransformType = typename TMetric::MovingTransformType;
  using DerivativeValueType = typename TMetric::DerivativeValueType;

  const TMetric & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
