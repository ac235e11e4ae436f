// SPDX-License-Identifier: Apache-2.0
// A rigid registration in one file, with nothing but ITK and this module: docs/rigid-in-cpp.md goes through it.
#include "itkCudaMattesNMI.h"
#include "itkGPUResampleImageFilter.h"

#include "itkCenteredTransformInitializer.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkRegularStepGradientDescentOptimizerv4.h"
#include "itkTransformFileWriter.h"
#include "itkVersorRigid3DTransform.h"

#include <cstdlib>
#include <iostream>

using Image = itk::Image<float, 3>;
using Transform = itk::VersorRigid3DTransform<double>;

/** Where it begins: the centres of mass lie on each other. */
Transform::Pointer
MakeStart(const Image * fixed, const Image * moving)
{
  auto transform = Transform::New();
  auto initializer = itk::CenteredTransformInitializer<Transform, Image, Image>::New();
  initializer->SetFixedImage(fixed);
  initializer->SetMovingImage(moving);
  initializer->SetTransform(transform);
  initializer->MomentsOn();
  initializer->InitializeTransform();
  return transform;
}

/** From the start on, at ITK's three levels: of every other voxel, smoothed by 2 mm; of all, smoothed by 1 mm; of all as they are. */
void
Register(const Image * fixed, const Image * moving, Transform * transform)
{
  auto metric = itk::CudaMattesNMI<Image, Image>::New();
  auto scales = itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Image, Image>>::New();
  scales->SetMetric(metric);
  auto optimizer = itk::RegularStepGradientDescentOptimizerv4<double>::New();
  optimizer->SetScalesEstimator(scales);
  optimizer->SetNumberOfIterations(100);
  optimizer->SetMinimumStepLength(0.001);

  auto registration = itk::ImageRegistrationMethodv4<Image, Image, Transform>::New();
  registration->SetFixedImage(fixed);
  registration->SetMovingImage(moving);
  registration->SetInitialTransform(transform);
  registration->InPlaceOn(); // what is found is in this transform
  registration->SetMetric(metric);
  registration->SetOptimizer(optimizer);
  registration->Update();
  std::cout << "value " << optimizer->GetCurrentMetricValue() << " on " << metric->GetDevice() << '\n';
}

void
WriteResults(const Image * fixed, const Image * moving, const Transform * transform, char * image, char * file)
{
  auto resampler = itk::GPUResampleImageFilter<Image, Image>::New();
  resampler->SetInput(moving);
  resampler->SetTransform(transform);
  resampler->UseReferenceImageOn();
  resampler->SetReferenceImage(fixed);
  itk::WriteImage(resampler->GetOutput(), image);
  auto writer = itk::TransformFileWriter::New();
  writer->SetInput(transform);
  writer->SetFileName(file);
  writer->Update();
}

int
main(int argc, char * argv[])
{
  if (argc != 5)
  {
    std::cerr << "Usage: RegisterRigidly fixed.nii.gz moving.nii.gz registered.nii.gz transform.tfm\n";
    return EXIT_FAILURE;
  }
  try
  {
    const Image::Pointer     fixed = itk::ReadImage<Image>(argv[1]);
    const Image::Pointer     moving = itk::ReadImage<Image>(argv[2]);
    const Transform::Pointer transform = MakeStart(fixed, moving);
    Register(fixed, moving, transform);
    WriteResults(fixed, moving, transform, argv[3], argv[4]);
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
