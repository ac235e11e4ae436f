// SPDX-License-Identifier: Apache-2.0
// A registration as ITK's users write it, with the metric swapped: SwapTheMetric fixed moving transform.tfm
#include "itkAffineTransform.h"
#include "itkCudaMattesNMI.h"
#include "itkImageFileReader.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"
#include "itkTransformFileWriter.h"

int
main(int argc, char * argv[])
{
  if (argc != 4)
  {
    std::cerr << "Usage: SwapTheMetric fixed moving transform.tfm\n";
    return EXIT_FAILURE;
  }
  using Image = itk::Image<float, 3>;
  auto metric = itk::CudaMattesNMI<Image, Image>::New(); // was itk::MattesMutualInformationImageToImageMetricv4
  auto scales = itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Image, Image>>::New();
  scales->SetMetric(metric);
  auto optimizer = itk::RegularStepGradientDescentOptimizerv4<double>::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetNumberOfIterations(200);
  auto registration = itk::ImageRegistrationMethodv4<Image, Image, itk::AffineTransform<double, 3>>::New();
  registration->SetFixedImage(itk::ReadImage<Image>(argv[1]));
  registration->SetMovingImage(itk::ReadImage<Image>(argv[2]));
  registration->SetMetric(metric);
  registration->SetOptimizer(optimizer);
  registration->Update();
  std::cout << metric->GetDevice() << ": " << optimizer->GetStopConditionDescription() << '\n';
  auto writer = itk::TransformFileWriter::New();
  writer->SetInput(registration->GetTransform());
  writer->SetFileName(argv[3]);
  writer->Update();
}
