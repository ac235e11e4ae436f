// SPDX-License-Identifier: Apache-2.0
// Compares itk::ResampleImageFilter and GPUResampleImageFilter on every device, for the same input, in one run, side by side: the figures
// of Shamonin 2014, section 4.3.
#include "BenchmarkOptions.h"
#include "OneAtATime.h"
#include "ResampleRows.h"
#include "SideBySide.h"

#include <iostream>
#include <string>

namespace
{

using namespace bench;

const char * const Usage =
  R"(Usage: ResampleBenchmark [options]
Measures itk::GPUResampleImageFilter on each device beside itk::ResampleImageFilter.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's filter and of the host device; default: ITK's
Rows are Resample/SIZE/TRANSFORM+INTERPOLATOR/DEVICE and …/ITK, on cubes of SIZE voxels a side, float. Google
Benchmark's options choose among them and say how often they are repeated; the defaults here are
--benchmark_repetitions=3 --benchmark_min_time=0.02.
  one size           --benchmark_filter=/256/
)";

const std::string Footnote =
  std::string(R"(Every figure is the median over the repetitions. ITK and all devices run in this process, with the same
input and number of threads. A field, and a thin plate's, which is sampled on the host, stays on the device; one that
is new goes up each time.
)") +
  ResampleTimesFootnote +
  R"(  ratio           ITK's time over as called
  GB/s            the bytes of the bounds, over kernels
  difference      root of the mean square of the difference from ITK, by its range (1e-5; for nearest 1e-4, since a
                  voxel half-way between two may be either); ! where it fails
)" +
  BoundsFootnote + ResampleWorkFootnote;

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

int
Run(const example::CommandLine & line)
{
  SideBySide     table({ { "nrmse", 1e-4, "+nearest" }, { "nrmse", 1e-5, "+linear" }, { "nrmse", 1e-5, "+cubic" } },
                   { { "Counted, one update",
                           { "launches", "copies_up", "copies_down", "allocations", "synchronisations", "device_MB" } } },
                   Footnote);
  const Hardware hardware = ChooseHardware(line);
  OneAtATime     cases;
  for (const unsigned int size : { 100, 128, 192, 256, 384, 512 })
  {
    for (const std::string transform :
         { "affine", "bspline", "field", "newfield", "thinplate", "newthinplate", "affine.bspline" })
    {
      for (const std::string interpolator : { "nearest", "linear", "cubic" })
      {
        const std::string name = "Resample/" + std::to_string(size) + "/" + transform + "+" + interpolator;
        const auto        load = [=, &cases]() -> LoadedResampleCase & {
          return cases.Get(name, [=] {
            return LoadedResampleCase{
              MakeCube(size), MakeTransform(transform, size), interpolator, transform.rfind("new", 0) == 0, nullptr
            };
          });
        };
        table.Register(name + "/ITK", [=](auto & state) { MeasureITKResample(state, load()); });
        for (const itk::GPUDevice & device : hardware.devices)
        {
          table.Register(name + "/" + device.GetName(),
                         [=](auto & state) { MeasureOurResample(state, load(), device); });
        }
      }
    }
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
                           { "--benchmark_repetitions=3", "--benchmark_min_time=0.02" },
                           PrintHelp,
                           { "--device", "--threads" }));
  };
  return example::RunProgram(body, Usage);
}
