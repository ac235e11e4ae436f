// SPDX-License-Identifier: Apache-2.0
// Repeats the measurements of Li 2015, sections 4.2 and 5: its schemes, by the number of blocks, their threads, the number of bins, the
// workload limit and the border weight's distance, and the time of sorting; prints the paper's numbers beside them.
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
#include <functional>
#include <iostream>
#include <optional>
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
Prints what Li 2015 measured of the correlation ratio's six schemes, made again on each device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of the host device; default: ITK's
  --divide N         images of an N-th of the paper's size along each axis, to try the program; default: 1
  --figure FILE      figures by bins, workload limit and distance besides, of the first device, as SVG
  --figure-blocks FILE, --figure-threads FILE
                     one by blocks, and one by threads, likewise
Rows are Scheme/SCHEME/value|derivative/DEVICE, Blocks/BLOCKS/SCHEME/DEVICE, Threads/THREADS/SCHEME/DEVICE,
Bins/BINS/SCHEME/DEVICE, Workload/LIMIT/DEVICE, Border/DISTANCE/SCHEME/DEVICE and Sort/STAGE/DEVICE. Google Benchmark's
options choose among them and say how often they are repeated; the defaults here are --benchmark_repetitions=1
--benchmark_min_time=0.05. --benchmark_out=FILE writes every figure as JSON.
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
The host has one loop for all schemes, no blocks, and does not sort; an OpenCL device has its own number of threads.
GlobalMerge has one histogram for each block here, and one for each thread in the paper. With 1024 blocks of 256 threads they take
0.8 GB, and two of its GPUs run out of memory (figures 6, 9 and 11). The paper's version has no conflicts, but clears and adds a
block's threads times as many histograms, so our times bound its times from below.
A block counts chunks of samples, each as large as 32-bit counters allow, up to 8191; with fewer blocks each counts more chunks.
(N) beside a time: there were N blocks. For ConflictFree its bins and its workload limit determine the number of blocks.
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

const std::vector<int>          Blocks{ 64, 128, 256, 512, 1024, 2048 };
const std::vector<int>          Threads{ 32, 64, 128, 256, 512, 1024 };
const std::vector<unsigned int> Bins{ 16, 32, 64, 128, 256, 512, 1024 };
const std::vector<int>          Workloads{ 256, 512, 768, 1280, 4096, 8192, 65536 };
const std::vector<double>       Distances{ 0, 2, 4, 8, 16, 34, 64 };
constexpr unsigned int          DefaultBins = 256;
constexpr int                   DefaultWorkload = 768;
// The number of blocks in rows that vary another parameter.
constexpr int DefaultBlocks = 1024;
constexpr int DefaultThreads = 256;
// Stands in Blocks for the number that ConflictFree chooses itself.
constexpr int OwnBlocks = 0;

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

/** The setting that one row measures. */
struct Setting
{
  CorrelationRatioScheme scheme = CorrelationRatioScheme::SharedMerge;
  unsigned int           bins = DefaultBins;
  int                    workload = DefaultWorkload;
  double                 distance = 0;
  bool                   withDerivative = false;
  /** The launch, for rows that vary it. */
  std::optional<gpureg::LaunchShape> shape;
};

/** Returns false for the host, which has one loop for all schemes, and does not sort. */
bool
HasSchemes(const itk::GPUDevice & device)
{
  return device.GetName() != "host";
}

/** Returns false for an OpenCL device, which has its own number of threads. */
bool
HasThreads(const itk::GPUDevice & device)
{
  return device.GetName().compare(0, 4, "cuda") == 0;
}

/** Returns the schemes that a device has. */
std::vector<NamedScheme>
GetSchemes(const itk::GPUDevice & device)
{
  return HasSchemes(device) ? Schemes : std::vector<NamedScheme>{ Schemes[3] };
}

/** Returns true for ConflictFree, whose blocks follow from the bins and the workload limit. */
bool
HasOwnBlocks(const NamedScheme & scheme)
{
  return scheme.scheme == CorrelationRatioScheme::ConflictFree;
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
        this->RegisterSetting(NameWorkload(workload, Schemes.back()).second, setting, device);
      }
      this->RegisterShapes(device);
      for (const double distance : Distances)
      {
        for (const NamedScheme & scheme : GetSchemes(device))
        {
          Setting setting;
          setting.scheme = scheme.scheme;
          setting.distance = distance;
          this->RegisterSetting(NameBorder(distance, scheme).second, setting, device);
        }
      }
      for (const unsigned int bins : Bins)
      {
        for (const NamedScheme & scheme : GetSchemes(device))
        {
          Setting setting;
          setting.scheme = scheme.scheme;
          setting.bins = bins;
          this->RegisterSetting(NameBins(bins, scheme).second, setting, device);
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

  /** Returns a figure of the kernels' times by the number of bins, the workload limit and the distance, as in the paper's figures 12, 17
   *  and 18. */
  SpeedupFigure
  MakeFigure(const itk::GPUDevice & device) const
  {
    return MakeFigureOf({ this->MakePanel("ms, bins", device, Bins, NameBins),
                          this->MakePanel("ms, ConflictFree, workload limit", device, Workloads, NameWorkload),
                          this->MakePanel("ms, border weight distance, mm", device, Distances, NameBorder) });
  }

  /** Returns a figure of the times by the number of blocks, as in the paper's figures 6 to 8. */
  SpeedupFigure
  MakeBlocksFigure(const itk::GPUDevice & device) const
  {
    // ConflictFree chooses its number of blocks itself, so its line is level.
    return MakeFigureOf({ this->MakePanel("ms, blocks", device, Blocks, [](int blocks, const NamedScheme & scheme) {
      return std::make_pair(std::to_string(blocks),
                            NameBlocks(HasOwnBlocks(scheme) ? OwnBlocks : blocks, scheme).second);
    }) });
  }

  /** Returns a figure of the times by the threads of a block, as in the paper's figures 9 to 11. */
  SpeedupFigure
  MakeThreadsFigure(const itk::GPUDevice & device) const
  {
    return MakeFigureOf({ this->MakePanel("ms, threads of a block", device, Threads, NameThreads) });
  }

protected:
  void
  PrintTables(std::ostream & os) override
  {
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      this->PrintSchemes(os, device);
      this->PrintBlocks(os, device);
      this->PrintThreads(os, device);
      this->PrintFastestShapes(os, device);
      this->PrintByScheme(os, "Figures 12 to 14: by the number of bins", "bins", device, Bins, NameBins);
      this->PrintWorkloads(os, device);
      this->PrintByScheme(
        os, "Figure 18: by the border weight's distance", "mm", device, Distances, NameBorder, li2015::GetBorder);
      this->PrintSorts(os, device);
    }
  }

private:
  static std::string
  GetSchemeName(const NamedScheme & scheme, bool withDerivative)
  {
    return "Scheme/" + scheme.name + (withDerivative ? "/derivative" : "/value");
  }

  /** A row's title in its table, and its name. */
  using RowNames = std::pair<std::string, std::string>;

  static RowNames
  NameBlocks(int blocks, const NamedScheme & scheme)
  {
    const std::string text = blocks == OwnBlocks ? "own" : std::to_string(blocks);
    return { text, "Blocks/" + text + "/" + scheme.name };
  }

  static RowNames
  NameThreads(int threads, const NamedScheme & scheme)
  {
    return { std::to_string(threads), "Threads/" + std::to_string(threads) + "/" + scheme.name };
  }

  static RowNames
  NameBins(unsigned int bins, const NamedScheme & scheme)
  {
    return { std::to_string(bins), "Bins/" + std::to_string(bins) + "/" + scheme.name };
  }

  /** Returns the names of a row of ConflictFree. */
  static RowNames
  NameWorkload(int workload, const NamedScheme & scheme)
  {
    return { std::to_string(workload), HasOwnBlocks(scheme) ? "Workload/" + std::to_string(workload) : "" };
  }

  static RowNames
  NameBorder(double distance, const NamedScheme & scheme)
  {
    return { Format(distance), "Border/" + Format(distance) + "/" + scheme.name };
  }

  static std::string
  GetSortName(std::size_t stage)
  {
    return "Sort/" + std::to_string(stage + 1);
  }

  void
  RegisterShapes(const itk::GPUDevice & device)
  {
    const auto add = [&](const RowNames & names, const NamedScheme & scheme, int blocks, int threads) {
      Setting setting;
      setting.scheme = scheme.scheme;
      setting.shape = gpureg::LaunchShape{ blocks, HasThreads(device) ? threads : 0 };
      this->RegisterSetting(names.second, setting, device);
    };
    for (const NamedScheme & scheme : HasSchemes(device) ? Schemes : std::vector<NamedScheme>())
    {
      for (const int blocks : HasOwnBlocks(scheme) ? std::vector<int>{ OwnBlocks } : Blocks)
      {
        add(NameBlocks(blocks, scheme), scheme, blocks, DefaultThreads);
      }
      for (const int threads : HasThreads(device) ? Threads : std::vector<int>())
      {
        add(NameThreads(threads, scheme), scheme, HasOwnBlocks(scheme) ? OwnBlocks : DefaultBlocks, threads);
      }
    }
  }

  /** Returns a panel of a figure. \param nameOf from a parameter and a scheme to RowNames. */
  template <typename TParameter, typename TNameOf>
  SpeedupFigure::Panel
  MakePanel(const std::string &             title,
            const itk::GPUDevice &          device,
            const std::vector<TParameter> & parameters,
            const TNameOf &                 nameOf) const
  {
    SpeedupFigure::Panel panel{ title, {}, {} };
    for (const TParameter & parameter : parameters)
    {
      panel.sizes.push_back(nameOf(parameter, Schemes.front()).first);
    }
    for (const NamedScheme & scheme : Schemes)
    {
      panel.speedups.emplace_back();
      for (const TParameter & parameter : parameters)
      {
        panel.speedups.back().push_back(this->GetKernels(nameOf(parameter, scheme).second, device));
      }
    }
    return panel;
  }

  static SpeedupFigure
  MakeFigureOf(std::vector<SpeedupFigure::Panel> panels)
  {
    SpeedupFigure figure;
    for (const NamedScheme & scheme : Schemes)
    {
      figure.lines.push_back(scheme.name);
    }
    figure.panels = std::move(panels);
    return figure;
  }

  void
  RegisterSetting(const std::string & name, const Setting & setting, const itk::GPUDevice & device)
  {
    this->Register(name + "/" + device.GetName(), [this, setting, device](benchmark::State & state) {
      this->MeasureSetting(state, this->GetMetric(li2015::Stages.back().size, setting.bins, device), setting);
    });
  }

  /** Returns a metric that is initialized; the last one is kept. */
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
    metric.SetLaunchShape({});
    const double merged = metric.GetValue();
    metric.SetScheme(setting.scheme);
    metric.SetLaunchShape(setting.shape.value_or(gpureg::LaunchShape()));
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
    const int blocks = metric.GetUsedLaunchShape().groups;
    if (setting.shape && setting.shape->groups != blocks)
    {
      state.counters["blocks"] = blocks;
    }
  }

  /** Measures an evaluation that sorts; the time of one that does not is a counter. */
  static void
  MeasureSort(benchmark::State & state, MetricType & metric)
  {
    metric.SetBorderWeightDistance(0);
    metric.SetWorkloadLimit(DefaultWorkload);
    metric.SetLaunchShape({});
    for (auto _ : state)
    {
      state.PauseTiming();
      // Another scheme frees the sorted samples.
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

  /** Returns the kernels' time of a row; 0 if it was not measured. */
  double
  GetKernels(const std::string & name, const itk::GPUDevice & device) const
  {
    const auto * const row = this->FindRow(name + "/" + device.GetName());
    return row && row->counters.count("kernels_ms") ? row->counters.at("kernels_ms").value : 0.0;
  }

  /** Returns the kernels' time of a row as text, with the number of blocks if that was not the row's. */
  std::string
  DescribeKernels(const std::string & name, const itk::GPUDevice & device) const
  {
    const double kernels = this->GetKernels(name, device);
    if (!(kernels > 0))
    {
      return Table::none;
    }
    const auto * const row = this->FindRow(name + "/" + device.GetName());
    return Format(kernels) + (row->counters.count("blocks") ? " (" + FormatCounter(*row, "blocks") + ")" : "");
  }

  /** Returns a row's kernels' time, and its time as called. */
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

  /** Prints a table of the kernels' times of every scheme. \param nameOf as for MakePanel. \param paperOf the paper's number for a
   *  parameter, if there is one.
   *  \param paperRows rows below, with the paper's numbers for the schemes. */
  template <typename TParameter, typename TNameOf>
  void
  PrintByScheme(std::ostream &                                os,
                const std::string &                           title,
                const std::string &                           first,
                const itk::GPUDevice &                        device,
                const std::vector<TParameter> &               parameters,
                const TNameOf &                               nameOf,
                const std::function<std::string(double)> &    paperOf = {},
                const std::vector<std::vector<std::string>> & paperRows = {})
  {
    std::vector<std::string> header{ first };
    for (const NamedScheme & scheme : Schemes)
    {
      header.push_back(scheme.name);
    }
    header.emplace_back("paper");
    Table table(title + ", kernels of the value, ms, " + device.GetName(), header);
    bool  isAnyMeasured = false;
    for (const TParameter & parameter : parameters)
    {
      std::vector<std::string> cells{ nameOf(parameter, Schemes.front()).first };
      for (const NamedScheme & scheme : Schemes)
      {
        cells.push_back(this->DescribeKernels(nameOf(parameter, scheme).second, device));
      }
      const bool isMeasured =
        std::any_of(cells.begin() + 1, cells.end(), [](const std::string & cell) { return cell != Table::none; });
      cells.push_back(paperOf ? paperOf(static_cast<double>(parameter)) : Table::none);
      if (isMeasured)
      {
        table.AddRow(cells);
        isAnyMeasured = true;
      }
    }
    for (const auto & row : isAnyMeasured ? paperRows : std::vector<std::vector<std::string>>())
    {
      table.AddRow(row);
    }
    table.Print(os);
  }

  void
  PrintBlocks(std::ostream & os, const itk::GPUDevice & device)
  {
    std::vector<std::vector<std::string>> paperRows;
    for (std::size_t gpu = 0; gpu < li2015::GPUs.size(); ++gpu)
    {
      paperRows.push_back({ "paper, " + li2015::GPUs[gpu] });
      for (const NamedScheme & scheme : Schemes)
      {
        paperRows.back().push_back(li2015::GetEvaluation(scheme.scheme)[gpu]);
      }
      paperRows.back().push_back(Table::none);
    }
    std::vector<int> blocks = Blocks;
    blocks.push_back(OwnBlocks);
    this->PrintByScheme(os,
                        "Figures 6 to 8: by the number of blocks, of " +
                          (HasThreads(device) ? std::to_string(DefaultThreads) : "the device's") + " threads",
                        "blocks",
                        device,
                        blocks,
                        NameBlocks,
                        {},
                        paperRows);
  }

  void
  PrintThreads(std::ostream & os, const itk::GPUDevice & device)
  {
    this->PrintByScheme(os,
                        "Figures 9 to 11: by the threads of a block, of " + std::to_string(DefaultBlocks) + " blocks",
                        "threads",
                        device,
                        Threads,
                        NameThreads);
  }

  /** Prints each scheme's fastest launch among those of figures 6 to 11, from which the paper chooses its own. */
  void
  PrintFastestShapes(std::ostream & os, const itk::GPUDevice & device)
  {
    std::vector<std::string> header{ "scheme", "here, of the above", "ms" };
    for (const std::string & gpu : li2015::GPUs)
    {
      header.push_back(gpu);
    }
    Table table("Table 4: the fastest threads × blocks, " + device.GetName(), header);
    for (const NamedScheme & scheme : Schemes)
    {
      double      fastest = 0;
      std::string shape;
      const auto  look = [&](const RowNames & names, int threads, int blocks) {
        const double kernels = this->GetKernels(names.second, device);
        if (kernels > 0 && (fastest == 0 || kernels < fastest))
        {
          fastest = kernels;
          shape = std::to_string(threads) + (HasOwnBlocks(scheme) ? "" : " × " + std::to_string(blocks));
        }
      };
      for (const int blocks : Blocks)
      {
        look(NameBlocks(blocks, scheme), DefaultThreads, blocks);
      }
      for (const int threads : Threads)
      {
        look(NameThreads(threads, scheme), threads, DefaultBlocks);
      }
      if (HasThreads(device) && fastest > 0)
      {
        table.AddRow(Join({ scheme.name, shape, Format(fastest) }, { ToVector(li2015::GetShape(scheme.scheme)) }));
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
      const std::string name = NameWorkload(workload, Schemes.back()).second;
      if (this->FindRow(name + "/" + device.GetName()))
      {
        table.AddRow(
          Join({ std::to_string(workload) }, { this->DescribeTimes(name, device), { li2015::GetWorkload(workload) } }));
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

/** A file for a figure, or none if its name is empty. */
class FigureFile
{
public:
  /** \throws std::runtime_error if it cannot be written. */
  explicit FigureFile(const std::string & name)
    : m_Name(name)
  {
    if (!m_Name.empty())
    {
      m_Stream.open(m_Name);
      this->Check();
    }
  }

  /** Writes a figure. \param make returns it. \throws std::runtime_error if it cannot be written. */
  template <typename TMake>
  void
  Write(const TMake & make)
  {
    if (!m_Name.empty())
    {
      make().Write(m_Stream);
      m_Stream.flush();
      this->Check();
    }
  }

private:
  void
  Check() const
  {
    if (!m_Stream)
    {
      throw std::runtime_error(m_Name + " cannot be written.");
    }
  }

  std::string   m_Name;
  std::ofstream m_Stream;
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
  // Opened first, so that an error is reported before everything is measured.
  FigureFile  figure(line.Get("--figure", ""));
  FigureFile  blocksFigure(line.Get("--figure-blocks", ""));
  FigureFile  threadsFigure(line.Get("--figure-threads", ""));
  PaperTables tables(hardware, divisor);
  tables.RegisterRows();
  const int              exitCode = tables.Measure();
  const itk::GPUDevice & device = hardware.devices.front();
  figure.Write([&] { return tables.MakeFigure(device); });
  blocksFigure.Write([&] { return tables.MakeBlocksFigure(device); });
  threadsFigure.Write([&] { return tables.MakeThreadsFigure(device); });
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
                           { "--device", "--threads", "--divide", "--figure", "--figure-blocks", "--figure-threads" }));
  };
  return example::RunProgram(body, Usage);
}
