// SPDX-License-Identifier: Apache-2.0
// B-spline transforms over images.
#ifndef TestSplines_h
#define TestSplines_h

#include "TestImages.h"

#include "itkBSplineDeformableTransform.h"
#include "itkBSplineTransform.h"
#include "itkBSplineTransformInitializer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace gpuregtest
{

/** Returns a B-spline over an image that moves nothing. \param mesh cells along each axis. */
template <unsigned int VOrder, typename TImage>
auto
MakeSplineOver(const TImage & image, unsigned int mesh)
{
  using SplineType = itk::BSplineTransform<double, TImage::ImageDimension, VOrder>;
  const auto spline = SplineType::New();
  const auto initializer = itk::BSplineTransformInitializer<SplineType, TImage>::New();
  initializer->SetTransform(spline);
  initializer->SetImage(&image);
  initializer->SetTransformDomainMeshSize(SplineType::MeshSizeType::Filled(mesh));
  initializer->InitializeTransform();
  return spline;
}

/** Returns a B-spline over an image with random coefficients. */
template <unsigned int VOrder, typename TImage>
auto
MakeRandomSpline(const TImage & image, unsigned int mesh, double largest, std::uint64_t seed)
{
  const auto spline = MakeSplineOver<VOrder>(image, mesh);
  auto       parameters = spline->GetParameters();
  Random     random(seed);
  for (auto & parameter : parameters)
  {
    parameter = Uniform(random, -largest, largest);
  }
  spline->SetParametersByValue(parameters);
  return spline;
}

/** Returns the same spline as an object of ITK's older class. */
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

/** Calls expect(change) for each of ITK's two classes; change(problem) gives a MetricProblem such a spline. */
template <typename TExpect>
void
ForEachSplineClass(const TExpect & expect)
{
  for (const bool isDeformable : { false, true })
  {
    SCOPED_TRACE(isDeformable ? "BSplineDeformableTransform" : "BSplineTransform");
    expect([isDeformable](auto & problem) {
      const auto spline = MakeRandomSpline<3>(*problem.fixed, 3, 4.0, 6);
      problem.transform = spline;
      if (isDeformable)
      {
        problem.transform = MakeDeformable(*spline);
      }
    });
  }
}

} // namespace gpuregtest

#endif
