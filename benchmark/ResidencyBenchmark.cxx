// SPDX-License-Identifier: Apache-2.0
// Compares the proof that an image on a device still equals the host's, by a hash of its bytes, with uploading it again.
//   ResidencyBenchmark [--benchmark_…]      on the default device (ITK_GPU_DEVICE)
#include "VolumeMetrics.h"

#include "itkGPUResampleImageFilter.h"

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include "gpureg/image/Source.h"

#include "itkAffineTransform.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::GPUResampleImageFilter<ImageType, ImageType>;

ImageType::Pointer
MakeImage(const ImageType::SizeType & size)
{
  const auto            image = ImageType::New();
  ImageType::RegionType region;
  region.SetSize(size);
  image->SetRegions(region);
  image->Allocate();
  for (itk::SizeValueType i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = static_cast<float>(i % 1009);
  }
  return image;
}

/** Measures the hash. \param state range 0: voxels along an edge, floats. */
void
Hash(benchmark::State & state)
{
  const auto                             edge = static_cast<std::size_t>(state.range(0));
  const auto                             bytes = edge * edge * edge * sizeof(float);
  const std::vector<std::uint64_t>       memory(bytes / sizeof(std::uint64_t), 0x0123456789abcdef);
  const std::vector<gpureg::MemoryRange> ranges{ { memory.data(), bytes } };
  const auto                             threads =
    itk::GPURegistrationDetail::MakeParallelFor(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  for (auto _ : state)
  {
    benchmark::DoNotOptimize(gpureg::HashContent(ranges, threads));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

/** The ways in which a filter decides whether an image on the device is up to date. */
enum class Knowledge
{
  TimeStamps,
  Hash,
  None
};

/** Measures updates of one filter, as called. \param state range 0: voxels along an edge. */
void
Resample(benchmark::State & state, Knowledge knowledge)
{
  const auto image = MakeImage(ImageType::SizeType::Filled(static_cast<itk::SizeValueType>(state.range(0))));
  const auto filter = FilterType::New();
  const auto transform = itk::AffineTransform<double, 3>::New();
  transform->Rotate(0, 1, 0.1);
  filter->SetInput(image);
  filter->SetReferenceImage(image);
  filter->UseReferenceImageOn();
  filter->SetTransform(transform);
  filter->SetTrustsTimeStamps(knowledge == Knowledge::TimeStamps);
  const auto update = [&] {
    if (knowledge == Knowledge::None)
    {
      image->Modified();
    }
    filter->Modified();
    filter->Update();
  };
  // From the third update on, a hash decides.
  for (int n = 0; n < 3; ++n)
  {
    update();
  }
  for (auto _ : state)
  {
    update();
  }
  state.counters["MB_up"] = static_cast<double>(filter->GetEvaluationStatistics().bytesUp) * 1e-6;
  state.SetLabel(filter->GetDevice().GetName());
}

/** Measures values and derivatives of one metric, as called, for images of 181×217×181 voxels: a metric that overrides ITK's proves at
 *  each evaluation that both images on the device are up to date. */
void
Evaluate(benchmark::State & state, Knowledge knowledge)
{
  const auto image = MakeImage({ { 181, 217, 181 } });
  const auto metric = itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>::New();
  metric->SetFixedImage(image);
  metric->SetMovingImage(image);
  metric->SetMovingTransform(itk::AffineTransform<double, 3>::New());
  metric->SetTrustsTimeStamps(knowledge == Knowledge::TimeStamps);
  metric->Initialize();
  double             value = 0;
  itk::Array<double> derivative;
  for (auto _ : state)
  {
    metric->GetValueAndDerivative(value, derivative);
  }
  state.SetLabel(metric->GetDevice().GetName());
}

/** Registers the rows: when the program begins, for it may be compiled as one with others, which have rows of their own. */
void
RegisterRows()
{
  for (const int edge : { 16, 24, 32, 48, 64, 80, 96, 128, 256, 406 })
  {
    benchmark::RegisterBenchmark("hash", &Hash)->Arg(edge)->UseRealTime()->Unit(benchmark::kMillisecond);
  }
  // From the smallest size on, to see for each whether a hash or an upload is faster.
  for (const int edge : { 16, 24, 32, 48, 64, 80, 96, 128, 256 })
  {
    const auto add = [edge](const char * name, Knowledge knowledge) {
      benchmark::RegisterBenchmark(name, [knowledge](benchmark::State & state) { Resample(state, knowledge); })
        ->Arg(edge)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    };
    add("resample, time stamps trusted", Knowledge::TimeStamps);
    add("resample, proved by a hash", Knowledge::Hash);
    add("resample, uploaded again", Knowledge::None);
  }
  const auto addMetric = [](const char * name, Knowledge knowledge) {
    benchmark::RegisterBenchmark(name, [knowledge](benchmark::State & state) { Evaluate(state, knowledge); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  };
  addMetric("evaluate, time stamps trusted", Knowledge::TimeStamps);
  addMetric("evaluate, proved by a hash", Knowledge::Hash);
}
} // namespace

int
main(int argc, char * argv[])
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
  {
    return 1;
  }
  RegisterRows();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
