// SPDX-License-Identifier: Apache-2.0
// A whole rigid registration through itk::ImageRegistrationMethodv4, with ITK's metric and with ours on
// every device: how long it takes, whose time that is, and how far it ends from the truth.
#include "CommandLine.h"
#include "Head.h"
#include "HeadPhantom.h"
#include "Registration.h"
#include "Report.h"
#include "TimedITK.h"

#include "itkEuler3DTransform.h"
#include "itkImageToImageMetricv4.h"
#include "itkMultiThreaderBase.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"
#include "itkVersion.h"

#include <sstream>

namespace
{

using namespace bench;
using example::Volume;

const char * const Usage =
  R"(Usage: RegistrationBenchmark [fixed moving] [options]
Registers rigidly on three levels, every voxel of each, with ITK's Mattes metric and with itk::CudaMattesNMI on each
device. Without files: a synthetic head of 181 x 217 x 181 voxels in two contrasts, turned and shifted.
  --truth AX,AY,AZ,TX,TY,TZ   true map from fixed to moving points: p -> Rz Ry Rx p + T about the origin, degrees and mm
  --device A,B,…              such as cuda:0,host; default: all there are
  --without-itk               leaves ITK's own metric out
  --threads N                 default: ITK's
  --repetitions N             registrations with each; default 2. The first also starts the device
  --json FILE                 writes every figure
  --help                      explains the columns
)";

const char * const Footnote =
  R"(Seconds of wall time, from loaded images to the transform. total = the metric's Initialize() + evaluations + what ITK
does itself on the host: smoothing (recursive Gaussian of both images, each level), shrinking (the virtual domain),
scales (of parameters and steps, by corner shifts), and the rest (optimizer, transform, copies of images between the
levels). The error is the distance between where the transform and the truth take the fixed image's head, in mm.
)";

using Smoothing = TimedFilter<itk::SmoothingRecursiveGaussianImageFilter<Volume, Volume>>;
using Shrinking = TimedFilter<itk::ShrinkImageFilter<Volume, Volume>>;
using Scales =
  TimedEstimator<itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Volume, Volume>>>;

struct Task
{
  Volume::Pointer             fixed;
  Volume::Pointer             moving;
  example::Transform::Pointer truth;
};

/** Six numbers, three degrees and three mm. */
itk::Euler3DTransform<double>::Pointer
MakeRigid(const std::string & text)
{
  std::istringstream    stream(text);
  std::array<double, 6> numbers{};
  char                  comma = ',';
  for (std::size_t n = 0; n < numbers.size(); ++n)
  {
    if ((n > 0 && !(stream >> comma)) || comma != ',' || !(stream >> numbers[n]))
    {
      throw std::invalid_argument("--truth wants six numbers with commas between, not " + text + '.');
    }
  }
  constexpr double degree = 3.14159265358979323846 / 180;
  const auto       transform = itk::Euler3DTransform<double>::New();
  // The angles about z, y and x are applied in the order x, y, z.
  transform->SetComputeZYX(true);
  transform->SetRotation(numbers[0] * degree, numbers[1] * degree, numbers[2] * degree);
  transform->SetTranslation(itk::Vector<double, 3>(numbers.data() + 3));
  return transform;
}

Task
MakeTask(const example::CommandLine & line)
{
  Task task;
  if (!line.GetWords().empty())
  {
    if (line.GetWords().size() != 2)
    {
      throw std::invalid_argument("Two images are wanted, or none.");
    }
    task.fixed = example::ReadVolume(line.GetWords()[0]);
    task.moving = example::ReadVolume(line.GetWords()[1]);
    task.truth = line.Has("--truth") ? MakeRigid(line.Get("--truth", "")).GetPointer() : nullptr;
    return task;
  }
  const auto  truth = MakeRigid(line.Get("--truth", "3,-2,6,8,-5,4"));
  const auto  back = truth->GetInverseTransform();
  HeadScan<3> scan;
  scan.size = { { 181, 217, 181 } };
  scan.contrast = Contrast::T2;
  task.fixed = MakeHead(scan);
  scan.contrast = Contrast::T1;
  scan.seed = 2;
  scan.toRest = [back](const auto & point) { return back->TransformPoint(point); };
  task.moving = MakeHead(scan);
  task.truth = truth;
  return task;
}

/** Where the time of one registration went, in seconds, and how well it ended. */
struct Outcome
{
  double                  total = 0;
  example::MetricTimes    metric;
  CallTimes               smoothing;
  CallTimes               shrinking;
  CallTimes               scales;
  example::TransformError error{};

  double
  GetRest() const
  {
    return total - metric.initialization - metric.evaluation - smoothing.seconds - shrinking.seconds - scales.seconds;
  }
};

Outcome
RegisterOnce(const Task & task, const example::RegistrationSettings & settings, const std::vector<Volume::PointType> & head)
{
  Smoothing::times = {};
  Shrinking::times = {};
  Scales::times = {};
  std::ostringstream       progress;
  const example::Stopwatch watch;
  const auto               result = example::Register(task.fixed, task.moving, settings, progress);
  Outcome                  outcome;
  outcome.total = watch.GetSeconds();
  outcome.metric = result.stages.front().metric;
  outcome.smoothing = Smoothing::times;
  outcome.shrinking = Shrinking::times;
  outcome.scales = Scales::times;
  if (outcome.smoothing.calls == 0 || outcome.shrinking.calls == 0 || outcome.scales.calls == 0)
  {
    throw std::runtime_error("The pipeline does not use the classes that are timed: its shares cannot be told.");
  }
  if (task.truth.IsNotNull())
  {
    outcome.error = example::Compare(result.transform, task.truth, head);
  }
  return outcome;
}

class RegistrationReport
{
public:
  explicit RegistrationReport(bool hasTruth)
    : m_HasTruth(hasTruth)
    , m_Table("Rigid registration, seconds",
              2,
              { "metric",
                "run",
                "total",
                "Initialize",
                "evaluations",
                "number",
                "smoothing",
                "shrinking",
                "scales",
                "rest",
                "mean error",
                "95%",
                "maximum" })
    , m_Rows(Json::Array())
  {}

  void
  Add(const std::string & metricName, unsigned int run, const Outcome & outcome)
  {
    const auto error = [this](double millimetres) { return m_HasTruth ? Format(millimetres) : std::string("-"); };
    m_Table.AddRow({ metricName,
                     std::to_string(run),
                     Format(outcome.total),
                     Format(outcome.metric.initialization),
                     Format(outcome.metric.evaluation),
                     std::to_string(outcome.metric.evaluations),
                     Format(outcome.smoothing.seconds),
                     Format(outcome.shrinking.seconds),
                     Format(outcome.scales.seconds),
                     Format(outcome.GetRest()),
                     error(outcome.error.mean),
                     error(outcome.error.percentile95),
                     error(outcome.error.maximum) });
    Json row = Json::Object();
    row.Add("metric", metricName)
      .Add("run", static_cast<double>(run))
      .Add("total_s", outcome.total)
      .Add("initialize_s", outcome.metric.initialization)
      .Add("evaluations_s", outcome.metric.evaluation)
      .Add("evaluations", static_cast<double>(outcome.metric.evaluations))
      .Add("smoothing_s", outcome.smoothing.seconds)
      .Add("shrinking_s", outcome.shrinking.seconds)
      .Add("scales_s", outcome.scales.seconds)
      .Add("rest_s", outcome.GetRest());
    if (m_HasTruth)
    {
      row.Add("mean_error_mm", outcome.error.mean)
        .Add("percentile95_error_mm", outcome.error.percentile95)
        .Add("maximum_error_mm", outcome.error.maximum);
    }
    m_Rows.Add(row);
  }

  void
  Print(std::ostream & os) const
  {
    m_Table.Print(os);
    os << '\n' << Footnote << std::flush;
  }

  Json
  GetJson(unsigned int threads) const
  {
    return Json::Object()
      .Add("program", "RegistrationBenchmark")
      .Add("itk_version", itk::Version::GetITKVersion())
      .Add("threads", static_cast<double>(threads))
      .Add("rows", m_Rows);
  }

private:
  bool  m_HasTruth;
  Table m_Table;
  Json  m_Rows;
};

/** ITK's metric, and ours on each device; by name. */
std::vector<std::pair<std::string, example::RegistrationSettings>>
ChooseMetrics(const example::CommandLine & line)
{
  std::vector<std::pair<std::string, example::RegistrationSettings>> metrics;
  example::RegistrationSettings                                      settings;
  settings.model = example::Model::Rigid;
  if (!line.Has("--without-itk"))
  {
    settings.usesITKMetric = true;
    metrics.emplace_back("ITK", settings);
    settings.usesITKMetric = false;
  }
  const std::string given = line.Get("--device", "");
  for (const itk::GPUDevice & device : itk::GPUDevice::GetAvailable())
  {
    if (given.empty())
    {
      settings.device = device;
      metrics.emplace_back(device.GetName(), settings);
    }
  }
  std::istringstream names(given);
  for (std::string name; std::getline(names, name, ',');)
  {
    settings.device = itk::GPUDevice::FromName(name);
    metrics.emplace_back(name, settings);
  }
  return metrics;
}

int
Run(const example::CommandLine & line)
{
  if (line.Has("--help"))
  {
    std::cout << Usage << '\n' << Footnote;
    return EXIT_SUCCESS;
  }
  const unsigned int threads = line.GetNumber("--threads", itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  const unsigned int repetitions = line.GetNumber("--repetitions", 2);
  if (threads == 0 || repetitions == 0)
  {
    throw std::invalid_argument("--threads and --repetitions want a number of at least 1.");
  }
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
  const auto metrics = ChooseMetrics(line);
  const Task task = MakeTask(line);
  const auto head = example::FindHead(task.fixed);

  const auto factory = TimingFactory::New();
  factory->Replace<Smoothing>();
  factory->Replace<Shrinking>();
  factory->Replace<Scales>();
  itk::ObjectFactoryBase::RegisterFactory(factory);

  std::cout << "ITK " << itk::Version::GetITKVersion() << ", " << threads << " threads\n";
  RegistrationReport report(task.truth.IsNotNull());
  for (const auto & [name, settings] : metrics)
  {
    std::cout << name << ": " << example::Describe(settings) << std::endl;
    for (unsigned int run = 1; run <= repetitions; ++run)
    {
      report.Add(name, run, RegisterOnce(task, settings, head));
    }
  }
  report.Print(std::cout);
  if (line.Has("--json"))
  {
    report.GetJson(threads).Write(line.Get("--json", ""));
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(example::CommandLine(argc,
                                    argv,
                                    { "--without-itk", "--help" },
                                    { "--truth", "--device", "--threads", "--repetitions", "--json" }));
  };
  return example::RunProgram(body, Usage);
}
