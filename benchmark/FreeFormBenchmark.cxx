// SPDX-License-Identifier: Apache-2.0
// Measures the time and the error of free-form deformation of two heads with a known deformation, by contrast, kind of deformation and
// settings.
//   FreeFormBenchmark FIXED_CONTRAST.mha MOVING_CONTRAST.mha [--device NAME] [--seeds N] [settings …]
// The first image is deformed and used as the fixed one; the second, which is aligned with it, is the moving one. Passing one file twice
// gives images of the same contrast.
#include "BenchmarkOptions.h"
#include "CommandLine.h"
#include "DeformationError.h"
#include "DisplacementField.h"
#include "FreeFormByLBFGS.h"
#include "KnownDeformation.h"
#include "MeanShrink.h"
#include "Volume.h"

#include "itkFreeFormDeformationRegistrationMethod.h"

#include "itkBinaryThresholdImageFilter.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkSignedMaurerDistanceMapImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace
{
using example::Volume;
using Method = itk::FreeFormDeformationRegistrationMethod<Volume, Volume>;

const char * const Usage =
  R"(Usage: FreeFormBenchmark FIXED_CONTRAST MOVING_CONTRAST [options]
Free-form deformation of two heads in register, of which the first is deformed and fixed: the same file twice for the same
contrast. Prints a row for each deformation and each combination of settings.
  --device NAME          default: the best there is
  --threads N            of the host device; default: ITK's
  --kinds A,B            of deformations: BSpline,ThinPlate; default: both
  --seeds N              deformations of each kind; default: 1
  --repetitions N        of each registration behind its first one; default: 5, on the host 0
  --shrink N             images of an N-th of the voxels along each axis; default: 1
  --smooth MM            sigma of a Gaussian that both images are smoothed by before they are registered; default: 0
  --mask MM              what is looked at of the fixed image: what is no further than so far from the head; default: all
  --optimizer NAME       Adam, ConjugateGradient or AdaptiveStochasticGradientDescent
  --lbfgs N              and the same by itk::LBFGSOptimizerv4, at most N evaluations a level, of normalised mutual information
  --times                seconds of each level besides
Settings, of which each may be a list A,B,…: --similarity (NormalizedMutualInformation), --spacing (5), --bending (0.01),
--levels (4), --iterations (100), --bins (64), --first-step (0.5), --samples (0, which is all voxels)
)";

void
PrintHelp()
{
  std::cout << Usage;
}

std::vector<double>
ParseNumbers(const std::string & list)
{
  std::vector<double> numbers;
  for (const std::string & number : bench::SplitAtCommas(list))
  {
    numbers.push_back(std::stod(number));
  }
  return numbers;
}

example::DeformationKind
ParseKind(const std::string & name)
{
  if (name != "BSpline" && name != "ThinPlate")
  {
    throw std::invalid_argument("--kinds wants BSpline, ThinPlate or both, not " + name + '.');
  }
  return name == "BSpline" ? example::DeformationKind::BSpline : example::DeformationKind::ThinPlate;
}

/** Times of one registration. */
struct Seconds
{
  double levels = 0;  // with the images on the device already
  double update = 0;  // with uploading the images
  double warping = 0; // with the warped image, too
};

Seconds
Measure(Method & method)
{
  const auto start = std::chrono::steady_clock::now();
  const auto secondsSince = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  method.Modified();
  method.Update();
  Seconds seconds;
  seconds.levels = method.GetElapsedSeconds();
  seconds.update = secondsSince();
  method.GetWarpedImage();
  seconds.warping = secondsSince();
  return seconds;
}

void
PrintErrors(const example::ErrorStatistics & error)
{
  std::cout << ' ' << std::setprecision(3) << error.mean << " / " << error.median << " / " << error.percentile95
            << " |";
}

struct Settings
{
  std::string  similarity;
  double       spacing;
  double       bending;
  unsigned int levels;
  unsigned int iterations;
  unsigned int bins;
  double       firstStep;
  unsigned int samples;
};

/** Returns every combination of the options' values. */
std::vector<Settings>
ListSettings(const example::CommandLine & line)
{
  std::vector<Settings> all{ {} };
  const auto            combine = [&all](const auto & values, const auto & set) {
    std::vector<Settings> combined;
    for (const Settings & settings : all)
    {
      for (const auto & value : values)
      {
        combined.push_back(settings);
        set(combined.back(), value);
      }
    }
    all = std::move(combined);
  };
  const auto combineNumbers = [&](const std::string & option, const std::string & otherwise, auto Settings::*member) {
    combine(ParseNumbers(line.Get(option, otherwise)), [member](Settings & settings, double number) {
      settings.*member = static_cast<std::remove_reference_t<decltype(settings.*member)>>(number);
    });
  };
  combine(bench::SplitAtCommas(line.Get("--similarity", "NormalizedMutualInformation")),
          [](Settings & settings, const std::string & name) { settings.similarity = name; });
  combineNumbers("--spacing", "5", &Settings::spacing);
  combineNumbers("--bending", "0.01", &Settings::bending);
  combineNumbers("--levels", "4", &Settings::levels);
  combineNumbers("--iterations", "100", &Settings::iterations);
  combineNumbers("--bins", "64", &Settings::bins);
  combineNumbers("--first-step", "0.5", &Settings::firstStep);
  combineNumbers("--samples", "0", &Settings::samples);
  return all;
}

Method::Pointer
MakeMethod(const example::CommandLine & line, const Settings & settings)
{
  const auto method = Method::New();
  method->SetDevice(line.GetRegistrationSettings().device);
  method->SetOptimizer(line.Get("--optimizer", "Adam"));
  method->SetSimilarity(settings.similarity);
  method->SetControlPointSpacing(settings.spacing);
  method->SetBendingEnergyWeight(settings.bending);
  method->SetNumberOfLevels(settings.levels);
  method->SetNumberOfIterations(settings.iterations);
  method->SetNumberOfHistogramBins(settings.bins);
  method->SetFirstStep(settings.firstStep);
  method->SetNumberOfSamples(settings.samples);
  return method;
}

Volume::ConstPointer
Smooth(const Volume * image, double sigma)
{
  if (!(sigma > 0))
  {
    return image;
  }
  const auto smooth = itk::SmoothingRecursiveGaussianImageFilter<Volume, Volume>::New();
  smooth->SetInput(image);
  smooth->SetSigma(sigma);
  smooth->Update();
  return smooth->GetOutput();
}

/** Returns a mask of the points within a distance of voxels brighter than a threshold. */
Method::MaskType::Pointer
MakeMask(const Volume * image, double threshold, double farthest)
{
  using MaskImage = itk::Image<unsigned char, 3>;
  const auto bright = itk::BinaryThresholdImageFilter<Volume, MaskImage>::New();
  bright->SetInput(image);
  bright->SetLowerThreshold(static_cast<float>(threshold));
  bright->SetInsideValue(1);
  const auto distance = itk::SignedMaurerDistanceMapImageFilter<MaskImage, Volume>::New();
  distance->SetInput(bright->GetOutput());
  distance->SetSquaredDistance(false);
  distance->SetUseImageSpacing(true);
  const auto near = itk::BinaryThresholdImageFilter<Volume, MaskImage>::New();
  near->SetInput(distance->GetOutput());
  near->SetUpperThreshold(static_cast<float>(farthest));
  near->SetInsideValue(1);
  near->Update();
  const auto mask = itk::ImageMaskSpatialObject<3>::New();
  mask->SetImage(near->GetOutput());
  mask->Update();
  return mask.GetPointer();
}

/** The images to register, and the expected result. */
struct Task
{
  std::string                           name;
  Volume::ConstPointer                  fixed;
  Volume::ConstPointer                  moving;
  itk::Transform<double, 3, 3>::Pointer truth;
  double                                headThreshold;
};

Task
MakeTask(const Volume * toDeform, const Volume * moving, example::DeformationKind kind, unsigned int seed)
{
  const auto         known = example::MakeKnownDeformation(toDeform, kind, 100 * seed);
  std::ostringstream name;
  name << (kind == example::DeformationKind::BSpline ? "B-spline " : "thin plate ") << known.seed << ", "
       << std::setprecision(3) << known.meanDisplacement << " mm";
  // Sampled, since every row evaluates it at all voxels.
  const auto truth = itk::DisplacementFieldTransform<double, 3>::New();
  truth->SetDisplacementField(example::SampleDisplacements(known.transform, toDeform));
  const auto fixed = example::MakeDeformedPair(toDeform, known.transform).fixed;
  return { name.str(), fixed.GetPointer(), moving, truth.GetPointer(), example::ComputeHeadThreshold(fixed) };
}

/** Prints a row: the method's settings, its times, and its error. */
void
PrintRow(Method & method, const Settings & settings, const Task & task, unsigned int repetitions)
{
  const Seconds        first = Measure(method);
  std::vector<Seconds> runs(repetitions);
  std::generate(runs.begin(), runs.end(), [&method] { return Measure(method); });
  if (runs.empty())
  {
    runs.push_back(first);
  }
  std::sort(runs.begin(), runs.end(), [](const Seconds & a, const Seconds & b) { return a.warping < b.warping; });
  const Seconds median = runs[runs.size() / 2];
  const auto    error = example::MeasureDeformationError(method.GetDisplacementField().GetPointer(),
                                                      task.truth,
                                                      task.fixed,
                                                      task.headThreshold);
  std::cout << std::setprecision(3) << "| " << task.name << " | " << settings.similarity << " | " << settings.spacing
            << " | " << settings.bending << " | " << settings.levels << " | " << settings.iterations << " | "
            << settings.bins << " | " << settings.firstStep << " | " << settings.samples << " | " << first.warping
            << " | " << median.levels << " | " << median.update << " | " << median.warping << " |";
  PrintErrors(error.all);
  PrintErrors(error.head);
  std::cout << ' ' << method.GetSmallestJacobianDeterminant() << " |" << std::endl;
}

/** Prints lines under a row, the coarsest level first. */
void
PrintLevels(const Method & method)
{
  std::cout << "  levels, s:";
  for (unsigned int level = 0; level < method.GetRegisteredLevels(); ++level)
  {
    std::cout << ' ' << method.GetElapsedSeconds(level) << " (" << method.GetCosts(level).size() << " iterations)";
  }
  std::cout << std::endl;
}

/** Prints a line under a row: the result of the same number of evaluations by L-BFGS. */
void
PrintLBFGS(const example::CommandLine & line, const Settings & settings, const Task & task, unsigned int evaluations)
{
  const auto result = bench::RegisterByLBFGS(task.fixed,
                                             task.moving,
                                             { line.GetRegistrationSettings().device,
                                               settings.levels,
                                               settings.spacing,
                                               settings.bending,
                                               settings.bins,
                                               evaluations });
  const auto error = example::MeasureDeformationError(result.spline, task.truth, task.fixed, task.headThreshold);
  std::cout << "  L-BFGS, " << result.evaluations << " evaluations:";
  PrintErrors(error.all);
  PrintErrors(error.head);
  std::cout << std::endl;
}

Volume::Pointer
ReadAndShrink(const std::string & name, unsigned int factor)
{
  const auto volume = example::ReadVolume(name);
  return factor <= 1 ? volume : bench::ShrinkByMeans(volume, itk::FixedArray<unsigned int, 3>(factor));
}

int
Run(const example::CommandLine & line)
{
  if (line.GetWords().size() != 2)
  {
    throw std::invalid_argument("Two images are wanted: the one that is to be deformed, and the moving one.");
  }
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(
    line.GetNumber("--threads", itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads()));
  const bool isHost = line.GetRegistrationSettings().device.GetName() == "host";
  const auto toDeform = ReadAndShrink(line.GetWords()[0], line.GetNumber("--shrink", 1));
  const auto moving = ReadAndShrink(line.GetWords()[1], line.GetNumber("--shrink", 1));
  std::cout
    << "| deformation | similarity | spacing, mm | bending | levels | iterations | bins | first step | samples | "
       "first, s | levels, s | images to transform, s | and warped image, s | all: mean / median / 95 %, mm | head | "
       "smallest determinant |\n|";
  for (int column = 0; column < 16; ++column)
  {
    std::cout << "---|";
  }
  std::cout << std::endl;
  for (const std::string & kind : bench::SplitAtCommas(line.Get("--kinds", "BSpline,ThinPlate")))
  {
    for (unsigned int seed = 1; seed <= line.GetNumber("--seeds", 1); ++seed)
    {
      const Task task = MakeTask(toDeform, moving, ParseKind(kind), seed);
      Task       registered = task;
      registered.fixed = Smooth(task.fixed, line.GetLength("--smooth", 0));
      registered.moving = Smooth(task.moving, line.GetLength("--smooth", 0));
      const Method::MaskType::Pointer mask =
        line.Has("--mask") ? MakeMask(task.fixed, task.headThreshold, line.GetLength("--mask", 0)) : nullptr;
      for (const Settings & settings : ListSettings(line))
      {
        const auto method = MakeMethod(line, settings);
        method->SetFixedImage(registered.fixed);
        method->SetMovingImage(registered.moving);
        method->SetFixedImageMask(mask);
        PrintRow(*method, settings, task, line.GetNumber("--repetitions", isHost ? 0 : 5));
        if (line.Has("--times"))
        {
          PrintLevels(*method);
        }
        if (line.Has("--lbfgs"))
        {
          PrintLBFGS(line, settings, registered, line.GetNumber("--lbfgs", 0));
        }
      }
    }
  }
  return EXIT_SUCCESS;
}
} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(bench::ReadOptions(argc,
                                  argv,
                                  {},
                                  PrintHelp,
                                  { "--device",
                                    "--threads",
                                    "--kinds",
                                    "--seeds",
                                    "--repetitions",
                                    "--shrink",
                                    "--smooth",
                                    "--mask",
                                    "--optimizer",
                                    "--lbfgs",
                                    "--similarity",
                                    "--spacing",
                                    "--bending",
                                    "--levels",
                                    "--iterations",
                                    "--bins",
                                    "--first-step",
                                    "--samples" },
                                  { "--times" }));
  };
  return example::RunProgram(body, Usage);
}
