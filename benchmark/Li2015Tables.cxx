// SPDX-License-Identifier: Apache-2.0
// The measurements of Li 2015, sections 4.2 and 5, made anew: its schemes, by the number of bins, the workload limit and the
// border weight's distance, and what sorting costs; beside them what the paper says.
#include "BenchmarkMetrics.h"
#include "BenchmarkOptions.h"
#include "HeadPhantom.h"
#include "Li2015.h"
#include "MattesCases.h"
#include "OneAtATime.h"
#include "SideBySide.h"
#include "SpeedupFigure.h"
#include "Table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{

using namespace bench;
using gpureg::CorrelationRatioScheme;

const char * const Usage =
  R"(Usage: Li2015Tables [options]
Prints what Li 2015 measured of the correlation ratio's six schemes, made anew on each device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of the host device; default: ITK's
  --divide N         images of an N-th of the paper's size along each axis, to try the program; default: 1
  --figure FILE      the figures of the first device besides, as SVG
Rows are Scheme/SCHEME/value|derivative/DEVICE, Bins/BINS/SCHEME/DEVICE, Workload/LIMIT/DEVICE,
Border/DISTANCE/SCHEME/DEVICE and Sort/STAGE/DEVICE. Google Benchmark's options choose among them and say how often they are
repeated; the defaults here are --benchmark_repetitions=1 --benchmark_min_time=0.05. --benchmark_out=FILE writes every figure
as JSON.
)";

const std::string Footnote =
  R"(Two noisy heads of 256×256×160 voxels of 1 mm (the paper: 11 of OASIS), float, affine, every voxel, linear interpolation.
Times are of one evaluation, in ms; the paper's registrations evaluate thousands.
  kernels         by the device's own events, the median of five
  as called       GetValue(), or GetValueAndDerivative()
  difference      of the value, from SharedMerge's; ! where it is more than 1e-6. It is 0: the sums are the same integers
  Fermi, Kepler, Maxwell, paper
                  what Li 2015 says, of a GTX 570, a GTX TITAN and a GTX 750 Ti: of an evaluation in its text, and the
                  speedup of a whole registration over 145.3 s on a core of an Intel Q8300, table 5;
                  - where it says nothing: its figures are not in the text that we have
The host has one loop for all schemes, and does not sort. GlobalMerge has a histogram a group here, one a thread in the paper.
The paper varies blocks and threads, too: here the problem is cut into chunks of up to 8191 samples, as many as the device has
groups at once, and a group's threads are a constant of the kernels.
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

struct NamedScheme
{
  std::string            name;
  CorrelationRatioScheme scheme;
};

const std::vector<NamedScheme> Schemes{
  { "GlobalAtomic", CorrelationRatioScheme::GlobalAtomic }, { "GlobalMerge", CorrelationRatioScheme::GlobalMerge },
  { "SharedAtomic", CorrelationRatioScheme::SharedAtomic }, { "SharedMerge", CorrelationRatioScheme::SharedMerge },
  { "SharedWarp", CorrelationRatioScheme::SharedWarp },     { "ConflictFree", CorrelationRatioScheme::ConflictFree }
};

const std::vector<unsigned int> Bins{ 16, 32, 64, 128, 256, 512, 1024 };
const std::vector<int>          Workloads{ 256, 512, 768, 1280, 4096, 8192, 65536 };
const std::vector<double>       Distances{ 0, 2, 4, 8, 16, 34, 64 };
constexpr unsigned int          DefaultBins = 256;
constexpr int                   DefaultWorkload = 768;

using ImageType = itk::Image<float, 3>;
using MetricType = itk::CudaCorrelationRatioMetric<ImageType, ImageType>;

struct Heads
{
  ImageType::Pointer fixed;
  ImageType::Pointer moving;
};

Heads
MakeHeads(const itk::Size<3> & size)
{
  HeadScan<3> scan;
  scan.size = size;
  Heads heads;
  heads.fixed = MakeHead(scan);
  scan.seed = 2;
  const auto motion = MakeMotion<3>(1.0);
  scan.toRest = [motion](const ImageType::PointType & point) { return motion->TransformPoint(point); };
  heads.moving = MakeHead(scan);
  return heads;
}

/** What one row measures. */
struct Setting
{
  CorrelationRatioScheme scheme = CorrelationRatioScheme::SharedMerge;
  unsigned int           bins = DefaultBins;
  int                    workload = DefaultWorkload;
  double                 distance = 0;
  bool                   withDerivative = false;
};

/** The host has one loop for all schemes, and does not sort. */
bool
HasSchemes(const itk::GPUDevice & device)
{
  return device.GetName() != "host";
}

/** Those that are one. */
std::vector<NamedScheme>
GetSchemes(const itk::GPUDevice & device)
{
  return HasSchemes(device) ? Schemes : std::vector<NamedScheme>{ Schemes[3] };
}

std::string
FormatDistance(double distance)
{
  return Format(distance);
}

/** The rows, and tables of them. */
class PaperTables : public SideBySide
{
public:
  PaperTables(Hardware hardware, unsigned int divisor)
    : SideBySide({ { "difference", 1e-6 } }, {}, Footnote)
    , m_Hardware(std::move(hardware))
    , m_Divisor(divisor)
  {}

  void
  RegisterRows()
  {
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      for (const NamedScheme & scheme : GetSchemes(device))
      {
        Setting setting;
        setting.scheme = scheme.scheme;
        this->RegisterSetting(GetSchemeName(scheme, false), setting, device);
        setting.withDerivative = true;
        this->RegisterSetting(GetSchemeName(scheme, true), setting, device);
      }
      for (const int workload : HasSchemes(device) ? Workloads : std::vector<int>())
      {
        Setting setting;
        setting.scheme = CorrelationRatioScheme::ConflictFree;
        setting.workload = workload;
        this->RegisterSetting(GetWorkloadName(workload), setting, device);
      }
      for (const double distance : Distances)
      {
        for (const NamedScheme & scheme : GetSchemes(device))
        {
          Setting setting;
          setting.scheme = scheme.scheme;
          setting.distance = distance;
          this->RegisterSetting(GetBorderName(distance, scheme), setting, device);
        }
      }
      for (const unsigned int bins : Bins)
      {
        for (const NamedScheme & scheme : GetSchemes(device))
        {
          Setting setting;
          setting.scheme = scheme.scheme;
          setting.bins = bins;
          this->RegisterSetting(GetBinsName(bins, scheme), setting, device);
        }
      }
      for (std::size_t stage = 0; HasSchemes(device) && stage < li2015::Stages.size(); ++stage)
      {
        this->Register(GetSortName(stage) + "/" + device.GetName(), [this, stage, device](benchmark::State & state) {
          this->MeasureSort(state, this->GetMetric(li2015::Stages[stage].size, DefaultBins, device));
        });
      }
    }
  }

  /** Kernels by the number of bins, the workload limit and the distance, as the paper's figures 12, 17 and 18 show its own. */
  SpeedupFigure
  MakeFigure(const itk::GPUDevice & device) const
  {
    SpeedupFigure        figure;
    SpeedupFigure::Panel byBins{ "ms, bins", {}, {} };
    SpeedupFigure::Panel byWorkload{ "ms, ConflictFree, workload limit", {}, {} };
    SpeedupFigure::Panel byDistance{ "ms, border weight distance, mm", {}, {} };
    for (const unsigned int bins : Bins)
    {
      byBins.sizes.push_back(std::to_string(bins));
    }
    for (const int workload : Workloads)
    {
      byWorkload.sizes.push_back(std::to_string(workload));
    }
    for (const double distance : Distances)
    {
      byDistance.sizes.push_back(FormatDistance(distance));
    }
    for (const NamedScheme & scheme : Schemes)
    {
      figure.lines.push_back(scheme.name);
      byBins.speedups.emplace_back();
      byWorkload.speedups.emplace_back(Workloads.size());
      byDistance.speedups.emplace_back();
      for (const unsigned int bins : Bins)
      {
        byBins.speedups.back().push_back(this->GetKernels(GetBinsName(bins, scheme), device));
      }
      for (const double distance : Distances)
      {
        byDistance.speedups.back().push_back(this->GetKernels(GetBorderName(distance, scheme), device));
      }
    }
    for (std::size_t n = 0; n < Workloads.size(); ++n)
    {
      // ConflictFree is the last.
      byWorkload.speedups.back()[n] = this->GetKernels(GetWorkloadName(Workloads[n]), device);
    }
    figure.panels = { byBins, byWorkload, byDistance };
    return figure;
  }

protected:
  void
  PrintTables(std::ostream & os) override
  {
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      this->PrintSchemes(os, device);
      this->PrintByScheme(
        os, "Figures 12 to 14: by the number of bins", "bins", device, Bins, [](auto bins, auto & scheme) {
          return std::make_pair(std::to_string(bins), GetBinsName(bins, scheme));
        });
      this->PrintWorkloads(os, device);
      this->PrintByScheme(
        os, "Figure 18: by the border weight's distance", "mm", device, Distances, [](auto distance, auto & scheme) {
          return std::make_pair(FormatDistance(distance), GetBorderName(distance, scheme));
        });
      this->PrintSorts(os, device);
    }
  }

private:
  static std::string
  GetSchemeName(const NamedScheme & scheme, bool withDerivative)
  {
    return "Scheme/" + scheme.name + (withDerivative ? "/derivative" : "/value");
  }

  static std::string
  GetBinsName(unsigned int bins, const NamedScheme & scheme)
  {
    return "Bins/" + std::to_string(bins) + "/" + scheme.name;
  }

  static std::string
  GetWorkloadName(int workload)
  {
    return "Workload/" + std::to_string(workload);
  }

  static std::string
  GetBorderName(double distance, const NamedScheme & scheme)
  {
    return "Border/" + FormatDistance(distance) + "/" + scheme.name;
  }

  static std::string
  GetSortName(std::size_t stage)
  {
    return "Sort/" + std::to_string(stage + 1);
  }

  void
  RegisterSetting(const std::string & name, const Setting & setting, const itk::GPUDevice & device)
  {
    this->Register(name + "/" + device.GetName(), [this, setting, device](benchmark::State & state) {
      this->MeasureSetting(state, this->GetMetric(li2015::Stages.back().size, setting.bins, device), setting);
    });
  }

  /** One that is initialised; the last one is kept. */
  MetricType &
  GetMetric(const std::array<unsigned int, 3> & paperSize, unsigned int bins, const itk::GPUDevice & device)
  {
    itk::Size<3> size;
    std::string  name;
    for (unsigned int d = 0; d < 3; ++d)
    {
      size[d] = std::max(8u, paperSize[d] / m_Divisor);
      name += std::to_string(size[d]) + " ";
    }
    const Heads & heads = m_Heads.Get(name, [&] { return MakeHeads(size); });
    return *m_Metric.Get(name + std::to_string(bins) + " " + device.GetName(), [&] {
      const auto metric = MetricType::New();
      metric->SetDevice(device);
      metric->SetFixedImage(heads.fixed);
      metric->SetMovingImage(heads.moving);
      metric->SetMovingTransform(MakeMotion<3>(0.5));
      metric->SetNumberOfHistogramBins(bins);
      metric->SetMaximumNumberOfWorkUnits(m_Hardware.threads);
      metric->Initialize();
      return metric;
    });
  }

  static double
  Evaluate(const MetricType & metric, bool withDerivative)
  {
    if (!withDerivative)
    {
      return metric.GetValue();
    }
    MetricType::MeasureType    value;
    MetricType::DerivativeType derivative;
    metric.GetValueAndDerivative(value, derivative);
    return value;
  }

  static void
  MeasureSetting(benchmark::State & state, MetricType & metric, const Setting & setting)
  {
    metric.SetBorderWeightDistance(setting.distance);
    metric.SetScheme(CorrelationRatioScheme::SharedMerge);
    const double merged = metric.GetValue();
    metric.SetScheme(setting.scheme);
    metric.SetWorkloadLimit(setting.workload);
    double value = Evaluate(metric, setting.withDerivative);
    for (auto _ : state)
    {
      value = Evaluate(metric, setting.withDerivative);
    }
    metric.SetMeasuresKernelTime(true);
    std::array<double, 5> times;
    for (double & time : times)
    {
      Evaluate(metric, setting.withDerivative);
      time = metric.GetEvaluationStatistics().kernelMilliseconds;
    }
    metric.SetMeasuresKernelTime(false);
    std::sort(times.begin(), times.end());
    state.counters["kernels_ms"] = times[times.size() / 2];
    state.counters["difference"] = std::abs(value - merged);
  }

  /** Of an evaluation that sorts; how long one takes that does not is a counter. */
  static void
  MeasureSort(benchmark::State & state, MetricType & metric)
  {
    metric.SetBorderWeightDistance(0);
    metric.SetWorkloadLimit(DefaultWorkload);
    for (auto _ : state)
    {
      state.PauseTiming();
      // Another scheme forgets the sort.
      metric.SetScheme(CorrelationRatioScheme::GlobalAtomic);
      metric.GetValue();
      metric.SetScheme(CorrelationRatioScheme::ConflictFree);
      state.ResumeTiming();
      metric.GetValue();
    }
    std::array<double, 5> times;
    for (double & time : times)
    {
      metric.GetValue();
      time = metric.GetEvaluationStatistics().evaluateMilliseconds;
    }
    std::sort(times.begin(), times.end());
    state.counters["evaluation_ms"] = times[times.size() / 2];
  }

  /** 0 where it was not measured. */
  double
  GetKernels(const std::string & name, const itk::GPUDevice & device) const
  {
    const auto * const row = this->FindRow(name + "/" + device.GetName());
    return row && row->counters.count("kernels_ms") ? row->counters.at("kernels_ms").value : 0.0;
  }

  /** A row's kernels, and its time as called. */
  std::vector<std::string>
  DescribeTimes(const std::string & name, const itk::GPUDevice & device) const
  {
    const auto * const row = this->FindRow(name + "/" + device.GetName());
    return row ? std::vector<std::string>{ FormatCounter(*row, "kernels_ms"), Format(row->GetAdjustedRealTime()) }
               : std::vector<std::string>{ Table::none, Table::none };
  }

  static std::vector<std::string>
  Join(std::vector<std::string> cells, const std::vector<std::vector<std::string>> & more)
  {
    for (const auto & part : more)
    {
      cells.insert(cells.end(), part.begin(), part.end());
    }
    return cells;
  }

  template <typename TList>
  static std::vector<std::string>
  ToVector(const TList & list)
  {
    return { list.begin(), list.end() };
  }

  static std::vector<std::string>
  MakePaperHeader(const std::string & what)
  {
    std::vector<std::string> header;
    for (const std::string & gpu : li2015::GPUs)
    {
      header.push_back(gpu + ": " + what);
    }
    return header;
  }

  void
  PrintSchemes(std::ostream & os, const itk::GPUDevice & device)
  {
    Table table("Table 1, the schemes, 256 bins, ms, " + device.GetName(),
                Join({ "scheme", "value: kernels", "as called", "with derivative: kernels", "as called", "difference" },
                     { MakePaperHeader("ms"), MakePaperHeader("speedup") }));
    for (const NamedScheme & scheme : Schemes)
    {
      if (const auto * const row = this->FindRow(GetSchemeName(scheme, false) + "/" + device.GetName()))
      {
        table.AddRow(Join({ scheme.name },
                          { this->DescribeTimes(GetSchemeName(scheme, false), device),
                            this->DescribeTimes(GetSchemeName(scheme, true), device),
                            { this->DescribeDifference(*row) },
                            ToVector(li2015::GetEvaluation(scheme.scheme)),
                            ToVector(li2015::GetSpeedup(scheme.scheme)) }));
      }
    }
    table.Print(os);
  }

  /** Kernels of every scheme. \param nameOf from a parameter and a scheme to its title and its row's name. */
  template <typename TParameter, typename TNameOf>
  void
  PrintByScheme(std::ostream &                  os,
                const std::string &             title,
                const std::string &             first,
                const itk::GPUDevice &          device,
                const std::vector<TParameter> & parameters,
                const TNameOf &                 nameOf)
  {
    std::vector<std::string> header{ first };
    for (const NamedScheme & scheme : Schemes)
    {
      header.push_back(scheme.name);
    }
    header.emplace_back("paper");
    Table table(title + ", kernels of the value, ms, " + device.GetName(), header);
    for (const TParameter & parameter : parameters)
    {
      std::vector<std::string> cells{ nameOf(parameter, Schemes.front()).first };
      bool                     isMeasured = false;
      for (const NamedScheme & scheme : Schemes)
      {
        const double kernels = this->GetKernels(nameOf(parameter, scheme).second, device);
        cells.push_back(kernels > 0 ? Format(kernels) : Table::none);
        isMeasured = isMeasured || kernels > 0;
      }
      cells.push_back(first == "mm" ? li2015::GetBorder(static_cast<double>(parameter)) : Table::none);
      if (isMeasured)
      {
        table.AddRow(cells);
      }
    }
    table.Print(os);
  }

  void
  PrintWorkloads(std::ostream & os, const itk::GPUDevice & device)
  {
    Table table("Figure 17: ConflictFree by the workload limit, ms, " + device.GetName(),
                { "samples a group", "kernels", "as called", "paper: whole registrations" });
    for (const int workload : Workloads)
    {
      if (this->FindRow(GetWorkloadName(workload) + "/" + device.GetName()))
      {
        table.AddRow(
          Join({ std::to_string(workload) },
               { this->DescribeTimes(GetWorkloadName(workload), device), { li2015::GetWorkload(workload) } }));
      }
    }
    table.Print(os);
  }

  void
  PrintSorts(std::ostream & os, const itk::GPUDevice & device)
  {
    Table table("Tables 7 to 9: what the sort adds to the first evaluation, as called, ms, " + device.GetName(),
                Join({ "voxels", "sort" }, { MakePaperHeader("ms") }));
    for (std::size_t stage = 0; stage < li2015::Stages.size(); ++stage)
    {
      if (const auto * const row = this->FindRow(GetSortName(stage) + "/" + device.GetName()))
      {
        const auto &       size = li2015::Stages[stage].size;
        std::ostringstream title;
        title << size[0] / m_Divisor << "×" << size[1] / m_Divisor << "×" << size[2] / m_Divisor;
        table.AddRow(Join({ title.str(), Format(row->GetAdjustedRealTime() - row->counters.at("evaluation_ms").value) },
                          { ToVector(li2015::Stages[stage].delay) }));
      }
    }
    table.Print(os);
  }

  Hardware     m_Hardware;
  unsigned int m_Divisor;
  OneAtATime   m_Heads;
  OneAtATime   m_Metric;
};

int
Run(const example::CommandLine & line)
{
  const Hardware     hardware = ChooseHardware(line);
  const unsigned int divisor = line.GetNumber("--divide", 1);
  if (divisor == 0)
  {
    throw std::invalid_argument("--divide wants a number of at least 1.");
  }
  const std::string figureName = line.Get("--figure", "");
  std::ofstream     figure;
  const auto        checkFigure = [&] {
    if (!figure)
    {
      throw std::runtime_error(figureName + " cannot be written.");
    }
  };
  if (!figureName.empty())
  {
    // Better known before everything is measured.
    figure.open(figureName);
    checkFigure();
  }
  PaperTables tables(hardware, divisor);
  tables.RegisterRows();
  const int exitCode = tables.Measure();
  if (figure.is_open())
  {
    tables.MakeFigure(hardware.devices.front()).Write(figure);
    figure.flush();
    checkFigure();
  }
  return exitCode;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc,
                           argv,
                           { "--benchmark_repetitions=1", "--benchmark_min_time=0.05" },
                           PrintHelp,
                           { "--device", "--threads", "--divide", "--figure" }));
  };
  return example::RunProgram(body, Usage);
}
