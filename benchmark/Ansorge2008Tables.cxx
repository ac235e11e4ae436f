// SPDX-License-Identifier: Apache-2.0
// Repeats the measurements of Ansorge 2008: one evaluation, and whole registrations by the downhill simplex, of two volumes of 240×256×176
// voxels; prints the paper's numbers beside them.
#include "BenchmarkOptions.h"
#include "Head.h"
#include "HeadPhantom.h"
#include "Median.h"
#include "Registration.h"
#include "Table.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace
{

using namespace bench;
using example::Measure;
using example::Model;
using example::Volume;

/** Section 3 and figure 2: absolute differences on an NVIDIA 9600, and FSL on a Xeon of 2.4 GHz. */
namespace Ansorge2008
{
constexpr double EvaluationMilliseconds = 6.7;
constexpr double RigidEvaluations = 354;
constexpr double RigidSeconds = 2.39;
constexpr double RigidSecondsOfFSL = 270;
constexpr double AffineSeconds = 6;
constexpr double AffineSecondsOfFSL = 510;
} // namespace Ansorge2008

const char * const Usage =
  R"(Usage: Ansorge2008Tables [options]
Registers two heads of 240 x 256 x 176 voxels of one contrast by the downhill simplex, as Ansorge 2008 does, on each
device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of the host device; default: ITK's
  --repetitions N    of each registration, of which the median is printed; default: 5
)";

const char * const Footnote =
  R"(Every figure is of one run of this program, the median over the repetitions, from loaded images; the first registration
on a device, which starts it, is not counted. The moving head is the fixed one, scanned again, turned by up to 6 degrees and
shifted by up to 8 mm. rigid: 6 parameters; affine: 12, from where the rigid one ended, and the rigid one's time is in it.
  evaluation  ms, as called, of the last stage: its evaluations' time by their number
  seconds     of the whole registration, the metric's Initialize() in them
  error       mean distance in the head from where the truth takes it, mm
  paper       what Ansorge 2008 says, of absolute differences; FSL: of FSL 4.1 beside, in seconds
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
}

struct Task
{
  Volume::Pointer                   fixed;
  Volume::Pointer                   moving;
  example::LinearTransform::Pointer truth;
};

Task
MakeTask()
{
  const auto truth = itk::AffineTransform<double, 3>::New();
  truth->Rotate(0, 1, 0.105);
  truth->Rotate(1, 2, -0.05);
  itk::Vector<double, 3> shift;
  shift[0] = 8;
  shift[1] = -5;
  shift[2] = 4;
  truth->Translate(shift);
  const auto  back = truth->GetInverseTransform();
  HeadScan<3> scan;
  scan.size = { { 240, 256, 176 } };
  scan.contrast = Contrast::T1;
  Task task;
  task.fixed = MakeHead(scan);
  scan.seed = 2;
  scan.toRest = [back](const auto & point) { return back->TransformPoint(point); };
  task.moving = MakeHead(scan);
  task.truth = truth;
  return task;
}

void
AddRow(Table & table, const Task & task, const example::RegistrationSettings & settings, unsigned int repetitions)
{
  std::vector<double>         seconds, evaluation;
  example::RegistrationResult result;
  for (unsigned int n = 0; n <= repetitions; ++n)
  {
    std::ostringstream       progress;
    const example::Stopwatch watch;
    result = example::Register(task.fixed, task.moving, settings, progress);
    const example::MetricTimes & metric = result.stages.back().metric;
    if (n > 0)
    {
      seconds.push_back(watch.GetSeconds());
      evaluation.push_back(1000 * metric.evaluation / metric.evaluations);
    }
  }
  unsigned int evaluations = 0;
  for (const example::StageReport & stage : result.stages)
  {
    evaluations += stage.metric.evaluations;
  }
  const bool        isRigid = settings.model == Model::Rigid;
  const bool        isPapers = settings.measure == Measure::MeanAbsoluteDifferences;
  const double      error = example::Compare(result.transform, task.truth, example::FindHead(task.fixed)).mean;
  const auto        paper = [isPapers](double figure) { return isPapers ? Format(figure) : Table::none; };
  const std::string name = settings.measure == Measure::Correlation   ? "correlation"
                           : settings.measure == Measure::MeanSquares ? "mean squares"
                                                                      : "absolute differences";
  table.AddRow({ name + ", " + (isRigid ? "rigid" : "affine") + ", " + settings.device.GetName(),
                 Format(GetMedian(evaluation)),
                 isRigid ? paper(Ansorge2008::EvaluationMilliseconds) : Table::none,
                 Format(evaluations),
                 isRigid ? paper(Ansorge2008::RigidEvaluations) : Table::none,
                 Format(GetMedian(seconds)),
                 paper(isRigid ? Ansorge2008::RigidSeconds : Ansorge2008::AffineSeconds),
                 paper(isRigid ? Ansorge2008::RigidSecondsOfFSL : Ansorge2008::AffineSecondsOfFSL),
                 Format(error) });
}

int
Run(const example::CommandLine & line)
{
  const Hardware hardware = ChooseHardware(line);
  const auto     repetitions = std::max<std::uint32_t>(1, line.GetNumber("--repetitions", 5));
  const Task     task = MakeTask();
  Table          table(
    "Registration by the downhill simplex, 240×256×176 voxels, every one a sample",
    { "metric, model, device", "evaluation", "paper", "evaluations", "paper", "seconds", "paper", "FSL", "error" });
  for (const itk::GPUDevice & device : hardware.devices)
  {
    for (const Measure measure : { Measure::MeanAbsoluteDifferences, Measure::MeanSquares, Measure::Correlation })
    {
      for (const Model model : { Model::Rigid, Model::Affine })
      {
        example::RegistrationSettings settings;
        settings.device = device;
        settings.measure = measure;
        settings.model = model;
        settings.search = example::Search::Simplex;
        AddRow(table, task, settings, repetitions);
      }
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
    return Run(ReadOptions(argc, argv, {}, PrintHelp, { "--device", "--threads", "--repetitions" }));
  };
  return example::RunProgram(body, Usage);
}
