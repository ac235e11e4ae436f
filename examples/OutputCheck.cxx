// SPDX-License-Identifier: Apache-2.0
#include "OutputCheck.h"

#include "DisplacementField.h"
#include "Labels.h"
#include "PassingFolder.h"

#include <itksys/SystemTools.hxx>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace example
{
namespace
{

std::filesystem::path
GetFolderOf(const std::filesystem::path & file)
{
  return file.has_parent_path() ? file.parent_path() : ".";
}

/** Checks that ITK writes an object to files of a name, by writing a small one of the same name in another folder, among the temporary
 *  files or, failing that, beside the output: only ITK knows which files it can write. */
void
CheckITKWrites(const std::string &                              what,
               const std::string &                              fileName,
               const std::string &                              example,
               const std::function<void(const std::string &)> & write)
{
  std::error_code     ignored;
  const PassingFolder folder({ std::filesystem::temp_directory_path(ignored) / "output-check-",
                               GetFolderOf(fileName) / "output-check-" },
                             "No folder for temporary files can be made",
                             "Name one with TMPDIR.");
  try
  {
    write(folder / std::filesystem::path(fileName).filename().string());
  }
  catch (const itk::ExceptionObject & error)
  {
    throw std::runtime_error("ITK writes no " + what + " to " + fileName + ". Give it another extension, such as " +
                             example + ". ITK says: " + error.GetDescription());
  }
}

template <typename TImage>
void
CheckImageCanBeWritten(const std::string & what,
                       const std::string & fileName,
                       void (*write)(const TImage *, const std::string &))
{
  CheckFileCanBeWritten(fileName);
  CheckITKWrites(what, fileName, ".nii.gz", [=](const std::string & trial) {
    const auto image = TImage::New();
    image->SetRegions(typename TImage::SizeType{ { 2, 2, 2 } });
    image->Allocate(true);
    write(image, trial);
  });
}

} // namespace

void
CheckFileCanBeWritten(const std::string & fileName)
{
  namespace fs = std::filesystem;
  const fs::path path(fileName);
  const fs::path folder = GetFolderOf(path);
  if (!fs::is_directory(folder))
  {
    throw std::runtime_error("There is no folder " + folder.string() + " for " + fileName +
                             ". Make it, or name another.");
  }
  if (fs::is_directory(path))
  {
    throw std::runtime_error(fileName + " is a folder. Name a file.");
  }
  // Opened at its end, without writing, a file does not change; a file that this creates is removed.
  const bool isNew = !fs::exists(path);
  if (!std::ofstream(path, std::ios::app))
  {
    throw std::runtime_error("The file " + fileName + " cannot be opened for writing: " + std::strerror(errno) +
                             ". Name another, or see to the permissions.");
  }
  if (isNew)
  {
    fs::remove(fs::canonical(path));
  }
}

void
CheckVolumeCanBeWritten(const std::string & fileName)
{
  CheckImageCanBeWritten<Volume>("three-dimensional image", fileName, WriteVolume);
}

void
CheckLabelsCanBeWritten(const std::string & fileName)
{
  CheckImageCanBeWritten<Labels>("three-dimensional labels", fileName, WriteLabels);
}

void
CheckDisplacementsCanBeWritten(const std::string & fileName)
{
  CheckImageCanBeWritten<DisplacementField>("displacement field", fileName, WriteDisplacements);
}

void
CheckTransformCanBeWritten(const std::string & fileName)
{
  CheckFileCanBeWritten(fileName);
  CheckITKWrites("transform", fileName, ".tfm", [](const std::string & trial) {
    WriteTransform(itk::AffineTransform<double, 3>::New(), trial);
  });
}

void
CheckOutputsDiffer(const std::vector<std::string> & fileNames)
{
  for (std::size_t n = 0; n < fileNames.size(); ++n)
  {
    for (std::size_t other = 0; other < n; ++other)
    {
      if (std::filesystem::weakly_canonical(fileNames[n]) == std::filesystem::weakly_canonical(fileNames[other]))
      {
        throw std::runtime_error("Two outputs would be written to " + fileNames[n] + ". Name another for one of them.");
      }
    }
  }
}

} // namespace example
