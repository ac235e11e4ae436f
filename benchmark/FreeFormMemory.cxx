// SPDX-License-Identifier: Apache-2.0
// Measures the most memory that a free-form deformation takes, on its device and in the process, for two synthetic images.
//   FreeFormMemory [--shape X,Y,Z] [--device NAME] [--spacing VOXELS] [--similarity NAME] [--levels N] [--iterations N]
#include "BenchmarkOptions.h"
#include "CommandLine.h"

#include "gpureg/runtime/Device.h"

#include "itkFreeFormDeformationRegistrationMethod.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using ImageType = itk::Image<float, 3>;
using Method = itk::FreeFormDeformationRegistrationMethod<ImageType, ImageType>;

constexpr char Usage[] =
  "Usage: FreeFormMemory [--shape X,Y,Z] [--device NAME] [--spacing VOXELS] [--similarity NAME] [--levels N]\n"
  "                      [--iterations N]\n";

void
PrintHelp()
{
  std::cout
    << Usage
    << "Registers two images that are made up, twice, and says what that took of the device's memory at most, in "
       "bytes and\nin volumes of floats, the images and the warped one among them; and of the host's, for the "
       "whole process.\n";
}

/** Returns an image of waves of some ten voxels, moved along x. */
ImageType::Pointer
MakeWaves(const ImageType::SizeType & size, double moved)
{
  const auto image = ImageType::New();
  image->SetRegions(size);
  image->Allocate();
  float * voxel = image->GetBufferPointer();
  for (itk::SizeValueType z = 0; z < size[2]; ++z)
  {
    for (itk::SizeValueType y = 0; y < size[1]; ++y)
    {
      const double row = 40 * std::cos(0.31 * static_cast<double>(y)) + 30 * std::sin(0.23 * static_cast<double>(z));
      for (itk::SizeValueType x = 0; x < size[0]; ++x, ++voxel)
      {
        const double along = static_cast<double>(x) + moved * std::sin(0.05 * static_cast<double>(y));
        *voxel = static_cast<float>(100 + row * std::cos(0.27 * along) + 20 * std::sin(0.11 * along));
      }
    }
  }
  return image;
}

/** Returns the most memory that the process has had, in bytes; 0 if the system does not report it. */
std::int64_t
GetMostResidentBytes()
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
  {
    if (line.rfind("VmHWM:", 0) == 0)
    {
      return std::int64_t{ 1024 } * std::stoll(line.substr(6));
    }
  }
  return 0;
}

ImageType::SizeType
GetShape(const example::CommandLine & line)
{
  const std::vector<std::string> numbers = bench::SplitAtCommas(line.Get("--shape", "181,217,181"));
  ImageType::SizeType            size;
  if (numbers.size() != size.size())
  {
    throw std::invalid_argument("A shape has three numbers: --shape 181,217,181.");
  }
  for (std::size_t d = 0; d < numbers.size(); ++d)
  {
    size[d] = std::stoul(numbers[d]);
  }
  return size;
}

int
Run(const example::CommandLine & line)
{
  const auto   size = GetShape(line);
  const auto   device = line.GetRegistrationSettings().device;
  const auto   fixed = MakeWaves(size, 0);
  const auto   moving = MakeWaves(size, 3);
  const auto   method = Method::New();
  const double volume = sizeof(float) * static_cast<double>(fixed->GetBufferedRegion().GetNumberOfPixels());
  method->SetDevice(device);
  method->SetFixedImage(fixed);
  method->SetMovingImage(moving);
  method->SetSimilarity(line.Get("--similarity", "NormalizedMutualInformation"));
  method->SetControlPointSpacing(line.GetLength("--spacing", 5));
  method->SetNumberOfLevels(line.GetNumber("--levels", 4));
  method->SetNumberOfIterations(line.GetNumber("--iterations", 3));
  std::cout << "| " << size[0] << "×" << size[1] << "×" << size[2] << ", " << method->GetSimilarityName() << ", "
            << device.GetName()
            << " | on the device at most | volumes of floats | of the process | s |\n|---|---|---|---|---|\n";
  for (const char * const run : { "first", "second" })
  {
    gpureg::CountMostMemoryFromNow(device.GetName());
    const auto start = std::chrono::steady_clock::now();
    method->Modified();
    method->Update();
    method->GetWarpedImage();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto   most = static_cast<double>(gpureg::GetMostMemoryInUse(device.GetName()));
    std::cout << "| " << run << " | " << std::fixed << std::setprecision(1) << 1e-6 * most << " MB | "
              << std::setprecision(2) << most / volume << " | " << 1e-6 * static_cast<double>(GetMostResidentBytes())
              << " MB | " << std::setprecision(3) << seconds << " |" << std::endl;
  }
  return EXIT_SUCCESS;
}
} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(bench::ReadOptions(
      argc, argv, {}, PrintHelp, { "--shape", "--device", "--spacing", "--similarity", "--levels", "--iterations" }));
  };
  return example::RunProgram(body, Usage);
}
