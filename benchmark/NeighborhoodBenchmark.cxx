// SPDX-License-Identifier: Apache-2.0
// Compares ITK's neighborhood correlation and ours on every device, by its radius, for the same input, in one run, side by side.
#include "BenchmarkOptions.h"
#include "PairRows.h"
#include "SideBySide.h"

#include "itkGPUANTSNeighborhoodCorrelationImageToImageMetricv4.h"

#include <cmath>
#include <iostream>

namespace
{

using namespace bench;

using ImageType = itk::Image<float, 3>;
using ITKMetric = itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;
using OurMetric = itk::GPUANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType>;

const char * const Usage =
  R"(Usage: NeighborhoodBenchmark [options]
Measures the neighborhood correlation of radius 1, 2 and 4 on each device beside ITK's, around all voxels, or, sparse, around 2000.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's metric and of the host device; default: ITK's
Rows are Neighborhoods/CASE/RADIUS/QUANTITY/DEVICE and …/ITK. Google Benchmark's options choose among them and say how often
they are repeated; the defaults here are --benchmark_repetitions=3 --benchmark_min_time=0.05.
)";

const char * const Footnote =
  R"(Every figure is the median over the repetitions. ITK and all devices run in this process, with the same input and
number of threads. ITK is asked of heads of 61x73x61 voxels only: of whole ones it takes minutes.
  kernels         from the first kernel's start to the last one's end, by the device's own events
  with transfers  the engine's evaluation: parameters up, kernels, sums down, the wait for them
  as called       GetValue() or GetValueAndDerivative() through ITK's interface
  GB/s            what a GPU's passes read and write, each voxel once / kernels: 152 bytes a voxel for a value, 168 with the
                  derivative; of a field 164 and 204; around a point, of 20 and 32 a voxel of its neighborhood
  difference      from ITK's value, relative, and from its derivative, in norm; ! where it fails (1e-5, 1e-4)
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

int
Run(const example::CommandLine & line)
{
  SideBySide table({ { "value_difference", 1e-5 }, { "derivative_difference", 1e-4 } },
                   { { "Counted, one evaluation", MetricCounts } },
                   Footnote);
  PairRows   rows(table, ChooseHardware(line));
  for (const bool isWhole : { false, true })
  {
    for (const bool isField : { false, true })
    {
      for (const unsigned int radius : { 1u, 2u, 4u })
      {
        const itk::Size<3> size = isWhole ? itk::Size<3>{ { 181, 217, 181 } } : itk::Size<3>{ { 61, 73, 61 } };
        const auto         make = [=] {
          MattesCase<3> input = MakeHeadCase<3>(size, false);
          input.radius = radius;
          if (isField)
          {
            input.transform = MakeField<3>(*input.fixed);
          }
          return input;
        };
        const std::string folder = std::string("Neighborhoods/") + (isWhole ? "full" : "third") +
                                   (isField ? "-field" : "-affine") + "/radius" + std::to_string(radius);
        rows.Register<ITKMetric, OurMetric>(
          folder, make, isField ? std::make_pair(164.0, 204.0) : std::make_pair(152.0, 168.0), true, !isWhole);
      }
    }
  }
  for (const unsigned int radius : { 1u, 2u, 4u })
  {
    const auto make = [radius] {
      MattesCase<3> input = MakeHeadCase<3>({ { 181, 217, 181 } }, false);
      input.radius = radius;
      input.points = MakePoints<3>(*input.fixed, 2000);
      return input;
    };
    const double voxels = std::pow(2.0 * radius + 1.0, 3);
    rows.Register<ITKMetric, OurMetric>("Neighborhoods/sparse-affine/radius" + std::to_string(radius),
                                        make,
                                        { 20 * voxels, 32 * voxels },
                                        true);
  }
  return table.Measure();
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc,
                           argv,
                           { "--benchmark_repetitions=3", "--benchmark_min_time=0.05" },
                           PrintHelp,
                           { "--device", "--threads" }));
  };
  return example::RunProgram(body, Usage);
}
