// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says which class New() gives, and what it makes of an image,
// and of the same after other values were written to it.
// With an argument it interpolates as no device does.
#include "WhoseAndSum.h"

#include "itkEuler2DTransform.h"
#include "itkGaussianInterpolateImageFunction.h"
#include "itkResampleImageFilter.h"

int
main(int argc, char **)
{
  using ImageType = itk::Image<float, 2>;
  auto image = ImageType::New();
  image->SetRegions(itk::Size<2>{ { 40, 30 } });
  image->Allocate();
  const auto fill = [&](int modulus) {
    Refill(*image, [modulus](const ImageType::IndexType & index) { return index[0] * index[1] % modulus; });
  };
  fill(97);
  auto transform = itk::Euler2DTransform<double>::New();
  transform->SetAngle(0.3);

  auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
  filter->SetInput(image);
  filter->SetTransform(transform);
  filter->SetOutputParametersFromImage(image);
  if (argc > 1)
  {
    filter->SetInterpolator(itk::GaussianInterpolateImageFunction<ImageType, double>::New());
  }
  try
  {
    PrintWhoseAndSums(*filter, 1, [&] { fill(61); });
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
