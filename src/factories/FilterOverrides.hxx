// SPDX-License-Identifier: Apache-2.0
#ifndef FilterOverrides_hxx
#define FilterOverrides_hxx

#include "FilterOverrides.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUResampleImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include "itkImage.h"

#include <type_traits>

namespace gpuregfactories
{

/** A type as a value. */
template <typename T>
struct TypeOf
{
  using Type = T;
};

/** Calls visit with the image types, input and output, of a pixel type. */
template <typename TPixel, unsigned int VDimension, typename TVisitor>
void
ForEachFilteredImage(const TVisitor & visit)
{
  using InputType = TypeOf<itk::Image<TPixel, VDimension>>;
  visit(InputType{}, InputType{});
  if constexpr (std::is_integral<TPixel>::value)
  {
    visit(InputType{}, TypeOf<itk::Image<float, VDimension>>{});
  }
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddResample(itk::GPURegistrationFactory & factory)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  factory.Override<itk::ResampleImageFilter<ImageType, ImageType, double, double>,
                   itk::GPUResampleImageFilter<ImageType, ImageType, double, double>>();
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddRecursiveGaussian(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage<TPixel, VDimension>([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::RecursiveGaussianImageFilter<InputType, OutputType>,
                     itk::GPURecursiveGaussianImageFilter<InputType, OutputType>>();
  });
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddSmoothingRecursiveGaussian(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage<TPixel, VDimension>([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::SmoothingRecursiveGaussianImageFilter<InputType, OutputType>,
                     itk::GPUSmoothingRecursiveGaussianImageFilter<InputType, OutputType>>();
  });
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddShrink(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage<TPixel, VDimension>([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::ShrinkImageFilter<InputType, OutputType>, itk::GPUShrinkImageFilter<InputType, OutputType>>();
  });
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddMultiResolutionPyramid(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage<TPixel, VDimension>([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::MultiResolutionPyramidImageFilter<InputType, OutputType>,
                     itk::GPUMultiResolutionPyramidImageFilter<InputType, OutputType>>();
  });
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddRecursiveMultiResolutionPyramid(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage<TPixel, VDimension>([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::RecursiveMultiResolutionPyramidImageFilter<InputType, OutputType>,
                     itk::GPURecursiveMultiResolutionPyramidImageFilter<InputType, OutputType>>();
  });
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddBSplineDecomposition(itk::GPURegistrationFactory & factory)
{
  using InputType = itk::Image<TPixel, VDimension>;
  using DoubleType = itk::Image<double, VDimension>;
  factory.Override<itk::BSplineDecompositionImageFilter<InputType, DoubleType>,
                   itk::GPUBSplineDecompositionImageFilter<InputType, DoubleType>>();
  if constexpr (std::is_same<TPixel, float>::value)
  {
    factory.Override<itk::BSplineDecompositionImageFilter<InputType, InputType>,
                     itk::GPUBSplineDecompositionImageFilter<InputType, InputType>>();
  }
}

} // namespace gpuregfactories

#endif
