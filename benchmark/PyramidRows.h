// SPDX-License-Identifier: Apache-2.0
// Rows that make pyramids of 4 levels: by itk::MultiResolutionPyramidImageFilter, and by ours on a device.
#ifndef PyramidRows_h
#define PyramidRows_h

#include "Bounds.h"
#include "ImageDifference.h"
#include "KernelTime.h"
#include "ResampleCases.h"
#include "UpdateAgain.h"

#include "itkGPUMultiResolutionPyramidImageFilter.h"

#include <benchmark/benchmark.h>

#include <cmath>

namespace bench
{

/** Objects that the rows of a size's pyramid share. */
struct LoadedPyramidCase
{
  using ITKFilterType = itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>;
  using OurFilterType = itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>;

  ImageType::Pointer image;
  /** ITK's filter, updated, once it is made. */
  ITKFilterType::Pointer expected;

  void
  SetUp(ITKFilterType & filter) const
  {
    filter.SetInput(image);
    // Shrunk by 8, 4, 2 and 1.
    filter.SetNumberOfLevels(4);
  }

  ITKFilterType &
  GetExpected()
  {
    if (!expected)
    {
      expected = ITKFilterType::New();
      this->SetUp(*expected);
      expected->Update();
    }
    return *expected;
  }
};

inline void
MeasureITKPyramid(benchmark::State & state, LoadedPyramidCase & loaded)
{
  auto filter = LoadedPyramidCase::ITKFilterType::New();
  loaded.SetUp(*filter);
  for (auto _ : state)
  {
    UpdateAgain(state, *filter, *loaded.image);
  }
  loaded.expected = filter;
}

inline void
MeasureOurPyramid(benchmark::State & state, LoadedPyramidCase & loaded, const itk::GPUDevice & device)
{
  auto filter = LoadedPyramidCase::OurFilterType::New();
  filter->SetDevice(device);
  loaded.SetUp(*filter);
  filter->Update();
  double withTransfers = 0;
  for (auto _ : state)
  {
    UpdateAgain(state, *filter, *loaded.image);
    withTransfers += filter->GetEvaluationStatistics().evaluateMilliseconds;
  }
  state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
  const gpureg::EvaluationStatistics counts = filter->GetEvaluationStatistics();
  state.counters["kernels_ms"] = MeasureKernels(*filter);
  SetBounds(state, device, GetFilterWork(*loaded.image, *filter), counts);
  double nrmse = 0;
  // NaN stays NaN.
  for (unsigned int level = 0; level < filter->GetNumberOfLevels(); ++level)
  {
    const double ofLevel = Compare(*loaded.GetExpected().GetOutput(level), *filter->GetOutput(level)).byMagnitude;
    nrmse = ofLevel <= nrmse || std::isnan(nrmse) ? nrmse : ofLevel;
  }
  state.counters["nrmse_by_magnitude"] = nrmse;
}

} // namespace bench

#endif
