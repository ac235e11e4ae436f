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

/** Overrides TTheirs by TOurs for input images of a pixel type: with outputs of the same type, and with outputs of float for integers. */
template <template <typename, typename> class TTheirs,
          template <typename, typename>
          class TOurs,
          typename TPixel,
          unsigned int VDimension>
void
OverrideFilter(itk::GPURegistrationFactory & factory)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  factory.Override<TTheirs<ImageType, ImageType>, TOurs<ImageType, ImageType>>();
  if constexpr (std::is_integral<TPixel>::value)
  {
    using FloatType = itk::Image<float, VDimension>;
    factory.Override<TTheirs<ImageType, FloatType>, TOurs<ImageType, FloatType>>();
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
  OverrideFilter<itk::RecursiveGaussianImageFilter, itk::GPURecursiveGaussianImageFilter, TPixel, VDimension>(factory);
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddSmoothingRecursiveGaussian(itk::GPURegistrationFactory & factory)
{
  OverrideFilter<itk::SmoothingRecursiveGaussianImageFilter,
                 itk::GPUSmoothingRecursiveGaussianImageFilter,
                 TPixel,
                 VDimension>(factory);
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddShrink(itk::GPURegistrationFactory & factory)
{
  OverrideFilter<itk::ShrinkImageFilter, itk::GPUShrinkImageFilter, TPixel, VDimension>(factory);
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddMultiResolutionPyramid(itk::GPURegistrationFactory & factory)
{
  OverrideFilter<itk::MultiResolutionPyramidImageFilter, itk::GPUMultiResolutionPyramidImageFilter, TPixel, VDimension>(
    factory);
}

template <typename TPixel, unsigned int VDimension>
void
FilterOverrides<TPixel, VDimension>::AddRecursiveMultiResolutionPyramid(itk::GPURegistrationFactory & factory)
{
  OverrideFilter<itk::RecursiveMultiResolutionPyramidImageFilter,
                 itk::GPURecursiveMultiResolutionPyramidImageFilter,
                 TPixel,
                 VDimension>(factory);
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
