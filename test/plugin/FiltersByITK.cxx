// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says of filters of volumes which class New() gives, and
// what it makes of one, and of the same after other values were written to it.
#include "WhoseAndSum.h"

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
void
Run(ImageType & image)
{
  Fill(image, 97);
  const auto filter = TFilter::New();
  filter->SetInput(&image);
  PrintWhoseAndSums(*filter, 0, [&image] { Fill(image, 61); });
}

} // namespace

int
main()
{
  auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 20, 16, 12 } });
  image->Allocate();
  try
  {
    Run<itk::RecursiveGaussianImageFilter<ImageType>>(*image);
    Run<itk::SmoothingRecursiveGaussianImageFilter<ImageType>>(*image);
    Run<itk::ShrinkImageFilter<ImageType, ImageType>>(*image);
    Run<itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>(*image);
    Run<itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>>(*image);
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
