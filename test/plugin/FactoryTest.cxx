// SPDX-License-Identifier: Apache-2.0
// Tests GPURegistrationFactory: the classes that New() of ITK's classes gives while it is registered, and ITK's own afterwards.
#include "itkGPURegistrationFactory.h"

#include "itkGPUResampleImageFilter.h"

#include "itkANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkAffineTransform.h"
#include "itkBSplineDecompositionImageFilter.h"
#include "itkConjugateGradientLineSearchOptimizerv4.h"
#include "itkCorrelationImageToImageMetricv4.h"
#include "itkDemonsImageToImageMetricv4.h"
#include "itkGradientDescentLineSearchOptimizerv4.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkJointHistogramMutualInformationImageToImageMetricv4.h"
#include "itkMattesMutualInformationImageToImageMetricv4.h"
#include "itkMeanSquaresImageToImageMetricv4.h"
#include "itkRGBPixel.h"
#include "itkRecursiveMultiResolutionPyramidImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkSyNImageRegistrationMethod.h"
#include "itkTranslationTransform.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace gpuregtest
{
namespace
{

/** Returns true if New() of ITK's resampler gives our class; either class has ITK's name.
 *  \tparam TPrecision the type of transforms and interpolators. */
template <typename TImage, typename TPrecision = double>
bool
IsOurs()
{
  const auto filter = itk::ResampleImageFilter<TImage, TImage, TPrecision>::New();
  EXPECT_STREQ(filter->GetNameOfClass(), "ResampleImageFilter");
  return dynamic_cast<const itk::GPUResampleImageFilter<TImage, TImage, TPrecision> *>(filter.GetPointer()) != nullptr;
}

template <typename TPixel, unsigned int VDimension>
bool
IsOursOf()
{
  return IsOurs<itk::Image<TPixel, VDimension>>();
}

/** Returns the names of ITK's classes that New() overrides; metrics and registration methods are overridden for images of floats.
 *  \tparam TInternal the metrics' internal type. */
template <typename TInput, typename TOutput, typename TInternal = double>
std::vector<std::string>
FindReplaced()
{
  std::vector<std::string> names;
  const auto               add = [&names](const auto & filter) {
    const itk::LightObject & object = *filter;
    const std::string        name = object.GetNameOfClass();
    // The class's own name is not visible to a program.
    if (std::string(typeid(object).name()).find("GPUOverride") != std::string::npos)
    {
      // ITK's neighborhood correlation reports this name.
      names.push_back(name == "Self" ? "ANTSNeighborhoodCorrelationImageToImageMetricv4" : name);
    }
  };
  if constexpr (std::is_floating_point<typename TInput::PixelType>::value)
  {
    add(itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<TInput, TOutput, TInput, TInternal>::New());
  }
  add(itk::BSplineDecompositionImageFilter<TInput, itk::Image<double, TInput::ImageDimension>>::New());
  add(itk::ConjugateGradientLineSearchOptimizerv4Template<TInternal>::New());
  if constexpr (std::is_floating_point<typename TInput::PixelType>::value)
  {
    add(itk::CorrelationImageToImageMetricv4<TInput, TOutput, TInput, TInternal>::New());
    add(itk::DemonsImageToImageMetricv4<TInput, TOutput, TInput, TInternal>::New());
  }
  add(itk::GradientDescentLineSearchOptimizerv4Template<TInternal>::New());
  if constexpr (std::is_floating_point<typename TInput::PixelType>::value)
  {
    using TransformType = itk::AffineTransform<TInternal, TInput::ImageDimension>;
    add(itk::ImageRegistrationMethodv4<TInput, TOutput, TransformType>::New());
    add(itk::JointHistogramMutualInformationImageToImageMetricv4<TInput, TOutput, TInput, TInternal>::New());
    add(itk::MattesMutualInformationImageToImageMetricv4<TInput, TOutput, TInput, TInternal>::New());
    add(itk::MeanSquaresImageToImageMetricv4<TInput, TOutput, TInput, TInternal>::New());
  }
  add(itk::MultiResolutionPyramidImageFilter<TInput, TOutput>::New());
  add(itk::RecursiveGaussianImageFilter<TInput, TOutput>::New());
  add(itk::RecursiveMultiResolutionPyramidImageFilter<TInput, TOutput>::New());
  add(itk::ResampleImageFilter<TInput, TOutput>::New());
  add(itk::ShrinkImageFilter<TInput, TOutput>::New());
  add(itk::SmoothingRecursiveGaussianImageFilter<TInput, TOutput>::New());
  if constexpr (std::is_floating_point<typename TInput::PixelType>::value)
  {
    using TransformType = itk::DisplacementFieldTransform<TInternal, TInput::ImageDimension>;
    add(itk::SyNImageRegistrationMethod<TInput, TOutput, TransformType>::New());
  }
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
  EXPECT_TRUE((IsOurs<itk::Image<float, 3>, float>()));
  EXPECT_TRUE((IsOurs<itk::Image<unsigned char, 2>, float>()));
  EXPECT_TRUE((IsOurs<itk::Image<itk::Vector<float, 3>, 3>, float>()));
}

TEST_F(Factory, EveryClassIsReplacedTogetherAndAlone)
{
  using FloatType = itk::Image<float, 3>;
  using ShortType = itk::Image<unsigned short, 2>;
  const std::vector<std::string> all = itk::GPURegistrationFactory::GetClassNames();
  ASSERT_EQ(all.size(), 17u);
  EXPECT_EQ((FindReplaced<FloatType, FloatType>()), std::vector<std::string>());
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_EQ((FindReplaced<FloatType, FloatType>()), all);
  EXPECT_EQ((FindReplaced<FloatType, FloatType, float>()), all);
  std::vector<std::string> filters;
  std::copy_if(all.begin(), all.end(), std::back_inserter(filters), [](const std::string & name) {
    return name.find("Metric") == std::string::npos && name.find("RegistrationMethod") == std::string::npos;
  });
  EXPECT_EQ((FindReplaced<ShortType, ShortType>()), filters);
  for (const std::string & name : all)
  {
    itk::GPURegistrationFactory::UnRegisterAll();
    itk::GPURegistrationFactory::RegisterClass(name);
    EXPECT_EQ((FindReplaced<FloatType, FloatType>()), std::vector<std::string>{ name });
  }
}

/** Returns true if New() gives an override for each of some transforms. */
template <typename TImage, typename... TTransforms>
bool
OverridesRegistrationsBy()
{
  const auto isOverride = [](const itk::LightObject & object) {
    return std::string(typeid(object).name()).find("GPUOverride") != std::string::npos;
  };
  return (isOverride(*itk::ImageRegistrationMethodv4<TImage, TImage, TTransforms>::New()) && ...);
}

template <typename TPixel, typename TReal>
bool
OverridesLinearRegistrations()
{
  return OverridesRegistrationsBy<itk::Image<TPixel, 2>,
                                  itk::Euler2DTransform<TReal>,
                                  itk::Similarity2DTransform<TReal>,
                                  itk::AffineTransform<TReal, 2>,
                                  itk::TranslationTransform<TReal, 2>,
                                  itk::Transform<TReal, 2, 2>>() &&
         OverridesRegistrationsBy<itk::Image<TPixel, 3>,
                                  itk::Euler3DTransform<TReal>,
                                  itk::Similarity3DTransform<TReal>,
                                  itk::AffineTransform<TReal, 3>,
                                  itk::TranslationTransform<TReal, 3>,
                                  itk::Transform<TReal, 3, 3>>();
}

TEST_F(Factory, RegistrationsByEachLinearTransformAreReplaced)
{
  EXPECT_FALSE((OverridesRegistrationsBy<itk::Image<float, 3>, itk::AffineTransform<double, 3>>()));
  itk::GPURegistrationFactory::RegisterAll();
  EXPECT_TRUE((OverridesLinearRegistrations<double, double>()));
  EXPECT_TRUE((OverridesLinearRegistrations<float, double>()));
  EXPECT_TRUE((OverridesLinearRegistrations<float, float>()));
}

/** itk::ObjectFactoryBase::ReHash() unregisters all factories, too. */
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
  itk::GPURegistrationFactory::RegisterClass("ResampleImageFilter");
  itk::GPURegistrationFactory::RegisterClass("ResampleImageFilter");
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

TEST_F(Factory, AnUnknownNameIsRefusedWithAListOfTheNames)
{
  try
  {
    itk::GPURegistrationFactory::RegisterClass("ResampleImage");
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
