// SPDX-License-Identifier: Apache-2.0
// Registers a head with itself, seen in another contrast and moved by a known transform: so the error is known, in mm.
#include "CommandLine.h"
#include "BrainPhantom.h"
#include "CheckerboardPicture.h"
#include "Head.h"
#include "OutputCheck.h"
#include "Registration.h"

#include "itkMultiThreaderBase.h"

#include <itksys/SystemTools.hxx>

#include <iostream>

namespace
{

constexpr double largestMeanError = 0.3; // mm

const char * const usage =
  "Usage: RegisterBrain [output-folder [image]] [--device NAME] [--metric ours|itk] [--seed N]\n"
  "  output-folder  gets registered.nii.gz, transform.tfm and checkerboard.png; default: demo-output\n"
  "  image          a head, T1 weighted; default: ch2.nii.gz of Debian's package mricron-data\n"
  "  --device       cuda:0, opencl:0, …, or host; default: the best there is, or what ITK_GPU_DEVICE names\n"
  "  --metric       itk::CudaMattesNMI, or ITK's own Mattes metric to compare with\n"
  "  --seed         chooses another misalignment; default: 1\n";

std::string
GetImageName(const example::CommandLine & commandLine)
{
  if (commandLine.GetWords().size() > 1)
  {
    return commandLine.GetWords()[1];
  }
  const std::string debian = "/usr/share/mricron/templates/ch2.nii.gz";
  if (!itksys::SystemTools::FileExists(debian, true))
  {
    throw std::runtime_error("There is no file " + debian +
                             ". Install Debian's package mricron-data, or name a T1 image "
                             "of a head: RegisterBrain output-folder image.nii.gz");
  }
  return debian;
}

int
RegisterBrain(const example::CommandLine & commandLine)
{
  using namespace example;
  const std::string folder = commandLine.GetWords().empty() ? "demo-output" : commandLine.GetWords()[0];
  if (!itksys::SystemTools::MakeDirectory(folder))
  {
    throw std::runtime_error("The folder " + folder + " cannot be made. Name another: RegisterBrain output-folder");
  }
  const std::string registeredName = folder + "/registered.nii.gz";
  const std::string transformName = folder + "/transform.tfm";
  const std::string pictureName = folder + "/checkerboard.png";
  for (const auto & name : { registeredName, transformName, pictureName })
  {
    CheckFileCanBeWritten(name);
  }
  const RegistrationSettings settings = commandLine.GetRegistrationSettings();
  const auto                 seed = commandLine.GetNumber("--seed", 1);

  const Stopwatch   loading;
  const std::string imageName = GetImageName(commandLine);
  const auto        fixed = ReadVolume(imageName);
  const auto        head = FindHead(fixed);
  const auto        centre = GetCentre(head);
  std::cout << "fixed image   " << imageName << ", " << fixed->GetLargestPossibleRegion().GetSize() << " voxels of "
            << fixed->GetSpacing() << " mm (" << loading.GetSeconds() << " s)\n";

  const Stopwatch making;
  const auto      truth = MakeTruth(centre, seed);
  const auto      moving = MakeMovingImage(fixed, truth, seed);
  std::cout << "moving image  the same head in another contrast, with noise: turned by 10 degrees, shifted by 15 mm, "
            << "scaled by 5 %, sheared by 3 %, voxels of " << moving->GetSpacing() << " mm (" << making.GetSeconds()
            << " s)\n";
  std::cout << "metric        " << Describe(settings) << "; ITK itself on "
            << itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads() << " threads\n\n";

  const Stopwatch registering;
  const auto      result = Register(fixed, moving, settings, std::cout);
  const double    seconds = registering.GetSeconds();
  const auto      error = Compare(result.transform, truth, head);

  std::cout << '\n';
  PrintTimes(result.stages, std::cout);
  std::cout << "registration " << seconds << " s\n\n"
            << "error in the head, before: " << Compare(result.start, truth, head) << '\n'
            << "error in the head, after:  " << error << "\n\n";

  const auto registered = Resample(moving, fixed, result.transform);
  WriteTransform(result.transform, transformName);
  WriteVolume(registered, registeredName);
  WriteCheckerboardPicture(fixed, Resample(moving, fixed, result.start), registered, centre, pictureName);
  std::cout << "written: " << folder << "/registered.nii.gz, transform.tfm and checkerboard.png\n";

  if (!(error.mean <= largestMeanError))
  {
    std::cerr << "FAILED: the mean error is above " << largestMeanError << " mm.\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return RegisterBrain(example::CommandLine(argc, argv, {}, { "--device", "--metric", "--seed" }));
  };
  return example::RunProgram(body, usage);
}
