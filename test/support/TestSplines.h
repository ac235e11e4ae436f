// SPDX-License-Identifier: Apache-2.0
// B-spline transforms that are optimised.
#ifndef TestSplines_h
#define TestSplines_h

#include "TestImages.h"

#include "itkBSplineDeformableTransform.h"
#include "itkBSplineTransform.h"
#include "itkBSplineTransformInitializer.h"

#include <cstdint>

namespace gpuregtest
{

/** A B-spline over an image, of random coefficients. \param mesh cells along each axis. */
template <unsigned int VOrder, typename TImage>
auto
MakeRandomSpline(const TImage & image, unsigned int mesh, double largest, std::uint64_t seed)
{
  using SplineType = itk::BSplineTransform<double, TImage::ImageDimension, VOrder>;
  const auto spline = SplineType::New();
  const auto initializer = itk::BSplineTransformInitializer<SplineType, TImage>::New();
  initializer->SetTransform(spline);
  initializer->SetImage(&image);
  typename SplineType::MeshSizeType size;
  size.Fill(mesh);
  initializer->SetTransformDomainMeshSize(size);
  initializer->InitializeTransform();
  auto   parameters = spline->GetParameters();
  Random random(seed);
  for (auto & parameter : parameters)
  {
    parameter = Uniform(random, -largest, largest);
  }
  spline->SetParametersByValue(parameters);
  return spline;
}

/** The same spline as ITK's older class has it. */
template <unsigned int VDimension, unsigned int VOrder>
auto
MakeDeformable(const itk::BSplineTransform<double, VDimension, VOrder> & spline)
{
  const auto deformable = itk::BSplineDeformableTransform<double, VDimension, VOrder>::New();
  const auto grid = spline.GetCoefficientImages()[0];
  deformable->SetGridRegion(grid->GetLargestPossibleRegion());
  deformable->SetGridOrigin(grid->GetOrigin());
  deformable->SetGridSpacing(grid->GetSpacing());
  deformable->SetGridDirection(grid->GetDirection());
  deformable->SetParametersByValue(spline.GetParameters());
  return deformable;
}

} // namespace gpuregtest

#endif
