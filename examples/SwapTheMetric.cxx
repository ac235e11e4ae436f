// SPDX-License-Identifier: Apache-2.0
// A registration as ITK's users write it, with our metric: SwapTheMetric fixed moving transform.tfm
#include "RegisterRigidly/BestPosition.h"
#include "CommandLine.h"
#include "OutputCheck.h"

#include "itkAffineTransform.h"
#include "itkCudaMattesNMI.h"
#include "itkImageFileReader.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkTransformFileWriter.h"

namespace
{

int
SwapTheMetric(const std::vector<std::string> & names)
{
  if (names.size() != 3)
  {
    throw std::invalid_argument("Three file names are wanted.");
  }
  example::CheckTransformCanBeWritten(names[2]);

  using Image = itk::Image<float, 3>;
  auto metric = itk::CudaMattesNMI<Image, Image>::New(); // was itk::MattesMutualInformationImageToImageMetricv4
  auto scales = itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Image, Image>>::New();
  scales->SetMetric(metric);
  auto optimizer = example::BestPositionOptimizer::New(); // an itk::RegularStepGradientDescentOptimizerv4<double>
  optimizer->SetScalesEstimator(scales);
  optimizer->SetNumberOfIterations(200);
  auto registration = itk::ImageRegistrationMethodv4<Image, Image, itk::AffineTransform<double, 3>>::New();
  registration->SetFixedImage(itk::ReadImage<Image>(names[0]));
  registration->SetMovingImage(itk::ReadImage<Image>(names[1]));
  registration->SetMetric(metric);
  registration->SetOptimizer(optimizer);
  registration->Update();
  std::cout << metric->GetDevice() << ": " << optimizer->GetStopConditionDescription() << '\n';
  auto writer = itk::TransformFileWriter::New();
  writer->SetInput(registration->GetTransform());
  writer->SetFileName(names[2]);
  writer->Update();
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  return example::RunProgram(
    [=] {
      return SwapTheMetric({ argv + 1, argv + argc });
    },
    "Usage: SwapTheMetric fixed moving transform.tfm\n");
}
