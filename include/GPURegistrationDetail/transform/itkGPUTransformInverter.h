// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUTransformInverter_h
#define itkGPUTransformInverter_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "gpureg/core/Error.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/field/FieldInverter.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImage.h"
#include "itkMatrix.h"
#include "itkVector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns a function that stores displacements, float[3] a voxel, in a field, which must outlive it. */
template <typename TField>
std::function<void(std::int64_t first, std::int64_t count, const float * in)>
StoreIn(TField & field)
{
  auto * const vectors = field.GetBufferPointer();
  return [vectors](std::int64_t first, std::int64_t count, const float * in) {
    for (std::int64_t n = first; n < first + count; ++n, in += 3)
    {
      std::copy_n(in, TField::ImageDimension, vectors[n].Begin());
    }
  };
}

/** Inverts transforms on a device: linear ones, displacement fields, B-splines, and composites of these. An inverse that ITK knows is
 * taken. A deformation without one is inverted by Newton's method: a field on its own grid, and a B-spline in steps of a fifth of its
 * control points' distance. */
template <unsigned int VDimension>
class TransformInverter
{
public:
  using TransformType = Transform<double, VDimension, VDimension>;
  using TransformPointer = typename TransformType::Pointer;
  using FieldTransformType = DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;

  /** engine must outlive this object. */
  TransformInverter(gpureg::FieldInverter & engine, gpureg::ParallelFor parallelFor)
    : m_Engine(engine)
    , m_ParallelFor(std::move(parallelFor))
  {}

  /** Returns the inverse of a transform.
   * \throws gpureg::UnsupportedError if it has none, or is of another kind. */
  TransformPointer
  Invert(const TransformType & transform)
  {
    using CompositeType = CompositeTransform<double, VDimension>;
    if (const TransformPointer known = transform.GetInverseTransform())
    {
      return known;
    }
    if (!IsExactly<CompositeType>(&transform))
    {
      return this->InvertDeformation(transform);
    }
    // The transform that was added last is applied first, and its inverse last.
    const auto &                  composite = static_cast<const CompositeType &>(transform);
    const auto                    inverse = CompositeType::New();
    std::vector<TransformPointer> parts;
    for (SizeValueType n = 0; n < composite.GetNumberOfTransforms(); ++n)
    {
      parts.push_back(this->Invert(*composite.GetNthTransformConstPointer(n)));
    }
    std::for_each(parts.rbegin(), parts.rend(), [&inverse](TransformType * part) { inverse->AddTransform(part); });
    return inverse.GetPointer();
  }

  /** Inverts a deformation into a field, on whose grid the inverse is computed, and returns the errors.
   * \throws gpureg::UnsupportedError if it is no deformation. */
  gpureg::InverseErrors
  InvertInto(const TransformType & deformation, FieldType & field)
  {
    return this->InvertInto(MakeChain(deformation), field);
  }

  /** Returns the errors of the deformations that Invert() has inverted, in the order in which the inverse applies theirs. */
  const std::vector<gpureg::InverseErrors> &
  GetErrors() const
  {
    return m_Errors;
  }

  /** Returns the statistics of all inversions together; deviceBytes is what the engine has held after the last one. */
  const gpureg::EvaluationStatistics &
  GetStatistics() const
  {
    return m_Statistics;
  }

private:
  // Linear interpolation between so many voxels of a cell is off by a 200th of a cubic spline's second derivative.
  static constexpr int SamplesOfCell = 5;

  TransformPointer
  InvertDeformation(const TransformType & transform)
  {
    const gpureg::TransformChain chain = MakeChain(transform);
    const auto                   field = MakeField(chain.steps.front().grid);
    m_Errors.push_back(this->InvertInto(chain, *field));
    const auto inverse = FieldTransformType::New();
    inverse->SetDisplacementField(field);
    return inverse.GetPointer();
  }

  gpureg::InverseErrors
  InvertInto(gpureg::TransformChain chain, FieldType & field)
  {
    const auto                region = field.GetBufferedRegion();
    gpureg::TransformToInvert request;
    request.transform = std::move(chain);
    request.size = GPURegistrationGeometry::SizeOf<VDimension>(region.GetSize());
    request.indexToPoint = GPURegistrationGeometry::GetIndexToPointMap<VDimension>(field, region);
    request.take = StoreIn(field);
    const gpureg::InverseErrors errors = m_Engine.Invert(request, m_ParallelFor);
    m_Statistics.deviceBytes = 0;
    m_Statistics = Add(m_Statistics, m_Engine.GetStatistics());
    return errors;
  }

  /** Returns the chain of a deformation, which has one grid and no affine map. */
  static gpureg::TransformChain
  MakeChain(const TransformType & transform)
  {
    gpureg::TransformChain chain;
    chain.dimension = static_cast<int>(VDimension);
    if (!GPUTransformChain::Append<double, VDimension>(transform, chain) || chain.steps.size() != 1 ||
        !IsIdentity(chain.first) || !IsIdentity(chain.steps.front().map))
    {
      throw gpureg::UnsupportedError(
        std::string("the ") + transform.GetNameOfClass() +
        " has no inverse: linear transforms with a regular matrix have one, and displacement "
        "fields and B-splines without a bulk transform; make another one a displacement "
        "field by itk::TransformToDisplacementFieldFilter");
    }
    // The region that an itk::BSplineDeformableTransform moves shall be closed.
    chain.steps.front().grid.isOpen = false;
    return chain;
  }

  static bool
  IsIdentity(const gpureg::IndexMap & map)
  {
    const gpureg::IndexMap identity;
    return map.matrix == identity.matrix && map.offset == identity.offset;
  }

  /** Allocates a field: on a field's own grid, or on one that covers the region in which a B-spline moves points. */
  static typename FieldType::Pointer
  MakeField(const gpureg::DisplacementGrid & grid)
  {
    const bool                             isSpline = grid.kind == gpureg::GridKind::BSpline;
    const int                              samples = isSpline && grid.order > 1 ? SamplesOfCell : 1;
    Matrix<double, VDimension, VDimension> toGrid;
    Vector<double, VDimension>             first;
    typename FieldType::SizeType           size;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        toGrid[r][c] = grid.toGrid.matrix[3 * r + c];
      }
      first[r] = (isSpline ? 0.5 * (grid.order - 1) : 0.0) - grid.toGrid.offset[r];
      size[r] = static_cast<SizeValueType>(isSpline ? samples * (grid.size[r] - grid.order) + 1 : grid.size[r]);
    }
    const Matrix<double, VDimension, VDimension> toPoint(toGrid.GetInverse());
    const Vector<double, VDimension>             origin = toPoint * first;
    typename FieldType::PointType                begin;
    typename FieldType::SpacingType              spacing;
    typename FieldType::DirectionType            direction;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      double squares = 0;
      for (unsigned int r = 0; r < VDimension; ++r)
      {
        squares += toPoint[r][c] * toPoint[r][c];
      }
      const double length = std::sqrt(squares);
      begin[c] = origin[c];
      spacing[c] = length / samples;
      for (unsigned int r = 0; r < VDimension; ++r)
      {
        direction[r][c] = toPoint[r][c] / length;
      }
    }
    const auto field = FieldType::New();
    field->SetOrigin(begin);
    field->SetSpacing(spacing);
    field->SetDirection(direction);
    field->SetRegions(size);
    field->Allocate();
    return field;
  }

  gpureg::FieldInverter &            m_Engine;
  gpureg::ParallelFor                m_ParallelFor;
  std::vector<gpureg::InverseErrors> m_Errors;
  gpureg::EvaluationStatistics       m_Statistics;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
