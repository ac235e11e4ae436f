// SPDX-License-Identifier: Apache-2.0
#include "FactoryTypes.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

namespace gpuregfactories
{

void
AddRecursiveGaussianImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::RecursiveGaussianImageFilter<InputType, OutputType>,
                     itk::GPURecursiveGaussianImageFilter<InputType, OutputType>>();
  });
}

void
AddSmoothingRecursiveGaussianImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::SmoothingRecursiveGaussianImageFilter<InputType, OutputType>,
                     itk::GPUSmoothingRecursiveGaussianImageFilter<InputType, OutputType>>();
  });
}

void
AddBSplineDecompositionImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage([&](auto input, auto) {
    using InputType = typename decltype(input)::Type;
    using CoefficientType = itk::Image<double, InputType::ImageDimension>;
    factory.Override<itk::BSplineDecompositionImageFilter<InputType, CoefficientType>,
                     itk::GPUBSplineDecompositionImageFilter<InputType, CoefficientType>>();
  });
  ForEachDimension([&](auto dimension) {
    using FloatType = itk::Image<float, decltype(dimension)::value>;
    factory.Override<itk::BSplineDecompositionImageFilter<FloatType, FloatType>,
                     itk::GPUBSplineDecompositionImageFilter<FloatType, FloatType>>();
  });
}

} // namespace gpuregfactories
