// SPDX-License-Identifier: Apache-2.0
// Uses the installed module: lists the devices, and evaluates the metric once on each.
#include "itkCudaMattesNMI.h"

#include "itkImageRegionIteratorWithIndex.h"
#include "itkTranslationTransform.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

int
main()
{
  using ImageType = itk::Image<float, 2>;
  auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 64, 64 } });
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    it.Set(static_cast<float>(std::sin(0.2 * it.GetIndex()[0]) * std::cos(0.3 * it.GetIndex()[1])));
  }

  const auto devices = itk::GPUDevice::GetAvailable();
  bool       passed = !devices.empty();
  for (const auto & device : devices)
  {
    auto metric = itk::CudaMattesNMI<ImageType, ImageType>::New();
    metric->SetDevice(device);
    metric->SetFixedImage(image);
    metric->SetMovingImage(image);
    metric->SetMovingTransform(itk::TranslationTransform<double, 2>::New());
    metric->Initialize();
    const double value = metric->GetValue();
    std::cout << device << ": " << value << '\n';
    // NMI lies between 1 (independent) and 2 (each image determines the other). For an image with itself it is near 2, less what the Parzen
    // window over the moving bins spreads.
    passed = passed && value > -2.0 && value < -1.5;
  }
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
