// SPDX-License-Identifier: Apache-2.0
// Registers two image files: by a global search, then rigidly, then affinely, then by a free-form deformation. If the truth or labels are
// known, it prints the errors.
#include "CommandLine.h"
#include "DisplacementField.h"
#include "FilePair.h"
#include "FreeFormStage.h"
#include "GlobalStage.h"
#include "Labels.h"
#include "OutputCheck.h"
#include "Registration.h"
#include "StagePicture.h"
#include "StageTimes.h"
#include "Stages.h"
#include "Overrides.h"

#include "itkFLIRTMatrix.h"

#include <itksys/SystemTools.hxx>

#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

const char * const usage =
  "Usage: RegisterFiles fixed moving output.nii.gz [--rigid | --affine | --free-form] [--spacing MM]\n"
  "                     [--device NAME] [--metric NAME] [--simplex] [--truth transform.tfm] [--deform SEED]\n"
  "                     [--field field.nii.gz] [--picture picture.png]\n"
  "                     [--labels moving.nii.gz [--warped-labels output.nii.gz] [--fixed-labels fixed.nii.gz]]\n"
  "                     [--global] [--init start.mat] [--omat output.mat]\n"
  "  output    gets the moving image on the fixed image's grid; the transform is written beside it, as output.tfm.\n"
  "            A .nii.gz is compressed, on all threads; .nii, .mha and .nrrd are written as they are\n"
  "  --rigid   rigid alone; --affine, the default: rigid, then affine; --free-form: after both a free-form "
  "deformation,\n"
  "            by normalised mutual information whatever the metric of the others is\n"
  "  --spacing of the free-form deformation's control points, default: five voxels, 5 mm of a head of 1 mm\n"
  "  --device  cuda:0, opencl:0, …, or host; default: the best there is, or what ITK_GPU_DEVICE names\n"
  "  --metric  ours, the default: itk::CudaMattesNMI; mi: the same, not normalised; itk: ITK's own Mattes metric, to\n"
  "            compare with; for two images of one contrast: mean-squares, correlation, or sad, the mean of absolute\n"
  "            differences\n"
  "  --simplex the search of Ansorge 2008: the downhill simplex, without a pyramid; its metrics are sad, mean-squares, "
  "correlation\n"
  "  --truth   the true transform from fixed to moving points, where it is known: prints each stage's error in mm\n"
  "  --deform  deforms the fixed image first, by a random smooth deformation that SEED chooses, as RegisterBrain does: "
  "so\n"
  "            the truth is known, that deformation and behind it --truth, or nothing if the images are in register\n"
  "  --field   gets the displacement of each of the fixed image's voxels, in mm\n"
  "  --global  before all else a global search, by the correlation ratio, for images that may be turned round or far\n"
  "            from each other; what comes after it refines what it finds, which is then the 'before'\n"
  "  --init    FLIRT's matrix from moving to fixed, to begin with instead of the images' centres on each other\n"
  "  --omat    gets the linear transform as FLIRT's matrix, for FSL\n"
  "  --labels  of the moving image's regions; --warped-labels gets them on the fixed image's grid, by nearest "
  "neighbour\n"
  "  --fixed-labels  the same regions of the fixed image, on its grid: prints the labels' Dice before and after each "
  "stage.\n"
  "            Not needed where the truth is known: they are then --labels, as the truth brings them there\n"
  "  --picture gets both images on a checkerboard before and after; with --free-form the deformed grid and the "
  "Jacobian's\n"
  "            determinant, too\n";

/** Returns the output's name with .tfm instead of its extension, or of both extensions if it is compressed. */
std::string
GetTransformName(const std::string & output)
{
  const auto withoutExtension = [](const std::string & name) {
    return name.substr(0, name.size() - itksys::SystemTools::GetFilenameLastExtension(name).size());
  };
  const bool isCompressed = itksys::SystemTools::GetFilenameLastExtension(output) == ".gz";
  return withoutExtension(isCompressed ? withoutExtension(output) : output) + ".tfm";
}

/** The output files; names of unwanted ones are empty. */
struct Outputs
{
  explicit Outputs(const example::CommandLine & commandLine)
    : image(commandLine.GetWords()[2])
    , transform(GetTransformName(image))
    , field(commandLine.Get("--field", ""))
    , labels(commandLine.Get("--warped-labels", ""))
    , matrix(commandLine.Get("--omat", ""))
    , picture(commandLine.Get("--picture", ""))
  {}

  std::vector<std::string>
  GetNames() const
  {
    std::vector<std::string> names{ image, transform };
    for (const auto & name : { field, labels, matrix, picture })
    {
      if (!name.empty())
      {
        names.push_back(name);
      }
    }
    return names;
  }

  /** Checks the names before the computation. */
  void
  Check() const
  {
    example::CheckVolumeCanBeWritten(image);
    example::CheckTransformCanBeWritten(transform);
    if (!field.empty())
    {
      example::CheckDisplacementsCanBeWritten(field);
    }
    if (!labels.empty())
    {
      example::CheckLabelsCanBeWritten(labels);
    }
    if (!matrix.empty())
    {
      example::CheckFileCanBeWritten(matrix);
    }
    if (!picture.empty())
    {
      example::CheckStagePictureCanBeWritten(picture);
    }
    example::CheckOutputsDiffer(this->GetNames());
  }

  std::string image;
  std::string transform;
  std::string field;
  std::string labels;
  std::string matrix;
  std::string picture;
};

example::FilePairNames
GetInputs(const example::CommandLine & commandLine)
{
  example::FilePairNames names;
  names.fixed = commandLine.GetWords()[0];
  names.moving = commandLine.GetWords()[1];
  names.truth = commandLine.Get("--truth", "");
  names.fixedLabels = commandLine.Get("--fixed-labels", "");
  names.movingLabels = commandLine.Get("--labels", "");
  if (commandLine.Has("--deform"))
  {
    names.seed = commandLine.GetNumber("--deform", 1);
  }
  return names;
}

/** Returns the start of the registration that the command line demands: null if the images' centres are to be aligned. */
example::LinearTransform::ConstPointer
ComputeStart(const example::CommandLine &          commandLine,
             const example::RegistrationSettings & settings,
             const example::Volume *               fixed,
             const example::Volume *               moving,
             std::ostream &                        report)
{
  example::LinearTransform::ConstPointer start;
  if (commandLine.Has("--init"))
  {
    start = itk::FLIRTMatrix::Read(commandLine.Get("--init", ""), fixed, moving).GetPointer();
  }
  if (commandLine.Has("--global"))
  {
    example::GlobalSearchSettings search;
    search.device = settings.device;
    search.degreesOfFreedom = settings.model == example::Model::Rigid ? 6 : 12;
    search.start = start;
    const auto found = example::SearchGlobally(fixed, moving, search, std::cout);
    report << "itk::GlobalAffineRegistrationMethod on " << settings.device.GetName() << ": " << found << '\n';
    start = found.transform.GetPointer();
  }
  return start;
}

void
CheckOptions(const example::CommandLine & commandLine)
{
  if (commandLine.GetWords().size() != 3)
  {
    throw std::invalid_argument("Three file names are wanted.");
  }
  if (commandLine.Has("--rigid") + commandLine.Has("--affine") + commandLine.Has("--free-form") > 1)
  {
    throw std::invalid_argument("Give one of --rigid, --affine and --free-form.");
  }
  if (commandLine.Has("--spacing") && !commandLine.Has("--free-form"))
  {
    throw std::invalid_argument("--spacing is that of --free-form, which is not given.");
  }
  for (const char * const option : { "--warped-labels", "--fixed-labels" })
  {
    if (commandLine.Has(option) && !commandLine.Has("--labels"))
    {
      throw std::invalid_argument(std::string(option) + " wants the moving image's labels: give --labels, too.");
    }
  }
  const bool isTruthKnown = commandLine.Has("--truth") || commandLine.Has("--deform");
  if (commandLine.Has("--labels") && !commandLine.Has("--warped-labels") && !commandLine.Has("--fixed-labels") &&
      !isTruthKnown)
  {
    throw std::invalid_argument("--labels wants --warped-labels, which gets them, or, for their Dice, --fixed-labels, "
                                "--truth or --deform.");
  }
}

/** Prints errors and Dice coefficients, as far as there are references. */
void
JudgeStages(const example::FilePair &           pair,
            const example::FilePairNames &      names,
            const std::vector<example::Stage> & stages)
{
  if (pair.deformation)
  {
    std::cout << "\nfixed image deformed: " << *pair.deformation << "; the truth is that, and behind it "
              << (names.truth.empty() ? "nothing: the images are taken to be in register" : names.truth) << '\n';
  }
  if (pair.truth != nullptr)
  {
    std::cout << '\n';
    PrintErrors(stages, pair.truth, pair.fixed, std::cout);
  }
  if (pair.fixedLabels != nullptr)
  {
    const bool areOfTruth = names.fixedLabels.empty();
    std::cout << "\nDice of the labels of " << names.movingLabels << " and "
              << (areOfTruth ? "of the same where the truth leads" : "of " + names.fixedLabels) << '\n';
    PrintDice(stages, areOfTruth ? nullptr : pair.truth.GetPointer(), pair.fixedLabels, pair.movingLabels, std::cout);
  }
}

int
RegisterFiles(const example::CommandLine & commandLine)
{
  using namespace example;
  CheckOptions(commandLine);
  const Outputs outputs(commandLine);
  outputs.Check();

  const FilePairNames        inputs = GetInputs(commandLine);
  const RegistrationSettings settings = commandLine.GetRegistrationSettings();
  FreeFormSettings           freeFormSettings;
  freeFormSettings.device = settings.device;
  freeFormSettings.spacing = commandLine.GetLength("--spacing", freeFormSettings.spacing);
  UseOverrides(settings);

  StageTimes     times;
  const FilePair pair = ReadFilePair(inputs);
  const auto     fixed = pair.fixed;
  const auto     moving = pair.moving;
  times.End("reading");

  std::ostringstream globalReport;
  const auto         start = ComputeStart(commandLine, settings, fixed, moving, globalReport);
  times.End("start");
  const auto linear = Register(fixed, moving, settings, std::cout, start);
  times.End("registration");
  Transform::Pointer            transform = linear.transform.GetPointer();
  std::optional<FreeFormResult> freeForm;
  std::ostringstream            freeFormReport;
  if (commandLine.Has("--free-form"))
  {
    freeForm = RegisterFreeForm(fixed, moving, linear.transform, freeFormSettings, std::cout);
    transform = freeForm->transform;
    freeFormReport << "itk::FreeFormDeformationRegistrationMethod on " << freeFormSettings.device.GetName() << ": "
                   << *freeForm << '\n';
    times.End("free-form deformation");
  }
  const FreeFormResult * const freeFormOrNone = freeForm ? &*freeForm : nullptr;

  // The transform first: it is the result, and everything else follows from it.
  WriteTransform(transform, outputs.transform);
  if (!outputs.matrix.empty())
  {
    itk::FLIRTMatrix::Write(outputs.matrix, linear.transform, fixed, moving);
  }
  times.End("writing the transform");
  const auto registered = Resample(moving, fixed, transform);
  times.End("resampling");
  WriteVolume(registered, outputs.image);
  times.End("writing the image");
  if (!outputs.labels.empty())
  {
    WriteLabels(ResampleLabels(pair.movingLabels, fixed, transform), outputs.labels);
    times.End("labels");
  }
  if (!outputs.field.empty())
  {
    WriteDisplacements(SampleDisplacements(transform, fixed), outputs.field);
    times.End("field");
  }
  if (!outputs.picture.empty())
  {
    WriteStagePicture(fixed, moving, registered, linear, freeFormOrNone, outputs.picture);
    times.End("picture");
  }

  std::cout << "\nmetric " << Describe(settings) << '\n';
  PrintTimes(linear.stages, std::cout);
  std::cout << globalReport.str() << freeFormReport.str() << times.GetText() << "\nwritten:";
  for (const auto & name : outputs.GetNames())
  {
    std::cout << ' ' << name;
  }
  std::cout << '\n';

  JudgeStages(pair, inputs, ListStages(linear, freeFormOrNone));
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return RegisterFiles(example::CommandLine(argc,
                                              argv,
                                              { "--rigid", "--affine", "--free-form", "--simplex", "--global" },
                                              { "--spacing",
                                                "--device",
                                                "--metric",
                                                "--truth",
                                                "--deform",
                                                "--field",
                                                "--picture",
                                                "--labels",
                                                "--warped-labels",
                                                "--fixed-labels",
                                                "--init",
                                                "--omat" }));
  };
  return example::RunProgram(body, usage);
}
