// SPDX-License-Identifier: Apache-2.0
// Tests that CudaMattesNMI sees what changes between its evaluations, as ITK's metric sees it: images, masks, parameters and settings.
#include "ContractCase.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkImageMaskSpatialObject.h"
#include "itkTranslationTransform.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpuregtest
{

namespace
{
class ContractChangesTest : public ContractCase
{};
} // namespace

TEST_P(ContractChangesTest, ImagesReplacedBetweenInitializeCalls)
{
  const auto metric = MakeOurs();
  const auto affine = MakeAffine(3);
  for (const std::uint64_t seed : { 1, 2, 1 })
  {
    const auto images = MakeImages(seed);
    SetInput(*metric, images, affine);
    const auto fresh = MakeOurs();
    SetInput(*fresh, images, affine);
    ExpectSame(InitializeAndEvaluate(*metric), InitializeAndEvaluate(*fresh));
  }
}

TEST_P(ContractChangesTest, PixelsChangedInPlace)
{
  const auto images = MakeImages(1);
  const auto other = MakeImages(2);
  const auto affine = MakeAffine(3);
  const auto metric = MakeOurs();
  SetInput(*metric, images, affine);
  const Answer before = InitializeAndEvaluate(*metric);
  const auto   count = images.first->GetBufferedRegion().GetNumberOfPixels();
  for (const bool moving : { false, true })
  {
    ImageType & to = moving ? *images.second : *images.first;
    ImageType & from = moving ? *other.second : *other.first;
    std::copy_n(from.GetBufferPointer(), count, to.GetBufferPointer());
    to.Modified();
    const Answer now = InitializeAndEvaluate(*metric);
    EXPECT_NE(now.value, before.value);
    const auto fresh = MakeOurs();
    SetInput(*fresh, images, affine);
    ExpectSame(now, InitializeAndEvaluate(*fresh));
  }
}

/** SyN swaps the fixed and the moving image, and replaces both, at every call. */
TEST_P(ContractChangesTest, ImagesSwappedAndReplacedAtEachCall)
{
  const auto metric = MakeOurs();
  const auto field = MakeField();
  for (const std::uint64_t seed : { 1, 2, 3 })
  {
    auto images = MakeImages(seed);
    for (int swap = 0; swap < 2; ++swap)
    {
      SetInput(*metric, images, field);
      const auto itks = Itks::New();
      SetInput(*itks, images, field);
      ExpectNear(InitializeAndEvaluate(*metric), InitializeAndEvaluate(*itks));
      std::swap(images.first, images.second);
    }
  }
}

TEST_P(ContractChangesTest, MasksAndInterpolatorsComeAndGo)
{
  using MaskType = itk::ImageMaskSpatialObject<2>;
  const auto images = MakeImages(4);
  const auto affine = MakeAffine(4);
  const auto mask = MaskType::New();
  mask->SetImage(MakeImage<MaskType::ImageType>(MakeGrid(), [](const auto & p) {
    return (p - MakeGrid().GetCentre()).GetNorm() < 24.0 ? 1 : 0;
  }));
  mask->Update();
  const auto metric = MakeOurs();
  const auto none = static_cast<const MaskType *>(nullptr);
  SetInput(*metric, images, affine);
  const Answer plain = InitializeAndEvaluate(*metric);

  metric->SetMovingImageMask(mask);
  metric->SetFixedImageMask(mask);
  const Answer masked = InitializeAndEvaluate(*metric);
  EXPECT_LT(masked.validPoints, plain.validPoints);
  metric->SetMovingImageMask(none);
  metric->SetFixedImageMask(none);
  ExpectSame(InitializeAndEvaluate(*metric), plain);

  metric->UseMovingImageGradientFilterOff();
  EXPECT_NE(InitializeAndEvaluate(*metric).derivative, plain.derivative);
  metric->UseMovingImageGradientFilterOn();
  ExpectSame(InitializeAndEvaluate(*metric), plain);

  metric->SetNumberOfHistogramBins(32);
  EXPECT_NE(InitializeAndEvaluate(*metric).value, plain.value);
  metric->SetNumberOfHistogramBins(20);
  ExpectSame(InitializeAndEvaluate(*metric), plain);
}

TEST_P(ContractChangesTest, DeviceChangedBetweenEvaluations)
{
  const auto metric = MakeOurs();
  SetInput(*metric, MakeImages(5), MakeAffine(5));
  const Answer first = InitializeAndEvaluate(*metric);
  for (const itk::GPUDevice & device : itk::GPUDevice::GetAvailable())
  {
    metric->SetDevice(device);
    EXPECT_EQ(metric->GetDevice(), device);
    ExpectNear(Evaluate(*metric), first, 1e-5, 1e-5);
    metric->SetDevice(GetDevice());
    ExpectSame(Evaluate(*metric), first);
  }
}

/** Scales estimators and optimizers write into the transform without a notification. */
TEST_P(ContractChangesTest, ParametersChangedBehindTheMetric)
{
  const auto images = MakeImages(6);
  const auto affine = MakeAffine(6);
  const auto composite = CompositeType::New();
  composite->AddTransform(affine);
  const auto metric = MakeOurs();
  SetInput(*metric, images, composite);
  const Answer before = InitializeAndEvaluate(*metric);
  const auto   old = affine->GetParameters();
  affine->SetParameters(MakeAffine(7)->GetParameters());
  EXPECT_NE(Evaluate(*metric).value, before.value);
  affine->SetParameters(old);
  ExpectSame(Evaluate(*metric), before);
}

TEST_P(ContractChangesTest, FieldChangedBehindTheMetric)
{
  const auto images = MakeImages(6);
  const auto transform = MakeField();
  const auto metric = MakeOurs();
  SetInput(*metric, images, transform);
  const Answer before = InitializeAndEvaluate(*metric);
  const auto   field = transform->GetModifiableDisplacementField();
  const auto   stamp = field->GetMTime();
  const auto   count = field->GetBufferedRegion().GetNumberOfPixels();
  for (const double sign : { 1.0, -1.0 })
  {
    for (std::size_t n = 0; n < count; ++n)
    {
      field->GetBufferPointer()[n][0] += sign * 0.5; // exact
    }
    ASSERT_EQ(field->GetMTime(), stamp);
    if (sign > 0)
    {
      EXPECT_NE(Evaluate(*metric).value, before.value);
    }
  }
  EXPECT_NEAR(Evaluate(*metric).value, before.value, 1e-7);
}

/** Changes without a new time stamp of the object are noticed at the next Initialize(). */
TEST_P(ContractChangesTest, ChangesWithoutATimeStamp)
{
  const auto images = MakeImages(23);
  const auto affine = MakeAffine(23);
  const auto points = Ours::VirtualPointSetType::New();
  const auto movePoints = [&](double shift) {
    for (unsigned int n = 0; n < 900; ++n)
    {
      itk::Vector<double, 2> index;
      index[0] = 8.0 + n % 45 + shift;
      index[1] = 8.0 + n / 45 + shift;
      Ours::VirtualPointSetType::PointType point;
      point.CastFrom(MakeGrid().GetPoint(index));
      points->SetPoint(n, point);
    }
  };
  const auto fixedShift = itk::TranslationTransform<double, 2>::New();
  const auto fixedTransform = CompositeType::New();
  fixedTransform->AddTransform(fixedShift);
  const auto spline = itk::BSplineInterpolateImageFunction<ImageType, double>::New();
  const auto metric = MakeOurs();
  const auto setUp = [&](Itks & to) {
    SetInput(to, images, affine);
    to.SetFixedTransform(fixedTransform);
    to.SetMovingInterpolator(spline);
    to.SetVirtualSampledPointSet(points);
    to.UseSampledPointSetOn();
    to.UseVirtualSampledPointSetOn();
  };
  movePoints(0.0);
  setUp(*metric);
  Answer     before = InitializeAndEvaluate(*metric);
  const auto expectSeen = [&](const char * what) {
    SCOPED_TRACE(what);
    const Answer now = InitializeAndEvaluate(*metric);
    EXPECT_NE(now.value, before.value);
    const auto fresh = MakeOurs();
    setUp(*fresh);
    ExpectSame(now, InitializeAndEvaluate(*fresh));
    before = now;
  };
  movePoints(6.5);
  expectSeen("points moved in place");
  spline->SetSplineOrder(2);
  expectSeen("another spline order");
  auto offset = fixedShift->GetParameters();
  offset[0] = 2.3;
  fixedShift->SetParameters(offset);
  expectSeen("a part of the fixed transform");
}

TEST_P(ContractChangesTest, BinsChangedAfterInitializeWantItAgain)
{
  const auto metric = MakeOurs();
  SetInput(*metric, MakeImages(24), MakeAffine(24));
  const Answer answer = InitializeAndEvaluate(*metric);
  metric->SetNumberOfHistogramBins(33);
  EXPECT_THROW(Evaluate(*metric), itk::GPUBadInputError);
  metric->SetNumberOfHistogramBins(20);
  ExpectSame(InitializeAndEvaluate(*metric), answer);
}

INSTANTIATE_TEST_SUITE_P(Devices, ContractChangesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
