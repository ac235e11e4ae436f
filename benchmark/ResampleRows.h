// SPDX-License-Identifier: Apache-2.0
// Rows that resample: by itk::ResampleImageFilter, and by GPUResampleImageFilter on a device.
#ifndef ResampleRows_h
#define ResampleRows_h

#include "Bounds.h"
#include "ImageDifference.h"
#include "KernelTime.h"
#include "ResampleCases.h"
#include "ResampleWork.h"
#include "UpdateAnew.h"

#include "itkGPUResampleImageFilter.h"

#include <benchmark/benchmark.h>

#include <string>

namespace bench
{

/** What footnotes say of their times. */
inline const char * const ResampleTimesFootnote =
  R"(  kernels         by the device's own events, the median of five calls of their own, the input there already, a cubic
                  interpolator's coefficients too
  with transfers  the engine's work: input and chain up, coefficients made, kernels, the output down and into the
                  image's memory
  as called       Update() of a filter whose input is new each time, and whose output has no memory yet; from and to
                  ordinary memory
)";

/** What the rows of a case share. */
struct LoadedResampleCase
{
  ImageType::Pointer     image;
  TransformType::Pointer transform;
  std::string            interpolator;
  /** Each time: nothing made from it can be used again. */
  bool isTransformNew = false;
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

  template <typename TFilter>
  void
  UpdateAnew(benchmark::State & state, TFilter & filter) const
  {
    if (isTransformNew)
    {
      transform->Modified();
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
  const double                       kernels = MeasureKernels(*filter);
  const Work                         work = GetResampleWork(*loaded.image, *loaded.transform, loaded.interpolator);
  const ImageDifference              difference = Compare(loaded.GetExpected(), *filter->GetOutput());

  // On the host, a transform that would be sampled may be left to ITK's class.
  if (counts.launches > 0)
  {
    state.counters["kernels_ms"] = kernels;
    state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
    state.counters["GB/s"] = work.voxels * work.bytesPerVoxel / kernels * 1e-6;
    SetBounds(state, device, work, counts);
  }
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
