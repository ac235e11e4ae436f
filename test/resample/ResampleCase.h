// SPDX-License-Identifier: Apache-2.0
// Cases of the resampler's tests: grids, transforms and interpolators by name, and the comparison with ITK.
#ifndef ResampleCase_h
#define ResampleCase_h

#include "TestImages.h"

#include "itkGPUResampleImageFilter.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkIdentityTransform.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkThinPlateSplineKernelTransform.h"
#include "itkTranslationTransform.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

inline const std::vector<std::string> &
GetGeometryNames()
{
  static const std::vector<std::string> names{ "plain",     "anisotropic", "startIndex",
                                               "farOrigin", "notSquare",   "oneVoxelThick" };
  return names;
}

inline const std::vector<std::string> &
GetTransformNames()
{
  static const std::vector<std::string> names{ "identity", "translation", "rigid",           "similarity",
                                               "affine",   "bspline0",    "bspline1",        "bspline2",
                                               "bspline3", "field",       "affineOfBSpline", "bsplineOfAffineOfField",
                                               "nested",   "thinPlate" };
  return names;
}

/** Returns the names of the interpolators; for vectors, only the first two exist. */
inline const std::vector<std::string> &
GetInterpolatorNames()
{
  static const std::vector<std::string> names{ "nearest", "linear", "bspline1", "bspline2", "bspline3", "bspline5" };
  return names;
}

template <unsigned int VDimension>
Grid<VDimension>
MakeResampleGrid(const std::string & geometry, Random & random)
{
  Grid<VDimension> grid;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = 21 - 2 * d;
  }
  if (geometry == "anisotropic")
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.spacing[d] = 0.7 + 0.6 * d;
    }
    grid.direction = MakeRotation<VDimension>(0.4);
  }
  else if (geometry == "startIndex")
  {
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      grid.start[d] = 7 - 12 * static_cast<int>(d);
    }
  }
  else if (geometry == "farOrigin")
  {
    grid.origin.Fill(1e4);
    grid.direction = MakeRotation<VDimension>(-0.7);
    grid.spacing.Fill(0.3);
  }
  else if (geometry == "notSquare")
  {
    grid.size[0] = 45;
    grid.size[VDimension - 1] = 9;
  }
  else if (geometry == "oneVoxelThick")
  {
    grid.size[VDimension - 1] = 1;
    grid.spacing[VDimension - 1] = 12.3;
  }
  // No voxel lies half-way between two others.
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.origin[d] += Uniform(random, 0.01, 0.1);
  }
  return grid;
}

/** Returns the interpolator of a name: nearest, linear, and for scalars bspline0 … bspline5. */
template <typename TImage>
typename itk::InterpolateImageFunction<TImage, double>::Pointer
MakeInterpolator(const std::string & name)
{
  if (name == "nearest")
  {
    return itk::NearestNeighborInterpolateImageFunction<TImage, double>::New().GetPointer();
  }
  if (name == "linear")
  {
    return itk::LinearInterpolateImageFunction<TImage, double>::New().GetPointer();
  }
  if constexpr (std::is_arithmetic<typename TImage::PixelType>::value)
  {
    auto spline = itk::BSplineInterpolateImageFunction<TImage, double, double>::New();
    spline->SetSplineOrder(static_cast<unsigned int>(name.back() - '0'));
    return spline.GetPointer();
  }
  throw std::invalid_argument("no interpolator of these pixels is called " + name);
}

template <unsigned int VDimension>
using TransformPointer = typename itk::Transform<double, VDimension, VDimension>::Pointer;

/** Returns the length of a grid's longest axis in mm, to which displacements are relative. */
template <unsigned int VDimension>
double
GetReach(const Grid<VDimension> & grid)
{
  double reach = 0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    reach = std::max(reach, grid.GetExtent(d));
  }
  return reach;
}

/** Returns a B-spline whose domain ends within the grid along the first axis, and contains the grid along the others. */
template <unsigned int VDimension, unsigned int VOrder>
TransformPointer<VDimension>
MakeSpline(const Grid<VDimension> & grid, Random & random)
{
  using TransformType = itk::BSplineTransform<double, VDimension, VOrder>;
  auto                                           transform = TransformType::New();
  typename TransformType::PhysicalDimensionsType dimensions;
  typename TransformType::MeshSizeType           mesh;
  itk::Vector<double, VDimension>                first;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    first[d] = -2.37;
    dimensions[d] = grid.spacing[d] * (static_cast<double>(grid.size[d]) + (d == 0 ? 0.31 : 5.41));
    mesh[d] = 3 + d;
  }
  transform->SetTransformDomainOrigin(grid.GetPoint(first));
  transform->SetTransformDomainDirection(grid.direction);
  transform->SetTransformDomainPhysicalDimensions(dimensions);
  transform->SetTransformDomainMeshSize(mesh);
  typename TransformType::ParametersType parameters(transform->GetNumberOfParameters());
  for (auto & parameter : parameters)
  {
    parameter = Uniform(random, -0.08, 0.08) * GetReach(grid);
  }
  transform->SetParametersByValue(parameters);
  return transform.GetPointer();
}

/** Returns a displacement field on a grid of its own, coarser and rotated. */
template <unsigned int VDimension>
TransformPointer<VDimension>
MakeField(const Grid<VDimension> & grid, Random & random)
{
  using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
  using FieldType = typename TransformType::DisplacementFieldType;
  Grid<VDimension> own;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    own.size[d] = 6 + d;
    own.spacing[d] = 1.3 * GetReach(grid) / static_cast<double>(own.size[d]);
    own.start[d] = static_cast<int>(d) - 2;
  }
  own.direction = MakeRotation<VDimension>(0.3);
  own.SetCentre(grid.GetCentre());
  auto field = FieldType::New();
  own.ApplyTo(*field);
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename FieldType::PixelType vector;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      vector[d] = Uniform(random, -0.08, 0.08) * GetReach(grid);
    }
    it.Set(vector);
  }
  auto transform = TransformType::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

template <unsigned int VDimension>
TransformPointer<VDimension>
MakeAffine(const Grid<VDimension> & grid, Random & random)
{
  auto transform = itk::AffineTransform<double, VDimension>::New();
  transform->SetCenter(grid.GetCentre());
  itk::Vector<double, VDimension> move;
  auto                            matrix = MakeRotation<VDimension>(0.15);
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    move[d] = Uniform(random, -0.06, 0.06) * GetReach(grid);
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      matrix[d][c] += Uniform(random, -0.05, 0.05);
    }
  }
  transform->SetMatrix(matrix);
  transform->SetTranslation(move);
  return transform.GetPointer();
}

/** Returns a transform of a class that the engine does not know: it is sampled as a field. */
template <unsigned int VDimension>
TransformPointer<VDimension>
MakeThinPlate(const Grid<VDimension> & grid, Random & random)
{
  using TransformType = itk::ThinPlateSplineKernelTransform<double, VDimension>;
  auto transform = TransformType::New();
  auto sources = TransformType::PointSetType::New();
  auto targets = TransformType::PointSetType::New();
  for (unsigned int n = 0; n < 6; ++n)
  {
    auto point = grid.GetCentre();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      point[d] += Uniform(random, -0.4, 0.4) * GetReach(grid);
    }
    auto target = point;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      target[d] += Uniform(random, -0.05, 0.05) * GetReach(grid);
    }
    sources->SetPoint(n, point);
    targets->SetPoint(n, target);
  }
  transform->SetSourceLandmarks(sources);
  transform->SetTargetLandmarks(targets);
  transform->ComputeWMatrix();
  return transform.GetPointer();
}

template <unsigned int VDimension>
TransformPointer<VDimension>
MakeRigidOrSimilar(bool similar, const Grid<VDimension> & grid)
{
  const auto place = [&grid](auto transform) {
    transform->SetCenter(grid.GetCentre());
    itk::Vector<double, VDimension> move;
    move.Fill(0.03 * GetReach(grid));
    transform->SetTranslation(move);
    return TransformPointer<VDimension>(transform.GetPointer());
  };
  if constexpr (VDimension == 2)
  {
    if (similar)
    {
      auto transform = itk::Similarity2DTransform<double>::New();
      transform->SetScale(1.1);
      transform->SetAngle(0.2);
      return place(transform);
    }
    auto transform = itk::Euler2DTransform<double>::New();
    transform->SetAngle(-0.2);
    return place(transform);
  }
  else
  {
    if (similar)
    {
      auto                            transform = itk::Similarity3DTransform<double>::New();
      itk::Versor<double>             versor;
      itk::Versor<double>::VectorType axis;
      axis[0] = 0.3;
      axis[1] = -0.5;
      axis[2] = 0.8;
      versor.Set(axis, 0.2);
      transform->SetRotation(versor);
      transform->SetScale(0.93);
      return place(transform);
    }
    auto transform = itk::Euler3DTransform<double>::New();
    transform->SetRotation(0.1, -0.07, 0.2);
    return place(transform);
  }
}

template <unsigned int VDimension>
TransformPointer<VDimension>
MakeTransform(const std::string & name, const Grid<VDimension> & grid, Random & random)
{
  const auto compose = [&](const std::vector<TransformPointer<VDimension>> & parts) {
    auto composite = itk::CompositeTransform<double, VDimension>::New();
    for (const auto & part : parts)
    {
      composite->AddTransform(part);
    }
    return TransformPointer<VDimension>(composite.GetPointer());
  };
  if (name == "identity")
  {
    return itk::IdentityTransform<double, VDimension>::New().GetPointer();
  }
  if (name == "translation")
  {
    auto                            transform = itk::TranslationTransform<double, VDimension>::New();
    itk::Vector<double, VDimension> move;
    move.Fill(0.037 * GetReach(grid));
    transform->SetOffset(move);
    return transform.GetPointer();
  }
  if (name == "rigid" || name == "similarity")
  {
    return MakeRigidOrSimilar<VDimension>(name == "similarity", grid);
  }
  if (name == "affine")
  {
    return MakeAffine<VDimension>(grid, random);
  }
  if (name == "bspline0")
  {
    return MakeSpline<VDimension, 0>(grid, random);
  }
  if (name == "bspline1")
  {
    return MakeSpline<VDimension, 1>(grid, random);
  }
  if (name == "bspline2")
  {
    return MakeSpline<VDimension, 2>(grid, random);
  }
  if (name == "bspline3")
  {
    return MakeSpline<VDimension, 3>(grid, random);
  }
  if (name == "field")
  {
    return MakeField<VDimension>(grid, random);
  }
  if (name == "affineOfBSpline")
  {
    return compose({ MakeAffine<VDimension>(grid, random), MakeSpline<VDimension, 3>(grid, random) });
  }
  if (name == "bsplineOfAffineOfField")
  {
    return compose({ MakeSpline<VDimension, 3>(grid, random),
                     MakeAffine<VDimension>(grid, random),
                     MakeField<VDimension>(grid, random) });
  }
  if (name == "nested")
  {
    return compose(
      { MakeAffine<VDimension>(grid, random),
        compose({ MakeField<VDimension>(grid, random), MakeAffine<VDimension>(grid, random) }),
        compose({ MakeSpline<VDimension, 2>(grid, random), MakeTransform<VDimension>("translation", grid, random) }) });
  }
  if (name == "thinPlate")
  {
    return MakeThinPlate<VDimension>(grid, random);
  }
  throw std::invalid_argument("no transform is called " + name);
}

} // namespace gpuregtest

#endif
