// SPDX-License-Identifier: Apache-2.0
// Tests where the global search begins: with a transform, at given angles, and near or far from the truth; and its result as a start for
// others.
#include "ErrorOfRecord.h"
#include "GlobalProblem.h"
#include "TestDevices.h"

#include "itkCompositeTransform.h"
#include "itkCudaCorrelationRatioMetric.h"
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"
#include "itkTranslationTransform.h"

#include <array>
#include <string>
#include <tuple>
#include <utility>

namespace gpuregtest
{

namespace
{
constexpr double Degrees = Pi / 180;

itk::Array<double>
GetParameters(const GlobalMethodOf<3> & method)
{
  return method.GetTransform()->GetParameters();
}

class GlobalStartTest : public DeviceTest
{};
} // namespace

TEST_P(GlobalStartTest, BeginsWithATransform)
{
  const GlobalProblem<3> problem(12, 170 * Degrees);
  const auto             start = itk::AffineTransform<double, 3>::New();
  start->SetCenter(problem.truth->GetCenter());
  start->SetMatrix(problem.truth->GetMatrix());
  start->SetTranslation(problem.truth->GetTranslation());
  itk::Vector<double, 3> axis(1.0);
  start->Rotate3D(axis, 8 * Degrees);
  start->Translate(itk::Vector<double, 3>(4.0));
  const auto method = problem.MakeMethod(GetParam());
  method->SetInitialTransform(start);
  // Nothing is searched; the start is only refined.
  method->SetSearchAngles(0, 0);
  method->Update();
  EXPECT_GT(problem.GetError(*start), 5.0);
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0551));
  EXPECT_LT(method->GetStageEvaluations(1), 100u);
  const auto refined = GetParameters(*method);
  // If nothing overlaps at the start, the centres of mass are aligned.
  start->Translate(itk::Vector<double, 3>(1000.0));
  method->Update();
  EXPECT_NE(GetParameters(*method), refined);
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0633)) << "by centres of mass";
  const double leastOverlap = method->GetLeastOverlap();
  method->SetLeastOverlap(0);
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0633));
  method->SetLeastOverlap(leastOverlap);
  // Angles are relative to the start.
  start->Rotate3D(axis, 20 * Degrees);
  method->SetSearchAngles(-20, 20);
  method->Update();
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0551));
}

/** The degrees of freedom that the search does not have are dropped from the start. */
TEST_P(GlobalStartTest, BeginsWithATransformOfMoreDegrees)
{
  const GlobalProblem<3> problem(6, 170 * Degrees);
  const auto             start = itk::AffineTransform<double, 3>::New();
  start->SetCenter(problem.truth->GetCenter());
  start->SetMatrix(problem.truth->GetMatrix());
  start->SetTranslation(problem.truth->GetTranslation());
  start->Scale(1.1, true);
  start->Shear(0, 1, 0.1, true);
  const auto method = problem.MakeMethod(GetParam());
  method->SetInitialTransform(start);
  method->SetDegreesOfFreedom(6);
  method->SetSearchAngles(0, 0);
  method->Update();
  EXPECT_GT(problem.GetError(*start), 4.0);
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0212));
}

/** If the range of an angle is a single number, the angle is not searched, but applied. */
TEST_P(GlobalStartTest, AFixedAngleIsTurnedBy)
{
  const GlobalProblem<3> problem(12, 16 * Degrees);
  const auto             start = itk::AffineTransform<double, 3>::New();
  start->SetCenter(problem.truth->GetCenter());
  start->SetMatrix(problem.truth->GetMatrix());
  start->SetTranslation(problem.truth->GetTranslation());
  itk::Vector<double, 3> axis(0.0);
  axis[2] = 1;
  start->Rotate3D(axis, -120 * Degrees);
  const auto method = problem.MakeMethod(GetParam());
  method->SetInitialTransform(start);
  method->SetSearchAngles(0, 0);
  method->SetSearchAngles(2, 120, 120);
  method->Update();
  EXPECT_GT(problem.GetError(*start), 20.0);
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*method->GetTransform()), 0.0658));
}

/** The result is a start for ImageRegistrationMethodv4, whose transform then has nothing left to find, and for free-form deformation. */
TEST_P(GlobalStartTest, IsAStartForOthers)
{
  using ImageType = GlobalProblem<3>::ImageType;
  const GlobalProblem<3> problem(12, 130 * Degrees);
  const auto             method = problem.MakeMethod(GetParam());
  method->Update();

  const auto registration =
    itk::ImageRegistrationMethodv4<ImageType, ImageType, itk::TranslationTransform<double, 3>>::New();
  const auto metric = itk::CudaCorrelationRatioMetric<ImageType, ImageType>::New();
  metric->SetDevice(this->GetDevice());
  const auto optimizer = itk::RegularStepGradientDescentOptimizerv4<double>::New();
  optimizer->SetLearningRate(0.5);
  optimizer->SetNumberOfIterations(10);
  registration->SetFixedImage(problem.fixed);
  registration->SetMovingImage(problem.moving);
  registration->SetMetric(metric);
  registration->SetOptimizer(optimizer);
  registration->SetMovingInitialTransform(method->GetTransform());
  registration->SetNumberOfLevels(1);
  registration->SetShrinkFactorsPerLevel(itk::Array<itk::SizeValueType>(1, 1));
  registration->SetSmoothingSigmasPerLevel(itk::Array<double>(1, 0.0));
  registration->Update();
  const auto both = itk::CompositeTransform<double, 3>::New();
  both->AddTransform(method->GetTransform());
  both->AddTransform(registration->GetModifiableTransform());
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*both), 0.0221));

  const auto deformation = itk::FreeFormDeformationRegistrationMethod<ImageType, ImageType>::New();
  deformation->SetDevice(this->GetDevice());
  deformation->SetFixedImage(problem.fixed);
  deformation->SetMovingImage(problem.moving);
  deformation->SetInitialTransform(method->GetTransform());
  deformation->SetControlPointSpacing(40.0);
  deformation->SetNumberOfLevels(1);
  // Enough iterations to converge: the first step, of half a voxel, leads away by 2.4 mm, and 5 of them back to 1.1 or 1.2 mm.
  deformation->SetNumberOfIterations(30);
  deformation->Update();
  // The smallest cost of two contrasts in voxels of 4.8 mm is 1 mm from the truth, after 30 iterations as after 200: less than a third of a
  // voxel. From the identity it comes no nearer than 64 mm.
  EXPECT_TRUE(IsWithinRecord(GetParam(), problem.GetError(*deformation->GetTransform()), 0.949));
}

namespace
{
/** Expects a search from a start to find the truth. */
template <unsigned int VDimension>
void
ExpectFoundFrom(const GlobalProblem<VDimension> &                         problem,
                const typename GlobalProblem<VDimension>::TransformType & start,
                unsigned int                                              degreesOfFreedom,
                double                                                    angle,
                const std::string &                                       device,
                const ErrorOfRecord &                                     record)
{
  const auto method = problem.MakeMethod(device);
  method->SetDegreesOfFreedom(degreesOfFreedom);
  method->SetSearchAngles(-angle, angle);
  method->SetInitialTransform(&start);
  method->Update();
  EXPECT_TRUE(IsWithinRecord(device, problem.GetError(*method->GetTransform()), record))
    << "from " << problem.GetError(start) << " mm";
}
} // namespace

/** The images overlap, but not their contents: a start makes no search worse. */
TEST_P(GlobalStartTest, FindsWhatAStartLeavesFarAwayIn2D)
{
  const auto                                            identity = itk::AffineTransform<double, 2>::New();
  const std::tuple<unsigned int, double, ErrorOfRecord> cases[] = { { 6, 0.2, 0.00472 },  { 6, 1.7, 0.00441 },
                                                                    { 6, 3.0, 0.00478 },  { 12, 0.2, 0.00727 },
                                                                    { 12, 1.7, 0.00632 }, { 12, 3.0, 0.00937 } };
  for (const auto & [degrees, angle, record] : cases)
  {
    SCOPED_TRACE(std::to_string(degrees) + ", " + std::to_string(angle));
    ExpectFoundFrom<2>(GlobalProblem<2>(degrees, angle), *identity, degrees, 180, GetParam(), record);
  }
}

TEST_P(GlobalStartTest, FindsWhatAStartLeavesFarAwayIn3D)
{
  const GlobalProblem<3>                                problem(6, 0.2);
  const std::pair<std::array<double, 3>, ErrorOfRecord> shifts[] = { { { 40, -40, 40 }, 0.00472 },
                                                                     { { -80, -20, 60 }, 0.00472 },
                                                                     { { 50, -50, -50 }, 0.00472 } };
  for (const auto & [shift, record] : shifts)
  {
    SCOPED_TRACE(shift[0]);
    const auto start = itk::AffineTransform<double, 3>::New();
    start->Translate(itk::Vector<double, 3>(shift.data()));
    ExpectFoundFrom<3>(problem, *start, 6, 20, GetParam(), record);
  }
  SCOPED_TRACE("the identity");
  ExpectFoundFrom<3>(GlobalProblem<3>(6, 1.7), *itk::AffineTransform<double, 3>::New(), 6, 180, GetParam(), 0.00529);
}

/** The centres of mass belong to the same objects, or to different ones. */
TEST_P(GlobalStartTest, FindsARightStartAgain)
{
  const GlobalProblem<3> in3D(6, 1.7);
  {
    SCOPED_TRACE("in 3D");
    ExpectFoundFrom<3>(in3D, *in3D.truth, 6, 60, GetParam(), 0.00511);
  }
  GlobalProblem<2> in2D(6, 100 * Degrees, GlobalProblem<2>::Contrast::Same);
  {
    SCOPED_TRACE("in 2D");
    ExpectFoundFrom<2>(in2D, *in2D.truth, 6, 180, GetParam(), 0.00181);
  }
  SCOPED_TRACE("a part in 2D");
  in2D.moving = CutOutPart(*in2D.moving);
  ExpectFoundFrom<2>(in2D, *in2D.truth, 6, 180, GetParam(), { 0.0122, 0.0148 });
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalStartTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
