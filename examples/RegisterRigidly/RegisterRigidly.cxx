// SPDX-License-Identifier: Apache-2.0
// A rigid registration in one file, with only ITK and this module, explained in docs/rigid-in-cpp.md.
#include "BestPosition.h"

#include "itkCudaMattesNMI.h"
#include "itkGPUResampleImageFilter.h"

#include "itkCenteredTransformInitializer.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkTransformFileWriter.h"
#include "itkVersorRigid3DTransform.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

using Image = itk::Image<float, 3>;
using Transform = itk::VersorRigid3DTransform<double>;

/** Throws if a file cannot be written, before everything is computed. An existing file does not change. */
void
CheckCanBeWritten(const std::string & file)
{
  if (!std::ofstream(file, std::ios::app))
  {
    throw std::runtime_error(file + " cannot be written. See to its folder and its permissions, or name another file.");
  }
}

/** Returns the start: the centres of mass are aligned. */
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

/** Optimizes the transform on ITK's three levels: every other voxel, smoothed by 2 mm; all voxels, smoothed by 1 mm; all voxels without
 *  smoothing. */
void
Register(const Image * fixed, const Image * moving, Transform * transform)
{
  auto metric = itk::CudaMattesNMI<Image, Image>::New();
  auto scales = itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Image, Image>>::New();
  scales->SetMetric(metric);
  auto optimizer = example::BestPositionOptimizer::New(); // ITK's regular steps, of which the best counts, not the last
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
    CheckCanBeWritten(argv[3]);
    CheckCanBeWritten(argv[4]);
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
