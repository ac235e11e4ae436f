// SPDX-License-Identifier: Apache-2.0
// Describes how a metric's moving transform maps its samples to the moving image.
#ifndef itkGPUMetricMapping_h
#define itkGPUMetricMapping_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "gpureg/metric/samples/Samples.h"

#include "itkCompositeTransform.h"
#include "itkVectorInterpolateImageFunction.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Ways to evaluate along a moving transform. */
enum class MetricRoute
{
  /** The transform is affine. */
  Linear,
  /** The optimised displacement field is applied first; grids may follow. */
  DisplacementField,
  /** The optimised B-spline comes before any other grid. */
  Spline,
  /** The transform has grids; linear parameters, if they are optimised, come before the grids. */
  Chain,
  /** The optimised linear parameters follow grids; further grids may follow. */
  LinearBehindGrids,
  ThroughITK
};

/** Describes a metric's moving transform to its engine. The metric names this class a friend. */
template <typename TMetric>
class MetricMapping
{
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using Superclass = typename TMetric::Superclass;
  using ScalarType = typename Superclass::CoordinateRepresentationType;

public:
  using MovingTransformType = typename TMetric::MovingTransformType;
  using PointType = Point<double, ImageDimension>;

  explicit MetricMapping(const TMetric & metric)
    : m_Metric(metric)
    , m_Components(FindComponents(*metric.m_MovingTransform))
  {
    const auto isOptimized = [](const Component & component) { return component.isOptimized; };
    const auto first = std::find_if(m_Components.begin(), m_Components.end(), isOptimized);
    const auto last = std::find_if(m_Components.rbegin(), m_Components.rend(), isOptimized);
    // If nothing is optimised, all components count as what follows.
    m_Begin = first == m_Components.end() ? 0 : static_cast<std::size_t>(first - m_Components.begin());
    m_End = static_cast<std::size_t>(m_Components.rend() - last);
  }

  /** Returns the route of the requested evaluation. */
  MetricRoute
  ChooseRoute() const
  {
    return this->ChooseRoute(m_Metric.GetComputeDerivative());
  }

  /** Returns the route of an evaluation with or without a derivative. */
  MetricRoute
  ChooseRoute(bool wantsDerivative) const
  {
    if (GPURegistrationGeometry::IsLinear(*m_Metric.m_MovingTransform))
    {
      return MetricRoute::Linear;
    }
    const MetricRoute found = this->FindRouteOfOptimized();
    if (found != MetricRoute::ThroughITK)
    {
      const auto rest = this->MakeChain(m_End, m_Components.size());
      return rest && (!wantsDerivative || CanFollowBack(*rest)) ? found : MetricRoute::ThroughITK;
    }
    return !wantsDerivative && this->MakeChain(0, m_Components.size()) ? MetricRoute::Chain : MetricRoute::ThroughITK;
  }

  /** Returns the mapping along a route other than ThroughITK. */
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
      case MetricRoute::LinearBehindGrids:
        return this->MakeMappingBehindGrids();
      default:
        return gpureg::MakeLinearMapping(this->FitLinearMap(this->GetFitPoints(), *m_Metric.m_MovingTransform));
    }
  }

  /** Returns virtual points whose images determine a linear transform. */
  std::array<PointType, ImageDimension + 1>
  GetFitPoints() const
  {
    namespace Geometry = GPURegistrationGeometry;
    const auto indices = Geometry::GetFitIndices<ImageDimension>(*m_Metric.GetVirtualImage());
    std::array<PointType, ImageDimension + 1> points;
    std::transform(indices.begin(), indices.end(), points.begin(), [&](const Geometry::IndexArray & index) {
      return Geometry::IndexToPoint<ImageDimension>(*m_Metric.GetVirtualImage(), index);
    });
    return points;
  }

  /** Returns the map from virtual to moving indices by a linear transform. */
  gpureg::IndexMap
  FitLinearMap(const std::array<PointType, ImageDimension + 1> & points, const MovingTransformType & transform) const
  {
    namespace Geometry = GPURegistrationGeometry;
    std::array<Geometry::IndexArray, ImageDimension + 1> moved;
    std::transform(points.begin(), points.end(), moved.begin(), [&](const PointType & point) {
      return Geometry::PointToIndex<ImageDimension>(*m_Metric.m_MovingImage,
                                                    GPUTransformChain::MovePoint<ScalarType, ImageDimension>(transform,
                                                                                                             point));
    });
    return Geometry::FitMovedIndices<ImageDimension>(*m_Metric.GetVirtualImage(), moved);
  }

  /** Returns the optimised linear transform, for MetricRoute::Chain or LinearBehindGrids. */
  typename MovingTransformType::ConstPointer
  GetOptimizedLinear() const
  {
    if (m_End - m_Begin == 1)
    {
      return m_Components[m_Begin].transform;
    }
    const auto composite = CompositeTransform<ScalarType, ImageDimension>::New();
    for (std::size_t n = m_End; n > m_Begin; --n)
    {
      composite->AddTransform(m_Components[n - 1].transform);
      composite->SetNthTransformToOptimize(m_End - n, m_Components[n - 1].isOptimized);
    }
    return composite.GetPointer();
  }

  /** Returns the affine map from virtual points to points of the optimised transform, without the displacements of grids. */
  gpureg::IndexMap
  GetMapBeforeOptimized() const
  {
    return ComputeAffine(*this->MakeChain(0, m_Begin));
  }

  /** Returns the derivative of the point or index to which forces refer by the output of the optimised transform, row by row. */
  std::array<double, 9>
  GetJacobianBehindOptimized() const
  {
    const gpureg::TransformChain rest = *this->MakeChain(m_End, m_Components.size());
    return rest.steps.empty() ? rest.first.matrix : gpureg::Compose(rest.steps.front().grid.toGrid, rest.first).matrix;
  }

private:
  struct Component
  {
    MovingTransformType * transform;
    bool                  isOptimized;
  };

  /** Returns the components of a transform in the order in which they are applied. */
  static std::vector<Component>
  FindComponents(MovingTransformType & transform)
  {
    using CompositeType = CompositeTransform<ScalarType, ImageDimension>;
    if (!IsExactly<CompositeType>(&transform))
    {
      return { { &transform, true } };
    }
    auto &                 composite = static_cast<CompositeType &>(transform);
    std::vector<Component> components;
    for (SizeValueType n = composite.GetNumberOfTransforms(); n > 0; --n)
    {
      components.push_back(
        { composite.GetNthTransformModifiablePointer(n - 1), composite.GetNthTransformToOptimize(n - 1) });
    }
    return components;
  }

  /** Returns the route that the optimised components allow, whatever follows them. */
  MetricRoute
  FindRouteOfOptimized() const
  {
    const auto before = this->MakeChain(0, m_Begin);
    if (!before || m_Begin == m_End)
    {
      return MetricRoute::ThroughITK;
    }
    if (before->steps.empty() && this->FindOptimizedSpline())
    {
      return MetricRoute::Spline;
    }
    if (m_Begin == 0 && this->FindOptimizedField() != nullptr)
    {
      return MetricRoute::DisplacementField;
    }
    const auto optimized = this->MakeChain(m_Begin, m_End);
    if (!optimized || !optimized->steps.empty())
    {
      return MetricRoute::ThroughITK;
    }
    return before->steps.empty() ? MetricRoute::Chain : MetricRoute::LinearBehindGrids;
  }

  /** Returns the optimised B-spline, if nothing else is optimised and its order is 1 to 3. */
  std::optional<gpureg::DisplacementGrid>
  FindOptimizedSpline() const
  {
    gpureg::TransformChain chain;
    if (m_End - m_Begin != 1 ||
        m_Components[m_Begin].transform->GetTransformCategory() !=
          MovingTransformType::TransformCategoryEnum::BSpline ||
        !GPUTransformChain::Append<ScalarType, ImageDimension>(*m_Components[m_Begin].transform, chain) ||
        chain.steps.size() != 1)
    {
      return std::nullopt;
    }
    const gpureg::ChainStep & step = chain.steps.front();
    const gpureg::IndexMap    identity;
    // A spline with a bulk transform that moves points is more than a spline.
    const bool isAlone = step.map.matrix == identity.matrix && step.map.offset == identity.offset;
    return isAlone && step.grid.kind == gpureg::GridKind::BSpline && step.grid.order > 0 ? std::make_optional(step.grid)
                                                                                         : std::nullopt;
  }

  /** Returns the transform of the optimised displacement field, if nothing else is optimised and it is interpolated linearly. */
  auto
  FindOptimizedField() const
  {
    const auto * const field = m_Metric.GetMovingDisplacementFieldTransform();
    if (field != nullptr && m_Metric.HasLocalSupport() && m_End - m_Begin == 1)
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

  /** Returns the chain of the components from begin to end; none if a device does not know one of them. */
  std::optional<gpureg::TransformChain>
  MakeChain(std::size_t begin, std::size_t end) const
  {
    gpureg::TransformChain chain;
    chain.dimension = static_cast<int>(ImageDimension);
    for (std::size_t n = begin; n < end; ++n)
    {
      if (!GPUTransformChain::Append<ScalarType, ImageDimension>(*m_Components[n].transform, chain))
      {
        return std::nullopt;
      }
    }
    for (gpureg::ChainStep & step : chain.steps)
    {
      step.grid.source.isKeyTrusted = m_Metric.m_Use.TrustsTimeStamps();
    }
    return chain;
  }

  /** Returns the affine part of a chain. */
  static gpureg::IndexMap
  ComputeAffine(const gpureg::TransformChain & chain)
  {
    gpureg::IndexMap affine = chain.first;
    for (const gpureg::ChainStep & step : chain.steps)
    {
      affine = gpureg::Compose(step.map, affine);
    }
    return affine;
  }

  /** Returns true if forces can follow a chain. They cannot if a B-spline is in it: ITK has no spatial derivative of a B-spline, and
   * throws. */
  static bool
  CanFollowBack(const gpureg::TransformChain & chain)
  {
    return std::all_of(chain.steps.begin(), chain.steps.end(), [](const gpureg::ChainStep & step) {
      return static_cast<bool>(step.grid.jacobians);
    });
  }

  /** Returns the virtual grid with its map to points. */
  gpureg::ChainedGrid
  MakeVirtualGrid() const
  {
    namespace Geometry = GPURegistrationGeometry;
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    gpureg::ChainedGrid                        grid;
    grid.size = Geometry::SizeOf<ImageDimension>(virtualImage.GetBufferedRegion().GetSize());
    grid.outputToPoint = Geometry::GetIndexToPointMap<ImageDimension>(virtualImage, virtualImage.GetBufferedRegion());
    return grid;
  }

  /** Returns the mapping by an affine map and the grids after it. */
  gpureg::SampleMapping
  MakeMappingAlong(gpureg::TransformChain rest, const gpureg::IndexMap & before) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const auto &          moving = *m_Metric.m_MovingImage;
    gpureg::SampleMapping mapping;
    gpureg::ChainedGrid & grid = mapping.chain;
    grid = this->MakeVirtualGrid();
    grid.pointToInput = Geometry::GetPointToIndexMap<ImageDimension>(moving, moving.GetBufferedRegion());
    const gpureg::IndexMap & next = rest.steps.empty() ? grid.pointToInput : rest.steps.front().grid.toGrid;
    mapping.displacementToIndex = gpureg::Compose(next, rest.first).matrix;
    mapping.movingIndexToPoint =
      Geometry::GetIndexToPointMap<ImageDimension>(moving, moving.GetBufferedRegion()).matrix;
    mapping.forcesFollowChain = CanFollowBack(rest);
    rest.first = gpureg::Compose(rest.first, before);
    mapping.toMoving = gpureg::Compose(grid.pointToInput, gpureg::Compose(ComputeAffine(rest), grid.outputToPoint));
    grid.transform = std::move(rest);
    return mapping;
  }

  /** Returns the mapping by an affine map and the components behind the optimised ones. */
  gpureg::SampleMapping
  MakeMappingBehind(const gpureg::IndexMap & before) const
  {
    return this->MakeMappingAlong(*this->MakeChain(m_End, m_Components.size()), before);
  }

  /** Returns the mapping along all components, with linear ones merged. */
  gpureg::SampleMapping
  MakeChainMapping() const
  {
    return this->MakeMappingAlong(*this->MakeChain(0, m_Components.size()), {});
  }

  gpureg::SampleMapping
  MakeMappingBehindGrids() const
  {
    gpureg::TransformChain before = *this->MakeChain(0, m_Begin);
    const gpureg::IndexMap optimized = this->MakeChain(m_Begin, m_End)->first;
    gpureg::SampleMapping  mapping = this->MakeMappingBehind(gpureg::Compose(optimized, ComputeAffine(before)));
    gpureg::IndexMap       behind;
    behind.matrix = mapping.displacementToIndex;
    mapping.displacementToIndex = gpureg::Compose(behind, optimized).matrix;
    mapping.preTransforms = this->MakeVirtualGrid();
    mapping.preTransforms->transform = std::move(before);
    return mapping;
  }

  gpureg::SampleMapping
  MakeSplineMapping() const
  {
    const gpureg::IndexMap before = this->GetMapBeforeOptimized();
    gpureg::SampleMapping  mapping = this->MakeMappingBehind(before);
    mapping.spline.emplace();
    mapping.spline->dimension = static_cast<int>(ImageDimension);
    mapping.spline->grid = *this->FindOptimizedSpline();
    mapping.spline->grid.toGrid =
      gpureg::Compose(mapping.spline->grid.toGrid, gpureg::Compose(before, mapping.chain.outputToPoint));
    return mapping;
  }

  gpureg::SampleMapping
  MakeFieldMapping() const
  {
    gpureg::SampleMapping mapping = this->MakeMappingBehind({});
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
    mapping.displacementInDoubles = MakeVectorFiller<double>(buffer);
    return mapping;
  }

  /** Returns a filler that copies vectors, with three components each. */
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
  // index of the first optimised component, and behind the last one
  std::size_t m_Begin = 0;
  std::size_t m_End = 0;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
