// SPDX-License-Identifier: Apache-2.0
// Free-form deformation: known deformations are found, on every device alike and each time the same, in any geometry; what is wrong
// is refused, and the method goes on.
#include "FreeFormProblem.h"
#include "TestDevices.h"
#include "TestSeeds.h"

#include "itkAffineTransform.h"
#include "itkCommand.h"

#include <cmath>
#include <limits>

namespace gpuregtest
{

namespace
{
template <unsigned int VDimension>
itk::Array<double>
GetPoints(const MethodOf<VDimension> & method)
{
  return method.GetDeformation()->GetParameters();
}

class FreeFormDeformationTest : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  ExpectFound()
  {
    const Problem<VDimension> problem(GetSeeds(41, 1).first);
    const auto                method = problem.MakeMethod(GetParam());
    method->Update();
    const auto identity = itk::AffineTransform<double, VDimension>::New();
    EXPECT_GT(problem.GetError(*identity), 0.9);
    EXPECT_LT(problem.GetError(*method->GetTransform()), 0.15);
    EXPECT_GT(method->GetSmallestJacobianDeterminant(), 0.3);
    double seconds = 0;
    for (unsigned int level = 0; level < 2; ++level)
    {
      ASSERT_EQ(method->GetCosts(level).size(), 40u);
      EXPECT_LT(method->GetCosts(level).back(), method->GetCosts(level).front());
      EXPECT_GT(method->GetElapsedSeconds(level), 0);
      seconds += method->GetElapsedSeconds(level);
    }
    EXPECT_LE(seconds, method->GetElapsedSeconds());
    EXPECT_THROW(method->GetCosts(2), itk::GPUBadInputError);
    EXPECT_THROW(method->GetElapsedSeconds(2), itk::GPUBadInputError);

    method->SetNumberOfSamples(3000);
    method->Update();
    EXPECT_LT(problem.GetError(*method->GetTransform()), 0.25) << "of few samples";
    method->SetMeasuresKernelTime(true);
    method->GetDisplacementField();
    EXPECT_GT(method->GetEvaluationStatistics().kernelMilliseconds, 0);
  }

  /** The field is where the transform leads, and the image what it makes of the moving one. */
  template <unsigned int VDimension>
  void
  ExpectOutputsAgree()
  {
    const Problem<VDimension> problem(5);
    const auto                affine = itk::AffineTransform<double, VDimension>::New();
    affine->SetCenter(problem.grid.GetCentre());
    affine->Scale(1.02);
    const auto method = problem.MakeMethod(GetParam());
    method->SetInitialTransform(affine);
    method->Update();
    const auto transform = method->GetTransform();
    EXPECT_LT(problem.GetError(*transform), 0.2);
    const auto field = method->GetDisplacementField();
    const auto warped = method->GetWarpedImage();
    EXPECT_EQ(warped->GetBufferedRegion(), problem.fixed->GetBufferedRegion());
    double      largest = 0;
    std::size_t different = 0;
    const auto  linear = itk::LinearInterpolateImageFunction<typename Problem<VDimension>::ImageType, double>::New();
    linear->SetInputImage(problem.moving);
    for (itk::ImageRegionIteratorWithIndex<typename Problem<VDimension>::ImageType> it(warped,
                                                                                       warped->GetBufferedRegion());
         !it.IsAtEnd();
         ++it)
    {
      typename Problem<VDimension>::PointType point;
      warped->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const auto moved = transform->TransformPoint(point);
      largest = std::max(largest, (moved - point - field->GetPixel(it.GetIndex())).GetNorm());
      different += linear->IsInsideBuffer(moved) && std::abs(linear->Evaluate(moved) - it.Get()) > 0.01;
    }
    EXPECT_LT(largest, 1e-4);
    EXPECT_EQ(different, 0u);
  }
};
} // namespace

TEST_P(FreeFormDeformationTest, FindsAKnownDeformationIn3D)
{
  this->ExpectFound<3>();
}

TEST_P(FreeFormDeformationTest, FindsAKnownDeformationIn2D)
{
  this->ExpectFound<2>();
}

TEST_P(FreeFormDeformationTest, OutputsAgreeIn3D)
{
  this->ExpectOutputsAgree<3>();
}

TEST_P(FreeFormDeformationTest, OutputsAgreeIn2D)
{
  this->ExpectOutputsAgree<2>();
}

/** With every penalty. */
TEST_P(FreeFormDeformationTest, IsTheSameEachTimeAndAsTheHosts)
{
  const Problem<3> problem(9);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(8);
  method->SetLinearEnergyWeight(0.001);
  method->SetJacobianPenaltyWeight(0.001);
  method->Update();
  const auto first = GetPoints(*method);
  EXPECT_GT(first.inf_norm(), 0.5);
  for (const unsigned int threads : { 1u, 3u })
  {
    method->SetNumberOfWorkUnits(threads);
    method->Modified();
    method->Update();
    EXPECT_EQ(GetPoints(*method), first);
  }
  const auto another = problem.MakeMethod("host");
  another->SetNumberOfIterations(8);
  another->SetLinearEnergyWeight(0.001);
  another->SetJacobianPenaltyWeight(0.001);
  another->Update();
  // Steps are as long where the gradient is next to nothing: there rounding shows.
  EXPECT_LT((GetPoints(*another) - first).rms(), 2e-3);
}

TEST_P(FreeFormDeformationTest, ImagesOfOtherTypes)
{
  const Problem<3> problem(12);
  using ShortType = itk::Image<short, 3>;
  using DoubleType = itk::Image<double, 3>;
  const auto shorts = MakeImage<ShortType>(problem.grid, [&](const Problem<3>::PointType & p) {
    return std::round(problem.fixed->GetPixel(problem.fixed->TransformPhysicalPointToIndex(p)));
  });
  const auto doubles = DoubleType::New();
  doubles->CopyInformation(problem.moving);
  doubles->SetRegions(problem.moving->GetBufferedRegion());
  doubles->Allocate();
  std::copy_n(problem.moving->GetBufferPointer(),
              problem.moving->GetBufferedRegion().GetNumberOfPixels(),
              doubles->GetBufferPointer());
  const auto method = itk::FreeFormDeformationRegistrationMethod<ShortType, DoubleType>::New();
  method->SetDevice(this->GetDevice());
  method->SetFixedImage(shorts);
  method->SetMovingImage(doubles);
  method->SetNumberOfLevels(2);
  method->SetControlPointSpacing(9.0);
  method->SetNumberOfIterations(40);
  method->SetBendingEnergyWeight(0.001);
  method->Update();
  EXPECT_LT(problem.GetError(*method->GetTransform()), 0.2);
}

TEST_P(FreeFormDeformationTest, BadInputIsRefusedAndTheMethodGoesOn)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(3);
  EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  EXPECT_THROW(method->GetWarpedImage(), itk::GPUBadInputError);
  method->Update();
  const auto first = GetPoints(*method);
  const auto expectRefused = [&](const auto & spoil, const auto & mend) {
    spoil();
    EXPECT_THROW(method->Update(), itk::GPUBadInputError);
    mend();
  };
  for (const unsigned int levels : { 0u, 6u })
  {
    expectRefused([&] { method->SetNumberOfLevels(levels); }, [&] { method->SetNumberOfLevels(2); });
  }
  for (const double spacing :
       { 0.0, -1.0, 1e-9, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN() })
  {
    expectRefused([&] { method->SetControlPointSpacing(spacing); }, [&] { method->SetControlPointSpacing(9.0); });
  }
  for (const double weight : { -0.1, 1.0, std::numeric_limits<double>::quiet_NaN() })
  {
    expectRefused([&] { method->SetBendingEnergyWeight(weight); }, [&] { method->SetBendingEnergyWeight(0.001); });
  }
  for (const unsigned int bins : { 4u, 5000u })
  {
    expectRefused([&] { method->SetNumberOfHistogramBins(bins); }, [&] { method->SetNumberOfHistogramBins(32); });
  }
  expectRefused([&] { method->SetNumberOfIterations(0); }, [&] { method->SetNumberOfIterations(3); });
  expectRefused([&] { method->SetFirstStep(0.0); }, [&] { method->SetFirstStep(0.5); });

  const auto constant = MakeImage<itk::Image<float, 3>>(problem.grid, [](const auto &) { return 7.0; });
  method->SetFixedImage(constant);
  EXPECT_THROW(method->GetDisplacementField(), itk::GPUBadInputError);
  expectRefused([&] { method->SetFixedImage(constant); }, [&] { method->SetFixedImage(problem.fixed); });
  const auto broken = MakeImage<itk::Image<float, 3>>(problem.grid, [](const auto & p) { return p[0]; });
  broken->GetBufferPointer()[1234] = std::numeric_limits<float>::quiet_NaN();
  expectRefused([&] { method->SetMovingImage(broken); }, [&] { method->SetMovingImage(problem.moving); });

  const auto away = itk::AffineTransform<double, 3>::New();
  away->Translate(itk::Vector<double, 3>(1000.0));
  expectRefused([&] { method->SetInitialTransform(away); }, [&] { method->SetInitialTransform(nullptr); });
  const auto spline = itk::BSplineTransform<double, 3, 3>::New();
  method->SetInitialTransform(spline);
  EXPECT_THROW(method->Update(), itk::GPUUnsupportedError);
  method->SetInitialTransform(nullptr);
  method->SetMovingImage(nullptr);
  EXPECT_THROW(method->Update(), itk::ExceptionObject);
  method->SetMovingImage(problem.moving);

  method->Update();
  EXPECT_EQ(GetPoints(*method), first);
}

TEST_P(FreeFormDeformationTest, TellsOfItsProgressAndCanBeAborted)
{
  const Problem<3> problem(3);
  const auto       method = problem.MakeMethod(GetParam());
  method->SetNumberOfIterations(4);
  unsigned int iterations = 0;
  float        lastProgress = 0;
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) {
    ++iterations;
    EXPECT_GE(method->GetProgress(), lastProgress);
    lastProgress = method->GetProgress();
  });
  method->Update();
  EXPECT_EQ(iterations, 8u);
  EXPECT_EQ(lastProgress, 0.75f) << "before the last one";
  method->AddObserver(itk::IterationEvent(), [&](const itk::EventObject &) { method->AbortGenerateDataOn(); });
  lastProgress = 0;
  method->Modified();
  EXPECT_THROW(method->Update(), itk::ProcessAborted);
  method->RemoveAllObservers();
  method->AbortGenerateDataOff();
  EXPECT_NO_THROW(method->Update());
}

TEST_P(FreeFormDeformationTest, PrintsItself)
{
  const auto         method = MethodOf<3>::New();
  std::ostringstream text;
  method->Print(text);
  for (const char * name :
       { "Device", "NumberOfLevels", "ControlPointSpacing", "BendingEnergyWeight", "InitialTransform" })
  {
    EXPECT_NE(text.str().find(name), std::string::npos) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FreeFormDeformationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
