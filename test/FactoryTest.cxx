// SPDX-License-Identifier: Apache-2.0
// GPURegistrationFactory: what New() of ITK's own classes gives, and that it gives ITK's own again.
#include "itkGPURegistrationFactory.h"

#include "itkRGBPixel.h"
#include "itkResampleImageFilter.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gpuregtest
{
namespace
{

/** Of what New() of ITK's resampler gives for images of these pixels. */
template <typename TPixel, unsigned int VDimension>
std::string
GetResamplerName()
{
  using ImageType = itk::Image<TPixel, VDimension>;
  return itk::ResampleImageFilter<ImageType, ImageType>::New()->GetNameOfClass();
}

class Factory : public ::testing::Test
{
protected:
  ~Factory() override
  {
    itk::GPURegistrationFactory::UnRegisterAll();
  }
};

TEST_F(Factory, NothingIsReplacedBeforeItIsAskedFor)
{
  EXPECT_EQ((GetResamplerName<float, 3>()), "ResampleImageFilter");
}

TEST_F(Factory, EveryKindOfImageIsReplaced)
{
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_EQ((GetResamplerName<float, 3>()), "GPUResampleImageFilter");
  EXPECT_EQ((GetResamplerName<double, 2>()), "GPUResampleImageFilter");
  EXPECT_EQ((GetResamplerName<unsigned char, 2>()), "GPUResampleImageFilter");
  EXPECT_EQ((GetResamplerName<short, 3>()), "GPUResampleImageFilter");
  EXPECT_EQ((GetResamplerName<unsigned long, 3>()), "GPUResampleImageFilter");
  EXPECT_EQ((GetResamplerName<itk::Vector<double, 3>, 3>()), "GPUResampleImageFilter");
  EXPECT_EQ((GetResamplerName<itk::RGBPixel<unsigned char>, 2>()), "GPUResampleImageFilter");
  using VectorImageType = itk::VectorImage<float, 2>;
  const auto ofVectorImages = itk::ResampleImageFilter<VectorImageType, VectorImageType>::New();
  EXPECT_STREQ(ofVectorImages->GetNameOfClass(), "GPUResampleImageFilter");
  // Four dimensions are left alone.
  EXPECT_EQ((GetResamplerName<float, 4>()), "ResampleImageFilter");
}

TEST_F(Factory, OneAloneAndTwiceIsOnce)
{
  const auto count = itk::ObjectFactoryBase::GetRegisteredFactories().size();
  itk::GPURegistrationFactory::RegisterFilter("ResampleImageFilter");
  itk::GPURegistrationFactory::RegisterFilter("ResampleImageFilter");
  EXPECT_EQ(itk::ObjectFactoryBase::GetRegisteredFactories().size(), count + 1);
  EXPECT_EQ((GetResamplerName<float, 3>()), "GPUResampleImageFilter");
}

TEST_F(Factory, TakenBackITKsOwnComeAgain)
{
  itk::GPURegistrationFactory::RegisterAll();
  itk::GPURegistrationFactory::UnRegisterAll();
  EXPECT_EQ((GetResamplerName<float, 3>()), "ResampleImageFilter");
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_EQ((GetResamplerName<float, 3>()), "GPUResampleImageFilter");
}

TEST_F(Factory, AnUnknownNameIsToldWithThoseThereAre)
{
  try
  {
    itk::GPURegistrationFactory::RegisterFilter("ResampleImage");
    FAIL() << "no exception";
  }
  catch (const itk::ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("\"ResampleImage\""), std::string::npos);
    EXPECT_NE(std::string(error.GetDescription()).find("ResampleImageFilter"), std::string::npos);
  }
}

} // namespace
} // namespace gpuregtest
