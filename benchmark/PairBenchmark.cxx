// SPDX-License-Identifier: Apache-2.0
// Compares the metrics that are sums over pairs of values, ITK's and ours on every device, for the same input, in one run, side by side.
#include "BenchmarkMetrics.h"
#include "BenchmarkOptions.h"
#include "MetricRows.h"
#include "PairRows.h"
#include "SideBySide.h"

#include "itkGPUDemonsImageToImageMetricv4.h"

#include "itkCompositeTransform.h"

#include <iostream>

namespace
{

using namespace bench;

using ImageType = itk::Image<float, 3>;

const char * const Usage =
  R"(Usage: PairBenchmark [options]
Measures mean squares, correlation, mean absolute differences, demons, joint histogram, partial volume and Mattes' mutual
information on each device beside ITK's metrics, of an affine transform (full; points: at 200,000 points), a displacement field, and
an affine transform before a field that is not optimised (chain) and behind one (behind).
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's metrics and of the host device; default: ITK's
Rows are Pairs/CASE/METRIC/QUANTITY/DEVICE and Pairs/CASE/METRIC/QUANTITY/ITK. Google Benchmark's options choose among
them and say how often they are repeated; the defaults here are --benchmark_repetitions=5 --benchmark_min_time=0.05.
)";

const char * const Footnote =
  R"(Every figure is the median over the repetitions. ITK and all devices run in this process, with the same input and
number of threads. ITK has no mean of absolute differences: beside it stand ITK's mean squares.
  kernels         from the first kernel's start to the last one's end, by the device's own events
  with transfers  the engine's evaluation: parameters up, kernels, sums down, the wait for them
  as called       GetValue() or GetValueAndDerivative() through ITK's interface
  GB/s            least traffic / kernels. Value: 4 bytes of fixed and 4 of moving value; derivative: 4, and 16 of gradient
                  and value; of a field's 12 a displacement and 12 a force, of demons 12 a fixed gradient, but 4 a moving
                  value; of a chain's 16 a vector and 36 a derivative of its field; behind a field 12 a displacement, read
                  twice, and 12 a force, written and read; of a point 24 more
  difference      from ITK's value, relative, and from its derivative, in norm; ! where it fails (1e-5, 1e-4)
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

/** Returns an image's grid without voxels, 10 voxels wider on all sides, with indices from 0 on: otherwise ITK's metric would read a
 *  field outside of its buffer. */
ImageType::Pointer
MakeGridAround(const ImageType & image)
{
  const auto           grid = ImageType::New();
  auto                 size = image.GetLargestPossibleRegion().GetSize();
  ImageType::IndexType first;
  ImageType::PointType origin;
  for (unsigned int d = 0; d < 3; ++d)
  {
    size[d] += 20;
    first[d] = image.GetLargestPossibleRegion().GetIndex(d) - 10;
  }
  image.TransformIndexToPhysicalPoint(first, origin);
  grid->CopyInformation(&image);
  grid->SetOrigin(origin);
  grid->SetRegions(size);
  return grid;
}

int
Run(const example::CommandLine & line)
{
  using MeanSquares = itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType>;
  const itk::Size<3> headSize{ { 181, 217, 181 } };
  const auto         heads = [=] { return MakeHeadCase<3>(headSize, false); };
  const auto         headsByField = [=] {
    MattesCase<3> input = MakeHeadCase<3>(headSize, false);
    input.transform = MakeField<3>(*input.fixed);
    return input;
  };
  // An affine transform that is optimized, before or behind a field that is not: a stage of a registration that precedes or follows another
  // one.
  const auto makeHeadsOfChain = [=](bool isFieldBefore) {
    MattesCase<3>                            input = MakeHeadCase<3>(headSize, false);
    const auto                               chain = itk::CompositeTransform<double, 3>::New();
    const itk::Transform<double, 3>::Pointer field = MakeField<3>(*MakeGridAround(*input.fixed));
    // The transform that is added last is applied first.
    chain->AddTransform(isFieldBefore ? input.transform : field);
    chain->AddTransform(isFieldBefore ? field : input.transform);
    chain->SetNthTransformToOptimize(isFieldBefore ? 0 : 1, true);
    chain->SetNthTransformToOptimize(isFieldBefore ? 1 : 0, false);
    input.transform = chain;
    return input;
  };
  const auto headsByChain = [=] { return makeHeadsOfChain(false); };
  const auto headsBehindField = [=] { return makeHeadsOfChain(true); };
  const auto headsAtPoints = [=] {
    MattesCase<3> input = MakeHeadCase<3>(headSize, false);
    input.points = MakePoints<3>(*input.fixed, 200000);
    return input;
  };
  SideBySide table({ { "value_difference", 1e-5 }, { "derivative_difference", 1e-4 } },
                   { { "Counted, one evaluation", MetricCounts } },
                   Footnote);
  PairRows   rows(table, ChooseHardware(line));
  rows.Register<MeanSquares, itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>>("Pairs/full/MeanSquares",
                                                                                            heads,
                                                                                            { 8, 20 },
                                                                                            true);
  rows.Register<itk::CorrelationImageToImageMetricv4<ImageType, ImageType>,
                itk::GPUCorrelationImageToImageMetricv4<ImageType, ImageType>>("Pairs/full/Correlation",
                                                                               heads,
                                                                               { 8, 20 },
                                                                               true);
  rows.Register<MeanSquares, itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<ImageType, ImageType>>(
    "Pairs/full/MeanAbsoluteDifferences", heads, { 8, 20 }, false);
  rows.Register<MeanSquares, itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>>("Pairs/field/MeanSquares",
                                                                                            headsByField,
                                                                                            { 20, 44 },
                                                                                            true);
  rows.Register<itk::DemonsImageToImageMetricv4<ImageType, ImageType>,
                itk::GPUDemonsImageToImageMetricv4<ImageType, ImageType>>("Pairs/field/Demons",
                                                                          headsByField,
                                                                          { 20, 44 },
                                                                          true);
  rows.Register<MeanSquares, itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>>("Pairs/chain/MeanSquares",
                                                                                            headsByChain,
                                                                                            { 24, 72 },
                                                                                            true);
  rows.Register<MeanSquares, itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>>("Pairs/behind/MeanSquares",
                                                                                            headsBehindField,
                                                                                            { 20, 68 },
                                                                                            true);
  rows.Register<MeanSquares, itk::GPUMeanSquaresImageToImageMetricv4<ImageType, ImageType>>("Pairs/points/MeanSquares",
                                                                                            headsAtPoints,
                                                                                            { 32, 44 },
                                                                                            true);
  rows.Register<itk::CorrelationImageToImageMetricv4<ImageType, ImageType>,
                itk::GPUCorrelationImageToImageMetricv4<ImageType, ImageType>>("Pairs/points/Correlation",
                                                                               headsAtPoints,
                                                                               { 32, 44 },
                                                                               true);
  using JointHistogram = itk::JointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  rows.Register<JointHistogram, itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>>(
    "Pairs/full/JointHistogram", heads, { 6, 28 }, true);
  using Mattes = itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>;
  rows.Register<Mattes, itk::CudaMattesNMI<ImageType, ImageType>>("Pairs/full/MattesMI", heads, { 6, 24 }, true);
  rows.Register<Mattes, itk::CudaMattesNMI<ImageType, ImageType>>("Pairs/field/MattesMI",
                                                                  headsByField,
                                                                  { 18, 60 },
                                                                  true);
  rows.Register<JointHistogram, itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>>(
    "Pairs/field/JointHistogram", headsByField, { 18, 64 }, true);
  rows.Register<JointHistogram, itk::GPUJointHistogramMutualInformationImageToImageMetricv4<ImageType, ImageType>>(
    "Pairs/points/JointHistogram", headsAtPoints, { 30, 52 }, true);
  rows.Register<Mattes, itk::CudaMattesNMI<ImageType, ImageType>>("Pairs/behind/MattesMI",
                                                                  headsBehindField,
                                                                  { 18, 84 },
                                                                  true);
  // The derivative by a field is computed by ITK's own class.
  rows.Register<itk::CorrelationImageToImageMetricv4<ImageType, ImageType>,
                itk::GPUCorrelationImageToImageMetricv4<ImageType, ImageType>>("Pairs/field/Correlation",
                                                                               headsByField,
                                                                               { 20, 44 },
                                                                               true);
  rows.Register<MeanSquares, itk::CudaMeanAbsoluteDifferencesImageToImageMetricv4<ImageType, ImageType>>(
    "Pairs/field/MeanAbsoluteDifferences", headsByField, { 20, 44 }, false);
  // ITK has no such metric: its joint histogram's metric is measured in its place.
  rows.Register<JointHistogram, itk::CudaPartialVolumeMutualInformationImageToImageMetricv4<ImageType, ImageType>>(
    "Pairs/full/PartialVolume", heads, { 3, 6 }, false);
  return table.Measure();
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc,
                           argv,
                           { "--benchmark_repetitions=5", "--benchmark_min_time=0.05" },
                           PrintHelp,
                           { "--device", "--threads" }));
  };
  return example::RunProgram(body, Usage);
}
