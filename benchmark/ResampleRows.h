// SPDX-License-Identifier: Apache-2.0
// Rows that resample: by itk::ResampleImageFilter, and by GPUResampleImageFilter on a device.
#ifndef ResampleRows_h
#define ResampleRows_h

#include "ImageDifference.h"
#include "ResampleCases.h"
#include "UpdateAnew.h"

#include "itkGPUResampleImageFilter.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bench
{

/** What the rows of a case share. */
struct LoadedResampleCase
{
  ImageType::Pointer     image;
  TransformType::Pointer transform;
  std::string            interpolator;
  bool                   isFieldNew = false;
  /** ITK's result, once it is made. */
  ImageType::Pointer expected;

  template <typename TFilter>
  void
  SetUp(TFilter & filter) const
  {
    filter.SetInput(image);
    filter.SetTransform(transform);
    filter.SetInterpolator(MakeInterpolator(interpolator));
    filter.SetOutputParametersFromImage(image);
  }

  /** A field that is new each time goes up each time; another one stays on the device. */
  template <typename TFilter>
  void
  UpdateAnew(benchmark::State & state, TFilter & filter) const
  {
    if (isFieldNew)
    {
      dynamic_cast<itk::DisplacementFieldTransform<double, 3> &>(*transform)
        .GetModifiableDisplacementField()
        ->Modified();
    }
    bench::UpdateAnew(state, filter, *image);
  }

  const ImageType &
  GetExpected()
  {
    if (!expected)
    {
      auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
      this->SetUp(*filter);
      filter->Update();
      expected = filter->GetOutput();
    }
    return *expected;
  }
};

/** Its result is the one expected. */
inline void
MeasureITK(benchmark::State & state, LoadedResampleCase & loaded)
{
  auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
  loaded.SetUp(*filter);
  for (auto _ : state)
  {
    loaded.UpdateAnew(state, *filter);
  }
  loaded.expected = filter->GetOutput();
}

inline void
MeasureOurs(benchmark::State & state, LoadedResampleCase & loaded, const itk::GPUDevice & device)
{
  auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(device);
  loaded.SetUp(*filter);
  filter->Update();
  double withTransfers = 0;
  for (auto _ : state)
  {
    loaded.UpdateAnew(state, *filter);
    withTransfers += filter->GetEvaluationStatistics().evaluateMilliseconds;
  }
  const gpureg::EvaluationStatistics counts = filter->GetEvaluationStatistics();
  filter->SetMeasuresKernelTime(true);
  std::vector<double> kernelTimes(5);
  for (double & time : kernelTimes)
  {
    filter->Modified();
    filter->Update();
    time = filter->GetEvaluationStatistics().kernelMilliseconds;
  }
  std::sort(kernelTimes.begin(), kernelTimes.end());
  const double          kernels = kernelTimes[kernelTimes.size() / 2];
  const double          voxels = static_cast<double>(loaded.image->GetBufferedRegion().GetNumberOfPixels());
  const ImageDifference difference = Compare(loaded.GetExpected(), *filter->GetOutput());
  const bool            isField = std::string(loaded.transform->GetNameOfClass()) == "DisplacementFieldTransform";

  state.counters["kernels_ms"] = kernels;
  state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
  state.counters["GB/s"] = voxels * (8 + (isField ? 16 : 0)) / kernels * 1e-6;
  state.counters["launches"] = counts.launches;
  state.counters["copies_up"] = counts.copiesUp;
  state.counters["copies_down"] = counts.copiesDown;
  state.counters["allocations"] = counts.allocations;
  state.counters["synchronisations"] = counts.synchronizations;
  state.counters["device_MB"] = static_cast<double>(counts.deviceBytes) * 1e-6;
  state.counters["nrmse"] = difference.byRange;
  state.counters["nrmse_by_magnitude"] = difference.byMagnitude;
  state.counters["differing_voxels"] = static_cast<double>(difference.voxels);
}

} // namespace bench

#endif
