// SPDX-License-Identifier: Apache-2.0
// Tests what CudaMattesNMI computes on the device of transforms, interpolators and masks of other classes, and what through ITK, with a
// warning.
#include "BentTransform.h"
#include "ContractCase.h"
#include "Listening.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkEllipseSpatialObject.h"
#include "itkGaussianInterpolateImageFunction.h"
#include "itkWindowedSincInterpolateImageFunction.h"

namespace gpuregtest
{

namespace
{
/** An affine transform of a class of its own, as programs define them. */
class CustomTransform : public itk::AffineTransform<double, 2>
{
public:
  using Self = CustomTransform;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);
  const char *
  GetNameOfClass() const override
  {
    return "CustomTransform";
  }

protected:
  CustomTransform()
    : itk::AffineTransform<double, 2>(6)
  {}
};

class ContractFallbackTest : public ContractCase
{};
} // namespace

TEST_P(ContractFallbackTest, TransformClassesOfOthers)
{
  const auto images = MakeImages(8);
  const auto custom = CustomTransform::New();
  custom->SetCenter(MakeGrid().GetCentre());
  custom->SetParameters(MakeAffine(8)->GetParameters());
  ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, custom); });
}

TEST_P(ContractFallbackTest, OneThatIsNotLinearThoughItsParentClassIsIsComputedThroughItk)
{
  const auto images = MakeImages(8);
  const auto bent = BentTransform<2>::New();
  bent->SetCenter(MakeGrid().GetCentre());
  bent->SetParameters(MakeAffine(8)->GetParameters());
  const auto composite = CompositeType::New();
  composite->AddTransform(bent);
  const Listening listening;
  for (Itks::MovingTransformType * transform :
       { static_cast<Itks::MovingTransformType *>(bent), static_cast<Itks::MovingTransformType *>(composite) })
  {
    ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, transform); }, 1e-9, 1e-9);
  }
  EXPECT_EQ(listening.window->Count("computes it through ITK"), 2u);
  // As a fixed transform it is called for each point.
  ExpectEqualToItk([&](Itks & metric) {
    SetInput(metric, images, MakeAffine(8));
    metric.SetFixedTransform(bent);
  });
}

TEST_P(ContractFallbackTest, BSplineParametersAreOptimisedOnTheDevice)
{
  const auto bspline = MakeBSpline();
  const auto images = MakeImages(8);
  const auto composite = CompositeType::New();
  composite->AddTransform(MakeAffine(8));
  composite->AddTransform(bspline);
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  const Listening listening;
  for (Itks::MovingTransformType * transform :
       { static_cast<Itks::MovingTransformType *>(bspline), static_cast<Itks::MovingTransformType *>(composite) })
  {
    ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, transform); });
  }
  EXPECT_EQ(listening.window->Count("WARNING"), 0u);
}

/** An affine transform that is optimized, behind a B-spline that is not, is computed on the device; not if both are optimized. */
TEST_P(ContractFallbackTest, BehindABSplineIsOnTheDeviceUnlessItIsOptimisedToo)
{
  const auto bspline = MakeBSpline();
  const auto composite = CompositeType::New();
  composite->AddTransform(MakeAffine(8));
  composite->AddTransform(bspline);
  composite->SetNthTransformToOptimizeOn(0);
  composite->SetNthTransformToOptimizeOff(1);
  const auto      images = MakeImages(8);
  const Listening listening;
  ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, composite); });
  EXPECT_EQ(listening.window->Count("WARNING"), 0u);
  composite->SetNthTransformToOptimizeOn(1);
  ExpectEqualToItk([&](Itks & metric) { SetInput(metric, images, composite); }, 1e-9, 1e-9);
  EXPECT_EQ(listening.window->Count("computes it through ITK"), 1u);
}

TEST_P(ContractFallbackTest, OtherInterpolatorsAreComputedThroughItkAndSaidOnce)
{
  const auto images = MakeImages(9);
  const auto affine = MakeAffine(9);
  const auto sinc = itk::WindowedSincInterpolateImageFunction<ImageType, 3>::New();
  const auto gaussian = itk::GaussianInterpolateImageFunction<ImageType, double>::New();
  using InterpolatorType = itk::InterpolateImageFunction<ImageType, double>;
  for (InterpolatorType * interpolator :
       { static_cast<InterpolatorType *>(sinc), static_cast<InterpolatorType *>(gaussian) })
  {
    const auto ours = MakeOurs();
    const auto itks = Itks::New();
    SetInput(*ours, images, affine);
    SetInput(*itks, images, affine);
    ours->SetMovingInterpolator(interpolator);
    itks->SetMovingInterpolator(interpolator);
    const Listening listening;
    const Answer    answer = InitializeAndEvaluate(*ours);
    Evaluate(*ours);
    InitializeAndEvaluate(*ours);
    EXPECT_EQ(listening.window->Count(interpolator->GetNameOfClass()), 1u);
    ExpectNear(answer, InitializeAndEvaluate(*itks), 1e-10, 1e-10);
  }
}

TEST_P(ContractFallbackTest, OtherMasksAreComputedThroughItkAndSaidOnce)
{
  using EllipseType = itk::EllipseSpatialObject<2>;
  const auto ellipse = EllipseType::New();
  ellipse->SetRadiusInObjectSpace(25.0);
  ellipse->SetCenterInObjectSpace(MakeGrid().GetCentre());
  ellipse->Update();
  const auto images = MakeImages(9);
  const auto affine = MakeAffine(9);
  for (const bool asFixedMask : { false, true })
  {
    const auto ours = MakeOurs();
    const auto itks = Itks::New();
    for (Itks * metric : { static_cast<Itks *>(ours), itks.GetPointer() })
    {
      SetInput(*metric, images, affine);
      if (asFixedMask)
      {
        metric->SetFixedImageMask(ellipse);
      }
      else
      {
        metric->SetMovingImageMask(ellipse);
      }
    }
    const Listening listening;
    const Answer    answer = InitializeAndEvaluate(*ours);
    Evaluate(*ours);
    // ITK's own objects evaluate the fixed side once, so any mask will do there.
    EXPECT_EQ(listening.window->Count("EllipseSpatialObject"), asFixedMask ? 0u : 1u);
    ExpectNear(answer, InitializeAndEvaluate(*itks), asFixedMask ? 1e-5 : 1e-10, asFixedMask ? 1e-4 : 1e-10);
  }
}

TEST_P(ContractFallbackTest, ASplineOfOrderOneIsComputedThroughItk)
{
  const auto images = MakeImages(22);
  const auto affine = MakeAffine(22);
  const auto spline = itk::BSplineInterpolateImageFunction<ImageType, double>::New();
  spline->SetSplineOrder(1);
  const Listening listening;
  ExpectEqualToItk(
    [&](Itks & metric) {
      SetInput(metric, images, affine);
      metric.SetMovingInterpolator(spline);
    },
    1e-10,
    1e-10);
  EXPECT_EQ(listening.window->Count("of order 1"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, ContractFallbackTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
