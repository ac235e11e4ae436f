// SPDX-License-Identifier: Apache-2.0
// Tests the resampler that overrides ITK's with float as the type of transforms and interpolators, as registration methods of float make
// it.
#include "itkGPURegistrationFactory.h"

#include "ImageComparison.h"
#include "TestDevices.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkResampleImageFilter.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <typeinfo>

namespace gpuregtest
{
namespace
{
using ImageType = itk::Image<float, 3>;

/** Returns an image of valueAt(index). */
template <typename TImage, typename TFunction>
typename TImage::Pointer
MakeFilled(const TFunction & valueAt)
{
  const auto                  image = TImage::New();
  typename TImage::RegionType region;
  region.SetSize({ { 40, 31, 20 } });
  region.SetIndex({ { 3, -2, 5 } });
  image->SetRegions(region);
  image->Allocate();
  const double spacing[] = { 1.0, 0.9, 1.5 };
  image->SetSpacing(spacing);
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, region); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<typename TImage::PixelType>(valueAt(it.GetIndex())));
  }
  return image;
}

/** Returns a field before an affine transform, with numbers that float holds exactly, so that transforms of either type are equal. */
template <typename TReal>
typename itk::CompositeTransform<TReal, 3>::Pointer
MakeFieldThenAffine(const ImageType & image)
{
  using FieldTransformType = itk::DisplacementFieldTransform<TReal, 3>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  const auto  affine = itk::AffineTransform<TReal, 3>::New();
  const float numbers[] = { 0.98f, 0.1f, 0.02f, -0.1f, 0.97f, 0.03f, 0.01f, -0.02f, 1.02f, 0.3f, -0.2f, 0.4f };
  typename itk::AffineTransform<TReal, 3>::ParametersType parameters(12);
  std::copy(std::begin(numbers), std::end(numbers), parameters.begin());
  affine->SetParameters(parameters);
  const auto field = FieldType::New();
  field->CopyInformation(&image);
  field->SetRegions(image.GetBufferedRegion());
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldType> it(field, field->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename FieldType::PixelType vector;
    for (unsigned int d = 0; d < 3; ++d)
    {
      vector[d] = static_cast<float>(0.7 * std::sin(0.3 * static_cast<double>(it.GetIndex()[(d + 1) % 3]) + d));
    }
    it.Set(vector);
  }
  const auto fieldTransform = FieldTransformType::New();
  fieldTransform->SetDisplacementField(field);
  const auto composite = itk::CompositeTransform<TReal, 3>::New();
  composite->AddTransform(affine);
  composite->AddTransform(fieldTransform); // applied first
  return composite;
}

/** Resamples an image by a transform of float, and expects what ITK's own class gives by the same one of double. ITK's class of float
 *  rounds positions. */
template <typename TImage>
void
ExpectResampledByFloatsAsByDoubles(TImage & image, const ImageType & grid, double tolerance)
{
  const auto make = [&](auto real) {
    using RealType = decltype(real);
    const auto filter = itk::ResampleImageFilter<TImage, TImage, RealType>::New();
    filter->SetInput(&image);
    filter->SetTransform(MakeFieldThenAffine<RealType>(grid));
    filter->SetReferenceImage(&image);
    filter->UseReferenceImageOn();
    filter->Update();
    return filter;
  };
  const auto isOurs = [](const auto & filter) {
    return std::string(typeid(filter).name()).find("GPUOverride") != std::string::npos;
  };
  const auto itks = make(double{});
  itk::GPURegistrationFactory::RegisterAll();
  const auto ours = make(float{});
  itk::GPURegistrationFactory::UnRegisterAll();
  EXPECT_TRUE(isOurs(*ours));
  EXPECT_FALSE(isOurs(*itks));
  EXPECT_EQ(CountFurtherApart(*itks->GetOutput(), *ours->GetOutput(), tolerance), 0u);
}

class FloatResampleTest : public DeviceTest
{
protected:
  FloatResampleTest()
  {
    itk::GPUDevice::SetDefault(this->GetDevice());
  }
  ~FloatResampleTest() override
  {
    itk::GPUDevice::SetDefault(itk::GPUDevice::GetAvailable().front());
  }
};

TEST_P(FloatResampleTest, GivesWhatITKGivesByDoubles)
{
  const auto image =
    MakeFilled<ImageType>([](const auto & index) { return 1 + 0.25 * (index[0] % 3) + 0.5 * (index[1] % 2); });
  ExpectResampledByFloatsAsByDoubles(*image, *image, 1e-4);
  const auto mask =
    MakeFilled<itk::Image<unsigned char, 3>>([](const auto & index) { return index[0] * index[2] % 7 * 30; });
  ExpectResampledByFloatsAsByDoubles(*mask, *image, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, FloatResampleTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
