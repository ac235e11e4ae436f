// SPDX-License-Identifier: Apache-2.0
// Tests that use CudaMattesNMI as ITK's registration methods and other programs use ITK's metric share these.
#ifndef gpuregtest_ContractCase_h
#define gpuregtest_ContractCase_h

#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpuregtest
{

class ContractCase : public DeviceTest
{
protected:
  using ImageType = TestImage<float, 2>;
  using Ours = OurMetric<float, 2>;
  using Itks = ItkMetric<float, 2>;
  using AffineType = itk::AffineTransform<double, 2>;
  using FieldTransformType = itk::DisplacementFieldTransform<double, 2>;
  using FieldType = FieldTransformType::DisplacementFieldType;
  using BSplineType = itk::BSplineTransform<double, 2, 3>;
  using CompositeType = itk::CompositeTransform<double, 2>;

  static Answer
  InitializeAndEvaluate(Itks & metric)
  {
    metric.Initialize();
    return Evaluate(metric);
  }

  static void
  ExpectSame(const Answer & a, const Answer & b)
  {
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.validPoints, b.validPoints);
    EXPECT_EQ(a.derivative, b.derivative);
  }

  static void
  ExpectNear(const Answer & ours, const Answer & itks, double valueTolerance = 1e-5, double derivativeTolerance = 1e-5)
  {
    EXPECT_EQ(ours.validPoints, itks.validPoints);
    EXPECT_NEAR(ours.value, itks.value, valueTolerance * std::abs(itks.value));
    ASSERT_EQ(ours.derivative.size(), itks.derivative.size());
    EXPECT_LE(GetRelativeError(ours.derivative, itks.derivative), derivativeTolerance);
  }

  static Grid<2>
  MakeGrid()
  {
    Grid<2> grid;
    grid.size[0] = 70;
    grid.size[1] = 63;
    grid.spacing[1] = 1.2;
    grid.origin.Fill(-10.0);
    return grid;
  }

  static AffineType::Pointer
  MakeAffine(std::uint64_t seed)
  {
    Random     random(seed);
    const auto affine = AffineType::New();
    affine->SetCenter(MakeGrid().GetCentre());
    auto parameters = affine->GetParameters();
    for (unsigned int p = 0; p < parameters.size(); ++p)
    {
      parameters[p] += Uniform(random, -0.05, 0.05) * (p < 4 ? 1.0 : 50.0);
    }
    affine->SetParameters(parameters);
    return affine;
  }

  static FieldTransformType::Pointer
  MakeField()
  {
    const auto field = FieldType::New();
    MakeGrid().ApplyTo(*field);
    field->Allocate();
    for (std::size_t n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
    {
      field->GetBufferPointer()[n][0] = 1.31 * std::sin(0.002 * static_cast<double>(n));
      field->GetBufferPointer()[n][1] = 0.93 * std::cos(0.003 * static_cast<double>(n));
    }
    const auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform;
  }

  /** Returns a B-spline with random coefficients. */
  static BSplineType::Pointer
  MakeBSpline()
  {
    const auto                          bspline = BSplineType::New();
    BSplineType::MeshSizeType           mesh;
    BSplineType::PhysicalDimensionsType extent;
    mesh.Fill(4);
    extent.Fill(80.0);
    bspline->SetTransformDomainOrigin(MakeGrid().origin);
    bspline->SetTransformDomainPhysicalDimensions(extent);
    bspline->SetTransformDomainMeshSize(mesh);
    auto   parameters = bspline->GetParameters();
    Random random(3);
    for (auto & parameter : parameters)
    {
      parameter = Uniform(random, -1.0, 1.0);
    }
    bspline->SetParameters(parameters);
    return bspline;
  }

  static std::pair<ImageType::Pointer, ImageType::Pointer>
  MakeImages(std::uint64_t seed)
  {
    return MakeImagePair<ImageType>(MakeGrid(), MakeGrid(), seed);
  }

  static void
  SetInput(Itks &                                                    metric,
           const std::pair<ImageType::Pointer, ImageType::Pointer> & images,
           Itks::MovingTransformType *                               transform)
  {
    metric.SetFixedImage(images.first);
    metric.SetMovingImage(images.second);
    metric.SetMovingTransform(transform);
    metric.SetNumberOfHistogramBins(20);
  }

  /** Returns our metric with ITK's formula: NormalizedOff. */
  Ours::Pointer
  MakeOurs() const
  {
    const auto metric = Ours::New();
    metric->SetDevice(GetDevice());
    metric->NormalizedOff();
    return metric;
  }

  /** Expects both metrics to agree on the same input. */
  template <typename TSetUp>
  void
  ExpectEqualToItk(const TSetUp & setUp, double valueTolerance = 1e-5, double derivativeTolerance = 1e-5)
  {
    const auto ours = MakeOurs();
    const auto itks = Itks::New();
    setUp(*ours);
    setUp(*itks);
    ExpectNear(InitializeAndEvaluate(*ours), InitializeAndEvaluate(*itks), valueTolerance, derivativeTolerance);
  }
};

} // namespace gpuregtest

#endif
