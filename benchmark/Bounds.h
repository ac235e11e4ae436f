// SPDX-License-Identifier: Apache-2.0
// Lower bounds of a row's time: the bytes that its kernels must move, divided by the bandwidth of a copy; their flops, divided by the peak;
// and the bytes transferred over the bus, divided by its bandwidth.
#ifndef Bounds_h
#define Bounds_h

#include "Table.h"

#include "gpureg/core/EvaluationStatistics.h"
#include "itkGPUDevice.h"

#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

namespace bench
{

/** The least work of kernels. */
struct Work
{
  /** Voxels of the input. */
  double voxels;
  /** Bytes read or written for each voxel. */
  double bytesPerVoxel;
  /** Flops for each voxel; 0 if they are not counted. */
  double flopsPerVoxel = 0;
};

/** Returns the work of a filter whose engine computes in float, and which reads its input and writes all of its outputs.
 *  \param spared the fraction, from 0 to 1, of the input that need not be read, or not be written since it is an output without changes. */
template <typename TImage, typename TFilter>
Work
GetFilterWork(const TImage & input, TFilter & filter, double spared = 0)
{
  const auto voxels = static_cast<double>(input.GetBufferedRegion().GetNumberOfPixels());
  double     written = 0;
  for (unsigned int n = 0; n < filter.GetNumberOfIndexedOutputs(); ++n)
  {
    written += static_cast<double>(filter.GetOutput(n)->GetBufferedRegion().GetNumberOfPixels());
  }
  return { voxels, (1 - spared + written / voxels) * sizeof(float) };
}

/** Measures the device's limits, unless that has been done, and sets a row's bounds. \param counts of an update with a new input. */
void
SetBounds(benchmark::State &                   state,
          const itk::GPUDevice &               device,
          const Work &                         work,
          const gpureg::EvaluationStatistics & counts);

/** Returns the larger bound of a row's kernels in ms, its name, and the kernels' time as a multiple of it. */
std::array<std::string, 3>
DescribeBound(const benchmark::BenchmarkReporter::Run & row);

/** Returns a table of the rows that have bounds. */
Table
MakeKernelBounds(const std::vector<benchmark::BenchmarkReporter::Run> & rows);
Table
MakeBusBounds(const std::vector<benchmark::BenchmarkReporter::Run> & rows);

/** The footnote about bounds. */
extern const char * const BoundsFootnote;

} // namespace bench

#endif
