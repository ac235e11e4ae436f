// SPDX-License-Identifier: Apache-2.0
// How a metric's moving transform leads from its samples to the moving image.
#ifndef itkGPUMetricMapping_h
#define itkGPUMetricMapping_h

#include "GPURegistrationDetail/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"

#include "gpureg/Samples.h"

#include "itkCompositeTransform.h"
#include "itkVectorInterpolateImageFunction.h"
#include "itkVectorLinearInterpolateImageFunction.h"

#include <array>
#include <cstdint>
#include <type_traits>
#include <typeinfo>

namespace itk
{
namespace GPURegistrationDetail
{

/** How a moving transform is evaluated. */
enum class MetricRoute
{
  Linear,
  DisplacementField,
  ThroughITK
};

/** Of a metric that names it a friend. */
template <typename TMetric>
class MetricMapping
{
  static constexpr unsigned int ImageDimension = TMetric::ImageDimension;
  using Superclass = typename TMetric::Superclass;
  using MovingTransformType = typename TMetric::MovingTransformType;

public:
  explicit MetricMapping(const TMetric & metric)
    : m_Metric(metric)
  {}

  /** \throws GPUUnsupportedError for a B-spline that is being optimised, unless the metric stands in. */
  MetricRoute
  ChooseRoute() const
  {
    using CompositeType = CompositeTransform<typename Superclass::CoordinateRepresentationType, ImageDimension>;
    const MovingTransformType * const transform = m_Metric.m_MovingTransform.GetPointer();
    const auto * const                composite = dynamic_cast<const CompositeType *>(transform);
    const auto                        count = composite != nullptr ? composite->GetNumberOfTransforms() : 1;
    if (GPURegistrationGeometry::IsLinear(*transform))
    {
      return MetricRoute::Linear;
    }
    bool restIsLinear = true;
    for (SizeValueType n = 0; n < count; ++n)
    {
      const auto * const part = composite != nullptr ? composite->GetNthTransformConstPointer(n) : transform;
      const bool         isOptimized = composite == nullptr || composite->GetNthTransformToOptimize(n);
      if (!m_Metric.m_Use.StandsIn() && isOptimized &&
          part->GetTransformCategory() == MovingTransformType::TransformCategoryEnum::BSpline)
      {
        ThrowUnsupported(m_Metric,
                         "The moving transform ",
                         part->GetNameOfClass(),
                         " has B-spline parameters, which ",
                         m_Metric.GetNameOfClass(),
                         " does not optimise yet. Use one of ITK's own metrics for it, or a displacement field.");
      }
      restIsLinear = restIsLinear && (n + 1 == count || GPURegistrationGeometry::IsLinear(*part));
    }
    const auto * const field = m_Metric.GetMovingDisplacementFieldTransform();
    if (m_Metric.HasLocalSupport() && restIsLinear && field != nullptr)
    {
      using FieldType = typename std::decay_t<decltype(*field)>::DisplacementFieldType;
      using ScalarType = typename Superclass::CoordinateRepresentationType;
      const auto * const interpolator = field->GetInterpolator();
      if (interpolator != nullptr &&
          typeid(*interpolator) == typeid(VectorLinearInterpolateImageFunction<FieldType, ScalarType>))
      {
        return MetricRoute::DisplacementField;
      }
    }
    return MetricRoute::ThroughITK;
  }

  /** Along the first two of these. */
  gpureg::SampleMapping
  MakeMapping(MetricRoute route) const
  {
    return route == MetricRoute::Linear ? this->MakeLinearMapping(*m_Metric.m_MovingTransform)
                                        : this->MakeFieldMapping();
  }

  /** Along a linear transform. */
  gpureg::SampleMapping
  MakeLinearMapping(const MovingTransformType & transform) const
  {
    gpureg::SampleMapping mapping;
    mapping.toMoving = this->FitToMoving([&transform](const typename MovingTransformType::InputPointType & point) {
      return transform.TransformPoint(point);
    });
    return mapping;
  }

private:
  /** From virtual indices to moving ones, by way of an affine map of points. */
  template <typename TApply>
  gpureg::IndexMap
  FitToMoving(const TApply & apply) const
  {
    namespace Geometry = GPURegistrationGeometry;
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    return Geometry::FitIndexMap<ImageDimension>(virtualImage, [&](const Geometry::IndexArray & index) {
      typename MovingTransformType::InputPointType point;
      point.CastFrom(Geometry::IndexToPoint<ImageDimension>(virtualImage, index));
      Point<double, ImageDimension> moved;
      moved.CastFrom(apply(point));
      return Geometry::PointToIndex<ImageDimension>(*m_Metric.m_MovingImage, moved);
    });
  }

  /** Along a displacement field and the linear transforms that follow it. */
  gpureg::SampleMapping
  MakeFieldMapping() const
  {
    namespace Geometry = GPURegistrationGeometry;
    const typename TMetric::VirtualImageType & virtualImage = *m_Metric.GetVirtualImage();
    gpureg::SampleMapping                      mapping;
    const auto *                               field = m_Metric.GetMovingDisplacementFieldTransform();
    const auto * const                         composite =
      dynamic_cast<const CompositeTransform<typename Superclass::CoordinateRepresentationType, ImageDimension> *>(
        m_Metric.m_MovingTransform.GetPointer());

    // What follows the displacement field.
    mapping.toMoving = this->FitToMoving([composite](typename MovingTransformType::InputPointType point) {
      if (composite != nullptr)
      {
        for (auto n = static_cast<OffsetValueType>(composite->GetNumberOfTransforms()) - 2; n >= 0; --n)
        {
          point = composite->GetNthTransformConstPointer(n)->TransformPoint(point);
        }
      }
      return point;
    });
    // M maps virtual index to moving index, V a vector to virtual index: M·V maps a vector to moving index.
    const std::array<double, 9> toVirtual = Geometry::GetVectorToIndexMatrix<ImageDimension>(virtualImage);
    for (unsigned int r = 0; r < 3; ++r)
    {
      for (unsigned int c = 0; c < 3; ++c)
      {
        for (unsigned int k = 0; k < ImageDimension; ++k)
        {
          mapping.displacementToIndex[3 * r + c] += mapping.toMoving.matrix[3 * r + k] * toVirtual[3 * k + c];
        }
      }
    }
    const auto * const displacements = field->GetDisplacementField();
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
  static gpureg::Filler
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

  const TMetric & m_Metric;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
