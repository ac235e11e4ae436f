// SPDX-License-Identifier: Apache-2.0
#include "Volume.h"

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkResampleImageFilter.h"
#include "itkTransformFileReader.h"
#include "itkTransformFileWriter.h"

#include <itksys/SystemTools.hxx>

#include <stdexcept>

namespace example
{

Volume::Pointer
ReadVolume(const std::string & fileName)
{
  if (!itksys::SystemTools::FileExists(fileName, true))
  {
    throw std::runtime_error("There is no file " + fileName + ". Check the name and the folder.");
  }
  const auto reader = itk::ImageFileReader<Volume>::New();
  reader->SetFileName(fileName);
  try
  {
    reader->UpdateOutputInformation();
    // ITK would read a 2D image as one slice, and a 4D one as its first volume.
    const unsigned int dimensions = reader->GetImageIO()->GetNumberOfDimensions();
    if (dimensions != 3)
    {
      throw std::runtime_error(fileName + " has " + std::to_string(dimensions) +
                               " dimensions. Give an image of three.");
    }
    reader->Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    throw std::runtime_error(fileName + " cannot be read as an image. ITK says: " + error.GetDescription());
  }
  return reader->GetOutput();
}

void
WriteVolume(const Volume * volume, const std::string & fileName)
{
  const auto writer = itk::ImageFileWriter<Volume>::New();
  writer->SetFileName(fileName);
  writer->SetInput(volume);
  // It takes longer than a registration: where the name asks for it.
  writer->SetUseCompression(itksys::SystemTools::GetFilenameLastExtension(fileName) == ".gz");
  writer->Update();
}

Volume::Pointer
Resample(const Volume * moving, const VolumeGrid * grid, const Transform * transform)
{
  const auto resampler = itk::ResampleImageFilter<Volume, Volume>::New();
  resampler->SetInput(moving);
  resampler->SetTransform(transform);
  resampler->SetOutputParametersFromImage(grid);
  resampler->Update();
  return resampler->GetOutput();
}

void
WriteTransform(const Transform * transform, const std::string & fileName)
{
  const auto writer = itk::TransformFileWriterTemplate<double>::New();
  writer->SetFileName(fileName);
  writer->SetInput(transform);
  writer->Update();
}

Transform::Pointer
ReadTransform(const std::string & fileName)
{
  const auto reader = itk::TransformFileReaderTemplate<double>::New();
  reader->SetFileName(fileName);
  reader->Update();
  const auto & transforms = *reader->GetTransformList();
  auto * const transform = transforms.empty() ? nullptr : dynamic_cast<Transform *>(transforms.front().GetPointer());
  if (transform == nullptr)
  {
    throw std::runtime_error(fileName + " holds no transform of three-dimensional points.");
  }
  return transform;
}

} // namespace example
