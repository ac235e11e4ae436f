// SPDX-License-Identifier: Apache-2.0
// Inverses of ITK's transforms on every device: what an inverse leads to, the transform itself leads back, in double precision.
#include "RandomGrid.h"
#include "TestDevices.h"
#include "TestParallelFor.h"
#include "TestSeeds.h"

#include "GPURegistrationDetail/transform/itkGPUTransformInverter.h"

#include "itkAffineTransform.h"
#include "itkBSplineDeformableTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkEuler2DTransform.h"
#include "itkThinPlateSplineKernelTransform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace gpuregtest
{

namespace
{
class TransformInverterTest : public DeviceTest
{};

template <unsigned int VDimension>
using TransformOf = itk::Transform<double, VDimension, VDimension>;

template <unsigned int VDimension>
using Inverter = itk::GPURegistrationDetail::TransformInverter<VDimension>;

constexpr double Cell = 9.0; // mm

/** Makes a B-spline with random coefficients of up to `most` cells; its domain is oblique, and far away. */
template <unsigned int VDimension, unsigned int VOrder>
typename itk::BSplineTransform<double, VDimension, VOrder>::Pointer
MakeSpline(Random & random, double most)
{
  using SplineType = itk::BSplineTransform<double, VDimension, VOrder>;
  const auto                                  spline = SplineType::New();
  typename SplineType::OriginType             origin;
  typename SplineType::PhysicalDimensionsType lengths;
  typename SplineType::MeshSizeType           mesh;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    origin[d] = 700.0 - 900.0 * d;
    mesh[d] = 7 + d;
    lengths[d] = Cell * static_cast<double>(mesh[d]);
  }
  spline->SetTransformDomainOrigin(origin);
  spline->SetTransformDomainPhysicalDimensions(lengths);
  spline->SetTransformDomainMeshSize(mesh);
  spline->SetTransformDomainDirection(MakeRotation<VDimension>(0.4));
  auto parameters = spline->GetParameters();
  std::generate(parameters.begin(), parameters.end(), [&] { return Uniform(random, -most * Cell, most * Cell); });
  spline->SetParameters(parameters);
  return spline;
}

/** How far inverses lead past, in voxels. */
struct Distances
{
  double       mean = 0;
  double       largest = 0;
  std::int64_t count = 0;
};

/** Compares where an inverse field and then the transform lead voxels of the field that are a few cells inside, unless that leaves the
 *  field. */
template <unsigned int VDimension>
Distances
Compare(const TransformOf<VDimension> & transform, const typename Inverter<VDimension>::FieldType & field, int inside)
{
  Distances                                                                        found;
  itk::ImageRegionConstIteratorWithIndex<typename Inverter<VDimension>::FieldType> voxel(&field,
                                                                                         field.GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    bool isInside = true;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const auto size = static_cast<itk::IndexValueType>(field.GetBufferedRegion().GetSize(d));
      isInside &= voxel.GetIndex()[d] >= inside && voxel.GetIndex()[d] < size - inside;
    }
    if (isInside)
    {
      itk::Point<double, VDimension> point;
      field.TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
      const auto   back = transform.TransformPoint(point + voxel.Get());
      const double distance = (back - point).GetNorm() / field.GetSpacing()[0];
      found.mean += distance;
      found.largest = std::max(found.largest, distance);
      ++found.count;
    }
  }
  found.mean /= static_cast<double>(found.count);
  return found;
}

template <unsigned int VDimension, unsigned int VOrder>
void
TestSplines(const std::string & device)
{
  gpureg::FieldInverter engine(device);
  ForEachSeed(1, 3, [&](std::uint64_t seed) {
    Random random(seed);
    // Neighbouring points differ as those of a registration do.
    const auto           spline = MakeSpline<VDimension, VOrder>(random, 0.2);
    Inverter<VDimension> inverter(engine, OnThreads(2));
    const auto           inverse = inverter.Invert(*spline);
    const auto &         back = dynamic_cast<const typename Inverter<VDimension>::FieldTransformType &>(*inverse);
    const auto &         field = *back.GetDisplacementField();
    const int            samples = VOrder > 1 ? 5 : 1;
    EXPECT_NEAR(field.GetSpacing()[0], Cell / samples, 1e-9);
    EXPECT_EQ(field.GetBufferedRegion().GetSize(0), 7u * samples + 1);
    ASSERT_EQ(inverter.GetErrors().size(), 1U);
    const gpureg::InverseErrors errors = inverter.GetErrors().front();
    const Distances             distances = Compare<VDimension>(*spline, field, 2 * samples);
    EXPECT_GT(distances.count, 9);
    EXPECT_LE(distances.mean, 1e-4);
    EXPECT_LE(distances.largest, 1.5e-3);
    EXPECT_GE(errors.largest, distances.largest - 1e-4);
    EXPECT_LE(errors.largest, 1.5e-3);
    EXPECT_EQ(errors.offVoxels, 0);
    EXPECT_EQ(errors.foldedVoxels, 0);
  });
}

TEST_P(TransformInverterTest, UndoesSplinesThemselves)
{
  TestSplines<2, 1>(GetParam());
  TestSplines<2, 2>(GetParam());
  TestSplines<2, 3>(GetParam());
  TestSplines<3, 2>(GetParam());
  TestSplines<3, 3>(GetParam());
}

TEST_P(TransformInverterTest, UndoesSplinesOnOtherGrids)
{
  gpureg::FieldInverter engine(GetParam());
  Random                random(3);
  const auto            spline = MakeSpline<2, 3>(random, 0.2);
  const auto            field = Inverter<2>::FieldType::New();
  // Coarser than the control points: a field of samples there would not show the spline.
  Inverter<2>::FieldType::SpacingType spacing;
  Inverter<2>::FieldType::SizeType    size;
  spacing.Fill(1.7 * Cell);
  size.Fill(4);
  field->SetOrigin(spline->GetTransformDomainOrigin() + spline->GetTransformDomainDirection() * (0.3 * spacing));
  field->SetDirection(spline->GetTransformDomainDirection());
  field->SetSpacing(spacing);
  field->SetRegions(size);
  field->Allocate();
  Inverter<2>                 inverter(engine, OnThreads(2));
  const gpureg::InverseErrors errors = inverter.InvertInto(*spline, *field);
  const Distances             distances = Compare<2>(*spline, *field, 0);
  EXPECT_LE(distances.largest, 1e-3);
  EXPECT_NEAR(errors.largest, distances.largest, 1e-5);
  EXPECT_NEAR(errors.mean, distances.mean, 1e-5);
  EXPECT_EQ(errors.unmappedVoxels, 0);
}

TEST_P(TransformInverterTest, GoesBackThroughComposites)
{
  using FieldTransformType = Inverter<2>::FieldTransformType;
  gpureg::FieldInverter engine(GetParam());
  Random                random(5);
  const auto            spline = MakeSpline<2, 3>(random, 0.2);
  const auto            turn = itk::Euler2DTransform<double>::New();
  turn->SetCenter(spline->GetTransformDomainOrigin());
  turn->SetAngle(0.2);
  // A field on a grid around the turned domain, which ends there.
  const auto                          field = Inverter<2>::FieldType::New();
  Inverter<2>::FieldType::SizeType    size;
  Inverter<2>::FieldType::SpacingType spacing;
  size.Fill(101);
  spacing.Fill(2.0);
  field->SetRegions(size);
  field->SetSpacing(spacing);
  field->SetOrigin(spline->GetTransformDomainOrigin() - 50.0 * spacing);
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Inverter<2>::FieldType> voxel(field, field->GetBufferedRegion());
       !voxel.IsAtEnd();
       ++voxel)
  {
    const double x = static_cast<double>(voxel.GetIndex()[0]) / 100;
    const double y = static_cast<double>(voxel.GetIndex()[1]) / 100;
    voxel.Value()[0] = 5 * std::sin(3.14159265 * x) * std::sin(3.14159265 * y);
    voxel.Value()[1] = -3 * std::sin(3.14159265 * x) * std::sin(6.2831853 * y);
  }
  const auto deformation = FieldTransformType::New();
  deformation->SetDisplacementField(field);
  const auto inner = itk::CompositeTransform<double, 2>::New();
  inner->AddTransform(turn);
  inner->AddTransform(spline);
  const auto whole = itk::CompositeTransform<double, 2>::New();
  whole->AddTransform(deformation);
  whole->AddTransform(inner);
  Inverter<2> inverter(engine, OnThreads(2));
  const auto  inverse = inverter.Invert(*whole);
  ASSERT_EQ(inverter.GetErrors().size(), 2U);
  double largest = 0;
  for (int n = 0; n < 500; ++n)
  {
    itk::Vector<double, 2> step;
    step[0] = Uniform(random, 2 * Cell, 5 * Cell);
    step[1] = Uniform(random, 2 * Cell, 5 * Cell);
    const auto point = spline->GetTransformDomainOrigin() + spline->GetTransformDomainDirection() * step;
    const auto there = whole->TransformPoint(point);
    EXPECT_GT((there - point).GetNorm(), 0.1);
    largest = std::max(largest, (inverse->TransformPoint(there) - point).GetNorm());
  }
  // Between voxels of 1.8 and 2 mm, inverses are interpolated.
  EXPECT_LE(largest, 0.1 * 1.8);
  // An inverse that is known is taken.
  const auto known = FieldTransformType::New();
  known->SetDisplacementField(field);
  const auto zeros = Inverter<2>::FieldType::New();
  zeros->CopyInformation(field);
  zeros->SetRegions(size);
  zeros->Allocate(true);
  known->SetInverseDisplacementField(zeros);
  const auto taken = Inverter<2>(engine, OnThreads(2)).Invert(*known);
  EXPECT_EQ(dynamic_cast<const FieldTransformType &>(*taken).GetDisplacementField(), zeros.GetPointer());
}

TEST_P(TransformInverterTest, SaysWhatHasNoInverse)
{
  gpureg::FieldInverter engine(GetParam());
  Inverter<2>           inverter(engine, OnThreads(2));
  const auto            expectRefused = [&](const TransformOf<2> & transform) {
    try
    {
      inverter.Invert(transform);
      ADD_FAILURE() << transform.GetNameOfClass();
    }
    catch (const gpureg::UnsupportedError & error)
    {
      EXPECT_NE(std::string(error.what()).find(std::string("the ") + transform.GetNameOfClass() + " has no inverse"),
                std::string::npos)
        << error.what();
    }
  };
  const auto singular = itk::AffineTransform<double, 2>::New();
  singular->Scale(0);
  expectRefused(*singular);
  expectRefused(*itk::ThinPlateSplineKernelTransform<double, 2>::New());
  // An error leaves the inverter usable.
  Random     random(7);
  const auto spline = MakeSpline<2, 3>(random, 0.2);
  const auto closed = itk::BSplineDeformableTransform<double, 2, 3>::New();
  closed->SetCoefficientImages(spline->GetCoefficientImages());
  EXPECT_EQ(inverter.GetErrors().size(), 0U);
  const auto inverse = inverter.Invert(*closed);
  ASSERT_EQ(inverter.GetErrors().size(), 1U);
  EXPECT_EQ(inverter.GetErrors().front().offVoxels, 0);
  const auto turn = itk::Euler2DTransform<double>::New();
  turn->SetAngle(0.1);
  closed->SetBulkTransform(turn);
  expectRefused(*closed);
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, TransformInverterTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
