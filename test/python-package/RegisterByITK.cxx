// SPDX-License-Identifier: Apache-2.0
// What test_same_bits.py compares with Python: RegisterByITK global|ffd DEVICE FIXED.mha MOVING.mha [WARPED.mha] registers two images of
// floats with the settings that a method has by itself, and prints "cost" and "numbers", each digit of them.
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkGlobalAffineRegistrationMethod.h"

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkMatrixOffsetTransformBase.h"
#include "itkMetaImageIOFactory.h"

#include <cstdio>
#include <iostream>
#include <string>

namespace
{

using ImageType = itk::Image<float, 3>;

template <typename TNumbers>
void
Print(const char * name, const TNumbers & begin, std::size_t count)
{
  std::printf("%s", name);
  for (std::size_t n = 0; n < count; ++n)
  {
    std::printf(" %a", static_cast<double>(begin[n]));
  }
  std::printf("\n");
}

ImageType::Pointer
Read(const std::string & name)
{
  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetFileName(name);
  reader->Update();
  return reader->GetOutput();
}

template <typename TMethod>
typename TMethod::Pointer
Register(char ** words)
{
  const auto method = TMethod::New();
  method->SetDevice(itk::GPUDevice::FromName(words[0]));
  method->SetFixedImage(Read(words[1]));
  method->SetMovingImage(Read(words[2]));
  method->Update();
  return method;
}

void
RegisterGlobally(char ** words)
{
  const auto   method = Register<itk::GlobalAffineRegistrationMethod<ImageType, ImageType>>(words);
  const auto & matrix =
    dynamic_cast<const itk::MatrixOffsetTransformBase<double, 3, 3> &>(*method->GetTransform()).GetMatrix();
  const double cost = method->GetFinalCost();
  Print("cost", &cost, 1);
  Print("numbers", matrix.GetVnlMatrix().data_block(), 9);
}

void
Deform(char ** words, const std::string & warped)
{
  const auto   method = Register<itk::FreeFormDeformationRegistrationMethod<ImageType, ImageType>>(words);
  const auto & costs = method->GetCosts(method->GetNumberOfLevels() - 1);
  Print("cost", costs.data(), costs.size());
  const auto parameters = method->GetDeformation()->GetParameters();
  Print("numbers", parameters, parameters.size());
  const auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetFileName(warped);
  writer->SetInput(method->GetWarpedImage());
  writer->Update();
}

} // namespace

int
main(int argc, char * argv[])
{
  const std::string what = argc > 1 ? argv[1] : "";
  if (!(what == "global" && argc == 5) && !(what == "ffd" && argc == 6))
  {
    std::cerr << "Usage: RegisterByITK global DEVICE FIXED.mha MOVING.mha\n"
                 "       RegisterByITK ffd DEVICE FIXED.mha MOVING.mha WARPED.mha\n";
    return EXIT_FAILURE;
  }
  try
  {
    itk::MetaImageIOFactory::RegisterOneFactory();
    if (what == "global")
    {
      RegisterGlobally(argv + 2);
    }
    else
    {
      Deform(argv + 2, argv[5]);
    }
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
