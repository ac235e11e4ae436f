// SPDX-License-Identifier: Apache-2.0
// Registers a head with itself in another contrast, moved and deformed by known transforms, so that the error in mm and the overlap of
// brain regions can be measured.
#include "CommandLine.h"
#include "DenseStage.h"
#include "FreeFormStage.h"
#include "HeadPair.h"
#include "OutputCheck.h"
#include "Registration.h"
#include "StagePicture.h"
#include "StageTimes.h"
#include "Stages.h"
#include "Overrides.h"

#include "itkMultiThreaderBase.h"

#include <itksys/SystemTools.hxx>

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>

namespace
{

using namespace example;

// Mean errors in the head, in mm, and the mean Dice of the labels.
constexpr double largestMeanError = 0.8;      // of the free-form stage
constexpr double largestMeanDenseError = 1.6; // 1.5 times what the host has
constexpr double leastMeanDice = 0.9;         // of both stages that deform

const char * const usage =
  "Usage: RegisterBrain [output-folder [image [labels]]] [--device NAME] [--metric ours|itk] [--seed N] [--shrink N]\n"
  "  output-folder  gets fixed.nii.gz, registered.nii.gz, transform.tfm and picture.png; default: demo-output\n"
  "  image          a head, T1 weighted; default: ch2.nii.gz of Debian's package mricron-data\n"
  "  labels         its regions; default: that package's aal.nii.gz where the image is not named, otherwise none\n"
  "  --device       cuda:0, opencl:0, …, or host; default: the best there is, or what ITK_GPU_DEVICE names\n"
  "  --metric       of the rigid and the affine stage: itk::CudaMattesNMI, or ITK's own Mattes metric to compare with\n"
  "  --seed         chooses another misalignment and deformation; default: 1\n"
  "  --shrink       makes the voxels of the stages that deform N times as long; default: 2 on the host, 1 elsewhere\n";

/** The input. */
struct Inputs
{
  explicit Inputs(const CommandLine & commandLine)
  {
    const auto & words = commandLine.GetWords();
    if (words.size() > 1)
    {
      image = words[1];
      labels = words.size() > 2 ? words[2] : "";
      return;
    }
    const std::string debian = "/usr/share/mricron/templates/";
    image = debian + "ch2.nii.gz";
    labels = debian + "aal.nii.gz";
    if (!itksys::SystemTools::FileExists(image, true))
    {
      throw std::runtime_error("There is no file " + image +
                               ". Install Debian's package mricron-data, or name a T1 image of a head: RegisterBrain "
                               "output-folder image.nii.gz");
    }
  }

  std::string image;
  std::string labels;
};

FreeFormSettings
GetFreeFormSettings(const CommandLine & commandLine, const itk::GPUDevice & device)
{
  FreeFormSettings settings;
  settings.device = device;
  settings.shrink = commandLine.GetNumber("--shrink", device.IsHost() ? 2 : 1);
  if (settings.shrink < 1 || settings.shrink > 4)
  {
    throw std::invalid_argument("--shrink is 1, 2, 3 or 4.");
  }
  // Settings that suit this deformation and two contrasts.
  settings.spacing = 10.0;
  return settings;
}

/** The output files, all in one folder. */
class Outputs
{
public:
  /** Makes the folder.
   *  \throws std::runtime_error if the folder or a file in it cannot be written, which is reported before everything is computed */
  explicit Outputs(const std::string & folder)
    : m_Folder(folder)
  {
    if (!itksys::SystemTools::MakeDirectory(folder))
    {
      throw std::runtime_error("The folder " + folder + " cannot be made. Name another: RegisterBrain output-folder");
    }
    for (const char * const name : { Fixed, Registered, TransformFile, Picture })
    {
      CheckFileCanBeWritten(this->GetPath(name));
    }
  }

  void
  WriteResults(const HeadPair & pair, const Volume * registered, const Transform * transform) const
  {
    WriteTransform(transform, this->GetPath(TransformFile));
    WriteVolume(pair.fixed, this->GetPath(Fixed));
    WriteVolume(registered, this->GetPath(Registered));
  }

  void
  WritePicture(const HeadPair &           pair,
               const Volume *             registered,
               const RegistrationResult & linear,
               const FreeFormResult &     freeForm) const
  {
    WriteStagePicture(pair.fixed, pair.moving, registered, linear, &freeForm, this->GetPath(Picture));
  }

  std::string
  GetText() const
  {
    return "written: " + m_Folder + '/' + Fixed + ", " + Registered + ", " + TransformFile + " and " + Picture;
  }

private:
  static constexpr const char * Fixed = "fixed.nii.gz";
  static constexpr const char * Registered = "registered.nii.gz";
  static constexpr const char * TransformFile = "transform.tfm";
  static constexpr const char * Picture = "picture.png";

  std::string
  GetPath(const std::string & name) const
  {
    return m_Folder + '/' + name;
  }

  std::string m_Folder;
};

void
PrintProblem(const std::string &          image,
             const Volume *               head,
             const HeadPair &             pair,
             const RegistrationSettings & settings,
             const FreeFormSettings &     freeForm)
{
  std::cout << "head          " << image << ", " << head->GetLargestPossibleRegion().GetSize() << " voxels of "
            << head->GetSpacing() << " mm\n"
            << "fixed image   the head, deformed: " << pair.deformation << '\n'
            << "moving image  the head in another contrast, with noise: turned by 10 degrees, shifted by 15 mm, "
            << "scaled by 5 %, sheared by 3 %, voxels of " << pair.moving->GetSpacing() << " mm\n"
            << "metric        " << Describe(settings) << "; ITK itself on "
            << itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads() << " threads\n"
            << "free-form     itk::FreeFormDeformationRegistrationMethod on " << freeForm.device.GetName()
            << ", control points every " << freeForm.spacing << " mm, voxels of "
            << pair.fixed->GetSpacing() * static_cast<double>(freeForm.shrink) << " mm"
            << (freeForm.shrink > 1 ? ", larger than the image's, to be quick: --shrink 1 takes those\n" : "\n")
            << "dense         itk::DiffeomorphicRegistrationMethod, greedily, with the same voxels\n\n";
}

/** Prints errors, and Dice coefficients if there are labels, before and after each stage.
 *  \returns true if those of the stages that deform are good enough */
bool
JudgeStages(const HeadPair &           pair,
            const std::string &        labels,
            const RegistrationResult & linear,
            const FreeFormResult &     freeForm,
            const DenseResult &        dense)
{
  const auto stages = ListStages(linear, &freeForm, &dense);
  const auto errors = PrintErrors(stages, pair.truth, pair.fixed, std::cout);
  bool       areGood = errors.end()[-2].mean <= largestMeanError && errors.back().mean <= largestMeanDenseError;
  if (pair.fixedLabels.IsNotNull())
  {
    std::cout << "\nDice of the labels of " << labels << '\n';
    const auto dice = PrintDice(stages, pair.truth, pair.fixedLabels, pair.movingLabels, std::cout);
    areGood &= std::min(dice.end()[-2], dice.back()) >= leastMeanDice;
  }
  else
  {
    std::cout << "\nNo labels are named, so there is no Dice.\n";
  }
  return areGood;
}

int
RegisterBrain(const CommandLine & commandLine)
{
  const auto & words = commandLine.GetWords();
  if (words.size() > 3)
  {
    throw std::invalid_argument("At most three names are wanted.");
  }
  const Outputs              outputs(words.empty() ? "demo-output" : words[0]);
  const RegistrationSettings settings = commandLine.GetRegistrationSettings();
  const FreeFormSettings     freeFormSettings = GetFreeFormSettings(commandLine, settings.device);
  const auto                 seed = commandLine.GetNumber("--seed", 1);

  UseOverrides(settings);

  StageTimes   times;
  const Inputs inputs(commandLine);
  const auto   head = ReadVolume(inputs.image);
  const auto   labels = inputs.labels.empty() ? nullptr : ReadLabels(inputs.labels);
  times.End("reading");
  const auto pair = MakeHeadPair(head, labels, seed);
  times.End("moving and deforming the head");
  PrintProblem(inputs.image, head, pair, settings, freeFormSettings);

  const auto linear = Register(pair.fixed, pair.moving, settings, std::cout);
  times.End("rigid and affine registration");
  const auto freeForm = RegisterFreeForm(pair.fixed, pair.moving, linear.transform, freeFormSettings, std::cout);
  times.End("free-form deformation");
  const DenseSettings denseSettings{ freeFormSettings.device, freeFormSettings.shrink };
  const auto          dense = RegisterDensely(pair.fixed, pair.moving, linear.transform, denseSettings, std::cout);
  times.End("dense registration");
  std::cout << '\n';
  PrintTimes(linear.stages, std::cout);
  std::cout << freeForm << '\n' << dense << "\n\n";

  const bool isGood = JudgeStages(pair, inputs.labels, linear, freeForm, dense);
  times.End("errors");
  const auto registered = Resample(pair.moving, pair.fixed, freeForm.transform);
  outputs.WriteResults(pair, registered, freeForm.transform);
  times.End("writing");
  outputs.WritePicture(pair, registered, linear, freeForm);
  times.End("picture");
  std::cout << '\n' << times.GetText() << '\n' << outputs.GetText() << '\n';

  if (!isGood)
  {
    std::cerr << "FAILED: the mean error is above " << largestMeanError << " mm, or " << largestMeanDenseError
              << " mm of the dense stage, or the mean Dice below " << leastMeanDice << ".\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return RegisterBrain(CommandLine(argc, argv, {}, { "--device", "--metric", "--seed", "--shrink" }));
  };
  return RunProgram(body, usage);
}
