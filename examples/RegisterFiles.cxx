// SPDX-License-Identifier: Apache-2.0
// Registers two image files: rigidly, then affinely.
#include "CommandLine.h"
#include "Head.h"
#include "OutputCheck.h"
#include "Registration.h"

#include "itkGPURegistrationFactory.h"

#include <itksys/SystemTools.hxx>

#include <future>
#include <iostream>

namespace
{

const char * const usage =
  "Usage: RegisterFiles fixed moving output.nii.gz [--rigid | --affine] [--device NAME] [--metric NAME] [--simplex]\n"
  "                     [--truth transform.tfm]\n"
  "  output    gets the moving image on the fixed image's grid; the transform is written beside it, as output.tfm.\n"
  "            To compress it (.gz) takes longer than all else: .nii, .mha and .nrrd are written as they are\n"
  "  --rigid   rigid alone; --affine, the default: rigid, then affine\n"
  "  --device  cuda:0, opencl:0, …, or host; default: the best there is, or what ITK_GPU_DEVICE names\n"
  "  --metric  ours, the default: itk::CudaMattesNMI; mi: the same, not normalised; itk: ITK's own Mattes metric, to\n"
  "            compare with; for two images of one contrast: mean-squares, correlation, or sad, the mean of absolute\n"
  "            differences\n"
  "  --simplex the search of Ansorge 2008: the downhill simplex, without a pyramid\n"
  "  --truth   the true transform from fixed to moving points, where it is known: prints the error in mm\n";

/** The output's name with .tfm in the place of its extension, or of both where it is compressed. */
std::string
GetTransformName(const std::string & output)
{
  const auto withoutExtension = [](const std::string & name) {
    return name.substr(0, name.size() - itksys::SystemTools::GetFilenameLastExtension(name).size());
  };
  const bool isCompressed = itksys::SystemTools::GetFilenameLastExtension(output) == ".gz";
  return withoutExtension(isCompressed ? withoutExtension(output) : output) + ".tfm";
}

/** What each stage of the program took. */
class Stages
{
public:
  /** \param name of the stage that is over. */
  void
  End(const std::string & name)
  {
    m_Text += (m_Text.empty() ? "" : ", ") + name + ' ' + std::to_string(m_Watch.GetSeconds()) + " s";
    m_Watch = example::Stopwatch();
  }

  const std::string &
  GetText() const
  {
    return m_Text;
  }

private:
  example::Stopwatch m_Watch;
  std::string        m_Text;
};

int
RegisterFiles(const example::CommandLine & commandLine)
{
  using namespace example;
  if (commandLine.GetWords().size() != 3)
  {
    throw std::invalid_argument("Three file names are wanted.");
  }
  const std::string output = commandLine.GetWords()[2];
  const std::string transformName = GetTransformName(output);
  CheckVolumeCanBeWritten(output);
  CheckTransformCanBeWritten(transformName);

  const RegistrationSettings settings = commandLine.GetRegistrationSettings();
  if (settings.measure != Measure::ITKMattes)
  {
    // ITK's smoothing, shrinking and resampling are this module's, too.
    itk::GPUDevice::SetDefault(settings.device);
    itk::GPURegistrationFactory::RegisterAll();
  }
  const auto truth = commandLine.Has("--truth") ? ReadTransform(commandLine.Get("--truth", "")) : nullptr;

  Stages     stages;
  auto       readMoving = std::async(std::launch::async, ReadVolume, commandLine.GetWords()[1]);
  const auto fixed = ReadVolume(commandLine.GetWords()[0]);
  const auto moving = readMoving.get();
  stages.End("reading");
  const auto result = Register(fixed, moving, settings, std::cout);
  stages.End("registration");
  // The transform first: it is the result, and the image follows from it.
  WriteTransform(result.transform, transformName);
  const auto registered = Resample(moving, fixed, result.transform);
  stages.End("resampling");
  WriteVolume(registered, output);
  stages.End("writing");

  std::cout << "\nmetric " << Describe(settings) << '\n';
  PrintTimes(result.stages, std::cout);
  std::cout << stages.GetText() << '\n' << "written: " << output << " and " << transformName << '\n';

  if (truth != nullptr)
  {
    const auto head = FindHead(fixed);
    std::cout << "error in the head, before: " << Compare(result.start, truth, head) << '\n'
              << "error in the head, after:  " << Compare(result.transform, truth, head) << '\n';
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return RegisterFiles(
      example::CommandLine(argc, argv, { "--rigid", "--affine", "--simplex" }, { "--device", "--metric", "--truth" }));
  };
  return example::RunProgram(body, usage);
}
