// SPDX-License-Identifier: Apache-2.0
// The transforms of a MetricSetUp.
#ifndef MetricSetUpTransforms_hxx
#define MetricSetUpTransforms_hxx

#include "MetricSetUp.h"

#include "itkBSplineTransform.h"

#include <cmath>
#include <vector>

namespace gpuregtest
{

template <typename TPixel, unsigned int VDimension>
TransformMaker<VDimension>
MetricSetUp<TPixel, VDimension>::MakeTransformMaker(double amount)
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

/** Returns a grid for a field that is not optimized, around all points to which a transform may lead. Its indices begin at 0;
 *  otherwise ITK's metric would read its field outside of the buffer. */
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeGridAround(double angle) const -> GridType
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

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeField() -> typename TransformType::Pointer
{
  return MakeField(m_VirtualGrid);
}

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeField(const GridType & grid) -> typename TransformType::Pointer
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
template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeSpline(double angle) -> typename TransformType::Pointer
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

template <typename TPixel, unsigned int VDimension>
template <unsigned int VOrder>
auto
MetricSetUp<TPixel, VDimension>::MakeSplineOfOrder(double angle) -> typename TransformType::Pointer
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

template <typename TPixel, unsigned int VDimension>
auto
MetricSetUp<TPixel, VDimension>::MakeTransform() -> typename TransformType::Pointer
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
template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::OptimizeOnly(itk::SizeValueType one, CompositeType & composite)
{
  for (itk::SizeValueType n = 0; n < composite.GetNumberOfTransforms(); ++n)
  {
    composite.SetNthTransformToOptimize(n, n == one);
  }
}

/** Draws transforms until rounding decides about no sample. */
template <typename TPixel, unsigned int VDimension>
void
MetricSetUp<TPixel, VDimension>::DrawTransform()
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

} // namespace gpuregtest

#endif
