// SPDX-License-Identifier: Apache-2.0
// Repeats table 1 of Modat 2010, function by function, and its whole registration: the host's threads and each device, with their ratio and
// the paper's.
#include "BenchmarkOptions.h"
#include "DeformationError.h"
#include "DisplacementField.h"
#include "HeadPhantom.h"
#include "KernelTime.h"
#include "KnownDeformation.h"
#include "Median.h"
#include "Stopwatch.h"
#include "Table.h"
#include "VolumeMetrics.h"

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "gpureg/penalty/ControlPenalty.h"
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkGPUBSplinePenaltyMetric.h"
#include "itkGPUResampleImageFilter.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkDisplacementFieldTransform.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace
{

using namespace bench;
using example::Volume;
using Method = itk::FreeFormDeformationRegistrationMethod<Volume, Volume>;
using FieldTransform = itk::DisplacementFieldTransform<double, 3>;

/** Section 3.1 and table 1: an NVIDIA 8800 GTX beside one core of a processor of 3 GHz. */
namespace Modat2010
{
const std::string Field = "11.27";
const std::string Linear = "12.83";
const std::string Cubic = "10.12";
const std::string Bending = "9.13";
const std::string SimilarityGradient = "26.30";
const std::string BendingGradient = "13.33";
const std::string Whole = "9.89";
const std::string WholeSeconds = "42";
} // namespace Modat2010

const char * const Usage =
  R"(Usage: Modat2010Tables [options]
Times the functions of a free-form deformation of 181 x 217 x 181 voxels by 40 x 44 x 40 control points, and a whole
registration, on host threads and on each device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of the host device; default: ITK's
  --repetitions N    of each function, of which the median is printed; default: 5
  --registrations N  of each whole registration behind its first one; default: 3, on the host 0
  --functions        the functions alone, for on few cores the whole registrations take minutes
  --divide N         images of an N-th of the paper's size along each axis, to try the program; default: 1
)";

const char * const Footnote =
  R"(Every figure is of one run of this program, the median over the repetitions. The images are a phantom's T1 head with noise
in the air, and the same deformed by a B-spline of 15 mm at most. Functions are called along the deformation that was found.
  kernels   ms on the device, by its events; host: the loops
  called    ms, from and to the host's memory, the images on the device already
  ratio     host's kernels over this device's; of whole registrations, its seconds over theirs
  paper     Modat 2010, table 1: one core of a processor of 3 GHz over an NVIDIA 8800 GTX
The field is float[3] a voxel. Both resamplers read a field on the image's own grid, by eight vectors a voxel, for it might be of
another grid. NMI is of 64 bins; its gradient is that by all control points, with the field, the histogram and the value, which the
paper finds elsewhere. Bending energy and its gradient are at the control points; as called, these go up, and the gradient comes down;
as a metric they are itk::GPUBSplinePenaltyMetric's, from the transform's parameters to the derivative by them.
Whole registrations begin with images in the host's memory and end with the transform and the warped image, in s; all voxels, NMI, a
bending weight of 0.01. Conjugate gradients are the paper's, of three levels and 300 lines each at most, which end where no trial leads
down; Adam's are 100 steps on each of four levels, what the method does by default.
  error     mean distance in the head from where the truth takes it, mm
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
}

struct Options
{
  Hardware     hardware;
  unsigned int repetitions;
  unsigned int registrations;
  unsigned int divisor;
};

/** Returns the spacing in mm, with which the paper's 181×217×181 voxels have 40×44×40 control points. */
Method::SpacingType
GetSpacing()
{
  Method::SpacingType spacing;
  spacing.Fill(5);
  spacing[1] = 5.3;
  return spacing;
}

/** The input of every function. */
struct Task
{
  Volume::Pointer                    fixed;
  Volume::Pointer                    moving;
  example::Transform::Pointer        truth;
  Method::DeformationType::Pointer   found;
  FieldTransform::Pointer            field;
  gpureg::ControlGrid                grid;
  std::vector<std::array<double, 3>> points;
};

Method::Pointer
MakeMethod(const Task & task, const itk::GPUDevice & device)
{
  const auto method = Method::New();
  method->SetDevice(device);
  method->SetFixedImage(task.fixed);
  method->SetMovingImage(task.moving);
  method->SetControlPointSpacing(GetSpacing());
  return method;
}

void
TakeControlPoints(const Method::DeformationType & spline, Task & task)
{
  const auto images = spline.GetCoefficientImages();
  const auto size = images[0]->GetBufferedRegion().GetSize();
  task.grid.size = { static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2]) };
  for (unsigned int d = 0; d < 3; ++d)
  {
    task.grid.indexToPhysical[4 * d] = images[0]->GetSpacing()[d];
  }
  task.points.resize(images[0]->GetBufferedRegion().GetNumberOfPixels());
  for (std::size_t n = 0; n < task.points.size(); ++n)
  {
    for (unsigned int d = 0; d < 3; ++d)
    {
      task.points[n][d] = images[d]->GetBufferPointer()[n];
    }
  }
}

Task
MakeTask(const Options & options)
{
  HeadScan<3> scan;
  for (unsigned int d = 0; d < 3; ++d)
  {
    scan.size[d] = (d == 1 ? 217 : 181) / options.divisor;
  }
  Task task;
  task.moving = MakeHead(scan);
  const auto known = example::MakeKnownDeformation(task.moving, example::DeformationKind::BSpline, 100);
  task.truth = known.transform;
  task.fixed = example::MakeDeformedPair(task.moving, task.truth).fixed;
  const auto method = MakeMethod(task, options.hardware.devices.front());
  method->SetNumberOfIterations(10);
  method->Update();
  task.found = method->GetDeformation()->Clone();
  task.field = FieldTransform::New();
  task.field->SetDisplacementField(method->GetDisplacementField());
  TakeControlPoints(*task.found, task);
  return task;
}

/** Times of a function, in ms. */
struct Times
{
  double kernels = 0;
  double called = 0;
};

/** Measures a function. \param call calls it. \param measure switches the timing of kernels on or off for later calls. \param kernels
 *  returns the kernels' time of the last call. */
template <typename TCall, typename TMeasure, typename TKernels>
Times
MeasureCalls(unsigned int repetitions, const TCall & call, const TMeasure & measure, const TKernels & kernels)
{
  std::vector<double> called, ofKernels;
  // Measured separately, so that the events affect no other figure.
  for (const bool measuresKernels : { false, true })
  {
    measure(measuresKernels);
    call();
    for (unsigned int n = 0; n < repetitions; ++n)
    {
      const example::Stopwatch watch;
      call();
      (measuresKernels ? ofKernels : called).push_back(measuresKernels ? kernels() : 1000 * watch.GetSeconds());
    }
  }
  return { GetMedian(ofKernels), GetMedian(called) };
}

/** The functions of table 1 on a device. */
class Functions
{
public:
  Functions(const Task & task, const itk::GPUDevice & device, const Options & options)
    : m_Task(task)
    , m_Device(device)
    , m_Options(options)
  {}

  Times
  MeasureField() const
  {
    const auto method = MakeMethod(m_Task, m_Device);
    method->SetNumberOfLevels(1);
    method->SetNumberOfIterations(1);
    method->Update();
    return this->Measure(*method, [&] { method->GetDisplacementField(); });
  }

  Times
  MeasureResampling(bool isCubic) const
  {
    const auto resample = itk::GPUResampleImageFilter<Volume, Volume>::New();
    resample->SetDevice(m_Device);
    resample->SetInput(m_Task.moving);
    resample->SetTransform(m_Task.field);
    resample->SetReferenceImage(m_Task.fixed);
    resample->UseReferenceImageOn();
    if (isCubic)
    {
      const auto interpolator = itk::BSplineInterpolateImageFunction<Volume, double>::New();
      interpolator->SetSplineOrder(3);
      resample->SetInterpolator(interpolator);
    }
    return this->Measure(*resample, [&] {
      resample->Modified();
      resample->Update();
    });
  }

  Times
  MeasureBending(bool withGradient) const
  {
    gpureg::ControlPenalty penalty(m_Device.GetName());
    const auto             parallelFor = itk::GPURegistrationDetail::MakeParallelFor(m_Options.hardware.threads);
    const std::vector<gpureg::WeightedPenalty> bending{ { gpureg::PenaltyKind::BendingEnergy, 0.01 } };
    return MeasureCalls(
      m_Options.repetitions,
      [&] {
        withGradient ? penalty.Evaluate(m_Task.grid, bending, m_Task.points, parallelFor)
                     : penalty.ComputeValues(m_Task.grid, bending, m_Task.points, parallelFor);
      },
      [&](bool on) { penalty.SetTiming(on); },
      [&] { return penalty.GetStatistics().kernelMilliseconds; });
  }

  /** Measures the bending energy and its gradient, through ITK. */
  Times
  MeasurePenaltyMetric() const
  {
    const auto metric = itk::GPUBSplinePenaltyMetric<Volume>::New();
    metric->SetDevice(m_Device);
    metric->SetFixedImage(m_Task.fixed);
    metric->SetMovingImage(m_Task.moving);
    metric->SetMovingTransform(m_Task.found);
    metric->SetMaximumNumberOfWorkUnits(m_Options.hardware.threads);
    metric->Initialize();
    double             value = 0;
    itk::Array<double> derivative;
    return this->Measure(*metric, [&] { metric->GetValueAndDerivative(value, derivative); });
  }

  Times
  MeasureSimilarity(bool withGradient) const
  {
    const auto metric = itk::CudaMattesNMI<Volume, Volume>::New();
    metric->SetDevice(m_Device);
    metric->SetFixedImage(m_Task.fixed);
    metric->SetMovingImage(m_Task.moving);
    metric->SetMovingTransform(m_Task.found);
    metric->SetNumberOfHistogramBins(64);
    metric->SetUseMovingImageGradientFilter(false);
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetMaximumNumberOfWorkUnits(m_Options.hardware.threads);
    metric->Initialize();
    double             value = 0;
    itk::Array<double> derivative;
    return this->Measure(*metric, [&] {
      withGradient ? metric->GetValueAndDerivative(value, derivative) : static_cast<void>(metric->GetValue());
    });
  }

private:
  /** Measures a function of one of the module's classes. */
  template <typename TObject, typename TCall>
  Times
  Measure(TObject & object, const TCall & call) const
  {
    return MeasureCalls(
      m_Options.repetitions,
      call,
      [&](bool on) { object.SetMeasuresKernelTime(on); },
      [&] { return object.GetEvaluationStatistics().kernelMilliseconds; });
  }

  const Task &           m_Task;
  const itk::GPUDevice & m_Device;
  const Options &        m_Options;
};

/** Returns the devices with the host first, so that the others can be compared with it. */
std::vector<itk::GPUDevice>
SortDevices(std::vector<itk::GPUDevice> devices)
{
  std::stable_partition(devices.begin(), devices.end(), [](const itk::GPUDevice & device) {
    return device.GetName() == "host";
  });
  return devices;
}

/** Returns the host's time divided by the device's, if both are known and the device is not the host. */
std::string
FormatRatio(double host, double ofDevice, const itk::GPUDevice & device)
{
  return host > 0 && device.GetName() != "host" ? Format(host / ofDevice) : Table::none;
}

void
PrintFunctions(const Task & task, const Options & options)
{
  struct Function
  {
    std::string                             name;
    std::string                             paper;
    std::function<Times(const Functions &)> measure;
  };
  const std::vector<Function> all{
    { "deformation field", Modat2010::Field, [](const Functions & f) { return f.MeasureField(); } },
    { "trilinear resampling", Modat2010::Linear, [](const Functions & f) { return f.MeasureResampling(false); } },
    { "cubic spline resampling", Modat2010::Cubic, [](const Functions & f) { return f.MeasureResampling(true); } },
    { "bending energy", Modat2010::Bending, [](const Functions & f) { return f.MeasureBending(false); } },
    { "NMI", Table::none, [](const Functions & f) { return f.MeasureSimilarity(false); } },
    { "NMI gradient", Modat2010::SimilarityGradient, [](const Functions & f) { return f.MeasureSimilarity(true); } },
    { "bending energy gradient",
      Modat2010::BendingGradient,
      [](const Functions & f) { return f.MeasureBending(true); } },
    { "the same as a metric", Table::none, [](const Functions & f) { return f.MeasurePenaltyMetric(); } }
  };
  const auto & size = task.fixed->GetLargestPossibleRegion().GetSize();
  const auto & grid = task.grid.size;
  const auto   describe = [](const auto & s) {
    return std::to_string(s[0]) + "×" + std::to_string(s[1]) + "×" + std::to_string(s[2]);
  };
  Table table("Table 1: " + describe(size) + " voxels, " + describe(grid) + " control points, ms",
              { "function, device", "kernels", "called", "ratio", "paper" });
  for (const Function & function : all)
  {
    double host = 0;
    for (const itk::GPUDevice & device : options.hardware.devices)
    {
      const Times times = function.measure(Functions(task, device, options));
      host = device.GetName() == "host" ? times.kernels : host;
      table.AddRow({ function.name + ", " + device.GetName(),
                     Format(times.kernels),
                     Format(times.called),
                     FormatRatio(host, times.kernels, device),
                     device.GetName() == "host" ? Table::none : function.paper });
    }
  }
  table.Print(std::cout);
}

/** Returns the seconds from images to the transform and the warped image: the first time, and the median of the others, if there are
 *  any. */
std::pair<double, double>
MeasureRegistration(Method & method, unsigned int repetitions)
{
  std::vector<double> seconds;
  for (unsigned int n = 0; n <= repetitions; ++n)
  {
    const example::Stopwatch watch;
    method.Modified();
    method.Update();
    method.GetWarpedImage();
    seconds.push_back(watch.GetSeconds());
  }
  const double first = seconds.front();
  return { first, repetitions > 0 ? GetMedian({ seconds.begin() + 1, seconds.end() }) : first };
}

void
PrintRegistrations(const Task & task, const Options & options)
{
  Table table("Whole registration, s",
              { "optimizer, device", "first", "seconds", "ratio", "paper: ratio", "paper: seconds", "error" });
  for (const std::string optimizer : { "ConjugateGradient", "Adam" })
  {
    double host = 0;
    for (const itk::GPUDevice & device : options.hardware.devices)
    {
      const bool isHost = device.GetName() == "host";
      const bool isPapers = optimizer == "ConjugateGradient";
      const auto method = MakeMethod(task, device);
      method->SetOptimizer(optimizer);
      if (isPapers)
      {
        method->SetNumberOfLevels(3);
        method->SetNumberOfIterations(300);
      }
      const auto [first, seconds] = MeasureRegistration(*method, isHost ? 0 : options.registrations);
      host = isHost ? seconds : host;
      const auto error = example::MeasureDeformationError(method->GetDisplacementField().GetPointer(),
                                                          task.truth,
                                                          task.fixed,
                                                          example::ComputeHeadThreshold(task.fixed));
      table.AddRow({ optimizer + ", " + device.GetName(),
                     Format(first),
                     Format(seconds),
                     FormatRatio(host, seconds, device),
                     isPapers && !isHost ? Modat2010::Whole : Table::none,
                     isPapers && !isHost ? Modat2010::WholeSeconds : Table::none,
                     Format(error.head.mean) });
    }
  }
  table.Print(std::cout);
}

int
Run(const example::CommandLine & line)
{
  Options options{ ChooseHardware(line),
                   std::max<std::uint32_t>(1, line.GetNumber("--repetitions", 5)),
                   line.GetNumber("--registrations", 3),
                   std::max<std::uint32_t>(1, line.GetNumber("--divide", 1)) };
  options.hardware.devices = SortDevices(options.hardware.devices);
  const Task task = MakeTask(options);
  PrintFunctions(task, options);
  if (!line.Has("--functions"))
  {
    PrintRegistrations(task, options);
  }
  std::cout << '\n' << Footnote;
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc,
                           argv,
                           {},
                           PrintHelp,
                           { "--device", "--threads", "--repetitions", "--registrations", "--divide" },
                           { "--functions" }));
  };
  return example::RunProgram(body, Usage);
}
