// SPDX-License-Identifier: Apache-2.0
#ifndef ImageFile_h
#define ImageFile_h

#include "GzipFile.h"
#include "PassingFolder.h"

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <itksys/SystemTools.hxx>

#include <stdexcept>
#include <string>

namespace example
{

/** Reads a three-dimensional image of any format and pixel type that ITK supports.
 *  \param what the image's kind, for the message
 *  \throws std::runtime_error that names the file and the problem. */
template <typename TImage>
typename TImage::Pointer
ReadImageFile(const std::string & fileName, const std::string & what)
{
  if (!itksys::SystemTools::FileExists(fileName, true))
  {
    throw std::runtime_error("There is no file " + fileName + ". Check the name and the folder.");
  }
  const auto reader = itk::ImageFileReader<TImage>::New();
  reader->SetFileName(fileName);
  try
  {
    reader->UpdateOutputInformation();
    // ITK would read a 2D image as one slice, and of a 4D one only its first volume.
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
    throw std::runtime_error(fileName + " cannot be read as " + what + ". ITK says: " + error.GetDescription());
  }
  return reader->GetOutput();
}

/** Writes an image. If the name demands compression, the image is first written uncompressed, in a folder beside it.
 *  \throws itk::ExceptionObject, or std::runtime_error, if it cannot be written */
template <typename TImage>
void
WriteImageFile(const TImage * image, const std::string & fileName)
{
  const auto writer = itk::ImageFileWriter<TImage>::New();
  writer->SetInput(image);
  if (!itksys::SystemTools::StringEndsWith(fileName, ".nii.gz"))
  {
    writer->SetFileName(fileName);
    writer->Update();
    return;
  }
  const PassingFolder folder({ fileName + "." }, fileName + " cannot be written", "Check the folder.");
  const std::string   whole = folder / "whole.nii";
  writer->SetFileName(whole);
  writer->Update();
  GzipFile(whole, fileName);
}

} // namespace example

#endif
