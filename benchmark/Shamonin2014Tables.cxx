// SPDX-License-Identifier: Apache-2.0
// Repeats tables 2 and 3 and figure 6 of Shamonin 2014, section 4.3, with ITK's times and ours of one run, and prints the paper's numbers
// beside them.
#include "BenchmarkOptions.h"
#include "OneAtATime.h"
#include "PyramidRows.h"
#include "ResampleRows.h"
#include "Shamonin2014.h"
#include "SideBySide.h"
#include "SpeedupFigure.h"
#include "Table.h"

#include <fstream>
#include <iostream>
#include <string>

namespace
{

using namespace bench;

const char * const Usage =
  R"(Usage: Shamonin2014Tables [options]
Prints tables 2 and 3 and figure 6 of Shamonin 2014, made again: ITK's filters, and ours on each device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's filters and of the host device; default: ITK's
  --sizes A,B,…      voxels a side, at least 8; default: 100,128,192,256,384,512, four minutes on 16 threads with a GPU;
                     without the 512, one and a half
  --figure FILE      figure 6 of the first device besides, as SVG
Rows are Pyramid/SIZE/DEVICE, Resample/SIZE/TRANSFORM+INTERPOLATOR/DEVICE and …/ITK. Google Benchmark's options choose
among them and say how often they are repeated; the defaults here are --benchmark_repetitions=1
--benchmark_min_time=0.05. --benchmark_out=FILE writes every figure as JSON.
)";

const std::string Footnote =
  std::string(
    R"(ITK and all devices run in this process, on the same float cubes, with the same number of threads. Times are in ms; those of
tables 2 and 3 are as called, see below. A case that takes less than --benchmark_min_time is repeated, and its first run is
not counted. Devices are started before.
  speedup   ITK's time over that of the device on its left
  nRMSE     root of the mean square of the difference from ITK, by the root of the mean square of ITK's values, the
            largest of the levels (1e-6 for pyramids, 1e-5 for linear and cubic, 1e-4 for nearest); ! where it fails.
            The paper's formula is not in the text that we have; this is that of the tests of elastix, its authors'
            program.
  differ    voxels that differ: positions half-way between two voxels, which rounding decides
  paper     figures from Shamonin 2014's text, for an NVIDIA GTX 480 and 8 cores; - where the text has none: we do not have
            the cells of its tables. For B and cubic, on "a larger image", the text says 67 s and < 1 s.
Transforms: T translation, R rigid, S similarity, A affine, B cubic B-spline with a control point every 10 voxels, A∘B
first B and then A. Pyramids are itk::MultiResolutionPyramidImageFilter's, which smooths by discrete Gaussians of sigma
4, 2, 1 and 0.5 voxels; the paper's by recursive ones of 4, 2, 1 and 0.
Columns of figure 6 and of the pyramids:
)") +
  ResampleTimesFootnote +
  R"(  speedup         ITK's time over as called
  bound           of the kernels: the larger of the two below, and which it is; multiple is kernels over it
  bus             bound of what goes up and down
)" +
  BoundsFootnote + ResampleWorkFootnote;

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

struct NamedTransform
{
  std::string name;
  std::string symbol;
};

const std::vector<NamedTransform> Transforms{ { "translation", "T" }, { "rigid", "R" },   { "similarity", "S" },
                                              { "affine", "A" },      { "bspline", "B" }, { "affine.bspline", "A∘B" } };

const std::vector<std::string> Interpolators{ "nearest", "linear", "cubic" };

std::string
FormatSize(unsigned int size)
{
  return std::to_string(size) + "³";
}

std::string
GetPyramidName(unsigned int size)
{
  return "Pyramid/" + std::to_string(size);
}

std::string
GetResampleName(unsigned int size, const std::string & transform, const std::string & interpolator)
{
  return "Resample/" + std::to_string(size) + "/" + transform + "+" + interpolator;
}

/** Returns the title of a panel of figure 6. */
std::string
GetPanelTitle(std::size_t panel)
{
  return std::string(1, static_cast<char>('A' + panel)) + ", " + Interpolators[panel];
}

std::string
FormatSpeedup(double speedup)
{
  return speedup > 0 ? Format(speedup) : Table::none;
}

/** The rows, and the paper's tables of them. */
class PaperTables : public SideBySide
{
public:
  PaperTables(Hardware hardware, std::vector<unsigned int> sizes)
    : SideBySide({ { "nrmse_by_magnitude", 1e-6, "Pyramid/" },
                   { "nrmse_by_magnitude", 1e-4, "+nearest" },
                   { "nrmse_by_magnitude", 1e-5, "+linear" },
                   { "nrmse_by_magnitude", 1e-5, "+cubic" } },
                 {},
                 Footnote)
    , m_Hardware(std::move(hardware))
    , m_Sizes(std::move(sizes))
  {}

  /** Registers the rows of each size one after the other, so that they share its cube. */
  void
  RegisterRows()
  {
    for (const unsigned int size : m_Sizes)
    {
      const auto loadCube = [this, size] {
        return m_Cube.Get(std::to_string(size), [size] { return MakeCube(size); });
      };
      const std::string pyramid = GetPyramidName(size);
      this->RegisterBoth(
        pyramid,
        [this, pyramid, loadCube]() -> LoadedPyramidCase & {
          return m_Case.Get(pyramid, [&] { return LoadedPyramidCase{ loadCube(), nullptr }; });
        },
        MeasureITKPyramid,
        MeasureOurPyramid);
      for (const NamedTransform & transform : Transforms)
      {
        for (const std::string & interpolator : Interpolators)
        {
          const std::string resample = GetResampleName(size, transform.name, interpolator);
          this->RegisterBoth(
            resample,
            [=]() -> LoadedResampleCase & {
              return m_Case.Get(resample, [&] {
                return LoadedResampleCase{
                  loadCube(), MakeTransform(transform.name, size), interpolator, false, nullptr
                };
              });
            },
            MeasureITKResample,
            MeasureOurResample);
        }
      }
    }
  }

  /** Returns figure 6 of the measurements. */
  SpeedupFigure
  MakeFigure(const itk::GPUDevice & device) const
  {
    SpeedupFigure figure;
    for (const unsigned int size : m_Sizes)
    {
      figure.sizes.push_back(FormatSize(size));
    }
    for (const NamedTransform & transform : Transforms)
    {
      figure.lines.push_back(transform.symbol);
    }
    for (const std::string & interpolator : Interpolators)
    {
      SpeedupFigure::Panel panel{ GetPanelTitle(figure.panels.size()), {}, {} };
      for (const NamedTransform & transform : Transforms)
      {
        panel.speedups.emplace_back();
        for (const unsigned int size : m_Sizes)
        {
          panel.speedups.back().push_back(
            this->GetSpeedup(GetResampleName(size, transform.name, interpolator), device));
        }
      }
      figure.panels.push_back(panel);
    }
    return figure;
  }

protected:
  void
  PrintTables(std::ostream & os) override
  {
    this->PrintPyramids(os);
    for (const std::string & interpolator : Interpolators)
    {
      this->PrintResampling(os, interpolator);
    }
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      this->PrintPyramidTimes(os, device);
      this->PrintFigure(os, device);
    }
  }

private:
  /** A line of a table. */
  struct Line
  {
    std::string title;
    std::string row;
    /** The paper's speedup. */
    std::string paper;
  };

  template <typename TLoad, typename TMeasureITK, typename TMeasureOurs>
  void
  RegisterBoth(const std::string &  name,
               const TLoad &        load,
               const TMeasureITK &  measureITK,
               const TMeasureOurs & measureOurs)
  {
    this->Register(name + "/ITK", [=](benchmark::State & state) { measureITK(state, load()); });
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      this->Register(name + "/" + device.GetName(),
                     [=](benchmark::State & state) { measureOurs(state, load(), device); });
    }
  }

  /** Returns a header: the title of the first column, ITK's time, and columns for each device. */
  std::vector<std::string>
  MakeHeader(const std::string & first, const std::vector<std::string> & last) const
  {
    std::vector<std::string> header{ first, "ITK" };
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      header.insert(header.end(), { device.GetName(), "speedup", "nRMSE", "differ" });
    }
    header.insert(header.end(), last.begin(), last.end());
    return header;
  }

  /** Returns the speedup of a row; 0 if it was not measured. */
  double
  GetSpeedup(const std::string & name, const itk::GPUDevice & device) const
  {
    const auto * const itks = this->FindRow(name + "/ITK");
    const auto * const ours = this->FindRow(name + "/" + device.GetName());
    return itks && ours ? itks->GetAdjustedRealTime() / ours->GetAdjustedRealTime() : 0;
  }

  /** Adds a row under such a header, if anything of it was measured. */
  void
  AddRow(Table & table, const std::string & title, const std::string & name, const std::vector<std::string> & last)
  {
    const auto * const       itks = this->FindRow(name + "/ITK");
    std::vector<std::string> cells{ title, itks ? Format(itks->GetAdjustedRealTime()) : Table::none };
    bool                     isMeasured = itks;
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      const auto * const ours = this->FindRow(name + "/" + device.GetName());
      isMeasured = isMeasured || ours;
      cells.push_back(ours ? Format(ours->GetAdjustedRealTime()) : Table::none);
      cells.push_back(FormatSpeedup(this->GetSpeedup(name, device)));
      cells.push_back(ours ? this->DescribeDifference(*ours) : Table::none);
      // Interpolated float images differ in their last digits, so their number of differing voxels means nothing.
      const bool isNearest = name.find("+nearest") != std::string::npos;
      cells.push_back(ours && isNearest ? FormatCounter(*ours, "differing_voxels") : Table::none);
    }
    cells.insert(cells.end(), last.begin(), last.end());
    if (isMeasured)
    {
      table.AddRow(cells);
    }
  }

  void
  PrintPyramids(std::ostream & os)
  {
    Table table("Table 2, pyramids of 4 levels, ms", this->MakeHeader("size", { "paper: speedup", "paper: nRMSE" }));
    for (const unsigned int size : m_Sizes)
    {
      this->AddRow(table,
                   FormatSize(size),
                   GetPyramidName(size),
                   { shamonin2014::PyramidSpeedup, shamonin2014::PyramidNrmse });
    }
    table.Print(os);
  }

  void
  PrintResampling(std::ostream & os, const std::string & interpolator)
  {
    Table table("Table 3, resampling, " + interpolator + ", ms",
                this->MakeHeader("transform", { "paper: speedup", "paper: differ" }));
    for (const NamedTransform & transform : Transforms)
    {
      for (const unsigned int size : m_Sizes)
      {
        this->AddRow(table,
                     transform.symbol + " " + FormatSize(size),
                     GetResampleName(size, transform.name, interpolator),
                     { shamonin2014::GetSpeedup(transform.name, interpolator),
                       shamonin2014::GetDifferingVoxels(transform.name, interpolator, size) });
      }
    }
    table.Print(os);
  }

  /** Prints the parts of a device's time, with ITK's time, and the bound of its kernels. */
  void
  PrintTimes(std::ostream &            os,
             const std::string &       title,
             const itk::GPUDevice &    device,
             const std::vector<Line> & lines)
  {
    Table table(title + ", ms, " + device.GetName(),
                { "cube",
                  "ITK",
                  "kernels",
                  "with transfers",
                  "as called",
                  "speedup",
                  "paper",
                  "bound",
                  "by",
                  "multiple",
                  "bus" });
    for (const Line & line : lines)
    {
      if (const auto * const ours = this->FindRow(line.row + "/" + device.GetName()))
      {
        const auto * const itks = this->FindRow(line.row + "/ITK");
        const auto [bound, by, multiple] = DescribeBound(*ours);
        table.AddRow({ line.title,
                       itks ? Format(itks->GetAdjustedRealTime()) : Table::none,
                       FormatCounter(*ours, "kernels_ms"),
                       FormatCounter(*ours, "with_transfers_ms"),
                       Format(ours->GetAdjustedRealTime()),
                       FormatSpeedup(this->GetSpeedup(line.row, device)),
                       line.paper,
                       bound,
                       by,
                       multiple,
                       FormatCounter(*ours, "bus_bound_ms") });
      }
    }
    table.Print(os);
  }

  void
  PrintPyramidTimes(std::ostream & os, const itk::GPUDevice & device)
  {
    std::vector<Line> lines;
    for (const unsigned int size : m_Sizes)
    {
      lines.push_back({ FormatSize(size), GetPyramidName(size), shamonin2014::PyramidSpeedup });
    }
    this->PrintTimes(os, "Pyramids", device, lines);
  }

  void
  PrintFigure(std::ostream & os, const itk::GPUDevice & device)
  {
    for (std::size_t panel = 0; panel < Interpolators.size(); ++panel)
    {
      std::vector<Line> lines;
      for (const NamedTransform & transform : Transforms)
      {
        for (const unsigned int size : m_Sizes)
        {
          lines.push_back({ transform.symbol + " " + FormatSize(size),
                            GetResampleName(size, transform.name, Interpolators[panel]),
                            shamonin2014::GetSpeedup(transform.name, Interpolators[panel]) });
        }
      }
      this->PrintTimes(os, "Figure 6" + GetPanelTitle(panel), device, lines);
    }
  }

  Hardware                  m_Hardware;
  std::vector<unsigned int> m_Sizes;
  OneAtATime                m_Cube;
  OneAtATime                m_Case;
};

std::vector<unsigned int>
ReadSizes(const example::CommandLine & line)
{
  std::vector<unsigned int> sizes;
  for (const std::string & text : SplitAtCommas(line.Get("--sizes", "100,128,192,256,384,512")))
  {
    const bool isNumber =
      !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber || std::stoul(text) < 8)
    {
      throw std::invalid_argument("--sizes wants numbers from 8 to 9999 with commas between them, not " + text + '.');
    }
    sizes.push_back(static_cast<unsigned int>(std::stoul(text)));
  }
  return sizes;
}

int
Run(const example::CommandLine & line)
{
  const std::vector<unsigned int> sizes = ReadSizes(line);
  const Hardware                  hardware = ChooseHardware(line);
  const std::string               figureName = line.Get("--figure", "");
  std::ofstream                   figure;
  const auto                      checkFigure = [&] {
    if (!figure)
    {
      throw std::runtime_error(figureName + " cannot be written.");
    }
  };
  if (!figureName.empty())
  {
    // Opened first, so that an error is reported before everything is measured.
    figure.open(figureName);
    checkFigure();
  }
  PaperTables tables(hardware, sizes);
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
                           { "--device", "--threads", "--sizes", "--figure" }));
  };
  return example::RunProgram(body, Usage);
}
