// SPDX-License-Identifier: Apache-2.0
// Repeats figures 4 and 5 of Shamonin 2014, section 4.2: the time of a similarity's derivative by a cubic B-spline on host threads, by the
// number of threads, of samples and of parameters, and by similarity; with ITK's mean squares and the same B-spline for comparison.
#include "BenchmarkOptions.h"
#include "ChildProcess.h"
#include "HeadPhantom.h"
#include "MattesCases.h"
#include "Median.h"
#include "Shamonin2014.h"
#include "SpeedupFigure.h"
#include "Stopwatch.h"
#include "Table.h"
#include "VolumeMetrics.h"

#include "itkBSplineTransform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace
{

using namespace bench;
using example::Volume;
using Spline = itk::BSplineTransform<double, 3, 3>;

const char * const Usage =
  R"(Usage: Shamonin2014Derivative [options]
Times a similarity's value and derivative by a cubic B-spline on host threads, as figures 4 and 5 of Shamonin 2014 do.
  --threads A,B,…    their numbers; default: 1,2,4,8,16, as many as ITK takes
  --longest N        seconds that an evaluation of ITK's may take; one that would take longer is reckoned; default: 20
  --divide N         a volume of an N-th of 181 x 217 x 181 voxels along each axis, to try the program; default: 1
  --figure FILE      speedups by threads, as SVG
)";

const char * const Footnote =
  R"(Every figure is of one run of this program, in ms, the median of five evaluations or more, or one of more than 5 s, as called:
GetValueAndDerivative(), from the transform's parameters to the derivative by all of them. Two noisy heads of 181×217×181
voxels; all: every voxel is a sample, else every n-th of them, the same in each evaluation: what is found once for them is
not counted. MI is Mattes', of 50 bins.
  speedup     one thread's time over that of the most threads; efficiency: the speedup by thread
  ITK         its mean squares by the same B-spline, most threads; ~ reckoned from fewer samples, of which each takes the same: its
              time is that of the parameters, of which each sample goes through all. Its MI holds bins × bins numbers a parameter
  ratio       ITK's time over ours, most threads. The aim for mean squares is 50
  paper       Shamonin 2014, MI of 2000 samples and 5·10⁴ parameters, an iteration: ms before and on one thread of 8 cores; speedup
              of the whole over before, and efficiency, of 8 threads
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
}

const std::array<std::string, 3> Measures{ "MI", "MSD", "NC" };

/** Numbers of samples; 0 stands for all voxels. */
const std::array<itk::SizeValueType, 3> SampleCounts{ 2000, 20000, 0 };

/** Control points along each axis, and the paper's number for as many parameters. */
struct GridOfPaper
{
  std::array<unsigned int, 3> points;
  std::string                 name;
};
const std::array<GridOfPaper, 4> Grids{
  { { { 9, 9, 9 }, "2·10³" }, { { 14, 15, 14 }, "9·10³" }, { { 25, 27, 25 }, "5·10⁴" }, { { 44, 52, 44 }, "3·10⁵" } }
};

std::string
NameSamples(itk::SizeValueType count)
{
  return count == 0 ? "all" : std::to_string(count);
}

/** Returns a B-spline over the image's domain, with small random displacements. */
Spline::Pointer
MakeSpline(const Volume & image, const std::array<unsigned int, 3> & points)
{
  const auto                     size = image.GetLargestPossibleRegion().GetSize();
  Spline::PhysicalDimensionsType dimensions;
  Spline::MeshSizeType           mesh;
  Spline::OriginType             origin = image.GetOrigin();
  for (unsigned int d = 0; d < 3; ++d)
  {
    mesh[d] = points[d] - Spline::SplineOrder;
    dimensions[d] = image.GetSpacing()[d] * static_cast<double>(size[d]);
    origin[d] -= 0.5 * image.GetSpacing()[d];
  }
  const auto spline = Spline::New();
  spline->SetTransformDomainOrigin(origin);
  spline->SetTransformDomainPhysicalDimensions(dimensions);
  spline->SetTransformDomainMeshSize(mesh);
  Spline::ParametersType parameters(spline->GetNumberOfParameters());
  for (itk::SizeValueType n = 0; n < parameters.size(); ++n)
  {
    parameters[n] = GetNormalNoise(7, n);
  }
  spline->SetParametersByValue(parameters);
  return spline;
}

/** Returns the time of an evaluation, ms. */
template <typename TMetric>
double
MeasureEvaluation(const TMetric & metric)
{
  constexpr std::size_t fewest = 5;
  constexpr double      longEnough = 300;
  constexpr double      tooLong = 5000;
  double                value = 0;
  itk::Array<double>    derivative;
  std::vector<double>   times;
  double                sum = 0;
  const auto            evaluate = [&] {
    const example::Stopwatch watch;
    metric.GetValueAndDerivative(value, derivative);
    return 1000 * watch.GetSeconds();
  };
  const double first = evaluate();
  if (first > tooLong)
  {
    return first;
  }
  while (times.size() < fewest || sum < longEnough)
  {
    times.push_back(evaluate());
    sum += times.back();
  }
  return GetMedian(times);
}

/** Times of one similarity, number of samples and number of parameters. */
struct Times
{
  std::vector<double> ours; // one for each number of threads
  double              itks = 0;
  bool                isReckoned = false;
};

/** Similarity, samples, parameters. */
using Key = std::tuple<std::string, itk::SizeValueType, std::string>;

/** All measurements, with ITK's pool of this number of threads. */
class Measurements
{
public:
  Measurements(unsigned int threads, double longest, unsigned int divisor)
    : m_Threads(threads)
    , m_Longest(longest)
    , m_Input(MakeHeadCase<3>({ { 181 / divisor, 217 / divisor, 181 / divisor } }, false))
  {}

  /** Returns the times of each key in turn, ours and ITK's, in ms; then 1 if ITK's was extrapolated, otherwise 0. */
  std::vector<double>
  MeasureAll(bool withITKs)
  {
    for (const GridOfPaper & grid : Grids)
    {
      m_Input.transform = MakeSpline(*m_Input.fixed, grid.points);
      for (const itk::SizeValueType samples : SampleCounts)
      {
        m_Input.points = samples == 0 ? nullptr : MakePoints<3>(*m_Input.fixed, samples);
        for (const std::string & measure : Measures)
        {
          m_Times[{ measure, samples, grid.name }].ours = { this->MeasureOne(measure) };
        }
        if (withITKs)
        {
          this->MeasureITK(samples, grid);
        }
      }
    }
    std::vector<double> numbers;
    for (const auto & [key, times] : m_Times)
    {
      numbers.insert(numbers.end(), { times.ours.front(), times.itks, times.isReckoned ? 1.0 : 0.0 });
    }
    return numbers;
  }

private:
  double
  MeasureOne(const std::string & measure) const
  {
    if (measure == "MSD")
    {
      return this->MeasureOurs<itk::GPUMeanSquaresImageToImageMetricv4<Volume, Volume>>();
    }
    return measure == "NC" ? this->MeasureOurs<itk::GPUCorrelationImageToImageMetricv4<Volume, Volume>>()
                           : this->MeasureOurs<itk::CudaMattesNMI<Volume, Volume>>();
  }

  template <typename TMetric>
  typename TMetric::Pointer
  MakeMetric() const
  {
    const auto metric = TMetric::New();
    m_Input.Configure(*metric, m_Threads);
    metric->SetUseMovingImageGradientFilter(false);
    metric->SetUseFixedImageGradientFilter(false);
    return metric;
  }

  template <typename TMetric>
  double
  MeasureOurs() const
  {
    const auto metric = this->MakeMetric<TMetric>();
    metric->SetDevice(itk::GPUDevice::FromName("host"));
    if constexpr (std::is_base_of<itk::MattesMutualInformationImageToImageMetricv4<Volume, Volume>, TMetric>::value)
    {
      metric->NormalizedOff();
    }
    metric->Initialize();
    return MeasureEvaluation(*metric);
  }

  /** Measures ITK's time, after that for fewer samples, from which it is extrapolated if it would take too long. */
  void
  MeasureITK(itk::SizeValueType samples, const GridOfPaper & grid)
  {
    Times &      times = m_Times.at({ "MSD", samples, grid.name });
    const auto   fewer = m_Times.find({ "MSD", samples == 0 ? 20000 : 2000, grid.name });
    const double reckoned = samples == 2000 ? 0
                                            : fewer->second.itks * this->CountSamples(samples) /
                                                this->CountSamples(std::get<1>(fewer->first));
    times.isReckoned = reckoned > m_Longest;
    if (times.isReckoned)
    {
      times.itks = reckoned;
      return;
    }
    const auto metric = this->MakeMetric<itk::MeanSquaresImageToImageMetricv4<Volume, Volume>>();
    metric->Initialize();
    times.itks = MeasureEvaluation(*metric);
  }

  double
  CountSamples(itk::SizeValueType samples) const
  {
    return static_cast<double>(samples == 0 ? m_Input.fixed->GetLargestPossibleRegion().GetNumberOfPixels() : samples);
  }

  unsigned int         m_Threads;
  double               m_Longest; // ms
  MattesCase<3>        m_Input;
  std::map<Key, Times> m_Times;
};

class Derivatives
{
public:
  Derivatives(std::vector<unsigned int> threads, double longest, unsigned int divisor)
    : m_Threads(std::move(threads))
    , m_Longest(1000 * longest)
    , m_Divisor(divisor)
  {}

  void
  MeasureAll()
  {
    for (const std::string & measure : Measures)
    {
      for (const itk::SizeValueType samples : SampleCounts)
      {
        for (const GridOfPaper & grid : Grids)
        {
          m_Times[{ measure, samples, grid.name }] = {};
        }
      }
    }
    for (const unsigned int threads : m_Threads)
    {
      const std::vector<double> numbers = MeasureInChild([&] {
        itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(threads);
        return Measurements(threads, m_Longest, m_Divisor).MeasureAll(threads == m_Threads.back());
      });
      auto                      number = numbers.begin();
      for (auto & [key, times] : m_Times)
      {
        times.ours.push_back(*number++);
        times.itks = *number++;
        times.isReckoned = *number++ != 0;
      }
    }
  }

  void
  Print(std::ostream & os) const
  {
    std::vector<std::string> header{ "similarity, samples, parameters" };
    for (const unsigned int threads : m_Threads)
    {
      header.push_back(std::to_string(threads));
    }
    for (const char * const title : { "speedup", "efficiency", "ITK", "ratio" })
    {
      header.emplace_back(title);
    }
    header.insert(header.end(), { "paper: before", "1 thread", "speedup", "efficiency" });
    Table table("Value and derivative, ms, by threads", header);
    for (const std::string & measure : Measures)
    {
      for (const itk::SizeValueType samples : SampleCounts)
      {
        for (const GridOfPaper & grid : Grids)
        {
          this->AddRow(table, measure, samples, grid);
        }
      }
    }
    table.Print(os);
  }

  /** Returns figures 4 and 5, and one for all voxels. */
  SpeedupFigure
  MakeFigure() const
  {
    SpeedupFigure figure;
    for (const unsigned int threads : m_Threads)
    {
      figure.sizes.push_back(std::to_string(threads));
    }
    for (std::size_t line = 0; line < Grids.size(); ++line)
    {
      figure.lines.push_back(Grids[line].name);
    }
    for (const std::string & measure : Measures)
    {
      for (const itk::SizeValueType samples : SampleCounts)
      {
        SpeedupFigure::Panel panel{ measure + ", " + NameSamples(samples) + " samples", {}, {} };
        for (const GridOfPaper & grid : Grids)
        {
          const auto &        ours = m_Times.at({ measure, samples, grid.name }).ours;
          std::vector<double> speedups;
          for (const double time : ours)
          {
            speedups.push_back(ours.front() / time);
          }
          panel.speedups.push_back(speedups);
        }
        figure.panels.push_back(panel);
      }
    }
    return figure;
  }

private:
  void
  AddRow(Table & table, const std::string & measure, itk::SizeValueType samples, const GridOfPaper & grid) const
  {
    const Times &            times = m_Times.at({ measure, samples, grid.name });
    std::vector<std::string> row{ measure + ", " + NameSamples(samples) + ", " + grid.name };
    for (const double time : times.ours)
    {
      row.push_back(Format(time));
    }
    const double speedup = times.ours.front() / times.ours.back();
    const bool   isPapers = measure == "MI" && samples == 2000 && grid.name == "5·10⁴";
    const auto   paper = [isPapers](const std::string & figure) { return isPapers ? figure : Table::none; };
    row.push_back(Format(speedup));
    row.push_back(Format(speedup * m_Threads.front() / m_Threads.back()));
    row.push_back(times.itks > 0 ? (times.isReckoned ? "~" : "") + Format(times.itks) : Table::none);
    row.push_back(times.itks > 0 ? Format(times.itks / times.ours.back()) : Table::none);
    row.push_back(paper(shamonin2014::IterationBefore));
    row.push_back(paper(shamonin2014::IterationOfOneThread));
    row.push_back(paper(shamonin2014::IterationSpeedup));
    row.push_back(paper(shamonin2014::IterationEfficiency));
    table.AddRow(row);
  }


  std::vector<unsigned int> m_Threads;
  double                    m_Longest; // ms
  unsigned int              m_Divisor;
  std::map<Key, Times>      m_Times;
};

std::vector<unsigned int>
ReadThreads(const example::CommandLine & line)
{
  std::vector<unsigned int> threads;
  const unsigned int        most = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  for (const std::string & text : SplitAtCommas(line.Get("--threads", "1,2,4,8,16")))
  {
    const unsigned long number = text.find_first_not_of("0123456789") == std::string::npos ? std::stoul(text) : 0;
    if (number == 0 || number > itk::ITK_MAX_THREADS)
    {
      throw std::invalid_argument("--threads wants numbers of at least 1 with commas between them, not " + text + '.');
    }
    if (!line.Get("--threads", "").empty() || number <= most)
    {
      threads.push_back(static_cast<unsigned int>(number));
    }
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

int
Run(const example::CommandLine & line)
{
  std::ofstream     figure;
  const std::string figureName = line.Get("--figure", "");
  const auto        checkFigure = [&] {
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
  Derivatives derivatives(ReadThreads(line),
                          line.GetNumber("--longest", 20),
                          std::max<std::uint32_t>(1, line.GetNumber("--divide", 1)));
  derivatives.MeasureAll();
  derivatives.Print(std::cout);
  std::cout << '\n' << Footnote;
  if (figure.is_open())
  {
    derivatives.MakeFigure().Write(figure);
    figure.flush();
    checkFigure();
  }
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc, argv, {}, PrintHelp, { "--threads", "--longest", "--divide", "--figure" }));
  };
  return example::RunProgram(body, Usage);
}
