// SPDX-License-Identifier: Apache-2.0
// ITK's Mattes metric and CudaMattesNMI on every device, on the same input, in one run, side by side.
#include "CommandLine.h"
#include "MattesCases.h"
#include "Report.h"
#include "Timing.h"

#include "itkCudaMattesNMI.h"

#include "itkVersion.h"

#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace
{

using namespace bench;

const std::vector<std::string> AllCases = { "full", "stripped", "2d",     "64",      "points", "mask",
                                            "field", "bspline", "bins32", "bins128", "bins256" };
const std::vector<std::string> QuickCases = { "full", "stripped", "2d", "64" };

const char * const Usage =
  R"(Usage: MattesBenchmark [options]
Measures itk::CudaMattesNMI on each device beside ITK's own Mattes metric.
  --cases A,B,…      some of full, stripped, 2d, 64, points, mask, field, bspline, bins32, bins128, bins256;
                     default: all
  --quick            full, stripped, 2d and 64 alone, with fewer repetitions
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's metric and of the host device; default: ITK's
  --repetitions N    at most so many of each call; default 30, 7 with --quick
  --seconds N        no repetition beyond the third begins after so long; default 5, 1 with --quick
  --image FILE       measures on this 3D image, too
  --json FILE        writes every figure
  --help             explains the columns
)";

const char * const Footnote =
  R"(What is measured. Every figure is the median over the repetitions after a warm-up, in milliseconds; "min" is
the smallest. ITK and all devices run in this process, one after the other, with the same images, transform, bins
and number of threads. Metric MI is CudaMattesNMI with NormalizedOff(), which computes what ITK's metric does; NMI
is the default, NormalizedOn(). ITK has no counterpart to NMI, so its ratio is to ITK's MI, too.
  kernels         from the first kernel's start to the last one's end, by the device's own events; on the host, the
                  time in the two passes. Taken in repetitions of their own, so that the events are in no other column.
  with transfers  wall time of the engine's evaluation: parameters up, kernels, sums down, the wait for them. For a
                  displacement field, the field up and the forces down as well.
  as called       wall time of GetValue() or GetValueAndDerivative() through ITK's interface.
  ITK             the same call of itk::MattesMutualInformationImageToImageMetricv4.
  ratio           ITK / as called, medians.
  GB/s            least traffic / kernels. Least traffic is what the two passes must read and write if every sample
                  moves each thing it needs once, however a device lays it out: in the first pass 2 bytes of fixed bin and 4 of moving value; in the
                  second, for a derivative, 2 of fixed bin and 16 of gradient and value (4 more of moving value with a
                  mask or a spline). In either pass 1 for a moving mask, 12 for a sampled point, 12 for a
                  displacement; 12 for a force written. What interpolation reads again (8 to 64 neighbours a sample)
                  comes from caches and is not counted, nor are the histograms.
  difference      for MI, from ITK's: of the value, relative; of the derivative, relative in norm. Above 1e-5 and
                  1e-4 the row is marked with ! and the program fails.
Counts are those of one evaluation. Memory is what the metric holds on its device, and that as a multiple of the
fixed and the moving image as float.
)";

enum class Quantity
{
  Value,
  ValueAndDerivative
};

struct Settings
{
  unsigned int                threads = 1;
  Repetitions                 repetitions;
  std::vector<itk::GPUDevice> devices;
};

/** Times and result of one quantity by one metric. */
struct Reading
{
  Series                       asCalled;
  Series                       withTransfers;
  Series                       kernels;
  gpureg::EvaluationStatistics statistics;
  double                       value = 0;
  itk::Array<double>           derivative;

  template <typename TMetric>
  void
  Evaluate(const TMetric & metric, Quantity quantity)
  {
    if (quantity == Quantity::Value)
    {
      value = metric.GetValue();
    }
    else
    {
      metric.GetValueAndDerivative(value, derivative);
    }
  }
};

/** What precedes the evaluations. */
struct SetUp
{
  double initialize = 0;
  double firstEvaluation = 0;
  double initializeAgain = 0;
};

template <typename TMetric>
SetUp
MeasureSetUp(TMetric & metric)
{
  SetUp   times;
  Reading first;
  times.initialize = TimeMilliseconds([&] { metric.Initialize(); });
  times.firstEvaluation = TimeMilliseconds([&] { first.Evaluate(metric, Quantity::ValueAndDerivative); });
  times.initializeAgain = TimeMilliseconds([&] { metric.Initialize(); });
  return times;
}

template <typename TMetric>
Reading
MeasureITK(const TMetric & metric, Quantity quantity, const Repetitions & repetitions)
{
  Reading reading;
  reading.Evaluate(metric, quantity);
  Repeat(repetitions, [&] { reading.asCalled.Add(TimeMilliseconds([&] { reading.Evaluate(metric, quantity); })); });
  return reading;
}

template <typename TMetric>
Reading
MeasureOurs(TMetric & metric, Quantity quantity, const Repetitions & repetitions)
{
  Reading reading;
  metric.SetMeasuresKernelTime(false);
  reading.Evaluate(metric, quantity);
  Repeat(repetitions, [&] {
    reading.asCalled.Add(TimeMilliseconds([&] { reading.Evaluate(metric, quantity); }));
    reading.statistics = metric.GetEvaluationStatistics();
    reading.withTransfers.Add(reading.statistics.evaluateMilliseconds);
  });
  metric.SetMeasuresKernelTime(true);
  Repeat(repetitions, [&] {
    reading.Evaluate(metric, quantity);
    reading.kernels.Add(metric.GetEvaluationStatistics().kernelMilliseconds);
  });
  return reading;
}

/** Bytes; the footnote says what counts. */
template <unsigned int VDimension>
double
GetLeastTraffic(const MattesCase<VDimension> & input, Quantity quantity)
{
  const bool   isField = input.transform->GetTransformCategory() == itk::TransformBaseTemplateEnums::TransformCategory::DisplacementField;
  const double samples = input.points.IsNotNull()
                           ? static_cast<double>(input.points->GetNumberOfPoints())
                           : static_cast<double>(input.fixed->GetLargestPossibleRegion().GetNumberOfPixels());
  const bool   readsValueApart = input.movingMask.IsNotNull() || input.splineOrder > 1;
  const double perPass = 2 + (input.movingMask.IsNotNull() ? 1 : 0) + (input.points.IsNotNull() ? 12 : 0) + (isField ? 12 : 0);
  const double first = perPass + 4;
  const double second = perPass + 16 + (readsValueApart ? 4 : 0) + (isField ? 12 : 0);
  return samples * (quantity == Quantity::Value ? first : first + second);
}

double
GetRelativeDifference(const itk::Array<double> & a, const itk::Array<double> & reference)
{
  return a.size() == reference.size() ? (a - reference).two_norm() / reference.two_norm()
                                      : std::numeric_limits<double>::infinity();
}

/** Collects what the cases give. */
class MattesReport
{
public:
  /** \param jsonFile is written anew after each case, so that what was measured before an end comes is kept;
   *  empty for none. */
  MattesReport(const Settings & settings, std::string jsonFile)
    : m_Settings(settings)
    , m_JsonFile(std::move(jsonFile))
    , m_Times("Times in ms",
              5,
              { "case", "quantity", "metric", "device", "threads", "kernels", "with transfers", "as called", "min", "ITK", "min", "ratio", "GB/s", "repetitions", "difference" })
    , m_Counts("Counted, one evaluation",
               4,
               { "case", "quantity", "metric", "device", "launches", "copies up", "copies down", "allocations", "synchronisations", "bytes up", "bytes down", "device MB", "x two volumes" })
    , m_SetUps("Set-up in ms (the first metric of a device also starts the device)",
               2,
               { "case", "metric on", "Initialize, first", "first evaluation", "Initialize, again" })
    , m_Rows(Json::Array())
    , m_SetUpRows(Json::Array())
  {}

  void
  AddSetUp(const std::string & caseName, const std::string & where, const SetUp & times)
  {
    m_SetUps.AddRow(
      { caseName, where, Format(times.initialize), Format(times.firstEvaluation), Format(times.initializeAgain) });
    m_SetUpRows.Add(Json::Object()
                      .Add("case", caseName)
                      .Add("on", where)
                      .Add("initialize_ms", times.initialize)
                      .Add("first_evaluation_ms", times.firstEvaluation)
                      .Add("initialize_again_ms", times.initializeAgain));
  }

  template <unsigned int VDimension>
  void
  AddReading(const MattesCase<VDimension> & input,
             Quantity                       quantity,
             bool                           normalized,
             const std::string &            device,
             const Reading &                ours,
             const Reading &                itks)
  {
    const std::string quantityName = quantity == Quantity::Value ? "value" : "value+derivative";
    const std::string metricName = normalized ? "NMI" : "MI";
    const double      kernels = ours.kernels.GetMedian();
    const double      ratio = itks.asCalled.GetMedian() / ours.asCalled.GetMedian();
    const double      gigabytes = GetLeastTraffic(input, quantity) / kernels * 1e-6;
    std::string       difference = "-";
    double            valueDifference = std::numeric_limits<double>::quiet_NaN();
    double            derivativeDifference = valueDifference;
    if (!normalized)
    {
      valueDifference = std::abs(ours.value - itks.value) / std::abs(itks.value);
      bool agrees = valueDifference <= 1e-5;
      difference = FormatScientific(valueDifference);
      if (quantity == Quantity::ValueAndDerivative)
      {
        derivativeDifference = GetRelativeDifference(ours.derivative, itks.derivative);
        agrees = agrees && derivativeDifference <= 1e-4;
        difference += " " + FormatScientific(derivativeDifference);
      }
      if (!agrees)
      {
        difference += " !";
        m_Failed = true;
      }
    }
    m_Times.AddRow({ input.name,
                     quantityName,
                     metricName,
                     device,
                     std::to_string(m_Settings.threads),
                     Format(kernels),
                     Format(ours.withTransfers.GetMedian()),
                     Format(ours.asCalled.GetMedian()),
                     Format(ours.asCalled.GetMinimum()),
                     Format(itks.asCalled.GetMedian()),
                     Format(itks.asCalled.GetMinimum()),
                     Format(ratio),
                     Format(gigabytes),
                     std::to_string(ours.asCalled.GetCount()) + "/" + std::to_string(itks.asCalled.GetCount()),
                     difference });

    const gpureg::EvaluationStatistics & counts = ours.statistics;
    const double                         volumes =
      4.0 * static_cast<double>(input.fixed->GetLargestPossibleRegion().GetNumberOfPixels() +
                                input.moving->GetLargestPossibleRegion().GetNumberOfPixels());
    const double multiple = static_cast<double>(counts.deviceBytes) / volumes;
    m_Counts.AddRow({ input.name,
                      quantityName,
                      metricName,
                      device,
                      std::to_string(counts.launches),
                      std::to_string(counts.copiesUp),
                      std::to_string(counts.copiesDown),
                      std::to_string(counts.allocations),
                      std::to_string(counts.synchronizations),
                      std::to_string(counts.bytesUp),
                      std::to_string(counts.bytesDown),
                      Format(static_cast<double>(counts.deviceBytes) * 1e-6),
                      Format(multiple) });
    m_Kernels[{ device, quantityName, metricName }][input.name] = kernels;
    m_Rows.Add(Json::Object()
                 .Add("case", input.name)
                 .Add("quantity", quantityName)
                 .Add("metric", metricName)
                 .Add("device", device)
                 .Add("threads", static_cast<double>(m_Settings.threads))
                 .Add("kernels_ms", kernels)
                 .Add("kernels_min_ms", ours.kernels.GetMinimum())
                 .Add("with_transfers_ms", ours.withTransfers.GetMedian())
                 .Add("with_transfers_min_ms", ours.withTransfers.GetMinimum())
                 .Add("as_called_ms", ours.asCalled.GetMedian())
                 .Add("as_called_min_ms", ours.asCalled.GetMinimum())
                 .Add("itk_ms", itks.asCalled.GetMedian())
                 .Add("itk_min_ms", itks.asCalled.GetMinimum())
                 .Add("ratio", ratio)
                 .Add("gigabytes_per_second", gigabytes)
                 .Add("repetitions", static_cast<double>(ours.asCalled.GetCount()))
                 .Add("itk_repetitions", static_cast<double>(itks.asCalled.GetCount()))
                 .Add("value_difference", valueDifference)
                 .Add("derivative_difference", derivativeDifference)
                 .Add("launches", static_cast<double>(counts.launches))
                 .Add("copies_up", static_cast<double>(counts.copiesUp))
                 .Add("copies_down", static_cast<double>(counts.copiesDown))
                 .Add("allocations", static_cast<double>(counts.allocations))
                 .Add("synchronizations", static_cast<double>(counts.synchronizations))
                 .Add("bytes_up", static_cast<double>(counts.bytesUp))
                 .Add("bytes_down", static_cast<double>(counts.bytesDown))
                 .Add("device_bytes", static_cast<double>(counts.deviceBytes))
                 .Add("multiple_of_two_volumes", multiple));
  }

  void
  AddFailure(const std::string & caseName, const std::string & device, const std::string & message)
  {
    m_Failures.push_back(caseName + " on " + device + " failed: " + message);
    m_Failed = true;
  }

  void
  Print(std::ostream & os) const
  {
    m_Times.Print(os);
    m_Counts.Print(os);
    m_SetUps.Print(os);
    Table stripped("Skull-stripped heads (one bin holds most voxels) to noisy ones, kernels; at most 1.3 is the aim",
                   3,
                   { "device", "quantity", "metric", "ratio" });
    bool  any = false;
    for (const auto & [key, times] : m_Kernels)
    {
      if (times.count("full") != 0 && times.count("stripped") != 0)
      {
        any = true;
        stripped.AddRow({ key[0], key[1], key[2], Format(times.at("stripped") / times.at("full")) });
      }
    }
    if (any)
    {
      stripped.Print(os);
    }
    os << '\n' << Footnote;
    for (const std::string & failure : m_Failures)
    {
      os << "FAILED: " << failure << '\n';
    }
    os << std::flush;
  }

  void
  Save() const
  {
    if (!m_JsonFile.empty())
    {
      this->GetJson().Write(m_JsonFile);
    }
  }

  bool
  HasFailed() const
  {
    return m_Failed;
  }

private:
  Json
  GetJson() const
  {
    Json devices = Json::Array();
    for (const itk::GPUDevice & device : m_Settings.devices)
    {
      devices.Add(Json::Object().Add("name", device.GetName()).Add("description", device.GetDescription()));
    }
    Json failures = Json::Array();
    for (const std::string & failure : m_Failures)
    {
      failures.Add(Json::Object().Add("message", failure));
    }
    return Json::Object()
      .Add("program", "MattesBenchmark")
      .Add("itk_version", itk::Version::GetITKVersion())
      .Add("threads", static_cast<double>(m_Settings.threads))
      .Add("devices", devices)
      .Add("rows", m_Rows)
      .Add("set_up", m_SetUpRows)
      .Add("failures", failures);
  }

  const Settings &         m_Settings;
  std::string              m_JsonFile;
  Table                    m_Times;
  Table                    m_Counts;
  Table                    m_SetUps;
  Json                     m_Rows;
  Json                     m_SetUpRows;
  std::vector<std::string> m_Failures;
  bool                     m_Failed = false;
  /** Kernel times by device, quantity and metric, then by case. */
  std::map<std::array<std::string, 3>, std::map<std::string, double>> m_Kernels;
};

template <unsigned int VDimension>
void
RunCase(const MattesCase<VDimension> & input, const Settings & settings, MattesReport & report)
{
  using ImageType = typename MattesCase<VDimension>::ImageType;
  const auto & size = input.fixed->GetLargestPossibleRegion().GetSize();
  const example::Stopwatch watch;
  std::cout << "case " << input.name << ": " << input.description << ", " << size << ", " << input.bins << " bins"
            << std::endl;

  std::map<Quantity, Reading> itks;
  std::cout << "  ITK" << std::flush;
  {
    const auto metric = MattesCase<VDimension>::MetricType::New();
    input.Configure(*metric, settings.threads);
    report.AddSetUp(input.name, "ITK", MeasureSetUp(*metric));
    for (const Quantity quantity : { Quantity::Value, Quantity::ValueAndDerivative })
    {
      itks[quantity] = MeasureITK(*metric, quantity, settings.repetitions);
      std::cout << ' ' << Format(itks[quantity].asCalled.GetMedian()) << std::flush;
    }
  }
  for (const itk::GPUDevice & device : settings.devices)
  {
    std::cout << "  " << device.GetName() << std::flush;
    try
    {
      const auto metric = itk::CudaMattesNMI<ImageType, ImageType>::New();
      metric->SetDevice(device);
      metric->NormalizedOff();
      input.Configure(*metric, settings.threads);
      report.AddSetUp(input.name, device.GetName(), MeasureSetUp(*metric));
      for (const bool normalized : { false, true })
      {
        metric->SetNormalized(normalized);
        for (const Quantity quantity : { Quantity::Value, Quantity::ValueAndDerivative })
        {
          const Reading reading = MeasureOurs(*metric, quantity, settings.repetitions);
          report.AddReading(input, quantity, normalized, device.GetName(), reading, itks.at(quantity));
          std::cout << ' ' << Format(reading.asCalled.GetMedian()) << std::flush;
        }
      }
    }
    catch (const itk::ExceptionObject & e)
    {
      report.AddFailure(input.name, device.GetName(), e.GetDescription());
    }
  }
  std::cout << "  " << Format(watch.GetSeconds()) << " s" << std::endl;
  report.Save();
}

void
RunCases(const std::vector<std::string> & names, const std::string & imageFile, const Settings & settings, MattesReport & report)
{
  const itk::Size<3> headSize{ { 181, 217, 181 } };
  // One pair of heads serves most cases.
  MattesCase<3> full;
  const auto    makeFromFull = [&](const std::string & name, const std::string & description) {
    if (full.fixed.IsNull())
    {
      full = MakeHeadCase<3>("full", headSize, false);
    }
    MattesCase<3> result = full;
    result.name = name;
    result.description += description;
    return result;
  };
  const std::map<std::string, std::function<void()>> runs = {
    { "full", [&] { RunCase(makeFromFull("full", ", affine, every voxel"), settings, report); } },
    { "stripped", [&] { RunCase(MakeHeadCase<3>("stripped", headSize, true), settings, report); } },
    { "2d", [&] { RunCase(MakeHeadCase<2>("2d", { { 512, 512 } }, false), settings, report); } },
    { "64", [&] { RunCase(MakeHeadCase<3>("64", { { 64, 64, 64 } }, false), settings, report); } },
    { "points",
      [&] {
        MattesCase<3> input = makeFromFull("points", ", 200000 sampled points");
        input.points = MakePoints<3>(*input.fixed, 200000);
        RunCase(input, settings, report);
      } },
    { "mask",
      [&] {
        MattesCase<3> input = makeFromFull("mask", ", moving mask");
        input.movingMask = MakeMask<3>(*input.moving);
        RunCase(input, settings, report);
      } },
    { "field",
      [&] {
        MattesCase<3> input = makeFromFull("field", ", displacement field of local support");
        input.transform = MakeField<3>(*input.fixed);
        RunCase(input, settings, report);
      } },
    { "bspline",
      [&] {
        MattesCase<3> input = makeFromFull("bspline", ", cubic B-spline interpolation");
        input.splineOrder = 3;
        RunCase(input, settings, report);
      } },
    { "file", [&] { RunCase(MakeFileCase(imageFile), settings, report); } },
  };
  for (const std::string & name : names)
  {
    if (name.compare(0, 4, "bins") == 0)
    {
      MattesCase<3> input = makeFromFull(name, "");
      input.bins = static_cast<unsigned int>(std::stoul(name.substr(4)));
      RunCase(input, settings, report);
    }
    else
    {
      runs.at(name)();
    }
  }
}

std::vector<std::string>
SplitAtCommas(const std::string & text)
{
  std::vector<std::string> items;
  std::istringstream       stream(text);
  for (std::string item; std::getline(stream, item, ',');)
  {
    items.push_back(item);
  }
  return items;
}

std::vector<std::string>
ChooseCases(const example::CommandLine & line)
{
  std::vector<std::string> names = SplitAtCommas(line.Get("--cases", ""));
  for (const std::string & name : names)
  {
    if (std::find(AllCases.begin(), AllCases.end(), name) == AllCases.end())
    {
      throw std::invalid_argument("There is no case " + name + '.');
    }
  }
  if (names.empty())
  {
    names = line.Has("--quick") ? QuickCases : AllCases;
  }
  if (line.Has("--image"))
  {
    names.push_back("file");
  }
  return names;
}

Settings
GetSettings(const example::CommandLine & line)
{
  Settings   settings;
  const bool isQuick = line.Has("--quick");
  settings.threads = line.GetNumber("--threads", itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  settings.repetitions.atMost = static_cast<int>(line.GetNumber("--repetitions", isQuick ? 7 : 30));
  settings.repetitions.seconds = line.GetNumber("--seconds", isQuick ? 1 : 5);
  if (settings.threads == 0 || settings.repetitions.atMost == 0)
  {
    throw std::invalid_argument("--threads and --repetitions want a number of at least 1.");
  }
  settings.repetitions.atLeast = std::min(settings.repetitions.atMost, 3);
  for (const std::string & name : SplitAtCommas(line.Get("--device", "")))
  {
    settings.devices.push_back(itk::GPUDevice::FromName(name));
  }
  if (settings.devices.empty())
  {
    settings.devices = itk::GPUDevice::GetAvailable();
  }
  return settings;
}

int
Run(const example::CommandLine & line)
{
  if (line.Has("--help"))
  {
    std::cout << Usage << '\n' << Footnote;
    return EXIT_SUCCESS;
  }
  const Settings                 settings = GetSettings(line);
  const std::vector<std::string> names = ChooseCases(line);
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(settings.threads);

  std::cout << "ITK " << itk::Version::GetITKVersion() << ", " << settings.threads << " threads\n";
  for (const itk::GPUDevice & device : settings.devices)
  {
    std::cout << "device " << device << '\n';
  }
  MattesReport report(settings, line.Get("--json", ""));
  RunCases(names, line.Get("--image", ""), settings, report);
  report.Print(std::cout);
  return report.HasFailed() ? EXIT_FAILURE : EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(example::CommandLine(
      argc,
      argv,
      { "--quick", "--help" },
      { "--cases", "--device", "--threads", "--repetitions", "--seconds", "--image", "--json" }));
  };
  return example::RunProgram(body, Usage);
}
