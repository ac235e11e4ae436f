// SPDX-License-Identifier: Apache-2.0
// GPURegistrationFactory: what New() of ITK's own classes gives, and that it gives ITK's own again.
#include "itkGPURegistrationFactory.h"

#include "itkGPUResampleImageFilter.h"

#include "itkBSplineDecompositionImageFilter.h"
#include "itkRGBPixel.h"
#include "itkRecursiveMultiResolutionPyramidImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <typeinfo>
#include <vector>

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

/** The names of ITK's filters in whose places New() gives ours. */
template <typename TInput, typename TOutput>
std::vector<std::string>
FindReplaced()
{
  std::vector<std::string> names;
  const auto               add = [&names](const auto & filter) {
    const itk::LightObject & object = *filter;
    const std::string        name = object.GetNameOfClass();
    // The class's own name is what a program may not be told by.
    if (std::string(typeid(object).name()).find("GPU" + name) != std::string::npos)
    {
      names.push_back(name);
    }
  };
  add(itk::BSplineDecompositionImageFilter<TInput, itk::Image<double, TInput::ImageDimension>>::New());
  add(itk::MultiResolutionPyramidImageFilter<TInput, TOutput>::New());
  add(itk::RecursiveGaussianImageFilter<TInput, TOutput>::New());
  add(itk::RecursiveMultiResolutionPyramidImageFilter<TInput, TOutput>::New());
  add(itk::ResampleImageFilter<TInput, TOutput>::New());
  add(itk::ShrinkImageFilter<TInput, TOutput>::New());
  add(itk::SmoothingRecursiveGaussianImageFilter<TInput, TOutput>::New());
  return names;
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
  EXPECT_TRUE((IsOursOf<long long, 2>()));
  EXPECT_FALSE((IsOursOf<long double, 2>()));
  EXPECT_TRUE((IsOursOf<itk::Vector<double, 3>, 3>()));
  EXPECT_TRUE((IsOursOf<itk::RGBPixel<unsigned char>, 2>()));
  EXPECT_TRUE((IsOurs<itk::VectorImage<float, 2>>()));
  EXPECT_TRUE((IsOurs<itk::VectorImage<unsigned char, 2>>()));
}

TEST_F(Factory, EveryFilterIsReplacedTogetherAndAlone)
{
  using FloatType = itk::Image<float, 3>;
  using ShortType = itk::Image<unsigned short, 2>;
  const std::vector<std::string> all = itk::GPURegistrationFactory::GetFilterNames();
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ((FindReplaced<FloatType, FloatType>()), std::vector<std::string>());
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_EQ((FindReplaced<FloatType, FloatType>()), all);
  EXPECT_EQ((FindReplaced<ShortType, ShortType>()), all);
  for (const std::string & name : all)
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPURegistrationFactory::RegisterFilter(name);
    EXPECT_EQ((FindReplaced<FloatType, FloatType>()), std::vector<std::string>{ name });
  }
}

/** As itk::ObjectFactoryBase::ReHash() does, too. */
TEST_F(Factory, ForgottenByITKItIsRegisteredAgain)
{
  itk::GPURegistrationFactory::RegisterAll();
  itk::ObjectFactoryBase::UnRegisterAllFactories();
  EXPECT_FALSE((IsOursOf<float, 3>()));
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_TRUE((IsOursOf<float, 3>()));
  itk::GPURegistrationFactory::UnRegisterAll();
  EXPECT_FALSE((IsOursOf<float, 3>()));
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
