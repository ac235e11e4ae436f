// SPDX-License-Identifier: Apache-2.0
// Tests images, masks and points that are changed in place between two evaluations, without a time stamp: a metric that does not trust time
// stamps notices what ITK's metric notices.
#include "itkGPURegistrationFactory.h"

#include "OverriddenMetrics.h"
#include "TestAnswer.h"
#include "TestDevices.h"
#include "TestMetrics.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace gpuregtest
{
namespace
{
using ImageType = TestImage<float, 3>;
using MaskType = itk::ImageMaskSpatialObject<3>;
using TransformType = itk::AffineTransform<double, 3>;

/** Fills an image's pixels in place, without notifying the image. */
template <typename TImage, typename TFunction>
void
Refill(TImage & image, const TFunction & function)
{
  auto * const pixels = image.GetPixelContainer()->GetImportPointer();
  const auto   size = image.GetBufferedRegion().GetSize();
  for (itk::SizeValueType n = 0; n < image.GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    const double x = static_cast<double>(n % size[0]);
    const double y = static_cast<double>(n / size[0] % size[1]);
    const double z = static_cast<double>(n / size[0] / size[1]);
    pixels[n] = static_cast<typename TImage::PixelType>(function(x, y, z));
  }
}

template <typename TImage>
typename TImage::Pointer
MakeImage()
{
  const auto                  image = TImage::New();
  typename TImage::RegionType region;
  region.SetSize({ { 26, 22, 18 } });
  image->SetRegions(region);
  image->Allocate();
  return image;
}

double
Waves(double x, double y, double z)
{
  return 50 + 20 * std::sin(0.4 * x) + 15 * std::cos(0.5 * y + 0.1 * x) + 10 * std::sin(0.6 * z);
}

double
OtherWaves(double x, double y, double z)
{
  return 55 + 14 * std::cos(0.3 * x + 0.2 * z) + 12 * std::sin(0.45 * y);
}

class ResidentImages : public DeviceTest
{
protected:
  ImageType::Pointer           fixed = MakeImage<ImageType>();
  ImageType::Pointer           moving = MakeImage<ImageType>();
  MaskType::ImageType::Pointer maskImage = MakeImage<MaskType::ImageType>();
  TransformType::Pointer       transform = TransformType::New();

  ResidentImages()
  {
    Refill(*fixed, Waves);
    Refill(*moving, [](double x, double y, double z) { return 90 - Waves(x + 0.7, y - 0.4, z + 0.3); });
    Refill(*maskImage, [](double x, double, double) { return x > 4 ? 1 : 0; });
    transform->Rotate(0, 1, 0.05);
  }

  template <typename TMetric>
  typename TMetric::Pointer
  MakeMetric(bool hasMasks) const
  {
    const auto metric = TMetric::New();
    metric->SetFixedImage(fixed);
    metric->SetMovingImage(moving);
    metric->SetMovingTransform(transform);
    if (hasMasks)
    {
      const auto mask = MaskType::New();
      mask->SetImage(maskImage);
      mask->Update();
      metric->SetFixedImageMask(mask);
      metric->SetMovingImageMask(mask);
    }
    return metric;
  }

  OurMetric<float, 3>::Pointer
  MakeOurs(bool hasMasks) const
  {
    const auto ours = this->MakeMetric<OurMetric<float, 3>>(hasMasks);
    ours->NormalizedOff();
    ours->SetDevice(this->GetDevice());
    ours->TrustsTimeStampsOff();
    return ours;
  }
};

/** Expects both metrics, which were initialized before, to give the same results now. */
template <typename TOurs, typename TItks>
void
ExpectClose(const TOurs & ours, const TItks & itks)
{
  const Answer wanted = Evaluate(itks);
  for (int n = 0; n < 2; ++n)
  {
    const Answer got = Evaluate(ours);
    EXPECT_NEAR(got.value, wanted.value, 1e-5 * std::abs(wanted.value));
    EXPECT_LE(GetRelativeError(got.derivative, wanted.derivative), 1e-4);
    EXPECT_EQ(got.validPoints, wanted.validPoints);
  }
}

TEST_P(ResidentImages, AMovingImageThatIsRefilledIsSeen)
{
  const auto ours = this->MakeOurs(false);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(false);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(*ours, *itks);
  Refill(*moving, OtherWaves);
  ExpectClose(*ours, *itks);
  // Values leave the range for which the histogram was made: ITK excludes such samples.
  Refill(*moving, [](double x, double y, double z) { return 1.5 * OtherWaves(x, y, z) - 20; });
  ExpectClose(*ours, *itks);
  Refill(*moving, [](double x, double y, double z) { return 90 - Waves(x + 0.7, y - 0.4, z + 0.3); });
  ExpectClose(*ours, *itks);
  // Until now the gradient was that of the first image.
  Refill(*moving, OtherWaves);
  ExpectClose(*ours, *itks);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(*ours, *itks);
}

/** A program that trusts time stamps and reports the change, but does not initialize again. */
TEST_P(ResidentImages, AMovingImageThatLeavesTheRangeIsSeenWhenItIsModified)
{
  const auto ours = this->MakeOurs(false);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(false);
  ours->TrustsTimeStampsOn();
  ours->Initialize();
  itks->Initialize();
  Refill(*moving, [](double x, double y, double z) { return 1.5 * OtherWaves(x, y, z) - 20; });
  moving->Modified();
  ExpectClose(*ours, *itks);
}

TEST_P(ResidentImages, FieldsThatAreRefilledAreSeen)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  using FieldType = FieldTransformType::DisplacementFieldType;
  const auto makeField = [this] {
    const auto field = FieldType::New();
    field->CopyInformation(fixed);
    field->SetRegions(fixed->GetBufferedRegion());
    field->Allocate(true);
    return field;
  };
  const auto refill = [](FieldType & field, double shift) {
    FieldType::PixelType vector;
    vector.Fill(shift);
    std::fill_n(field.GetBufferPointer(), field.GetBufferedRegion().GetNumberOfPixels(), vector);
  };
  const auto fixedField = makeField();
  const auto movingField = makeField();
  const auto fixedTransform = FieldTransformType::New();
  const auto movingTransform = FieldTransformType::New();
  fixedTransform->SetDisplacementField(fixedField);
  movingTransform->SetDisplacementField(movingField);
  const auto ours = this->MakeOurs(false);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(false);
  const auto initialize = [&](auto & metric) {
    metric.SetFixedTransform(fixedTransform);
    metric.SetMovingTransform(movingTransform);
    metric.Initialize();
  };
  initialize(*ours);
  initialize(*itks);
  ExpectClose(*ours, *itks);
  refill(*movingField, 0.6);
  ExpectClose(*ours, *itks);
  refill(*fixedField, -0.3);
  ExpectClose(*ours, *itks);
}

TEST_P(ResidentImages, CoefficientsThatAreRefilledAreSeen)
{
  using SplineType = itk::BSplineInterpolateImageFunction<ImageType, double>;
  const auto ours = this->MakeOurs(false);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(false);
  const auto oursSpline = SplineType::New();
  const auto itksSpline = SplineType::New();
  ours->SetMovingInterpolator(oursSpline);
  itks->SetMovingInterpolator(itksSpline);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(*ours, *itks);
  for (const SplineType * const spline : { oursSpline.GetPointer(), itksSpline.GetPointer() })
  {
    const auto * const coefficients = itk::GPURegistrationDetail::BSplineAccess<SplineType>::GetCoefficients(*spline);
    Refill(const_cast<SplineType::CoefficientImageType &>(*coefficients),
           [](double x, double y, double z) { return 70 - 0.5 * Waves(x + 0.5, y, z); });
  }
  ExpectClose(*ours, *itks);
}

TEST_P(ResidentImages, AFixedImageThatIsRefilledIsSeen)
{
  const auto ours = this->MakeOurs(false);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(false);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(*ours, *itks);
  Refill(*fixed, OtherWaves);
  ExpectClose(*ours, *itks);
}

TEST_P(ResidentImages, MasksThatAreRefilledAreSeen)
{
  const auto ours = this->MakeOurs(true);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(true);
  ours->Initialize();
  itks->Initialize();
  ExpectClose(*ours, *itks);
  Refill(*maskImage, [](double, double y, double z) { return y > 3 && z < 15 ? 1 : 0; });
  ExpectClose(*ours, *itks);
}

TEST_P(ResidentImages, PointsThatAreMovedAreSeen)
{
  using PointSetType = OurMetric<float, 3>::FixedSampledPointSetType;
  const auto points = PointSetType::New();
  for (unsigned int n = 0; n < 900; ++n)
  {
    PointSetType::PointType point;
    point[0] = 3 + n % 20;
    point[1] = 2.25 + n / 20 % 15;
    point[2] = 1.5 + 5 * (n / 300);
    points->SetPoint(n, point);
  }
  const auto ours = this->MakeOurs(false);
  const auto itks = this->MakeMetric<ItkMetric<float, 3>>(false);
  const auto initialize = [&](auto & metric) {
    metric.SetFixedSampledPointSet(points);
    metric.SetUseSampledPointSet(true);
    metric.Initialize();
  };
  initialize(*ours);
  initialize(*itks);
  ExpectClose(*ours, *itks);
  // Each metric has its own virtual points.
  const auto move = [](const auto & metric) {
    auto & virtualPoints = const_cast<PointSetType &>(*metric.GetVirtualSampledPointSet());
    for (auto & point : virtualPoints.GetPoints()->CastToSTLContainer())
    {
      point[0] += 0.5;
    }
  };
  move(*ours);
  move(*itks);
  ExpectClose(*ours, *itks);
}

/** Every metric of ITK as a program makes it that does not know this module, once overridden and once as ITK's own. */
class ResidentImagesOfOverrides : public ResidentImages
{
protected:
  using MetricPointer = overridden::MetricType::Pointer;

  ~ResidentImagesOfOverrides() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }

  /** Calls work(ours, ITK's) with a pair of metrics of each kind, not initialized, with masks. */
  template <typename TWork>
  void
  ForEachPair(const TWork & work) const
  {
    itk::GPUDevice::SetDefault(this->GetDevice());
    for (const overridden::Kind kind : overridden::ForLinear)
    {
      itk::GPURegistrationFactory::RegisterAll();
      const MetricPointer ours = overridden::MakeMetric(kind);
      itk::GPURegistrationFactory::UnRegisterAll();
      const MetricPointer itks = overridden::MakeMetric(kind);
      ASSERT_TRUE(overridden::IsOurs(*ours) && !overridden::IsOurs(*itks));
      const auto mask = MaskType::New();
      mask->SetImage(maskImage);
      mask->Update();
      for (overridden::MetricType * const metric : { ours.GetPointer(), itks.GetPointer() })
      {
        metric->SetFixedImage(fixed);
        metric->SetMovingImage(moving);
        metric->SetMovingTransform(transform);
        metric->SetFixedImageMask(mask);
        metric->SetMovingImageMask(mask);
      }
      SCOPED_TRACE(itks->GetNameOfClass() + std::to_string(static_cast<int>(kind)));
      work(*ours, *itks);
    }
  }
};

TEST_P(ResidentImagesOfOverrides, ImagesAndMasksThatAreRefilledAreSeen)
{
  this->ForEachPair([this](overridden::MetricType & ours, overridden::MetricType & itks) {
    Refill(*fixed, Waves);
    Refill(*moving, [](double x, double y, double z) { return 90 - Waves(x + 0.7, y - 0.4, z + 0.3); });
    Refill(*maskImage, [](double x, double, double) { return x > 4 ? 1 : 0; });
    ours.Initialize();
    itks.Initialize();
    ExpectClose(ours, itks);
    // Values stay in the range for which a histogram was made.
    Refill(*moving, [](double x, double y, double z) { return 90 - Waves(x + 0.9, y - 0.2, z + 0.3) * 0.9 - 4; });
    ExpectClose(ours, itks);
    Refill(*fixed, [](double x, double y, double z) { return 4 + 0.9 * Waves(x + 0.1, y, z); });
    ExpectClose(ours, itks);
    Refill(*maskImage, [](double, double y, double z) { return y > 3 && z < 15 ? 1 : 0; });
    ExpectClose(ours, itks);
  });
}

/** An affine transform that is optimized, before a field. */
TEST_P(ResidentImagesOfOverrides, FieldsBehindWhatIsOptimisedThatAreRefilledAreSeen)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  using FieldType = FieldTransformType::DisplacementFieldType;
  const auto field = FieldType::New();
  field->CopyInformation(fixed);
  field->SetRegions(fixed->GetBufferedRegion());
  field->Allocate(true);
  const auto fieldTransform = FieldTransformType::New();
  fieldTransform->SetDisplacementField(field);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(fieldTransform);
  composite->AddTransform(transform);
  composite->SetOnlyMostRecentTransformToOptimizeOn();
  this->ForEachPair([&](overridden::MetricType & ours, overridden::MetricType & itks) {
    for (overridden::MetricType * const metric : { &ours, &itks })
    {
      metric->SetMovingTransform(composite);
      metric->Initialize();
    }
    ExpectClose(ours, itks);
    for (const double shift : { 0.6, -0.35 })
    {
      FieldType::PixelType vector;
      vector.Fill(shift);
      std::fill_n(field->GetBufferPointer(), field->GetBufferedRegion().GetNumberOfPixels(), vector);
      ExpectClose(ours, itks);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, ResidentImagesOfOverrides, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

TEST_P(ResidentImages, UnchangedDataIsNotUploadedAgain)
{
  const auto ours = this->MakeOurs(false);
  ours->Initialize();
  Evaluate(*ours);
  EXPECT_EQ(ours->GetEvaluationStatistics().bytesUp, 0);
  EXPECT_TRUE(ours->GetEvaluationStatistics().launches > 0);
  const double before = ours->GetValue();
  // With trusted time stamps, a refilled image is not read again before it reports the change.
  ours->TrustsTimeStampsOn();
  ours->GetValue();
  Refill(*moving, OtherWaves);
  EXPECT_EQ(ours->GetValue(), before);
  moving->Modified();
  EXPECT_NE(ours->GetValue(), before);
}

INSTANTIATE_TEST_SUITE_P(Devices, ResidentImages, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
