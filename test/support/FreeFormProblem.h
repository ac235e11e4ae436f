// SPDX-License-Identifier: Apache-2.0
// Two images with a known deformation, for tests of free-form deformation.
#ifndef gpuregtest_FreeFormProblem_h
#define gpuregtest_FreeFormProblem_h

#include "TestImages.h"

#include "itkFreeFormDeformationRegistrationMethod.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuregtest
{

template <unsigned int VDimension>
using MethodOf =
  itk::FreeFormDeformationRegistrationMethod<itk::Image<float, VDimension>, itk::Image<float, VDimension>>;

/** Two images of the same objects, the fixed one deformed by a known transform from its points to the moving image's. */
template <unsigned int VDimension>
struct Problem
{
  using ImageType = itk::Image<float, VDimension>;
  using MethodType = MethodOf<VDimension>;
  using PointType = typename ImageType::PointType;
  using TransformType = itk::Transform<double, VDimension, VDimension>;
  using CompositeType = itk::CompositeTransform<double, VDimension>;
  using FieldTransformType = itk::DisplacementFieldTransform<double, VDimension>;

  enum class Contrast
  {
    Same,
    Another
  };

  /** \param length of the fixed image's longest axes, in voxels; the moving image is larger. */
  explicit Problem(std::uint64_t      seed,
                   Contrast           contrast = Contrast::Another,
                   itk::SizeValueType length = VDimension == 3 ? 45 : 120)
    : random(seed)
  {
    grid.size.Fill(length);
    grid.size[1] -= 4;
    grid.spacing[0] = 1.1;
    grid.spacing[VDimension - 1] = 1.4;
    grid.start.Fill(3);
    grid.start[0] = -5;
    grid.origin.Fill(-70.0);
    grid.direction = MakeRotation<VDimension>(0.3);
    Grid<VDimension> movingGrid = grid;
    movingGrid.direction = MakeRotation<VDimension>(-0.1);
    movingGrid.spacing.Fill(1.0);
    movingGrid.size.Fill(VDimension == 3 ? length + 17 : length + 50);
    movingGrid.start.Fill(0);
    movingGrid.SetCentre(grid.GetCentre());
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      components.emplace_back(random, 1.2 * grid.GetExtent(0), 2.0 * grid.GetExtent(0));
    }
    const SmoothFunction coarse(random, 0.25 * grid.GetExtent(0), 0.5 * grid.GetExtent(0));
    const SmoothFunction fine(random, 9.0, 16.0);
    const auto           centre = grid.GetCentre();
    const auto value = [=](const PointType & p) { return 100.0 + 50.0 * coarse(p - centre) + 30.0 * fine(p - centre); };
    moving = MakeImage<ImageType>(movingGrid, value);
    fixed = MakeImage<ImageType>(grid, [&](const PointType & p) {
      const double v = value(this->Deform(p));
      return contrast == Contrast::Same ? v : 20.0 + 0.5 * v + 0.004 * v * v;
    });
  }

  /** Returns a point moved along smooth waves of 2.5 mm. */
  PointType
  Deform(const PointType & point) const
  {
    PointType moved = point;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      moved[d] += 2.5 * components[d](point - grid.GetCentre());
    }
    return moved;
  }

  typename MethodType::Pointer
  MakeMethod(const std::string & device) const
  {
    const auto method = MethodType::New();
    method->SetDevice(itk::GPUDevice::FromName(device));
    method->SetFixedImage(fixed);
    method->SetMovingImage(moving);
    method->SetNumberOfLevels(2);
    method->SetControlPointSpacing(VDimension == 3 ? 9.0 : 12.0);
    method->SetNumberOfIterations(40);
    method->SetNumberOfHistogramBins(32);
    method->SetBendingEnergyWeight(0.001);
    return method;
  }

  /** Returns a field on a grid of its own: a share of the true displacements plus short waves of this amplitude in mm. */
  typename FieldTransformType::Pointer
  MakeField(double share, double waves = 0) const
  {
    using FieldType = typename FieldTransformType::DisplacementFieldType;
    Grid<VDimension> around = grid;
    around.spacing.Fill(2.5);
    around.direction = MakeRotation<VDimension>(0.15);
    around.size.Fill(VDimension == 3 ? 34 : 80);
    around.SetCentre(grid.GetCentre());
    const auto field = FieldType::New();
    around.ApplyTo(*field);
    field->Allocate();
    Random                      ofWaves(11);
    std::vector<SmoothFunction> wave;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      wave.emplace_back(ofWaves, 15.0, 25.0);
    }
    for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      PointType point;
      field->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      auto moved = (this->Deform(point) - point) * share;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        moved[d] += waves * wave[d](point - grid.GetCentre());
      }
      it.Set(moved);
    }
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform;
  }

  /** Returns a composite of a share of the truth, with short waves if requested, after an affine map and a B-spline of order 2, and
   *  before another affine map that undoes most of the first. */
  typename CompositeType::Pointer
  MakeBentComposite(double waves = 0) const
  {
    using SplineType = itk::BSplineTransform<double, VDimension, 2>;
    const auto makeAffine = [this](double amount) {
      const auto affine = itk::AffineTransform<double, VDimension>::New();
      affine->SetCenter(grid.GetCentre());
      affine->Rotate(0, 1, 0.2 * amount);
      affine->Scale(1 + 0.1 * amount);
      return affine;
    };
    const auto                                  spline = SplineType::New();
    typename SplineType::MeshSizeType           mesh;
    typename SplineType::PhysicalDimensionsType extent;
    mesh.Fill(7);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      extent[d] = 1.8 * grid.GetExtent(d);
    }
    itk::Vector<double, VDimension> corner;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      corner[d] = -0.4 * static_cast<double>(grid.size[d]);
    }
    spline->SetTransformDomainOrigin(grid.GetPoint(corner));
    spline->SetTransformDomainDirection(grid.direction);
    spline->SetTransformDomainPhysicalDimensions(extent);
    spline->SetTransformDomainMeshSize(mesh);
    auto   parameters = spline->GetParameters();
    Random ofSpline(3);
    for (auto & parameter : parameters)
    {
      parameter = Uniform(ofSpline, -2, 2);
    }
    spline->SetParametersByValue(parameters);
    // The transform that is added last is applied first.
    const auto composite = CompositeType::New();
    composite->AddTransform(makeAffine(-0.8));
    composite->AddTransform(this->MakeField(0.5, waves));
    composite->AddTransform(spline);
    composite->AddTransform(makeAffine(1));
    return composite;
  }

  /** Returns the mean distance from the truth, over voxels that are not at the edge. */
  double
  GetError(const TransformType & transform) const
  {
    double      sum = 0;
    std::size_t count = 0;
    auto        inner = fixed->GetBufferedRegion();
    inner.ShrinkByRadius(4);
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(fixed, inner); !it.IsAtEnd(); ++it)
    {
      PointType point;
      fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      sum += transform.TransformPoint(point).EuclideanDistanceTo(this->Deform(point));
      ++count;
    }
    return sum / static_cast<double>(count);
  }

  Random                      random;
  Grid<VDimension>            grid;
  std::vector<SmoothFunction> components;
  typename ImageType::Pointer fixed;
  typename ImageType::Pointer moving;
};

} // namespace gpuregtest

#endif
