// SPDX-License-Identifier: Apache-2.0
// The C++ program with which test_same_bits.py compares Python. RegisterByITK global|rigid|affine|ffd|chain DEVICE FIXED.mha MOVING.mha
// [WARPED.mha [MASK.mha]] registers two images of floats, and prints every digit of the result: for a linear transform "cost", "matrix",
// "centre", "translation" and "offset"; for a deformation "costs", "coefficients" and "grid". "global" uses the method's default settings;
// "rigid" mean squares; "affine" no search of angles. "ffd" uses mean squares if there is a mask of the fixed image; "chain" deforms behind
// the affine transform, which is printed, too.
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkGlobalAffineRegistrationMethod.h"

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkImageMaskSpatialObject.h"
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
MakeMethod(char ** words)
{
  const auto method = TMethod::New();
  method->SetDevice(itk::GPUDevice::FromName(words[0]));
  method->SetFixedImage(Read(words[1]));
  method->SetMovingImage(Read(words[2]));
  return method;
}

using LinearMethod = itk::GlobalAffineRegistrationMethod<ImageType, ImageType>;

/** Registers by a linear transform. \param what "global", "rigid" or "affine". */
LinearMethod::Pointer
RegisterLinearly(char ** words, const std::string & what)
{
  const auto method = MakeMethod<LinearMethod>(words);
  if (what != "global")
  {
    method->SetSearchAngles(0, 0);
  }
  if (what == "rigid")
  {
    method->SetDegreesOfFreedom(6);
    method->SetCost("MeanSquares");
  }
  method->Update();
  return method;
}

const itk::MatrixOffsetTransformBase<double, 3, 3> &
GetLinearTransform(const LinearMethod & method)
{
  return dynamic_cast<const itk::MatrixOffsetTransformBase<double, 3, 3> &>(*method.GetTransform());
}

void
PrintLinear(const LinearMethod & method)
{
  const double cost = method.GetFinalCost();
  const auto & transform = GetLinearTransform(method);
  Print("cost", &cost, 1);
  Print("matrix", transform.GetMatrix().GetVnlMatrix().data_block(), 9);
  Print("centre", transform.GetCenter(), 3);
  Print("translation", transform.GetTranslation(), 3);
  Print("offset", transform.GetOffset(), 3);
}

/** Registers by free-form deformation. \param initial the transform that is applied behind the deformation, or null.
 *  \param mask a file, or none. */
void
Deform(char **                              words,
       const itk::Transform<double, 3, 3> * initial,
       const std::string &                  warped,
       const std::string &                  mask)
{
  const auto method = MakeMethod<itk::FreeFormDeformationRegistrationMethod<ImageType, ImageType>>(words);
  method->SetInitialTransform(initial);
  if (!mask.empty())
  {
    using MaskType = itk::ImageMaskSpatialObject<3>;
    const auto reader = itk::ImageFileReader<MaskType::ImageType>::New();
    reader->SetFileName(mask);
    reader->Update();
    const auto object = MaskType::New();
    object->SetImage(reader->GetOutput());
    object->Update();
    method->SetFixedImageMask(object);
    method->SetSimilarity("MeanSquares");
  }
  method->Update();
  const auto & costs = method->GetCosts(method->GetRegisteredLevels() - 1);
  Print("costs", costs.data(), costs.size());
  const auto coefficients = method->GetDeformation()->GetParameters();
  Print("coefficients", coefficients, coefficients.size());
  const auto grid = method->GetDeformation()->GetFixedParameters();
  Print("grid", grid, grid.size());
  const auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetFileName(warped);
  writer->SetInput(method->GetWarpedImage());
  writer->Update();
}

/** Registers by an affine transform, and then by a deformation that is applied before it. */
void
RegisterByChain(char ** words, const std::string & warped)
{
  const auto method = RegisterLinearly(words, "affine");
  PrintLinear(*method);
  Deform(words, method->GetTransform(), warped, "");
}

} // namespace

int
main(int argc, char * argv[])
{
  const std::string what = argc > 1 ? argv[1] : "";
  const bool        isLinear = what == "global" || what == "rigid" || what == "affine";
  if (!(isLinear && argc == 5) && !(what == "chain" && argc == 6) && !(what == "ffd" && (argc == 6 || argc == 7)))
  {
    std::cerr << "Usage: RegisterByITK global|rigid|affine DEVICE FIXED.mha MOVING.mha\n"
                 "       RegisterByITK ffd DEVICE FIXED.mha MOVING.mha WARPED.mha [MASK.mha]\n"
                 "       RegisterByITK chain DEVICE FIXED.mha MOVING.mha WARPED.mha\n";
    return EXIT_FAILURE;
  }
  try
  {
    itk::MetaImageIOFactory::RegisterOneFactory();
    if (isLinear)
    {
      PrintLinear(*RegisterLinearly(argv + 2, what));
    }
    else if (what == "chain")
    {
      RegisterByChain(argv + 2, argv[5]);
    }
    else
    {
      Deform(argv + 2, nullptr, argv[5], argc == 7 ? argv[6] : "");
    }
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
