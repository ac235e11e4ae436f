// SPDX-License-Identifier: Apache-2.0
#include "FactoryTypes.h"

#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUShrinkImageFilter.h"

namespace gpuregfactories
{

void
AddShrinkImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::ShrinkImageFilter<InputType, OutputType>, itk::GPUShrinkImageFilter<InputType, OutputType>>();
  });
}

void
AddMultiResolutionPyramidImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::MultiResolutionPyramidImageFilter<InputType, OutputType>,
                     itk::GPUMultiResolutionPyramidImageFilter<InputType, OutputType>>();
  });
}

void
AddRecursiveMultiResolutionPyramidImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachFilteredImage([&](auto input, auto output) {
    using InputType = typename decltype(input)::Type;
    using OutputType = typename decltype(output)::Type;
    factory.Override<itk::RecursiveMultiResolutionPyramidImageFilter<InputType, OutputType>,
                     itk::GPURecursiveMultiResolutionPyramidImageFilter<InputType, OutputType>>();
  });
}

} // namespace gpuregfactories
