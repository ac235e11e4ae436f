// SPDX-License-Identifier: Apache-2.0
// How a metric's moving transform leads from its samples to the moving image.
#ifndef itkGPUMetricMapping_h
#define itkGPUMetricMapping_h

#include "GPURegistrationDetail/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/itkGPUIsExactly.h"
#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/itkGPUTransformChain.h"

#include "gpureg/Samples.h"

#include "itkCompositeTransform.h"
#include "itkVectorInterpolateImageFunction.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** How a moving transform is evaluated. */
enum class MetricRoute
{
  /** It is affine. */
  Linear,
  /** Its first component is the displacement field that is optimised; grids may follow. */
  DisplacementField,
  /** Its first component is the B-spline that is optimised; grids may follow. */
  Spline,
  /** Grids, and at most linear parameters to optimise, which come first. */
  Chain,
  ThroughITK
};

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricMapping
{
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using Superclass = typename TMetric::Superclass;
  using ScalarType = typename Superclass::CoordinateRepresentationType;

public:
  using MovingTransformType = typename TMetric::MovingTransformType;
  using PointType = typename MovingTransformType::InputPointType;

  explicit MetricMapping(const TMetric & metric)
    : m_Metric(metric)
    , m_Components(FindComponents(*metric.m_MovingTransform))
  {}

  /** Of the evaluation that is asked for. */
  MetricRoute
  ChooseRoute() const
  {
    return this->ChooseRoute(m_Metric.GetComputeDerivative());
  }

  /** Of one with a derivative, or without. */
  MetricRoute
  ChooseRoute(bool wantsDerivative) const
  {
    if (GPURegistrationGeometry::IsLinear(*m_Metric.m_MovingTransform))
    {
      return MetricRoute::Linear;
    }
    gpureg::TransformChain rest;
    if (this->FindOptimizedSpline() && this->AppendFrom(1, rest))
    {
      return !wantsDerivative || CanFollowBack(rest) ? MetricRoute::Spline : MetricRoute::ThroughITK;
    }
    rest = {};
    if (this->FindOptimizedField() != nullptr && this->AppendFrom(1, rest))
    {
      return !wantsDerivative || CanFollowBack(rest) ? MetricRoute::DisplacementField : MetricRoute::ThroughITK;
    }
    if (wantsDerivative)
    {
      const bool optimizesFirst =
        this->OptimizesFirstOnly() && GPURegistrationGeometry::IsLinear(*m_Components[0].transform);
      return optimizesFirst && this->AppendFrom(1, rest) && CanFollowBack(rest) ? MetricRoute::Chain
                                                                                : MetricRoute::ThroughITK;
    }
    return this->AppendFrom(0, rest) ? MetricRoute::Chain : MetricRoute::ThroughITK;
  }

  /** Along one of them that is not ThroughITK. */
  gpureg::SampleMapping
  MakeMapping(MetricRoute route) const
  {
    switch (route)
    {
      case MetricRoute::DisplacementField:
        return this->MakeFieldMapping();
      case MetricRoute::Spline:
        return this->MakeSplineMapping();
      case MetricRoute::Chain:
        return this->MakeChainMapping();
      default:
        return gpureg::MakeLinearMapping(this->FitLinearMap(this->GetFitPoints(), *m_Metric.m_MovingTransform));
    }
  }

  /** Virtual points that tell a linear transform. */
  std::array<PointType, ImageDimension + 1>
  GetFitPoints() const
  {
    namespace Geometry = GPURegistrationGeometry;
    const auto indices = Geometry::GetFitIndices<ImageDimension>(*m_Metric.GetVirtualImage());
    std::array<PointType, ImageDimension + 1> points;
    std::transform(indices.begin(), indices.end(), points.begin(), [&](const Geometry::IndexArray & index) {
      PointType point;
      point.CastFrom(Geometry::IndexToPoint<ImageDimension>(*m_Metric.GetVirtualImage(), index));
      return point;
    });
    return points;
  }

  /** From virtual indices to moving ones, along a linear transform. */
  gpureg::IndexMap
  FitLinearMap(const std::array<PointType, ImageDimension + 1> & points, const MovingTransformType & transform) const
  {
    namespace Geometry = GPURegistrationGeometry;
    std::array<Geometry::IndexArray, ImageDimension + 1> moved;
    std::transform(points.begin(), points.end(), moved.begin(), [&](const PointType & point) {
      Point<double, ImageDimension> movedPoint;
      movedPoint.CastFrom(transform.TransformPoint(point));
      return Geometry::PointToIndex<ImageDimension>(*m_Metric.m_MovingImage, movedPoint);
    });
    return Geometry::FitMovedIndices<ImageDimension>(*m_Metric.GetVirtualImage(), moved);
  }

  /** The component that is applied first, which is what is optimised along MetricRoute::Chain. */
  const MovingTransformType &
  GetFirstComponent() const
  {
    return *m_Components[0].transform;
  }

private:
  struct Component
  {
    const MovingTransformType * transform;
    bool                        isOptimized;
  };

  /** In the order in which they are applied. */
  static std::vector<Component>
  FindComponents(const MovingTransformType & transform)
  {
    using CompositeType = CompositeTransform<ScalarType, ImageDimension>;
    if (!IsExactly<CompositeType>(&transform))
    {
      return { { &transform, true } };
    }
    const auto &           composite = static_cast<const CompositeType &>(transform);
    std::vector<Component> components;
    for (SizeValueType n = composite.GetNumberOfTransforms(); n > 0; --n)
    {
      components.push_back(
        { composite.GetNthTransformConstPointer(n - 1), composite.GetNthTransformToOptimize(n - 1) });
    }
    return components;
  }

  bool
  OptimizesFirstOnly() const
  {
    return !m_Components.empty() && m_Components[0].isOptimized &&
           std::none_of(m_Components.begin() + 1, m_Components.end(), [](const Component & component) {
             return component.isOptimized;
           });
  }

  /** The B-spline that is all that is optimised, if it is applied first, and of an order of 1 to 3. */
  std::optional<gpureg::DisplacementGrid>
  FindOptimizedSpline() const
  {
    gpureg::TransformChain chain;
    if (!this->OptimizesFirstOnly() ||
        m_Components[0].transform->GetTransformCategory() != MovingTransformType::TransformCategoryEnum::BSpline ||
        !GPUTransformChain::Append<ScalarType, ImageDimension>(*m_Components[0].transform, chain) ||
        chain.steps.size() != 1)
    {
      return std::nullopt;
    }
    const gpureg::ChainStep & step = chain.steps.front();
    const gpureg::IndexMap    identity;
    // A spline whose bulk transform moves points, too, is not this spline alone.
    const bool isAlone = step.map.matrix == identity.matrix && step.map.offset == identity.offset;
    return isAlone && step.grid.kind == gpureg::GridKind::BSpline && step.grid.order > 0 ? std::make_optional(step.grid)
                                                                                         : std::nullopt;
  }

  /** The displacement field's transform if that is all that is optimised, is applied first, and is interpolated linearly. */
  auto
  FindOptimizedField() const
  {
    const auto * const field = m_Metric.GetMovingDisplacementFieldTransform();
    if (field != nullptr && m_Metric.HasLocalSupport() && this->OptimizesFirstOnly())
    {
      using FieldType = typename std::decay_t<decltype(*field)>::DisplacementFieldType;
      const auto * const interpolator = field->GetInterpolator();
      if (interpolator != nullptr &&
          typeid(*interpolator) == typeid(VectorLinearInterpolateImageFunction<FieldType, ScalarType>))
      {
        return field;
      }
    }
    return decltype(field)(nullptr);
  }

  /** Appends the components from this one on; false if a device knows one of them not. */
  bool
  AppendFrom(std::size_t first, gpureg::TransformChain & chain) const
  {
    chain.dimension = static_cast<int>(ImageDimension);
    for (std::size_t n = first; n < m_Components.size(); ++n)
    {
      if (!GPUTransformChain::Append<ScalarType, ImageDimension>(*m_Components[n].transform, chain))
      {
        return false;
      }
    }
    for (gpureg::ChainStep & step : chain.steps)
    {
      step.grid.source.isKeyTrusted = m_Metric.m_Use.TrustsTimeStamps();
    }
    return true;
  }

  /** Whether forces can follow a chain: ITK has no spatial derivative of a B-spline, and says so itself. */
  static bool
  CanFollowBack(const gpureg::TransformChain & chain)
  {
    return std::all_of(chain.steps.begin(), chain.steps.end(), [](const gpureg::ChainStep & step) {
      return static_cast<bool>(step.grid.jacobians);
    });
  }

  /** A map of the grids behind what is optimised, whose affine part comes first. */
  gpureg::SampleMapping
  MakeMappingBehind(const gpureg::IndexMap & optimized, gpureg::TransformChain rest) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    const auto &                               moving = *m_Metric.m_MovingImage;
    gpureg::SampleMapping                      mapping;
    gpureg::ChainedGrid &                      grid = mapping.chain;
    grid.size = Geometry::SizeOf<ImageDimension>(virtualImage.GetBufferedRegion().GetSize());
    grid.outputToPoint = Geometry::GetIndexToPointMap<ImageDimension>(virtualImage, virtualImage.GetBufferedRegion());
    grid.pointToInput = Geometry::GetPointToIndexMap<ImageDimension>(moving, moving.GetBufferedRegion());
    const gpureg::IndexMap & next = rest.steps.empty() ? grid.pointToInput : rest.steps.front().grid.toGrid;
    mapping.displacementToIndex = gpureg::Compose(next, rest.first).matrix;
    mapping.movingIndexToPoint =
      Geometry::GetIndexToPointMap<ImageDimension>(moving, moving.GetBufferedRegion()).matrix;
    mapping.forcesFollowChain = CanFollowBack(rest);
    rest.first = gpureg::Compose(rest.first, optimized);
    gpureg::IndexMap affine = gpureg::Compose(rest.first, grid.outputToPoint);
    for (const gpureg::ChainStep & step : rest.steps)
    {
      affine = gpureg::Compose(step.map, affine);
    }
    mapping.toMoving = gpureg::Compose(grid.pointToInput, affine);
    grid.transform = std::move(rest);
    return mapping;
  }

  gpureg::SampleMapping
  MakeChainMapping() const
  {
    const bool             beginsLinear = GPURegistrationGeometry::IsLinear(*m_Components[0].transform);
    gpureg::TransformChain rest;
    this->AppendFrom(beginsLinear ? 1 : 0, rest);
    return this->MakeMappingBehind(beginsLinear ? GPUTransformChain::FitAffine<ScalarType, ImageDimension>(
                                                    *m_Components[0].transform)
                                                : gpureg::IndexMap(),
                                   std::move(rest));
  }

  gpureg::SampleMapping
  MakeSplineMapping() const
  {
    gpureg::TransformChain rest;
    this->AppendFrom(1, rest);
    gpureg::SampleMapping mapping = this->MakeMappingBehind({}, std::move(rest));
    mapping.spline.emplace();
    mapping.spline->dimension = static_cast<int>(ImageDimension);
    mapping.spline->grid = *this->FindOptimizedSpline();
    mapping.spline->grid.toGrid = gpureg::Compose(mapping.spline->grid.toGrid, mapping.chain.outputToPoint);
    return mapping;
  }

  gpureg::SampleMapping
  MakeFieldMapping() const
  {
    gpureg::TransformChain rest;
    this->AppendFrom(1, rest);
    gpureg::SampleMapping mapping = this->MakeMappingBehind({}, std::move(rest));
    const auto * const    displacements = this->FindOptimizedField()->GetDisplacementField();
    if (displacements->GetBufferedRegion().GetSize() != m_Metric.GetVirtualRegion().GetSize())
    {
      ThrowBadInput(m_Metric,
                    "The displacement field has size ",
                    displacements->GetBufferedRegion().GetSize(),
                    " but the virtual domain has ",
                    m_Metric.GetVirtualRegion().GetSize(),
                    ". Call Initialize() after changing either.");
    }
    const auto * const buffer = displacements->GetBufferPointer();
    mapping.displacement = MakeVectorFiller<float>(buffer);
    mapping.preciseDisplacement = MakeVectorFiller<double>(buffer);
    return mapping;
  }

  /** Copies vectors, each with three components. */
  template <typename TComponent, typename TVector>
  static auto
  MakeVectorFiller(const TVector * buffer)
  {
    return [buffer](std::int64_t first, std::int64_t count, void * out) {
      auto * vectors = static_cast<TComponent *>(out);
      for (std::int64_t i = 0; i < count; ++i)
      {
        for (unsigned int d = 0; d < 3; ++d)
        {
          vectors[3 * i + d] = d < ImageDimension ? static_cast<TComponent>(buffer[first + i][d]) : TComponent{ 0 };
        }
      }
    };
  }

  const TMetric &              m_Metric;
  const std::vector<Component> m_Components;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
