// SPDX-License-Identifier: Apache-2.0
// A program that uses only ITK, and is not linked to this module. It prints the class that New() gives for the resampler, and compares its
// output for an image, and for the same image after other values were written to it, with the output of ITK's own class.
// With an argument it uses an interpolator that no device has.
#include "CompareWithITK.h"

#include "itkEuler2DTransform.h"
#include "itkGaussianInterpolateImageFunction.h"
#include "itkResampleImageFilter.h"

namespace
{

using ImageType = itk::Image<float, 2>;

void
Fill(ImageType & image, int modulus)
{
  Refill(image, [modulus](const ImageType::IndexType & index) { return index[0] * index[1] % modulus; });
}

Outcome
Resample(bool byGaussian)
{
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<2>{ { 40, 30 } });
  image->Allocate();
  Fill(*image, 97);
  const auto transform = itk::Euler2DTransform<double>::New();
  transform->SetAngle(0.3);

  const auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
  filter->SetInput(image);
  filter->SetTransform(transform);
  filter->SetOutputParametersFromImage(image);
  if (byGaussian)
  {
    filter->SetInterpolator(itk::GaussianInterpolateImageFunction<ImageType, double>::New());
  }
  return UpdateBeforeAndAfter(*filter, [&image] { Fill(*image, 61); });
}

} // namespace

int
main(int argc, char **)
{
  return CompareWithITK({ [argc] { return Resample(argc > 1); } }, 1e-6);
}
