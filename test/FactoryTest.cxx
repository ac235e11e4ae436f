// SPDX-License-Identifier: Apache-2.0
// GPURegistrationFactory: what New() of ITK's own classes gives, and that it gives ITK's own again.
#include "itkGPURegistrationFactory.h"

#include "itkGPUResampleImageFilter.h"

#include "itkRGBPixel.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gpuregtest
{
namespace
{

/** Whether New() of ITK's resampler gives ours; by ITK's own name in either case. */
template <typename TImage>
bool
IsOurs()
{
  const auto filter = itk::ResampleImageFilter<TImage, TImage>::New();
  EXPECT_STREQ(filter->GetNameOfClass(), "ResampleImageFilter");
  return dynamic_cast<const itk::GPUResampleImageFilter<TImage, TImage> *>(filter.GetPointer()) != nullptr;
}

template <typename TPixel, unsigned int VDimension>
bool
IsOursOf()
{
  return IsOurs<itk::Image<TPixel, VDimension>>();
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
  EXPECT_FALSE((IsOursOf<float, 3>()));
}

TEST_F(Factory, EveryKindOfImageIsReplaced)
{
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_TRUE((IsOursOf<float, 3>()));
  EXPECT_TRUE((IsOursOf<double, 2>()));
  EXPECT_TRUE((IsOursOf<unsigned char, 2>()));
  EXPECT_TRUE((IsOursOf<short, 3>()));
  EXPECT_TRUE((IsOursOf<unsigned long, 3>()));
  EXPECT_TRUE((IsOursOf<itk::Vector<double, 3>, 3>()));
  EXPECT_TRUE((IsOursOf<itk::RGBPixel<unsigned char>, 2>()));
  EXPECT_TRUE((IsOurs<itk::VectorImage<float, 2>>()));
  EXPECT_TRUE((IsOurs<itk::VectorImage<unsigned char, 2>>()));
}

TEST_F(Factory, OneAloneAndTwiceIsOnce)
{
  const auto count = itk::ObjectFactoryBase::GetRegisteredFactories().size();
  itk::GPURegistrationFactory::RegisterFilter("ResampleImageFilter");
  itk::GPURegistrationFactory::RegisterFilter("ResampleImageFilter");
  EXPECT_EQ(itk::ObjectFactoryBase::GetRegisteredFactories().size(), count + 1);
  EXPECT_TRUE((IsOursOf<float, 3>()));
}

TEST_F(Factory, TakenBackITKsOwnComeAgain)
{
  itk::GPURegistrationFactory::RegisterAll();
  itk::GPURegistrationFactory::UnRegisterAll();
  EXPECT_FALSE((IsOursOf<float, 3>()));
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_TRUE((IsOursOf<float, 3>()));
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
