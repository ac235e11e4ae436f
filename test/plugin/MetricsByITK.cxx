// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says of metrics which class New() gives, and their values and
// derivatives.
#include "StandInMetrics.h"

#include "itkImageRegionIteratorWithIndex.h"

#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace
{
using namespace gpuregtest::standin;

ImageType::Pointer
MakeImage(double shift)
{
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 20, 16, 12 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto & index = it.GetIndex();
    it.Set(
      static_cast<float>(50 + 20 * std::sin(0.4 * index[0] + shift) + 15 * std::cos(0.5 * index[1] + 0.3 * index[2])));
  }
  return image;
}
} // namespace

int
main()
{
  const auto fixed = MakeImage(0.0);
  const auto moving = MakeImage(0.3);
  for (const Kind kind : ForLinear)
  {
    try
    {
      const auto                 metric = MakeInitialized(kind, fixed, moving);
      MetricType::MeasureType    value;
      MetricType::DerivativeType derivative;
      metric->GetValueAndDerivative(value, derivative);
      std::cout << (IsOurs(*metric) ? "another" : "ITK's own") << " metric " << static_cast<int>(kind) << ": "
                << std::setprecision(4) << value << ", " << derivative.magnitude() << std::endl;
    }
    catch (const itk::ExceptionObject & error)
    {
      std::cerr << error << std::endl;
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
