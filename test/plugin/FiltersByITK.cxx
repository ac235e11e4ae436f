// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says of filters of volumes which class New() gives, and compares what it
// makes of an image, and of the same after other values were written to it, with what ITK's own class makes.
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
