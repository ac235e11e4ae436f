// SPDX-License-Identifier: Apache-2.0
// A program that uses only ITK, and is not linked to this module. For each volume filter it prints the class that New() gives, and compares
// its output for an image, and for the same image after other values were written to it, with the output of ITK's own class.
#include "CompareWithITK.h"

#include "itkMultiResolutionPyramidImageFilter.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkRecursiveMultiResolutionPyramidImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

namespace
{

using ImageType = itk::Image<float, 3>;

void
Fill(ImageType & image, int modulus)
{
  Refill(image,
         [modulus](const ImageType::IndexType & index) { return (index[0] + 3 * index[1] * index[2]) % modulus; });
}

template <typename TFilter>
Outcome
Run()
{
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 20, 16, 12 } });
  image->Allocate();
  Fill(*image, 97);
  const auto filter = TFilter::New();
  filter->SetInput(image);
  return UpdateBeforeAndAfter(*filter, [&image] { Fill(*image, 61); });
}

} // namespace

int
main()
{
  return CompareWithITK({ Run<itk::RecursiveGaussianImageFilter<ImageType>>,
                          Run<itk::SmoothingRecursiveGaussianImageFilter<ImageType>>,
                          Run<itk::ShrinkImageFilter<ImageType, ImageType>>,
                          Run<itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>,
                          Run<itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>> },
                        1e-6);
}
