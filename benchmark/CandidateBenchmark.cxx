// SPDX-License-Identifier: Apache-2.0
// Measures the values of thousands of rotations of a head at 8 mm, with which a global search begins (Li 2015, section 2.2): in one call,
// and one by one, on every device.
#include "BenchmarkMetrics.h"
#include "BenchmarkOptions.h"
#include "HeadPhantom.h"
#include "SideBySide.h"

#include "itkEuler3DTransform.h"
#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkShrinkImageFilter.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace
{

using namespace bench;

using ImageType = itk::Image<float, 3>;
using TransformType = itk::Euler3DTransform<double>;
using Candidates = std::vector<TransformType::ParametersType>;

const char * const Usage =
  R"(Usage: CandidateBenchmark [options]
Measures the values of 8000 rotations of a head of 256 x 256 x 160 mm in voxels of 8 mm, every one of its 20480 voxels a
sample, by each metric, in one call of GetValues() and by one GetValue() for each, on each device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of the host; default: ITK's
Rows are Candidates/METRIC/together/DEVICE and Candidates/METRIC/one by one/DEVICE. Google Benchmark's options choose among
them and say how often they are repeated; the default here is --benchmark_repetitions=5.
)";

const char * const Footnote =
  R"(Medians over the repetitions, of all candidates; one by one, one run.
  kernels            by the device's own events, of the whole batch
  with transfers     the engine's evaluation of it: maps up, kernels, sums down, the wait for them
  as called          GetValues(), or GetValue() for each
  samples/s          of the kernels
  difference         the largest from GetValue(), relative, of the first 400; ! where it is above 1e-6
The host has no kernels for a batch: its rows are as called alone. A neighborhood correlation's radius is 2. Demons have no candidates:
they take a displacement field alone.
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

/** Returns a head of 1 mm voxels, shrunk to 8 mm. */
ImageType::Pointer
MakeSmallHead(Contrast contrast, std::uint64_t seed)
{
  HeadScan<3> scan;
  scan.size = { { 256, 256, 160 } };
  scan.contrast = contrast;
  scan.seed = seed;
  const auto shrink = itk::ShrinkImageFilter<ImageType, ImageType>::New();
  shrink->SetInput(MakeHead(scan));
  shrink->SetShrinkFactors(8);
  shrink->Update();
  return shrink->GetOutput();
}

struct Heads
{
  ImageType::Pointer fixed;
  ImageType::Pointer moving;
};

constexpr int         Steps = 20;
constexpr std::size_t FewCandidates = 400;

/** Returns rotations by 20 angles about each axis, 18 degrees apart. */
Candidates
MakeRotations()
{
  constexpr auto step = 2 * itk::Math::pi / Steps;
  Candidates     candidates;
  for (std::size_t n = 0; n < Steps * Steps * Steps; ++n)
  {
    TransformType::ParametersType parameters(6);
    parameters.Fill(0);
    parameters[0] = step * static_cast<double>(n % Steps);
    parameters[1] = step * static_cast<double>(n / Steps % Steps);
    parameters[2] = step * static_cast<double>(n / Steps / Steps);
    candidates.push_back(parameters);
  }
  return candidates;
}

/** CudaMattesNMI with the formula of ITK's Mattes metric. */
template <typename TFixed, typename TMoving>
class MattesMI : public itk::CudaMattesNMI<TFixed, TMoving>
{
public:
  using Self = MattesMI;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

protected:
  MattesMI()
  {
    this->NormalizedOff();
  }
};

template <typename TMetric>
class CandidateRows
{
public:
  CandidateRows(unsigned int threads, const Heads & heads)
    : m_Threads(threads)
    , m_Heads(heads)
    , m_Candidates(MakeRotations())
  {}

  typename TMetric::Pointer
  MakeMetric(const itk::GPUDevice & device) const
  {
    const auto metric = TMetric::New();
    metric->SetDevice(device);
    metric->SetMaximumNumberOfWorkUnits(m_Threads);
    metric->SetFixedImage(m_Heads.fixed);
    metric->SetMovingImage(m_Heads.moving);
    metric->SetMovingTransform(TransformType::New());
    metric->Initialize();
    return metric;
  }

  void
  MeasureTogether(benchmark::State & state, const itk::GPUDevice & device) const
  {
    const auto          metric = this->MakeMetric(device);
    std::vector<double> values = metric->GetValues(m_Candidates);
    double              withTransfers = 0;
    for (auto _ : state)
    {
      values = metric->GetValues(m_Candidates);
      withTransfers += metric->GetEvaluationStatistics().evaluateMilliseconds;
    }
    // On the host one candidate follows the other, and the statistics are those of the last one.
    if (device.GetName() != "host")
    {
      metric->SetMeasuresKernelTime(true);
      metric->GetValues(m_Candidates);
      const double kernels = metric->GetEvaluationStatistics().kernelMilliseconds;
      const auto   voxels = m_Heads.fixed->GetBufferedRegion().GetNumberOfPixels();
      const auto   samples = static_cast<double>(voxels * m_Candidates.size());
      state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
      state.counters["kernels_ms"] = kernels;
      state.counters["Gsamples/s"] = samples / kernels * 1e-6;
    }

    const std::vector<double> oneByOne = this->EvaluateOneByOne(*metric, FewCandidates);
    double                    difference = 0;
    for (std::size_t n = 0; n < oneByOne.size(); ++n)
    {
      difference = std::max(difference, std::abs(values[n] - oneByOne[n]) / std::abs(oneByOne[n]));
    }
    state.counters["value_difference"] = difference;
  }

  void
  MeasureOneByOne(benchmark::State & state, const itk::GPUDevice & device) const
  {
    const auto metric = this->MakeMetric(device);
    for (auto _ : state)
    {
      this->EvaluateOneByOne(*metric, m_Candidates.size());
    }
  }

private:
  std::vector<double>
  EvaluateOneByOne(TMetric & metric, std::size_t count) const
  {
    std::vector<double> values;
    for (std::size_t n = 0; n < count; ++n)
    {
      metric.GetModifiableMovingTransform()->SetParameters(m_Candidates[n]);
      values.push_back(metric.GetValue());
    }
    return values;
  }

  unsigned int     m_Threads;
  const Heads      m_Heads;
  const Candidates m_Candidates;
};

template <template <typename...> class TMetric>
void
Register(SideBySide & table, const Hardware & hardware, const Heads & heads, const std::string & name)
{
  const auto rows = std::make_shared<const CandidateRows<TMetric<ImageType, ImageType>>>(hardware.threads, heads);
  for (const itk::GPUDevice & device : hardware.devices)
  {
    table.Register("Candidates/" + name + "/together/" + device.GetName(),
                   [=](auto & state) { rows->MeasureTogether(state, device); });
    table
      .Register("Candidates/" + name + "/one by one/" + device.GetName(),
                [=](auto & state) { rows->MeasureOneByOne(state, device); })
      ->Iterations(1)
      ->Repetitions(1);
  }
}

int
Run(const example::CommandLine & line)
{
  const Hardware hardware = ChooseHardware(line);
  SideBySide     table({ { "value_difference", 1e-6 } }, { { "Kernels", { "Gsamples/s" } } }, Footnote);
  const Heads    heads{ MakeSmallHead(Contrast::T2, 1), MakeSmallHead(Contrast::T1, 2) };
  Register<itk::CudaCorrelationRatioMetric>(table, hardware, heads, "CorrelationRatio");
  Register<itk::CudaMattesNMI>(table, hardware, heads, "NMI");
  Register<MattesMI>(table, hardware, heads, "MattesMI");
  Register<itk::GPUMeanSquaresImageToImageMetricv4>(table, hardware, heads, "MeanSquares");
  Register<itk::GPUCorrelationImageToImageMetricv4>(table, hardware, heads, "Correlation");
  Register<itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4>(table, hardware, heads, "MeanAbsoluteDifferences");
  Register<itk::CudaPartialVolumeMutualInformationImageToImageMetricv4>(table, hardware, heads, "PartialVolume");
  Register<itk::GPUJointHistogramMutualInformationImageToImageMetricv4>(table, hardware, heads, "JointHistogram");
  Register<itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4>(table, hardware, heads, "NeighborhoodCorrelation");
  return table.Measure();
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc, argv, { "--benchmark_repetitions=5" }, PrintHelp, { "--device", "--threads" }));
  };
  return example::RunProgram(body, Usage);
}
