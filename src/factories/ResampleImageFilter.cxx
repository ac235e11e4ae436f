// SPDX-License-Identifier: Apache-2.0
#include "FactoryTypes.h"

#include "itkGPUResampleImageFilter.h"

#include "itkRGBPixel.h"
#include "itkVector.h"
#include "itkVectorImage.h"

namespace gpuregfactories
{

namespace
{
template <typename TInput, typename TOutput>
void
AddResampling(itk::GPURegistrationFactory & factory)
{
  factory.Override<itk::ResampleImageFilter<TInput, TOutput, double, double>,
                   itk::GPUResampleImageFilter<TInput, TOutput, double, double>>();
}
} // namespace

void
AddResampleImageFilter(itk::GPURegistrationFactory & factory)
{
  ForEachDimension([&](auto dimension) {
    constexpr unsigned int D = decltype(dimension)::value;
    ForEachScalar([&](auto pixel) {
      using ImageType = itk::Image<decltype(pixel), D>;
      AddResampling<ImageType, ImageType>(factory);
    });
    AddResampling<itk::Image<unsigned char, D>, itk::Image<float, D>>(factory);
    AddResampling<itk::Image<short, D>, itk::Image<float, D>>(factory);
    AddResampling<itk::Image<float, D>, itk::Image<unsigned char, D>>(factory);
    AddResampling<itk::Image<float, D>, itk::Image<short, D>>(factory);
    AddResampling<itk::Image<itk::Vector<float, D>, D>, itk::Image<itk::Vector<float, D>, D>>(factory);
    AddResampling<itk::Image<itk::Vector<double, D>, D>, itk::Image<itk::Vector<double, D>, D>>(factory);
    AddResampling<itk::Image<itk::RGBPixel<unsigned char>, D>, itk::Image<itk::RGBPixel<unsigned char>, D>>(factory);
    AddResampling<itk::VectorImage<unsigned char, D>, itk::VectorImage<unsigned char, D>>(factory);
    AddResampling<itk::VectorImage<float, D>, itk::VectorImage<float, D>>(factory);
  });
}

} // namespace gpuregfactories
