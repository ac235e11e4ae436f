// SPDX-License-Identifier: Apache-2.0
// Measures how often a global search finds a head that is randomly rotated, shifted and scaled, and why it fails: T1 to T1, T1 to T2 and T2
// to T1, the whole head or the brain alone, cut off at the neck and the crown, with noise and shading. Compares costs, as in figure 16 of
// Li 2015.
//   GlobalRobustness T1 T2 [--brain BRAIN] [--starts N] [--first N] [--device NAME] [--cost A,B,…] [--dof N] [--shrink N]
//                    [--field FACTOR] [--start identity] [--compare N]
#include "BenchmarkOptions.h"
#include "CommandLine.h"
#include "Head.h"
#include "HeadPhantom.h"
#include "Table.h"
#include "Volume.h"

#include "itkGPUResampleImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"
#include "itkGlobalAffineRegistrationMethod.h"
#include "itkMath.h"
#include "itkRegionOfInterestImageFilter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using bench::Format;
using example::Volume;
using Method = itk::GlobalAffineRegistrationMethod<Volume, Volume>;
using Affine = itk::AffineTransform<double, 3>;

constexpr char Usage[] =
  "Usage: GlobalRobustness T1 T2 [--brain BRAIN] [--starts N] [--first N] [--device NAME] [--cost A,B,...] [--dof N]\n"
  "                        [--shrink N] [--field FACTOR] [--start identity] [--compare N]\n";

constexpr char Help[] =
  R"(Each start has a number, which seeds it: rotation by up to 180 degrees about a random axis, shifts of up to 60 mm along each,
scale from 0.8 to 1.25, and one of the cases in turn. It has failed if the mean error in the head is above 1 mm; then the same
search is refined from the truth, which shows whether the search has missed a lower cost, or the cost is lower elsewhere. It has failed,
too, if the search throws.
  T1, T2     a head in register in two contrasts; BRAIN: a brain alone, which is registered to itself and to another contrast
  --starts   how many; default: 200. --first: the first one's number; default: 1
  --shrink   voxels so many times as long; for devices that take long
  --field    the moving image's field of view, by the head's; default: 1.6. With 1 what is shifted far is cut off, too
  --start    identity: each search is given it as its initial transform; default: none
  --compare  so many starts of T1 to T1, whole, and so many cut off and spoilt, by each of --cost; default: 10. 0: none
)";

void
PrintHelp()
{
  std::cout << Usage << Help;
}

using Random = std::mt19937_64;

double
Uniform(Random & random, double low, double high)
{
  // Not a distribution of the standard library, since these differ between implementations.
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1.0p-53);
}

/** The images to register, and how they are degraded. */
struct Case
{
  std::string     name;
  Volume::Pointer fixed;
  Volume::Pointer moving;
  bool            isCut = false;
  bool            isNoisy = false;
};

Volume::Pointer
Shrink(Volume * image, unsigned int factor)
{
  if (factor == 1)
  {
    return image;
  }
  const auto smoothing = itk::GPUSmoothingRecursiveGaussianImageFilter<Volume, Volume>::New();
  smoothing->SetInput(image);
  smoothing->SetSigma(0.5 * factor);
  const auto shrinking = itk::GPUShrinkImageFilter<Volume, Volume>::New();
  shrinking->SetInput(smoothing->GetOutput());
  shrinking->SetShrinkFactors(factor);
  shrinking->Update();
  return shrinking->GetOutput();
}

/** Returns a T1 image with the contrast of T2: fluid, which is dark in T1, becomes the brightest; white matter darker than grey; black
 *  stays black. */
Volume::Pointer
ChangeContrast(const Volume * image)
{
  const auto          count = image->GetBufferedRegion().GetNumberOfPixels();
  const float * const values = image->GetBufferPointer();
  const float         largest = *std::max_element(values, values + count);
  const auto          changed = Volume::New();
  changed->CopyInformation(image);
  changed->SetRegions(image->GetBufferedRegion());
  changed->Allocate();
  std::transform(values, values + count, changed->GetBufferPointer(), [largest](float value) {
    return value * std::exp(-3 * value / largest);
  });
  return changed;
}

/** Adds Rician noise of 3 % of the largest value, and shading of 15 % from one end to the middle along a random direction. */
Volume::Pointer
Spoil(const Volume * image, Random & random)
{
  constexpr double noise = 0.03;
  constexpr double shading = 0.15;
  const auto       count = static_cast<std::int64_t>(image->GetBufferedRegion().GetNumberOfPixels());
  const auto &     size = image->GetBufferedRegion().GetSize();
  const auto       seed = random();
  double           direction[3];
  double           length = 0;
  for (double & d : direction)
  {
    d = Uniform(random, -1, 1);
    length += d * d;
  }
  const auto spoilt = Volume::New();
  spoilt->CopyInformation(image);
  spoilt->SetRegions(image->GetBufferedRegion());
  spoilt->Allocate();
  const float * const values = image->GetBufferPointer();
  const double        largest = *std::max_element(values, values + count);
  for (std::int64_t n = 0; n < count; ++n)
  {
    const auto index = image->ComputeIndex(n);
    double     place = 0;
    for (unsigned int d = 0; d < 3; ++d)
    {
      place +=
        direction[d] / std::sqrt(length) * (2.0 * static_cast<double>(index[d]) / static_cast<double>(size[d]) - 1.0);
    }
    const auto   counter = static_cast<std::uint64_t>(n);
    const double value = values[n] * (1 + shading * place) + noise * largest * bench::GetNormalNoise(seed, 2 * counter);
    spoilt->GetBufferPointer()[n] =
      static_cast<float>(std::hypot(value, noise * largest * bench::GetNormalNoise(seed, 2 * counter + 1)));
  }
  return spoilt;
}

/** Removes up to 20 % of the slices at the lower end along the last axis, and up to 12 % at the upper end. */
Volume::Pointer
CutOff(const Volume * image, Random & random)
{
  auto       region = image->GetLargestPossibleRegion();
  const auto slices = static_cast<double>(region.GetSize(2));
  const auto below = static_cast<itk::IndexValueType>(Uniform(random, 0.06, 0.2) * slices);
  const auto above = static_cast<itk::IndexValueType>(Uniform(random, 0.0, 0.12) * slices);
  region.SetIndex(2, region.GetIndex(2) + below);
  region.SetSize(2, region.GetSize(2) - static_cast<itk::SizeValueType>(below + above));
  const auto cutting = itk::RegionOfInterestImageFilter<Volume, Volume>::New();
  cutting->SetInput(image);
  cutting->SetRegionOfInterest(region);
  cutting->Update();
  return cutting->GetOutput();
}

Volume::Pointer
Resample(const Volume *                       image,
         const example::VolumeGrid *          grid,
         const itk::Transform<double, 3, 3> * transform,
         const itk::GPUDevice &               device)
{
  const auto resampler = itk::GPUResampleImageFilter<Volume, Volume>::New();
  resampler->SetDevice(device);
  resampler->SetInput(image);
  resampler->SetTransform(transform);
  resampler->SetReferenceImage(grid);
  resampler->UseReferenceImageOn();
  resampler->Update();
  return resampler->GetOutput();
}

/** A random motion of a head, from fixed to moving points. */
struct Start
{
  Affine::Pointer truth;
  double          degrees = 0;
  double          scale = 1;
};

Start
DrawStart(const Volume::PointType & centre, Random & random)
{
  Start                  start;
  itk::Vector<double, 3> axis;
  do
  {
    for (double & a : axis)
    {
      a = Uniform(random, -1, 1);
    }
  } while (axis.GetNorm() > 1 || axis.GetNorm() < 0.1);
  start.degrees = Uniform(random, -180, 180);
  start.scale = std::exp(Uniform(random, std::log(0.8), std::log(1.25)));
  itk::Vector<double, 3> shift;
  for (double & s : shift)
  {
    s = Uniform(random, -60, 60);
  }
  start.truth = Affine::New();
  start.truth->SetCenter(centre);
  start.truth->Rotate3D(axis, start.degrees * itk::Math::pi_over_180);
  start.truth->Scale(start.scale);
  start.truth->Translate(shift);
  return start;
}

/** The problem of one start. */
struct Problem
{
  Volume::Pointer                fixed;
  Volume::Pointer                moving;
  Start                          start;
  std::vector<Volume::PointType> head; // points of the head at regular intervals
};

Problem
MakeProblem(const Case & which, std::uint64_t number, double field, const itk::GPUDevice & device)
{
  Random     random(number);
  Problem    problem;
  const auto head = example::FindHead(which.fixed);
  problem.start = DrawStart(example::GetCentre(head), random);
  for (std::size_t n = 0; n < head.size(); n += 97)
  {
    problem.head.push_back(head[n]);
  }
  auto size = which.moving->GetLargestPossibleRegion().GetSize();
  for (auto & voxels : size)
  {
    voxels = static_cast<itk::SizeValueType>(field * static_cast<double>(voxels));
  }
  const auto grid = example::MakeCentredGrid(which.moving, 1.0, size);
  problem.moving = Resample(which.moving, grid, problem.start.truth->GetInverseTransform(), device);
  problem.fixed = which.isCut ? CutOff(which.fixed, random) : which.fixed;
  if (which.isNoisy)
  {
    problem.fixed = Spoil(problem.fixed, random);
    problem.moving = Spoil(problem.moving, random);
  }
  return problem;
}

/** Returns the root mean square of equation 5 of Li 2015 over the overlap, which is where a resampled image of ones is one. */
double
ComputeRMS(const Problem & problem, const itk::Transform<double, 3, 3> * transform, const itk::GPUDevice & device)
{
  const auto ones = Volume::New();
  ones->CopyInformation(problem.moving);
  ones->SetRegions(problem.moving->GetBufferedRegion());
  ones->Allocate();
  ones->FillBuffer(1);
  const auto  image = Resample(problem.moving, problem.fixed, transform, device);
  const auto  overlap = Resample(ones, problem.fixed, transform, device);
  double      squares = 0;
  std::size_t count = 0;
  for (itk::SizeValueType n = 0; n < image->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    if (overlap->GetBufferPointer()[n] > 0.5F)
    {
      squares += std::pow(static_cast<double>(image->GetBufferPointer()[n]) - problem.fixed->GetBufferPointer()[n], 2);
      ++count;
    }
  }
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, count)));
}

double
GetError(const Method & method, const Problem & problem)
{
  return example::Compare(method.GetTransform(), problem.start.truth, problem.head).mean;
}

/** The result of a search. */
struct Outcome
{
  double      error = std::numeric_limits<double>::infinity(); // mean in the head, mm
  std::string message;                                         // of an exception; then there are no other results

  bool
  HasThrown() const
  {
    return !message.empty();
  }

  bool
  HasFailed() const
  {
    return !(error <= 1);
  }
};

/** Runs a search; a search that throws has failed, too. */
Outcome
Search(Method & method, const Problem & problem)
{
  method.SetFixedImage(problem.fixed);
  method.SetMovingImage(problem.moving);
  Outcome outcome;
  try
  {
    method.Update();
    outcome.error = GetError(method, problem);
  }
  catch (const itk::ExceptionObject & thrown)
  {
    outcome.message = std::string("exception: ") + thrown.GetDescription();
  }
  return outcome;
}

/** Returns the reason for a failure, from the cost after a start at the truth. */
std::string
Explain(Method & method, const Problem & problem, double cost)
{
  const Method::TransformType::ConstPointer given = method.GetInitialTransform();
  method.SetInitialTransform(problem.start.truth);
  method.SetSearchAngles(0, 0);
  const auto [error, message] = Search(method, problem);
  const double costThere = message.empty() ? method.GetFinalCost() : 0.0;
  method.SetInitialTransform(given);
  method.SetSearchAngles(-180, 180);
  if (!message.empty())
  {
    return "from the truth: " + message;
  }
  if (error > 1)
  {
    return "the cost leads away from the truth, by " + Format(error) + " mm";
  }
  return costThere < cost ? "the search has missed a lower cost, " + Format(costThere)
                          : "the cost is lower than at the truth, " + Format(costThere);
}

/** Describes the failure of a search that did not throw. */
std::string
Describe(Method & method, const Problem & problem, double error)
{
  const double cost = method.GetFinalCost();
  return Format(error) + " mm, cost " + Format(cost) + ": " + Explain(method, problem, cost);
}

/** Returns the initial transform of all searches, or null if there is none. */
Affine::Pointer
MakeInitialTransform(const example::CommandLine & line)
{
  if (!line.Has("--start"))
  {
    return nullptr;
  }
  const std::string name = line.Get("--start", "");
  if (name != "identity")
  {
    throw std::invalid_argument("There is no start '" + name + "'. Give identity, or leave --start out.");
  }
  return Affine::New();
}

Method::Pointer
MakeMethod(const example::CommandLine & line, const std::string & cost, const itk::GPUDevice & device)
{
  const auto method = Method::New();
  method->SetDevice(device);
  method->SetCost(cost);
  method->SetDegreesOfFreedom(line.GetNumber("--dof", 12));
  method->SetInitialTransform(MakeInitialTransform(line));
  return method;
}

std::vector<Case>
MakeCases(const example::CommandLine & line)
{
  const auto        shrink = line.GetNumber("--shrink", 1);
  const auto        read = [shrink](const std::string & name) { return Shrink(example::ReadVolume(name), shrink); };
  const auto &      words = line.GetWords();
  const auto        t1 = read(words[0]);
  const auto        t2 = read(words[1]);
  std::vector<Case> cases{ { "T1 to T1", t1, t1, false, false },
                           { "T1 to T2", t1, t2, false, false },
                           { "T2 to T1, cut off, spoilt", t2, t1, true, true },
                           { "T1 to T1, cut off, spoilt", t1, t1, true, true },
                           { "T1 to T2, cut off, spoilt", t1, t2, true, true } };
  if (line.Has("--brain"))
  {
    const auto brain = read(line.Get("--brain", ""));
    cases.push_back({ "brain to brain", brain, brain, false, true });
    cases.push_back({ "brain to another contrast", brain, ChangeContrast(brain), false, true });
  }
  return cases;
}

const Case &
FindCase(const std::vector<Case> & cases, const std::string & name)
{
  return *std::find_if(cases.begin(), cases.end(), [&name](const Case & one) { return one.name == name; });
}

/** Prints the results of all starts. \return the number of failures. */
std::size_t
PrintStarts(const example::CommandLine & line, const std::vector<Case> & cases, const itk::GPUDevice & device)
{
  const auto   starts = line.GetNumber("--starts", 200);
  const auto   first = line.GetNumber("--first", 1);
  const double field = line.GetLength("--field", 1.6);
  const auto   method = MakeMethod(line, bench::SplitAtCommas(line.Get("--cost", "CorrelationRatio")).front(), device);
  struct Tally
  {
    std::size_t starts = 0;
    std::size_t searches = 0; // searches that did not throw
    std::size_t failures = 0;
    double      errors = 0;
    double      worst = 0;
    double      seconds = 0;
  };
  std::map<std::string, Tally> tallies;
  std::size_t                  failures = 0;
  for (std::uint32_t number = first; number < first + starts; ++number)
  {
    const Case &  which = cases[number % cases.size()];
    const Problem problem = MakeProblem(which, number, field, device);
    const Outcome outcome = Search(*method, problem);
    Tally &       tally = tallies[which.name];
    ++tally.starts;
    if (!outcome.HasThrown())
    {
      ++tally.searches;
      tally.seconds += method->GetElapsedSeconds();
    }
    if (outcome.HasFailed())
    {
      ++failures;
      ++tally.failures;
      std::cout << "start " << number << ", " << which.name << ", " << Format(problem.start.degrees)
                << " degrees, scale " << Format(problem.start.scale) << ", "
                << (outcome.HasThrown() ? outcome.message : Describe(*method, problem, outcome.error)) << std::endl;
    }
    else
    {
      tally.errors += outcome.error;
      tally.worst = std::max(tally.worst, outcome.error);
    }
  }
  bench::Table table(std::to_string(starts) + " starts by " + method->GetCostName() + " on " + device.GetName(),
                     { "case", "starts", "failed", "mean error, mm", "worst but those, mm", "s" });
  for (const auto & [name, tally] : tallies)
  {
    const auto found = static_cast<double>(std::max<std::size_t>(1, tally.starts - tally.failures));
    table.AddRow({ name,
                   std::to_string(tally.starts),
                   std::to_string(tally.failures),
                   Format(tally.errors / found),
                   Format(tally.worst),
                   Format(tally.seconds / static_cast<double>(std::max<std::size_t>(1, tally.searches))) });
  }
  table.Print(std::cout);
  std::cout << failures << " of " << starts << " have failed\n\n";
  return failures;
}

void
PrintComparison(const example::CommandLine & line, const Case & which, const itk::GPUDevice & device)
{
  const auto   starts = line.GetNumber("--compare", 10);
  const auto   first = line.GetNumber("--first", 1);
  const double field = line.GetLength("--field", 1.6);
  if (starts == 0)
  {
    return;
  }
  bench::Table table("Costs, as figure 16 of Li 2015: " + std::to_string(starts) + " starts, " + which.name,
                     { "cost", "RMS, of the largest value", "mean error, mm", "failed", "s" });
  const auto   count = which.fixed->GetBufferedRegion().GetNumberOfPixels();
  const double largest = *std::max_element(which.fixed->GetBufferPointer(), which.fixed->GetBufferPointer() + count);
  for (const auto & cost :
       bench::SplitAtCommas(line.Get("--cost", "CorrelationRatio,MattesMutualInformation,NormalizedMutualInformation")))
  {
    const auto method = MakeMethod(line, cost, device);
    double     rms = 0;
    double     errors = 0;
    double     seconds = 0;
    int        failures = 0;
    int        thrown = 0;
    for (std::uint32_t number = first; number < first + starts; ++number)
    {
      const Problem problem = MakeProblem(which, number, field, device);
      const Outcome outcome = Search(*method, problem);
      failures += outcome.HasFailed();
      if (outcome.HasThrown())
      {
        ++thrown;
        std::cout << "start " << number << ", " << which.name << ", " << cost << ", " << outcome.message << std::endl;
        continue;
      }
      seconds += method->GetElapsedSeconds();
      errors += outcome.error;
      rms += ComputeRMS(problem, method->GetTransform(), device);
    }
    const auto n = std::max(1.0, static_cast<double>(starts) - thrown);
    table.AddRow(
      { cost, Format(rms / n / largest), Format(errors / n), std::to_string(failures), Format(seconds / n) });
  }
  table.Print(std::cout);
}

int
Run(const example::CommandLine & line)
{
  if (line.GetWords().size() != 2)
  {
    throw std::invalid_argument("Two images of a head are wanted, in two contrasts.");
  }
  const itk::GPUDevice    device = line.GetRegistrationSettings().device;
  const std::vector<Case> cases = MakeCases(line);
  const std::size_t       failures = PrintStarts(line, cases, device);
  // For an unchanged copy of a head the root mean square is another measure of the error: it is 0 at the truth.
  PrintComparison(line, FindCase(cases, "T1 to T1"), device);
  PrintComparison(line, FindCase(cases, "T1 to T1, cut off, spoilt"), device);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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
                                  { "--brain",
                                    "--starts",
                                    "--first",
                                    "--device",
                                    "--cost",
                                    "--dof",
                                    "--shrink",
                                    "--field",
                                    "--start",
                                    "--compare" }));
  };
  return example::RunProgram(body, Usage);
}
