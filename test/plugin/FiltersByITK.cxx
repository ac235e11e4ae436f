// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says of filters of volumes which class New() gives, and
// what it makes.
#include "WhoseAndSum.h"

#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiResolutionPyramidImageFilter.h"
#include "itkRecursiveGaussianImageFilter.h"
#include "itkRecursiveMultiResolutionPyramidImageFilter.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

namespace
{

using ImageType = itk::Image<float, 3>;

template <typename TFilter>
void
Run(const ImageType * image)
{
  const auto filter = TFilter::New();
  filter->SetInput(image);
  PrintWhoseAndSum(*filter, 0);
}

} // namespace

int
main()
{
  auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 20, 16, 12 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<float>((it.GetIndex()[0] + 3 * it.GetIndex()[1] * it.GetIndex()[2]) % 97));
  }
  try
  {
    Run<itk::RecursiveGaussianImageFilter<ImageType>>(image);
    Run<itk::SmoothingRecursiveGaussianImageFilter<ImageType>>(image);
    Run<itk::ShrinkImageFilter<ImageType, ImageType>>(image);
    Run<itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>(image);
    Run<itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>>(image);
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << error << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
