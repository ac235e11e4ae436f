// SPDX-License-Identifier: Apache-2.0
// Measures the registration that antsRegistration makes of two heads (rigid and affine by mutual information, then SyN by local
// correlation), with ITK's own classes and with those that New() gives after RegisterAll(), by stage, and how far apart they end.
//   AntsBenchmark [FIXED MOVING] [--internal float,double] [--device A,B,…] [--threads N] [--levels N] [--linear-only] [--without-itk]
//                [--repetitions N]
#include "AntsPipeline.h"
#include "BenchmarkOptions.h"
#include "CommandLine.h"
#include "HeadPhantom.h"
#include "Median.h"
#include "Table.h"
#include "Volume.h"

#include "itkAffineTransform.h"
#include "itkGPURegistrationFactory.h"
#include "itkMath.h"

#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using bench::Format;
using bench::FormatScientific;
using example::AntsResult;
using example::Volume;

constexpr char Usage[] =
  "Usage: AntsBenchmark [FIXED MOVING] [--internal float,double] [--device A,B,...] [--threads N] [--levels N]\n"
  "                    [--linear-only] [--without-itk] [--repetitions N]\n";

constexpr char Footnote[] =
  R"(Seconds of each stage, from loaded images: medians of --repetitions runs. antsRegistration's internal type is double, and float with
--float 1. "apart" is the distance between where a row and ITK's own classes of the same type take the fixed image's voxels, mm;
"from double", that from ITK's own classes of double. --levels N keeps the N coarsest levels of 8, 4, 2 and 1 voxels; --linear-only
leaves out SyN; --without-itk leaves out ITK's own classes, and so the distances.
Without images: phantoms of 181 x 217 x 181 voxels, T1 both, one of them rotated, shifted and scaled.
)";

void
PrintHelp()
{
  std::cout << Usage << Footnote;
}

struct Pair
{
  Volume::Pointer fixed;
  Volume::Pointer moving;
};

Pair
MakePair(const std::vector<std::string> & files)
{
  if (!files.empty())
  {
    if (files.size() != 2)
    {
      throw std::invalid_argument("Two images are wanted, or none.");
    }
    return { example::ReadVolume(files[0]), example::ReadVolume(files[1]) };
  }
  bench::HeadScan<3> scan;
  scan.size = { { 181, 217, 181 } };
  Pair pair;
  pair.fixed = bench::MakeHead(scan);
  const auto toRest = itk::AffineTransform<double, 3>::New();
  toRest->Rotate(0, 1, 6 * itk::Math::pi_over_180);
  toRest->Scale(1.04);
  toRest->Translate(itk::Vector<double, 3>(4.0));
  scan.seed = 2;
  scan.toRest = [toRest](const Volume::PointType & point) { return toRest->TransformPoint(point); };
  pair.moving = bench::MakeHead(scan);
  return pair;
}

/** Registers the pair some times. \returns the last result, with the stages' median times */
AntsResult
Measure(const Pair & pair, const example::AntsSettings & settings, const std::string & internal, unsigned int times)
{
  AntsResult                       result;
  std::vector<std::vector<double>> seconds;
  for (unsigned int n = 0; n < times; ++n)
  {
    result = internal == "float" ? example::RegisterAsAnts<float>(pair.fixed, pair.moving, settings)
                                 : example::RegisterAsAnts<double>(pair.fixed, pair.moving, settings);
    seconds.resize(result.stages.size());
    for (std::size_t stage = 0; stage < seconds.size(); ++stage)
    {
      seconds[stage].push_back(result.stages[stage].seconds);
    }
  }
  for (std::size_t stage = 0; stage < seconds.size(); ++stage)
  {
    result.stages[stage].seconds = bench::GetMedian(seconds[stage]);
  }
  return result;
}

int
Run(const example::CommandLine & line)
{
  const bench::Hardware hardware = bench::ChooseHardware(line);
  const Pair            pair = MakePair(line.GetWords());
  const auto            times = line.GetNumber("--repetitions", 1);
  example::AntsSettings settings;
  const std::size_t     levels = line.GetNumber("--levels", 4);
  if (levels < 1 || levels > settings.linearLevels.size())
  {
    throw std::invalid_argument("--levels is from 1 to 4.");
  }
  settings.linearLevels.resize(levels);
  settings.synLevels.resize(line.Has("--linear-only") ? 0 : levels);

  bench::Table table("Seconds by stage, and mm apart",
                     { "row", "rigid", "affine", "SyN", "apart, mean", "apart, most", "from double, mean", "most" });
  const auto   add =
    [&](const std::string & name, const AntsResult & result, const AntsResult * itks, const AntsResult * exact) {
      std::vector<std::string> row{ name };
      for (const example::AntsStage & stage : result.stages)
      {
        row.push_back(Format(stage.seconds));
      }
      row.resize(4, bench::Table::none);
      for (const AntsResult * other : { itks, exact })
      {
        const bool isThere = other != nullptr && other != &result;
        const auto apart = isThere ? example::Compare(result, *other) : example::AntsDifference{};
        row.push_back(isThere ? FormatScientific(apart.mean) : bench::Table::none);
        row.push_back(isThere ? FormatScientific(apart.maximum) : bench::Table::none);
      }
      table.AddRow(row);
      std::cout << name << " is done." << std::endl;
    };

  const bool                withITK = !line.Has("--without-itk");
  std::optional<AntsResult> exact;
  for (const std::string & internal : bench::SplitAtCommas(line.Get("--internal", "double,float")))
  {
    if (internal != "double" && internal != "float")
    {
      throw std::invalid_argument("--internal is float, double or both.");
    }
    std::optional<AntsResult> itks;
    if (withITK)
    {
      itks = Measure(pair, settings, internal, 1);
      if (internal == "double")
      {
        exact = itks;
      }
      add("ITK/" + internal, *itks, nullptr, internal == "float" && exact ? &*exact : nullptr);
    }
    for (const itk::GPUDevice & device : hardware.devices)
    {
      itk::GPUDevice::SetDefault(device);
      itk::GPURegistrationFactory::RegisterAll();
      const AntsResult ours = Measure(pair, settings, internal, times);
      itk::GPURegistrationFactory::UnRegisterAll();
      add(device.GetName() + '/' + internal, ours, itks ? &*itks : nullptr, exact ? &*exact : nullptr);
    }
  }
  table.Print(std::cout);
  std::cout << '\n' << Footnote;
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
                                  { "--internal", "--device", "--threads", "--levels", "--repetitions" },
                                  { "--linear-only", "--without-itk" }));
  };
  return example::RunProgram(body, Usage);
}
