// SPDX-License-Identifier: Apache-2.0
// Compares ITK's Mattes metric and CudaMattesNMI on every device, for the same input, in one run, side by side.
#include "BenchmarkMetrics.h"
#include "BenchmarkOptions.h"
#include "MetricRows.h"
#include "OneAtATime.h"
#include "SideBySide.h"
#include "Table.h"

#include <iostream>

namespace
{

using namespace bench;

const char * const Usage =
  R"(Usage: MattesBenchmark [options]
Measures itk::CudaMattesNMI on each device beside ITK's own Mattes metric.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's metric and of the host device; default: ITK's
  --image FILE       measures on this 3D image, too: the case "file"
Rows are Mattes/CASE/QUANTITY/METRIC/DEVICE and Mattes/CASE/QUANTITY/ITK. Google Benchmark's options choose among them
and say how often they are repeated; the defaults here are --benchmark_repetitions=5 --benchmark_min_time=0.05.
  one case           --benchmark_filter=/full/
  a quick look       --benchmark_filter='/(full|stripped|2d|64)/' --benchmark_repetitions=3 --benchmark_min_time=0.01
  every figure       --benchmark_out=FILE (as JSON)
)";

const char * const Footnote =
  R"(Every figure is the median over the repetitions; a repetition is the mean over as many calls as fill the minimal
time, one at least. ITK and all devices run in this process, with the same input and number of threads. MI is
CudaMattesNMI with NormalizedOff(), which computes what ITK's metric does; NMI is its default. ITK has no counterpart
to NMI, so its ratio is to ITK's MI, too.
  kernels         from the first kernel's start to the last one's end, by the device's own events (host: time in the
                  passes), in at most ten calls of their own
  with transfers  the engine's evaluation: parameters up, kernels, sums down, the wait for them
  as called       GetValue() or GetValueAndDerivative() through ITK's interface; ITK: the same of its own metric
  Initialize      of a new metric, once. A device's first one also starts the device
  GB/s            least traffic / kernels: each thing that a sample needs, once a pass. Value: 2 bytes of fixed bin, 4
                  of moving value; derivative: besides, 2, and 16 of gradient and value (4 more with a mask or a
                  spline); in either pass 1 for a mask, 12 for a sampled point, 12 for a displacement; 12 for a force.
                  Repeated reads come from caches and are not counted, nor are the histograms
  difference      from ITK's value, relative, and from its derivative, in norm; ! where it fails (1e-5, 1e-4)
Counts are of one evaluation. Device MB is what the metric holds there; two volumes are fixed and moving as float.
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

/** Registers rows for each case. */
class MattesRows
{
public:
  MattesRows(SideBySide & table, Hardware hardware)
    : m_Table(table)
    , m_Hardware(std::move(hardware))
  {}

  /** \param make is not called before a row of the case runs. */
  template <unsigned int VDimension>
  void
  Register(const std::string & name, const std::function<MattesCase<VDimension>()> & make)
  {
    const auto load = [=]() -> LoadedMattesMetrics<VDimension> & {
      return m_Case.Get(name, [&] {
        const MattesCase<VDimension> input = make();
        std::cout << "case " << name << ": " << input.description << ", "
                  << input.fixed->GetLargestPossibleRegion().GetSize() << ", " << input.bins << " bins" << std::endl;
        return LoadedMattesMetrics<VDimension>(input, m_Hardware.threads);
      });
    };
    const std::string                       folder = "Mattes/" + name;
    const std::pair<const char *, Quantity> quantities[] = { { "/value", Quantity::Value },
                                                             { "/value+derivative", Quantity::ValueAndDerivative } };

    this->RegisterOnce(folder + "/Initialize/ITK", [=](auto & state) { MeasureInitialize(state, *load().MakeITK()); });
    for (const auto & [text, quantity] : quantities)
    {
      m_Table.Register(folder + text + "/ITK",
                       [=, quantity = quantity](auto & state) { MeasureITK(state, load(), quantity); });
    }
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      this->RegisterOnce(folder + "/Initialize/" + device.GetName(),
                         [=](auto & state) { MeasureInitialize(state, *load().MakeOurs(device)); });
      for (const bool normalized : { false, true })
      {
        for (const auto & [text, quantity] : quantities)
        {
          m_Table.Register(folder + text + (normalized ? "/NMI/" : "/MI/") + device.GetName(),
                           [=, quantity = quantity](auto & state) {
                             auto & loaded = load();
                             loaded.GetOurs(device).SetNormalized(normalized);
                             const double traffic =
                               loaded.input.GetLeastTraffic(quantity == Quantity::ValueAndDerivative);
                             MeasureOurs(state, loaded, quantity, device, traffic, !normalized);
                           });
        }
      }
    }
  }

private:
  void
  RegisterOnce(const std::string & name, const std::function<void(benchmark::State &)> & body)
  {
    m_Table.Register(name, body)->Iterations(1)->Repetitions(1);
  }

  SideBySide & m_Table;
  Hardware     m_Hardware;
  OneAtATime   m_Case;
};

void
RegisterCases(MattesRows & rows)
{
  using Case = MattesCase<3>;
  const itk::Size<3> headSize{ { 181, 217, 181 } };
  const auto         add = [&](const std::string & name, const std::string & description, const auto & change) {
    rows.Register<3>(name, [=] {
      Case input = MakeHeadCase<3>(headSize, false);
      input.description += description;
      change(input);
      return input;
    });
  };
  add("full", ", affine, every voxel", [](Case &) {});
  rows.Register<3>("stripped", [=] { return MakeHeadCase<3>(headSize, true); });
  rows.Register<2>("2d", [] { return MakeHeadCase<2>({ { 512, 512 } }, false); });
  rows.Register<3>("64", [] { return MakeHeadCase<3>({ { 64, 64, 64 } }, false); });
  add("points", ", 200000 sampled points", [](Case & input) { input.points = MakePoints<3>(*input.fixed, 200000); });
  add("mask", ", moving mask", [](Case & input) { input.movingMask = MakeMask<3>(*input.moving); });
  add("field", ", displacement field of local support", [](Case & input) {
    input.transform = MakeField<3>(*input.fixed);
  });
  add("bspline", ", cubic B-spline interpolation", [](Case & input) { input.splineOrder = 3; });
  for (const unsigned int bins : { 32, 128, 256 })
  {
    add("bins" + std::to_string(bins), "", [bins](Case & input) { input.bins = bins; });
  }
}

void
PrintStripped(const SideBySide & table)
{
  const std::string full = "Mattes/full/";
  Table ratios("Skull-stripped heads (one bin holds most voxels) to noisy ones, kernels; at most 1.3 is the aim",
               { "row", "ratio" });
  for (const auto & row : table.GetRows())
  {
    const std::string & name = row.run_name.function_name;
    if (name.rfind(full, 0) == 0 && row.counters.count("kernels_ms") != 0)
    {
      const std::string rest = name.substr(full.size());
      if (const auto * const stripped = table.FindRow("Mattes/stripped/" + rest))
      {
        ratios.AddRow({ rest, Format(stripped->counters.at("kernels_ms") / row.counters.at("kernels_ms")) });
      }
    }
  }
  ratios.Print(std::cout);
}

int
Run(const example::CommandLine & line)
{
  SideBySide table({ { "value_difference", 1e-5 }, { "derivative_difference", 1e-4 } },
                   { { "Counted, one evaluation", MetricCounts },
                     { "After the first Initialize", { "first_evaluation_ms", "initialize_again_ms" } } },
                   Footnote);
  MattesRows rows(table, ChooseHardware(line));
  RegisterCases(rows);
  if (line.Has("--image"))
  {
    const std::string fileName = line.Get("--image", "");
    rows.Register<3>("file", [=] { return MakeFileCase(fileName); });
  }
  const int exitCode = table.Measure();
  PrintStripped(table);
  return exitCode;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc,
                           argv,
                           { "--benchmark_repetitions=5", "--benchmark_min_time=0.05" },
                           PrintHelp,
                           { "--device", "--threads", "--image" }));
  };
  return example::RunProgram(body, Usage);
}
