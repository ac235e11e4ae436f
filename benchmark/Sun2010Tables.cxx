// SPDX-License-Identifier: Apache-2.0
// Repeats the measurements of Sun 2010: one evaluation of the mutual information of two heads of different contrast, by interpolation and
// by partial volume, in 2D and in 3D; prints the paper's numbers beside them.
#include "BenchmarkMetrics.h"
#include "BenchmarkOptions.h"
#include "MattesCases.h"
#include "Median.h"
#include "Stopwatch.h"
#include "Sun2010.h"
#include "Table.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace
{

using namespace bench;

constexpr unsigned int Bins = 32;

const char * const Usage =
  R"(Usage: Sun2010Tables [options]
Evaluates the mutual information of two heads by interpolation and by partial volume, as Sun 2010 does, on each device.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of the host device; default: ITK's
  --repetitions N    of each evaluation, of which the median is printed; default: 50
)";

const char * const Footnote =
  R"(Every figure is of one run of this program, in ms, the median over the repetitions, of the value alone, by an affine
transform, 32 bins, every pixel a sample. Interpolation is that of itk::CudaMattesNMI, whose moving window is a cubic spline
where the paper counts the nearest bin. The images are of a phantom, T2- and T1-weighted, of the paper's sizes.
  kernels    on the device; host: the loops
  called     GetValue(), from the transform's parameters to the value
  paper GPU  Sun 2010, on a Tesla C1060; CPU: of C on one core of an Intel i7-950. There is no partial volume in 3D in it
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
}

/** Returns the milliseconds of a value: as called, and of the kernels. */
template <typename TMetric>
std::pair<double, double>
MeasureValue(TMetric & metric, unsigned int repetitions)
{
  std::vector<double> called, kernels;
  // Measured separately, so that the events affect no other figure.
  for (const bool measuresKernels : { false, true })
  {
    metric.SetMeasuresKernelTime(measuresKernels);
    metric.GetValue();
    for (unsigned int n = 0; n < repetitions; ++n)
    {
      const example::Stopwatch watch;
      metric.GetValue();
      (measuresKernels ? kernels : called)
        .push_back(measuresKernels ? metric.GetEvaluationStatistics().kernelMilliseconds : 1000 * watch.GetSeconds());
    }
  }
  return { GetMedian(called), GetMedian(kernels) };
}

template <typename TMetric, unsigned int VDimension>
void
AddRow(Table &                        table,
       const std::string &            name,
       const MattesCase<VDimension> & input,
       const itk::GPUDevice &         device,
       const sun2010::Figure &        paper,
       const Hardware &               hardware,
       unsigned int                   repetitions)
{
  const auto metric = TMetric::New();
  input.Configure(*metric, hardware.threads);
  metric->SetNumberOfHistogramBins(Bins);
  metric->NormalizedOff();
  metric->SetDevice(device);
  metric->SetTrustsTimeStamps(true);
  metric->SetUseMovingImageGradientFilter(false);
  metric->SetUseFixedImageGradientFilter(false);
  metric->Initialize();
  const auto [called, kernels] = MeasureValue(*metric, repetitions);
  table.AddRow({ name + ", " + device.GetName(), Format(kernels), Format(called), paper.gpu, paper.cpu });
}

template <unsigned int VDimension>
void
AddRows(Table &                     table,
        const itk::Size<VDimension> size,
        const std::string &         name,
        const sun2010::Figure &     interpolation,
        const sun2010::Figure &     partialVolume,
        const Hardware &            hardware,
        unsigned int                repetitions)
{
  using ImageType = itk::Image<float, VDimension>;
  const MattesCase<VDimension> input = MakeHeadCase<VDimension>(size, false);
  for (const itk::GPUDevice & device : hardware.devices)
  {
    AddRow<itk::CudaMattesNMI<ImageType, ImageType>>(
      table, name + ", interpolation", input, device, interpolation, hardware, repetitions);
    AddRow<itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<ImageType, ImageType>>(
      table, name + ", partial volume", input, device, partialVolume, hardware, repetitions);
  }
}

int
Run(const example::CommandLine & line)
{
  const Hardware hardware = ChooseHardware(line);
  const auto     repetitions = std::max<std::uint32_t>(1, line.GetNumber("--repetitions", 50));
  Table          table("One evaluation of the mutual information, 32 bins",
              { "size, model, device", "kernels", "called", "paper GPU", "paper CPU" });
  for (const unsigned int size : { 64u, 128u, 256u, 512u })
  {
    AddRows<2>(table,
               { { size, size } },
               std::to_string(size) + "×" + std::to_string(size),
               sun2010::GetInterpolation(size),
               sun2010::GetPartialVolume(size),
               hardware,
               repetitions);
  }
  AddRows<3>(table, { { 256, 256, 64 } }, "256×256×64", sun2010::Volume, {}, hardware, repetitions);
  table.Print(std::cout);
  std::cout << '\n' << Footnote;
  return EXIT_SUCCESS;
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc, argv, {}, PrintHelp, { "--device", "--threads", "--repetitions" }));
  };
  return example::RunProgram(body, Usage);
}
