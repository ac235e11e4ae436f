// SPDX-License-Identifier: Apache-2.0
// Says which class New() has given, and the sums of what it made.
#ifndef WhoseAndSum_h
#define WhoseAndSum_h

#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <iomanip>
#include <iostream>
#include <typeinfo>

/** Writes function(index) to each voxel, as programs do that do not know of Modified(): no time stamp tells. */
template <typename TImage, typename TFunction>
void
Refill(TImage & image, const TFunction & function)
{
  for (itk::ImageRegionIteratorWithIndex<TImage> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<typename TImage::PixelType>(function(it.GetIndex())));
  }
}

/** Updates it as if another program's setting had changed, and sums its output up. */
template <typename TFilter>
double
UpdateAndSum(TFilter & filter)
{
  filter.Modified();
  filter.Update();
  const auto * const output = filter.GetOutput();
  using ImageType = typename TFilter::OutputImageType;
  double sum = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(output, output->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    sum += it.Get();
  }
  return sum;
}

/** In one line, to so many decimals: the sum of what it makes of its input, and that after refill() has overwritten the input.
 *  \throws itk::ExceptionObject */
template <typename TFilter, typename TRefill>
void
PrintWhoseAndSums(TFilter & filter, int decimals, const TRefill & refill)
{
  double sum = 0;
  // Often enough for a device to keep the input.
  for (int n = 0; n < 4; ++n)
  {
    sum = UpdateAndSum(filter);
  }
  refill();
  std::cout << (typeid(filter) == typeid(TFilter) ? "ITK's own " : "another ") << filter.GetNameOfClass() << ", sum "
            << std::fixed << std::setprecision(decimals) << sum << ", refilled " << UpdateAndSum(filter) << std::endl;
}

#endif
