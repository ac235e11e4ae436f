// SPDX-License-Identifier: Apache-2.0
// Measures a whole rigid registration through itk::ImageRegistrationMethodv4, with ITK's metric and with ours on every device: its time, by
// part, and its distance from the truth.
#include "BenchmarkOptions.h"
#include "Head.h"
#include "HeadPhantom.h"
#include "Registration.h"
#include "SideBySide.h"
#include "TimedITK.h"
#include "VolumeMetrics.h"

#include "itkEuler3DTransform.h"
#include "itkGPURegistrationFactory.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"
#include "itkRegistrationParameterScalesFromPhysicalShift.h"
#include "itkShrinkImageFilter.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace
{

using namespace bench;
using example::Volume;

const char * const Usage =
  R"(Usage: RegistrationBenchmark [fixed moving] [options]
Registers rigidly on three levels, every voxel of each, with ITK's Mattes metric and with itk::CudaMattesNMI, not
normalised, on each device: the same mutual information. Without files: a synthetic head of 181 x 217 x 181 voxels in two contrasts, turned and shifted.
  --truth AX,AY,AZ,TX,TY,TZ   true map from fixed to moving points: p -> Rz Ry Rx p + T about the origin, degrees and mm
  --device A,B,…              such as cuda:0,host; default: all there are
  --threads N                 default: ITK's
Rows are Registration/ITK, Registration/DEVICE and, where the device has yet to start, Registration/DEVICE/first; and
Registration/DEVICE/all, where the module's filters smooth and shrink, too; and Registration/DEVICE/unmodified, where the metric
looks at the images' values at each evaluation besides, as one that ITK's New() gives after RegisterAll() does.
Google Benchmark's options choose among them (--benchmark_filter=-ITK leaves ITK out), say how often each is repeated
(--benchmark_repetitions=3) and write every figure as JSON (--benchmark_out=FILE).
)";

const char * const Footnote =
  R"(Medians of wall time, from loaded images to the transform. The whole = the metric's Initialize() + evaluations + what
ITK does itself: smoothing (recursive Gaussian of both images, each level), shrinking (the virtual domain),
scales (of parameters and steps, by corner shifts), and the rest (optimizer, transform, copies of images between the
levels). These are the host's work, but with all of the module's classes (first, all, unmodified), where smoothing and shrinking are done
on the device. The error is the distance between where the transform and the truth take the fixed image's head.
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

using Smoothing = itk::SmoothingRecursiveGaussianImageFilter<Volume, Volume>;
using Shrinking = itk::ShrinkImageFilter<Volume, Volume>;
using TimedSmoothing = TimedFilter<Smoothing>;
using TimedShrinking = TimedFilter<Shrinking>;
using DeviceSmoothing =
  TimedFilter<itk::GPUOverride<Smoothing, itk::GPUSmoothingRecursiveGaussianImageFilter<Volume, Volume>>>;
using DeviceShrinking = TimedFilter<itk::GPUOverride<Shrinking, itk::GPUShrinkImageFilter<Volume, Volume>>>;
using TimedScales =
  TimedEstimator<itk::RegistrationParameterScalesFromPhysicalShift<itk::ImageToImageMetricv4<Volume, Volume>>>;

/** Overrides ITK's filters by timed ones, for one row. */
class TimedFilters
{
public:
  /** \param onDevice true for this module's filters, on the default device. */
  explicit TimedFilters(bool onDevice)
    : m_Smoothing(onDevice ? DeviceSmoothing::times : TimedSmoothing::times)
    , m_Shrinking(onDevice ? DeviceShrinking::times : TimedShrinking::times)
  {
    if (onDevice)
    {
      m_Factory->Replace<DeviceSmoothing, Smoothing>();
      m_Factory->Replace<DeviceShrinking, Shrinking>();
    }
    else
    {
      m_Factory->Replace<TimedSmoothing>();
      m_Factory->Replace<TimedShrinking>();
    }
    m_Factory->Replace<TimedScales>();
    itk::ObjectFactoryBase::RegisterFactory(m_Factory);
    m_Smoothing = m_Shrinking = TimedScales::times = {};
  }
  ~TimedFilters()
  {
    itk::ObjectFactoryBase::UnRegisterFactory(m_Factory);
  }
  TimedFilters(const TimedFilters &) = delete;
  TimedFilters &
  operator=(const TimedFilters &) = delete;

  /** Returns the time of each filter.
   *  \throws std::runtime_error if one of them was not called. */
  std::vector<std::pair<const char *, double>>
  GetSeconds() const
  {
    if (m_Smoothing.calls == 0 || m_Shrinking.calls == 0 || TimedScales::times.calls == 0)
    {
      throw std::runtime_error(
        "The pipeline does not use the classes that are timed: its shares of the time are not known.");
    }
    return { { "smoothing_ms", m_Smoothing.seconds },
             { "shrinking_ms", m_Shrinking.seconds },
             { "scales_ms", TimedScales::times.seconds } };
  }

private:
  const TimingFactory::Pointer m_Factory = TimingFactory::New();
  CallTimes &                  m_Smoothing;
  CallTimes &                  m_Shrinking;
};

struct Task
{
  Volume::Pointer             fixed;
  Volume::Pointer             moving;
  example::Transform::Pointer truth;
  /** Points of the fixed image's head. */
  std::vector<Volume::PointType> head;
};

/** Returns a transform of six numbers: three angles in degrees and three translations in mm. */
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
    task.head = example::FindHead(task.fixed);
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
  task.head = example::FindHead(task.fixed);
  return task;
}

void
MeasureRegistration(benchmark::State &                    state,
                    const Task &                          task,
                    const example::RegistrationSettings & settings,
                    bool                                  filtersOnDevice)
{
  itk::GPUDevice::SetDefault(settings.device);
  const TimedFilters          filters(filtersOnDevice);
  std::ostringstream          progress;
  example::RegistrationResult result;
  double                      whole = 0;
  for (auto _ : state)
  {
    const example::Stopwatch watch;
    result = example::Register(task.fixed, task.moving, settings, progress);
    whole += watch.GetSeconds();
  }
  const example::MetricTimes & metric = result.stages.front().metric;

  auto stages = filters.GetSeconds();
  stages.insert(stages.begin(),
                { { "initialize_ms", metric.initialization }, { "evaluations_ms", metric.evaluation } });
  double rest = whole;
  for (const auto & [name, seconds] : stages)
  {
    state.counters[name] = 1000 * seconds;
    rest -= seconds;
  }
  state.counters["rest_ms"] = 1000 * rest;
  state.counters["evaluations"] = metric.evaluations;
  if (task.truth.IsNotNull())
  {
    const example::TransformError error = example::Compare(result.transform, task.truth, task.head);
    state.counters["mean_mm"] = error.mean;
    state.counters["95%_mm"] = error.percentile95;
    state.counters["maximum_mm"] = error.maximum;
  }
  state.SetLabel(example::Describe(settings));
}

int
Run(const example::CommandLine & line)
{
  const Hardware hardware = ChooseHardware(line);
  const Task     task = MakeTask(line);

  SideBySide table(
    { { "mean_mm", 0.1 } },
    { { "Stages",
        { "initialize_ms", "evaluations_ms", "evaluations", "smoothing_ms", "shrinking_ms", "scales_ms", "rest_ms" } },
      { "Error", { "mean_mm", "95%_mm", "maximum_mm" } } },
    Footnote);
  example::RegistrationSettings settings;
  settings.model = example::Model::Rigid;
  const auto add = [&](const std::string & name, bool filtersOnDevice = false) {
    const auto measure = [&task, settings, filtersOnDevice](auto & state) {
      MeasureRegistration(state, task, settings, filtersOnDevice);
    };
    return table.Register("Registration/" + name, measure)->Iterations(1);
  };
  settings.measure = example::Measure::ITKMattes;
  add("ITK");
  settings.measure = example::Measure::MutualInformation;
  for (const itk::GPUDevice & device : hardware.devices)
  {
    settings.device = device;
    add(device.GetName() + "/first", true)->Repetitions(1);
    add(device.GetName());
    add(device.GetName() + "/all", true);
    settings.trustsTimeStamps = false;
    add(device.GetName() + "/unmodified", true);
    settings.trustsTimeStamps = true;
  }
  return table.Measure();
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(
      ReadOptions(argc, argv, { "--benchmark_repetitions=3" }, PrintHelp, { "--truth", "--device", "--threads" }));
  };
  return example::RunProgram(body, Usage);
}
