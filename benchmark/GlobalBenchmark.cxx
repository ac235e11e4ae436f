// SPDX-License-Identifier: Apache-2.0
// Measures the time of a global search of two heads (Li 2015, section 2.2), by stage, and what each stage waits for.
//   GlobalBenchmark [FIXED MOVING] [--device A,B,…] [--threads N] [--cost A,B,…] [--dof N] [--optimizer A,B,…] [--repetitions N]
// Without images: T1 phantoms of 256 × 256 × 160 voxels of 1 mm, one of them rotated by 65 degrees, shifted and scaled.
#include "BenchmarkOptions.h"
#include "CommandLine.h"
#include "Head.h"
#include "HeadPhantom.h"
#include "Median.h"
#include "Table.h"
#include "Volume.h"

#include "itkGlobalAffineRegistrationMethod.h"
#include "itkMath.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{
using bench::Format;
using example::Volume;
using Method = itk::GlobalAffineRegistrationMethod<Volume, Volume>;

constexpr char Usage[] =
  "Usage: GlobalBenchmark [FIXED MOVING] [--device A,B,...] [--threads N] [--cost A,B,...] [--dof N]\n"
  "                       [--optimizer A,B,...] [--repetitions N]\n";

constexpr char Footnote[] =
  R"(The first search in a process has the device begin, compile or load its kernels, and find memory; the others, of which medians
are given, find it. "levels" smooths and thins both images; "as called" is Update(), with the images' way to the device.
evaluations   of the cost, with and without its derivative: those of a round are one batch on a device
batches       batches, or single evaluations with derivatives: each is waited for, which bounds a stage of few samples
Li 2015, section 4.3, two heads of 256 x 256 x 160: 2.63 s on a GTX TITAN, 145.3 s on one core of an Intel Q8300. FSL's flirt, of
two such heads, 8.5 minutes, as Ansorge 2008 cites it. Its schemes, those of table 5, sum one evaluation: Li2015Tables has ours.
)";

void
PrintHelp()
{
  std::cout << Usage << Footnote;
}

struct Pair
{
  Volume::Pointer             fixed;
  Volume::Pointer             moving;
  example::Transform::Pointer truth; // null if unknown
};

Pair
MakePhantoms()
{
  bench::HeadScan<3> scan;
  scan.size = { { 256, 256, 160 } };
  Pair pair;
  pair.fixed = bench::MakeHead(scan);
  const auto                      truth = itk::AffineTransform<double, 3>::New();
  itk::Vector<double, 3>          axis(1.0);
  itk::ContinuousIndex<double, 3> middle;
  Volume::PointType               centre;
  for (unsigned int d = 0; d < 3; ++d)
  {
    middle[d] = 0.5 * (static_cast<double>(scan.size[d]) - 1.0);
  }
  pair.fixed->TransformContinuousIndexToPhysicalPoint(middle, centre);
  axis[1] = -0.4;
  truth->SetCenter(centre);
  truth->Rotate3D(axis, 65 * itk::Math::pi_over_180);
  truth->Scale(0.9);
  truth->Translate(itk::Vector<double, 3>(8.0));
  const auto toRest = truth->GetInverseTransform();
  scan.seed = 2;
  scan.toRest = [toRest](const Volume::PointType & point) { return toRest->TransformPoint(point); };
  pair.moving = bench::MakeHead(scan);
  pair.truth = truth.GetPointer();
  return pair;
}

/** Times of one search. */
struct Times
{
  std::vector<double> stages;
  double              loaded = 0; // with the images on the device already
  double              called = 0;
};

Times
Measure(Method & method)
{
  method.Modified();
  const auto start = std::chrono::steady_clock::now();
  method.Update();
  Times times;
  times.called = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  times.loaded = method.GetElapsedSeconds();
  for (unsigned int stage = 0; stage < method.GetNumberOfStages(); ++stage)
  {
    times.stages.push_back(method.GetStageSeconds(stage));
  }
  return times;
}

template <typename TGet>
double
ComputeMedian(const std::vector<Times> & runs, const TGet & get)
{
  std::vector<double> values;
  for (const Times & run : runs)
  {
    values.push_back(get(run));
  }
  return bench::GetMedian(values);
}

/** Measures a search, and prints its times. Returns the seconds that it takes with the images on the device already. */
double
PrintSearch(Method & method, const Pair & pair, const std::string & title, std::uint32_t repetitions)
{
  const Times        first = Measure(method);
  std::vector<Times> runs;
  for (std::uint32_t n = 0; n < repetitions; ++n)
  {
    runs.push_back(Measure(method));
  }
  bench::Table table(title, { "stage", "ms", "first, ms", "evaluations", "batches", "us a batch", "least cost" });
  for (unsigned int stage = 0; stage < method.GetNumberOfStages(); ++stage)
  {
    const double seconds = ComputeMedian(runs, [stage](const Times & run) { return run.stages[stage]; });
    const auto   batches = static_cast<double>(method.GetStageBatches(stage));
    table.AddRow({ method.GetStageName(stage),
                   Format(1e3 * seconds),
                   Format(1e3 * first.stages[stage]),
                   std::to_string(method.GetStageEvaluations(stage)),
                   std::to_string(method.GetStageBatches(stage)),
                   batches > 0 ? Format(1e6 * seconds / batches) : bench::Table::none,
                   Format(method.GetStageCost(stage)) });
  }
  const auto addWhole = [&](const std::string & name, double Times::*seconds) {
    table.AddRow({ name,
                   Format(1e3 * ComputeMedian(runs, [seconds](const Times & run) { return run.*seconds; })),
                   Format(1e3 * first.*seconds),
                   bench::Table::none,
                   bench::Table::none,
                   bench::Table::none,
                   bench::Table::none });
  };
  addWhole("from loaded images", &Times::loaded);
  addWhole("as called", &Times::called);
  table.Print(std::cout);
  if (pair.truth != nullptr)
  {
    std::cout << "error in the head: "
              << example::Compare(method.GetTransform(), pair.truth, example::FindHead(pair.fixed)) << '\n';
    const double cost = method.GetFinalCost();
    method.SetInitialTransform(pair.truth);
    method.SetSearchAngles(0, 0);
    method.Update();
    std::cout << "cost " << Format(cost) << "; refined from the truth " << Format(method.GetFinalCost()) << ", error "
              << example::Compare(method.GetTransform(), pair.truth, example::FindHead(pair.fixed)) << '\n';
  }
  std::cout << '\n';
  return ComputeMedian(runs, [](const Times & run) { return run.loaded; });
}

/** Times of whole searches, by cost and optimizer, and device. */
using Seconds = std::map<std::pair<std::string, std::string>, double>;

/** Prints speedups as in section 4.3 of Li 2015: its figure 15 gives no numbers but these, its table 5 speedups over one core, by
 *  scheme. */
void
PrintSpeedups(const Seconds & seconds)
{
  bench::Table table("Li 2015, section 4.3 and table 5: whole searches", { "", "s", "speedup over the host" });
  for (const auto & [key, time] : seconds)
  {
    const auto host = seconds.find({ key.first, "host" });
    table.AddRow({ key.first + ", " + key.second,
                   Format(time),
                   host != seconds.end() ? Format(host->second / time) : bench::Table::none });
  }
  table.AddRow({ "paper: correlation ratio, a core of an Intel Q8300", "145.3", "1" });
  table.AddRow({ "paper: conflict_free, Kepler", "2.63", "55.3" });
  table.AddRow({ "paper: conflict_free, Fermi; Maxwell", bench::Table::none, "31.6; 28.4" });
  table.AddRow({ "paper: shared_atomic, Fermi; Kepler; Maxwell", bench::Table::none, "19.5; 25.3; 11.3" });
  table.AddRow({ "paper: shared_merge", bench::Table::none, "11.7; 15.9; 10.1" });
  table.AddRow({ "paper: shared_warp", bench::Table::none, "18.5; 20.9; 11.7" });
  table.AddRow({ "paper: global_atomic", bench::Table::none, "3.3; 14.2; 13.7" });
  table.AddRow({ "paper: global_merge", bench::Table::none, "1.8; 1.6; 5.4" });
  table.Print(std::cout);
  std::cout << '\n';
}

int
Run(const example::CommandLine & line)
{
  const auto & words = line.GetWords();
  if (!words.empty() && words.size() != 2)
  {
    throw std::invalid_argument("Two images are wanted, or none.");
  }
  const bench::Hardware hardware = bench::ChooseHardware(line);
  const Pair            pair =
    words.empty() ? MakePhantoms() : Pair{ example::ReadVolume(words[0]), example::ReadVolume(words[1]), nullptr };
  Seconds seconds;
  for (const itk::GPUDevice & device : hardware.devices)
  {
    for (const auto & cost : bench::SplitAtCommas(line.Get("--cost", "CorrelationRatio")))
    {
      for (const auto & optimizer : bench::SplitAtCommas(line.Get("--optimizer", "QuasiNewton")))
      {
        const auto method = Method::New();
        method->SetDevice(device);
        method->SetNumberOfWorkUnits(hardware.threads);
        method->SetFixedImage(pair.fixed);
        method->SetMovingImage(pair.moving);
        method->SetCost(cost);
        method->SetOptimizer(optimizer);
        method->SetDegreesOfFreedom(line.GetNumber("--dof", 12));
        const bool        isHost = device.GetName() == "host";
        const std::string way = cost + ", " + optimizer;
        seconds[{ way, device.GetName() }] =
          PrintSearch(*method,
                      pair,
                      way + ", " + device.GetName() + " (" + device.GetDescription() + ')',
                      std::max(1u, line.GetNumber("--repetitions", isHost ? 1 : 5)));
      }
    }
  }
  PrintSpeedups(seconds);
  std::cout << Footnote;
  return EXIT_SUCCESS;
}
} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(bench::ReadOptions(
      argc, argv, {}, PrintHelp, { "--device", "--threads", "--cost", "--dof", "--optimizer", "--repetitions" }));
  };
  return example::RunProgram(body, Usage);
}
