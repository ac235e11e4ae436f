// SPDX-License-Identifier: Apache-2.0
// What bounds a row's time from below: the bytes that its kernels have to move by the bandwidth of a copy, their flops
// by the peak, and what goes over the bus by its bandwidth.
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

/** What kernels have to do at least. */
struct Work
{
  /** Of the input. */
  double voxels;
  /** Read or written, for each of them. */
  double bytesPerVoxel;
  /** 0: not counted. */
  double flopsPerVoxel = 0;
};

/** Of a filter whose engine has floats, and which reads its input and writes all of its outputs.
 * \param spared how much of the input it need not read, or not write since it is an output as it is; 0 to 1. */
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

/** Measures the device's limits, if that has not been done. \param counts of an update whose input is new. */
void
SetBounds(benchmark::State &                   state,
          const itk::GPUDevice &               device,
          const Work &                         work,
          const gpureg::EvaluationStatistics & counts);

/** The larger bound of a row's kernels in ms, of which of the two it is, and kernels over it. */
std::array<std::string, 3>
DescribeBound(const benchmark::BenchmarkReporter::Run & row);

/** Of the rows that have any. */
Table
MakeKernelBounds(const std::vector<benchmark::BenchmarkReporter::Run> & rows);
Table
MakeBusBounds(const std::vector<benchmark::BenchmarkReporter::Run> & rows);

/** What footnotes say of them. */
extern const char * const BoundsFootnote;

} // namespace bench

#endif
