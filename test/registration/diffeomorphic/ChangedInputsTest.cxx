// SPDX-License-Identifier: Apache-2.0
// Deformable methods whose inputs a program changes in place, or while they register, on every device.
#include "FreeFormProblem.h"
#include "ImageComparison.h"
#include "TestDevices.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkGPUError.h"

#include "itkBSplineDeformableTransform.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkConstantVelocityFieldTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkTimeVaryingVelocityFieldTransform.h"
#include "itkTranslationTransform.h"

#include <functional>
#include <vector>

namespace gpuregtest
{

namespace
{
using ImageType = itk::Image<float, 2>;
using MethodType = itk::DiffeomorphicRegistrationMethod<ImageType, ImageType>;
using FieldTransformType = itk::DisplacementFieldTransform<double, 2>;
using FieldType = FieldTransformType::DisplacementFieldType;

template <typename TField>
typename TField::Pointer
MakeSmallField()
{
  const auto                field = TField::New();
  typename TField::SizeType size;
  size.Fill(4);
  field->SetRegions(size);
  field->Allocate(true);
  return field;
}

class ChangedInputsTest : public DeviceTest
{
protected:
  MethodType::Pointer
  MakeMethod(const Problem<2> & problem)
  {
    const auto                 method = MethodType::New();
    MethodType::IterationsType iterations(1);
    iterations[0] = 4;
    method->SetDevice(this->GetDevice());
    method->SetFixedImage(problem.fixed);
    method->SetMovingImage(problem.moving);
    method->SetNumberOfIterationsPerLevel(iterations);
    return method;
  }
};
} // namespace

TEST_P(ChangedInputsTest, HaveNoResultOnAnotherGrid)
{
  const Problem<2> problem(3, Problem<2>::Contrast::Same, 40);
  const auto       method = this->MakeMethod(problem);
  method->Update();
  const auto                               before = method->GetDisplacementField();
  ImageType &                              fixed = *problem.fixed;
  const auto                               origin = fixed.GetOrigin();
  const auto                               spacing = fixed.GetSpacing();
  const auto                               direction = fixed.GetDirection();
  const std::vector<std::function<void()>> moves{ [&] { fixed.SetOrigin(origin + spacing); },
                                                  [&] { fixed.SetSpacing(spacing * 2.0); },
                                                  [&] { fixed.SetDirection(MakeRotation<2>(0.2)); } };
  for (const auto & move : moves)
  {
    move();
    EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
    EXPECT_THROW(method->GetInverseTransform(), itk::GPUBadInputError);
    EXPECT_THROW(method->GetWarpedImage(), itk::GPUBadInputError);
    fixed.SetOrigin(origin);
    fixed.SetSpacing(spacing);
    fixed.SetDirection(direction);
    EXPECT_TRUE(HaveSameBits(*before, *method->GetDisplacementField()));
  }
  moves.front()();
  method->Update();
  EXPECT_FALSE(HaveSameBits(*before, *method->GetDisplacementField()));
}

/** The result is that of the images with which the registration began. */
TEST_P(ChangedInputsTest, AnObserverSetsOthers)
{
  const Problem<2> problem(3, Problem<2>::Contrast::Same, 40);
  const Problem<2> other(3, Problem<2>::Contrast::Same, 30);
  const auto       expected = this->MakeMethod(problem);
  expected->Update();
  const auto field = expected->GetDisplacementField();
  const auto warped = expected->GetWarpedImage();
  const auto method = this->MakeMethod(problem);
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    const auto shift = itk::TranslationTransform<double, 2>::New();
    method->SetFixedImage(other.fixed);
    method->SetMovingImage(other.moving);
    method->SetInitialTransform(shift);
    EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  });
  method->Update();
  EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  method->RemoveAllObservers();
  method->SetFixedImage(problem.fixed);
  EXPECT_TRUE(HaveSameBits(*field, *method->GetDisplacementField()));
  method->SetMovingImage(problem.moving);
  EXPECT_TRUE(HaveSameBits(*warped, *method->GetWarpedImage()));
}

/** A field that a program has filled again is another initial transform. */
TEST_P(ChangedInputsTest, RegistersAgainFromAnotherField)
{
  const Problem<2> problem(3, Problem<2>::Contrast::Same, 40);
  const auto       transform = problem.MakeField(0.5);
  const auto       composite = itk::CompositeTransform<double, 2>::New();
  composite->AddTransform(transform);
  const auto method = this->MakeMethod(problem);
  method->SetInitialTransform(composite);
  method->Update();
  const auto before = method->GetDisplacementField();
  auto &     field = *transform->GetModifiableDisplacementField();
  field.FillBuffer(itk::Vector<double, 2>(0.0));
  field.Modified();
  method->Update();
  EXPECT_FALSE(HaveSameBits(*before, *method->GetDisplacementField()));
  const auto again = this->MakeMethod(problem);
  again->SetInitialTransform(composite);
  again->Update();
  EXPECT_TRUE(HaveSameBits(*again->GetDisplacementField(), *method->GetDisplacementField()));
}

TEST(ChangedInputs, TimesOfTransformsAreThoseOfTheirParts)
{
  const auto method = MethodType::New();
  const auto expectSeen = [&](itk::Transform<double, 2, 2> * transform, const itk::Object * part) {
    method->SetInitialTransform(transform);
    const auto before = method->GetMTime();
    EXPECT_EQ(method->GetMTime(), before);
    part->Modified();
    EXPECT_GT(method->GetMTime(), before) << transform->GetNameOfClass() << "'s " << part->GetNameOfClass();
  };
  const auto moved = FieldTransformType::New();
  moved->SetDisplacementField(MakeSmallField<FieldType>());
  moved->SetInverseDisplacementField(MakeSmallField<FieldType>());
  expectSeen(moved, moved->GetDisplacementField());
  expectSeen(moved, moved->GetInverseDisplacementField());

  using SteadyType = itk::ConstantVelocityFieldTransform<double, 2>;
  const auto steady = SteadyType::New();
  steady->SetConstantVelocityField(MakeSmallField<SteadyType::ConstantVelocityFieldType>());
  expectSeen(steady, steady->GetConstantVelocityField());
  using VaryingType = itk::TimeVaryingVelocityFieldTransform<double, 2>;
  const auto varying = VaryingType::New();
  varying->SetVelocityField(MakeSmallField<VaryingType::VelocityFieldType>());
  expectSeen(varying, varying->GetVelocityField());

  const auto cubic = itk::BSplineTransform<double, 2, 3>::New();
  expectSeen(cubic, cubic->GetCoefficientImages()[1]);
  const auto linear = itk::BSplineTransform<double, 2, 1>::New();
  expectSeen(linear, linear->GetCoefficientImages()[0]);
  const auto open = itk::BSplineDeformableTransform<double, 2, 2>::New();
  const auto bulk = itk::TranslationTransform<double, 2>::New();
  open->SetBulkTransform(bulk);
  expectSeen(open, open->GetCoefficientImages()[0]);
  expectSeen(open, bulk);

  const auto composite = itk::CompositeTransform<double, 2>::New();
  composite->AddTransform(cubic);
  composite->AddTransform(moved);
  expectSeen(composite, moved->GetDisplacementField());
  expectSeen(composite, cubic->GetCoefficientImages()[0]);
}

INSTANTIATE_TEST_SUITE_P(Devices, ChangedInputsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
