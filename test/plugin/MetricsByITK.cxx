// SPDX-License-Identifier: Apache-2.0
// A program of ITK's alone, linked to nothing of this module: says of metrics which class New() gives, and their values and
// derivatives, before and after other values were written to the moving image.
#include "StandInMetrics.h"
#include "WhoseAndSum.h"

#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>

namespace
{
using namespace gpuregtest::standin;

void
Fill(ImageType & image, double shift)
{
  Refill(image, [shift](const ImageType::IndexType & index) {
    return 50 + 20 * std::sin(0.4 * index[0] + shift) + 15 * std::cos(0.5 * index[1] + 0.3 * index[2]);
  });
}

ImageType::Pointer
MakeImage()
{
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 20, 16, 12 } });
  image->Allocate();
  Fill(*image, 0.0);
  return image;
}

void
PrintValueAndDerivative(const MetricType & metric)
{
  MetricType::MeasureType    value;
  MetricType::DerivativeType derivative;
  metric.GetValueAndDerivative(value, derivative);
  std::cout << std::setprecision(4) << value << ", " << derivative.magnitude();
}
} // namespace

int
main()
{
  const auto fixed = MakeImage();
  const auto moving = MakeImage();
  for (const Kind kind : AllKinds)
  {
    try
    {
      Fill(*moving, 0.3);
      const auto metric = MakeInitialized(kind, fixed, moving);
      std::cout << (IsOurs(*metric) ? "another" : "ITK's own") << " metric " << static_cast<int>(kind) << ": ";
      PrintValueAndDerivative(*metric);
      Fill(*moving, 0.6);
      std::cout << ", refilled ";
      PrintValueAndDerivative(*metric);
      std::cout << std::endl;
    }
    catch (const itk::ExceptionObject & error)
    {
      std::cerr << error << std::endl;
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
