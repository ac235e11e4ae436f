// SPDX-License-Identifier: Apache-2.0
#ifndef OtherResampling_hxx
#define OtherResampling_hxx

#include "FilterOverrides.h"

#include "itkGPUResampleImageFilter.h"

#include "itkImage.h"
#include "itkRGBPixel.h"
#include "itkVector.h"
#include "itkVectorImage.h"

namespace gpuregfactories
{

/** \tparam TPrecision the type of transforms and of interpolators' coordinates. */
template <typename TInput, typename TOutput = TInput, typename TPrecision = double>
void
AddResampling(itk::GPURegistrationFactory & factory)
{
  factory.Override<itk::ResampleImageFilter<TInput, TOutput, TPrecision, TPrecision>,
                   itk::GPUResampleImageFilter<TInput, TOutput, TPrecision, TPrecision>>();
}

/** Overrides the resampling of what registration methods with transforms of float resample: images, masks and fields. */
template <typename TImage>
void
AddResamplingByFloats(itk::GPURegistrationFactory & factory)
{
  AddResampling<TImage, TImage, float>(factory);
}

template <unsigned int D>
void
OtherResampleOverrides<D>::Add(itk::GPURegistrationFactory & factory)
{
  AddResampling<itk::Image<signed char, D>>(factory);
  AddResampling<itk::Image<char, D>>(factory);
  AddResampling<itk::Image<unsigned long, D>>(factory);
  AddResampling<itk::Image<long, D>>(factory);
  AddResampling<itk::Image<unsigned long long, D>>(factory);
  AddResampling<itk::Image<long long, D>>(factory);
  AddResampling<itk::Image<unsigned char, D>, itk::Image<float, D>>(factory);
  AddResampling<itk::Image<short, D>, itk::Image<float, D>>(factory);
  AddResampling<itk::Image<float, D>, itk::Image<unsigned char, D>>(factory);
  AddResampling<itk::Image<float, D>, itk::Image<short, D>>(factory);
  AddResampling<itk::Image<itk::Vector<float, D>, D>>(factory);
  AddResampling<itk::Image<itk::Vector<double, D>, D>>(factory);
  AddResampling<itk::Image<itk::RGBPixel<unsigned char>, D>>(factory);
  AddResampling<itk::VectorImage<unsigned char, D>>(factory);
  AddResampling<itk::VectorImage<float, D>>(factory);
  AddResamplingByFloats<itk::Image<float, D>>(factory);
  AddResamplingByFloats<itk::Image<unsigned char, D>>(factory);
  AddResamplingByFloats<itk::Image<itk::Vector<float, D>, D>>(factory);
}

} // namespace gpuregfactories

#endif
