// SPDX-License-Identifier: Apache-2.0
// Free-form deformation of two heads whose deformation is known: how long it takes, and how near it comes, by contrast, kind of
// deformation and settings.
//   FreeFormBenchmark FIXED_CONTRAST.mha MOVING_CONTRAST.mha [--device NAME] [--seeds N] [--bending A,B,…] [--spacing A,B,…]
//                     [--similarity A,B,…] [--optimizer NAME] [--samples N] [--iterations N] [--levels N]
// The first image is deformed and fixed; the second, in register with it, is moving: the same file twice for the same contrast.
#include "BenchmarkOptions.h"
#include "CommandLine.h"
#include "DeformationError.h"
#include "KnownDeformation.h"
#include "Volume.h"

#include "itkFreeFormDeformationRegistrationMethod.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using example::Volume;
using Method = itk::FreeFormDeformationRegistrationMethod<Volume, Volume>;

constexpr int Repetitions = 5;

constexpr char Usage[] =
  "Usage: FreeFormBenchmark FIXED_CONTRAST MOVING_CONTRAST [--device NAME] [--seeds N] [--bending A,B,...]\n"
  "                         [--spacing A,B,...] [--similarity A,B,...] [--optimizer NAME] [--samples N]\n"
  "                         [--iterations N] [--levels N]\n";

void
PrintHelp()
{
  std::cout << Usage
            << "Free-form deformation of two heads in register, of which the first is deformed and fixed: the same "
               "file twice for\n"
               "the same contrast. Prints a row for each deformation, similarity, spacing and bending weight.\n";
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

/** Of one registration. */
struct Seconds
{
  double levels = 0;  // where the images are on the device
  double update = 0;  // with the images' way there
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

/** The rest of a row: what the method is set to, its times, and how near it comes to the truth. */
void
PrintRow(Method & method, const Volume * fixed, const itk::Transform<double, 3, 3> & truth)
{
  const Seconds        first = Measure(method);
  const bool           isHost = method.GetDevice().GetName() == "host";
  std::vector<Seconds> runs;
  for (int n = 0; n < (isHost ? 1 : Repetitions); ++n)
  {
    runs.push_back(isHost ? first : Measure(method));
  }
  std::sort(runs.begin(), runs.end(), [](const Seconds & a, const Seconds & b) { return a.warping < b.warping; });
  const Seconds median = runs[runs.size() / 2];
  const auto    error = example::MeasureDeformationError(method.GetDisplacementField().GetPointer(),
                                                      &truth,
                                                      fixed,
                                                      example::FindHeadThreshold(fixed));
  std::size_t   iterations = 0;
  for (unsigned int level = 0; level < method.GetNumberOfLevels(); ++level)
  {
    iterations += method.GetCosts(level).size();
  }
  std::cout << ' ' << method.GetSimilarityName() << " | " << method.GetControlPointSpacing()[0] << " | "
            << method.GetBendingEnergyWeight() << " | " << first.warping << " | " << median.levels << " | "
            << median.update << " | " << median.warping << " |";
  PrintErrors(error.all);
  PrintErrors(error.head);
  std::cout << ' ' << method.GetSmallestJacobianDeterminant() << " | " << iterations << " |" << std::endl;
}

int
Run(const example::CommandLine & line)
{
  if (line.GetWords().size() != 2)
  {
    throw std::invalid_argument("Two images are wanted: the one that is to be deformed, and the moving one.");
  }
  const auto toDeform = example::ReadVolume(line.GetWords()[0]);
  const auto moving = example::ReadVolume(line.GetWords()[1]);
  const auto seeds = line.GetNumber("--seeds", 1);
  std::cout << "| deformation | similarity | spacing, mm | bending | first, s | levels, s | images to transform, s | "
               "and warped "
               "image, s | all: mean / median / 95 %, mm | head | smallest "
               "determinant | iterations |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto kind : { example::DeformationKind::BSpline, example::DeformationKind::ThinPlate })
  {
    for (unsigned int seed = 1; seed <= seeds; ++seed)
    {
      const auto known = example::MakeKnownDeformation(toDeform, kind, 100 * seed);
      const auto pair = example::MakeDeformedPair(toDeform, known.transform);
      for (const auto & similarity : bench::SplitAtCommas(line.Get("--similarity", "NormalizedMutualInformation")))
      {
        for (const double spacing : ParseNumbers(line.Get("--spacing", "5")))
        {
          for (const double bending : ParseNumbers(line.Get("--bending", "0.01")))
          {
            const auto method = Method::New();
            method->SetDevice(line.GetRegistrationSettings().device);
            method->SetFixedImage(pair.fixed);
            method->SetMovingImage(moving);
            method->SetSimilarity(similarity);
            method->SetOptimizer(line.Get("--optimizer", "Adam"));
            method->SetNumberOfSamples(line.GetNumber("--samples", 0));
            method->SetControlPointSpacing(spacing);
            method->SetBendingEnergyWeight(bending);
            method->SetNumberOfIterations(line.GetNumber("--iterations", 100));
            method->SetNumberOfLevels(line.GetNumber("--levels", 4));
            std::cout << "| " << (kind == example::DeformationKind::BSpline ? "B-spline " : "thin plate ") << known.seed
                      << ", " << std::setprecision(3) << known.meanDisplacement << " mm |";
            PrintRow(*method, pair.fixed, *known.transform);
          }
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
                                    "--seeds",
                                    "--bending",
                                    "--spacing",
                                    "--similarity",
                                    "--optimizer",
                                    "--samples",
                                    "--iterations",
                                    "--levels" }));
  };
  return example::RunProgram(body, Usage);
}
