// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says which class New() gives, and what it makes.
// With an argument it interpolates as no device does.
#include "WhoseAndSum.h"

#include "itkEuler2DTransform.h"
#include "itkGaussianInterpolateImageFunction.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkResampleImageFilter.h"

int
main(int argc, char **)
{
  using ImageType = itk::Image<float, 2>;
  auto image = ImageType::New();
  image->SetRegions(itk::Size<2>{ { 40, 30 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<float>(it.GetIndex()[0] * it.GetIndex()[1] % 97));
  }
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
    PrintWhoseAndSum(*filter, 1);
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
