// SPDX-License-Identifier: Apache-2.0
// Says which class New() has given, and the sum of what it made.
#ifndef WhoseAndSum_h
#define WhoseAndSum_h

#include "itkImageRegionConstIteratorWithIndex.h"

#include <iomanip>
#include <iostream>
#include <typeinfo>

/** Updates it; in one line, the sum to so many decimals. \throws itk::ExceptionObject */
template <typename TFilter>
void
PrintWhoseAndSum(TFilter & filter, int decimals)
{
  filter.Update();
  const auto * const output = filter.GetOutput();
  using ImageType = typename TFilter::OutputImageType;
  double sum = 0;
  for (itk::ImageRegionConstIteratorWithIndex<ImageType> it(output, output->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    sum += it.Get();
  }
  std::cout << (typeid(filter) == typeid(TFilter) ? "ITK's own " : "another ") << filter.GetNameOfClass() << ", sum "
            << std::fixed << std::setprecision(decimals) << sum << std::endl;
}

#endif
