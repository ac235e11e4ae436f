// SPDX-License-Identifier: Apache-2.0
// Measures Initialize() of a metric whose images are on no device yet, if there are masks, values are doubles, or forces point along the
// fixed image's gradient: ITK's and ours on every device, in one run, side by side.
#include "BenchmarkMetrics.h"
#include "BenchmarkOptions.h"
#include "MattesCases.h"
#include "OneAtATime.h"
#include "SideBySide.h"

#include "itkCastImageFilter.h"
#include "itkEllipseSpatialObject.h"
#include "itkGPUDemonsImageToImageMetricv4.h"

#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>

namespace
{

using namespace bench;

const char * const Usage =
  R"(Usage: InitializeBenchmark [options]
Measures Initialize() of metrics of whole heads, 181 x 217 x 181 voxels, on each device beside ITK's.
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's metrics and of the host device; default: ITK's
Rows are Initialize/CASE/METRIC/DEVICE and Initialize/CASE/METRIC/ITK; cases are plain, mask (of the fixed image), masks (of both), half
(the mask, and a virtual domain of half as many voxels along each axis, as a pyramid's level has), ellipse (a mask that is no image),
doubles, and field. Google Benchmark's options choose among them and say how often they are repeated; the default here is
--benchmark_repetitions=5.
)";

const char * const Footnote =
  R"(Every figure is the median over the repetitions, each of a new metric, whose engine is new, too; the device has been used before.
  as called       Initialize() through ITK's interface, of both images in the host's memory
  difference      of the value that is evaluated then, from ITK's, relative; ! where it fails (1e-5)
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

/** The input of a metric. */
template <typename TImage>
struct InitializeCase
{
  using TransformType = itk::Transform<double, 3, 3>;
  using MaskType = itk::SpatialObject<3>;

  typename TImage::Pointer        fixed;
  typename TImage::Pointer        moving;
  typename TransformType::Pointer transform;
  typename MaskType::Pointer      fixedMask;
  typename MaskType::Pointer      movingMask;
  /** Voxels of the fixed image for one of the virtual domain, along each axis. */
  unsigned int shrinkFactor = 1;

  /** Sets a metric up for everything but Initialize(). */
  template <typename TMetric>
  void
  Configure(TMetric & metric, unsigned int threads) const
  {
    metric.SetFixedImage(fixed);
    metric.SetMovingImage(moving);
    metric.SetMovingTransform(transform);
    metric.SetMaximumNumberOfWorkUnits(threads);
    if (fixedMask.IsNotNull())
    {
      metric.SetFixedImageMask(fixedMask);
    }
    if (movingMask.IsNotNull())
    {
      metric.SetMovingImageMask(movingMask);
    }
    if (shrinkFactor > 1)
    {
      const auto grid = this->MakeShrunkGrid();
      metric.SetVirtualDomain(grid->GetSpacing(),
                              grid->GetOrigin(),
                              grid->GetDirection(),
                              grid->GetLargestPossibleRegion());
    }
  }

private:
  /** Returns a grid as itk::ShrinkImageFilter's output has it, without voxels. */
  typename TImage::Pointer
  MakeShrunkGrid() const
  {
    const auto                      region = fixed->GetLargestPossibleRegion();
    typename TImage::SizeType       size = region.GetSize();
    typename TImage::SpacingType    spacing = fixed->GetSpacing();
    itk::ContinuousIndex<double, 3> first;
    for (unsigned int d = 0; d < 3; ++d)
    {
      size[d] /= shrinkFactor;
      spacing[d] *= shrinkFactor;
      first[d] = static_cast<double>(region.GetIndex(d)) + 0.5 * (shrinkFactor - 1);
    }
    const auto grid = TImage::New();
    grid->CopyInformation(fixed);
    grid->SetSpacing(spacing);
    grid->SetOrigin(fixed->template TransformContinuousIndexToPhysicalPoint<double, double>(first));
    grid->SetRegions(size);
    return grid;
  }
};

using Heads = InitializeCase<example::Volume>;

Heads
MakeHeads()
{
  const MattesCase<3> input = MakeHeadCase<3>({ { 181, 217, 181 } }, false);
  Heads               heads;
  heads.fixed = input.fixed;
  heads.moving = input.moving;
  heads.transform = input.transform;
  return heads;
}

/** Returns a mask of the same head as an image mask, as a formula. */
itk::SpatialObject<3>::Pointer
MakeEllipse(const example::Volume & image)
{
  const auto                              ellipse = itk::EllipseSpatialObject<3>::New();
  itk::EllipseSpatialObject<3>::ArrayType radii;
  const auto                              size = image.GetLargestPossibleRegion().GetSize();
  itk::ContinuousIndex<double, 3>         middle;
  for (unsigned int d = 0; d < 3; ++d)
  {
    radii[d] = 0.42 * static_cast<double>(size[d]) * image.GetSpacing()[d];
    middle[d] = 0.5 * static_cast<double>(size[d] - 1);
  }
  ellipse->SetRadiusInObjectSpace(radii);
  ellipse->SetCenterInObjectSpace(image.TransformContinuousIndexToPhysicalPoint<double, double>(middle));
  ellipse->Update();
  return ellipse.GetPointer();
}

using DoubleVolume = itk::Image<double, 3>;

DoubleVolume::Pointer
CastToDouble(const example::Volume & image)
{
  const auto cast = itk::CastImageFilter<example::Volume, DoubleVolume>::New();
  cast->SetInput(&image);
  cast->Update();
  return cast->GetOutput();
}

/** Registers rows for each case. */
class InitializeRows
{
public:
  InitializeRows(SideBySide & table, Hardware hardware)
    : m_Table(table)
    , m_Hardware(std::move(hardware))
  {}

  /** \param folder of the rows.
   *  \param make is not called before a row of the case runs. */
  template <typename TITK, typename TOurs, typename TImage>
  void
  Register(const std::string & folder, const std::function<InitializeCase<TImage>()> & make)
  {
    const auto load = [=]() -> Loaded<TImage> & {
      return m_Case.Get(folder, [&] { return Loaded<TImage>{ make() }; });
    };
    m_Table
      .Register(folder + "/ITK",
                [=](benchmark::State & state) {
                  const auto metric = this->MeasureInitialize(state, load().input, [] { return TITK::New(); });
                  if (!load().hasValue)
                  {
                    load().value = metric->GetValue();
                    load().hasValue = true;
                  }
                })
      ->Iterations(1);
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      m_Table
        .Register(folder + "/" + device.GetName(),
                  [=](benchmark::State & state) {
                    const auto makeMetric = [&] { return this->MakeOurs<TOurs>(device); };
                    this->Prepare(load().input, makeMetric());
                    const auto metric = this->MeasureInitialize(state, load().input, makeMetric);
                    if (load().hasValue)
                    {
                      state.counters["value_difference"] =
                        std::abs(metric->GetValue() - load().value) / std::abs(load().value);
                    }
                  })
        ->Iterations(1);
    }
  }

private:
  /** A case whose images are in memory. */
  template <typename TImage>
  struct Loaded
  {
    InitializeCase<TImage> input;
    /** ITK's value. */
    double value = 0;
    bool   hasValue = false;
  };

  /** Returns one of our metrics, with ITK's formula. */
  template <typename TOurs>
  static typename TOurs::Pointer
  MakeOurs(const itk::GPUDevice & device)
  {
    const auto metric = TOurs::New();
    metric->SetDevice(device);
    using ImageType = typename TOurs::FixedImageType;
    if constexpr (std::is_base_of<itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType>, TOurs>::value)
    {
      metric->NormalizedOff();
    }
    return metric;
  }

  /** Prepares a case: the device has started, and its kernels are compiled. */
  template <typename TCase, typename TMetricPointer>
  void
  Prepare(const TCase & input, const TMetricPointer & metric) const
  {
    input.Configure(*metric, m_Hardware.threads);
    metric->Initialize();
    metric->GetValue();
  }

  /** Measures Initialize() of the metric that make() returns, and returns the metric. */
  template <typename TCase, typename TMake>
  auto
  MeasureInitialize(benchmark::State & state, const TCase & input, const TMake & make) const
  {
    auto metric = make();
    input.Configure(*metric, m_Hardware.threads);
    for (auto _ : state)
    {
      metric->Initialize();
    }
    return metric;
  }

  SideBySide & m_Table;
  Hardware     m_Hardware;
  OneAtATime   m_Case;
};

template <typename TImage>
void
RegisterMattes(InitializeRows & rows, const std::string & name, const std::function<InitializeCase<TImage>()> & make)
{
  rows.Register<itk::MattesMutualInformationImageToImageMetricv4<TImage, TImage>, itk::CudaMattesNMI<TImage, TImage>>(
    "Initialize/" + name + "/MattesMI", make);
}

void
RegisterCases(InitializeRows & rows)
{
  const auto addHeads = [&rows](const std::string & name, const std::function<void(Heads &)> & change) {
    RegisterMattes<example::Volume>(rows, name, [change] {
      Heads heads = MakeHeads();
      change(heads);
      return heads;
    });
  };
  addHeads("plain", [](Heads &) {});
  addHeads("mask", [](Heads & heads) { heads.fixedMask = MakeMask<3>(*heads.fixed).GetPointer(); });
  addHeads("masks", [](Heads & heads) {
    heads.fixedMask = MakeMask<3>(*heads.fixed).GetPointer();
    heads.movingMask = MakeMask<3>(*heads.moving).GetPointer();
  });
  addHeads("half", [](Heads & heads) {
    heads.fixedMask = MakeMask<3>(*heads.fixed).GetPointer();
    heads.shrinkFactor = 2;
  });
  addHeads("ellipse", [](Heads & heads) { heads.fixedMask = MakeEllipse(*heads.fixed); });
  RegisterMattes<DoubleVolume>(rows, "doubles", [] {
    const Heads                  heads = MakeHeads();
    InitializeCase<DoubleVolume> doubles;
    doubles.fixed = CastToDouble(*heads.fixed);
    doubles.moving = CastToDouble(*heads.moving);
    doubles.transform = heads.transform;
    return doubles;
  });
  rows.Register<itk::DemonsImageToImageMetricv4<example::Volume, example::Volume>,
                itk::GPUDemonsImageToImageMetricv4<example::Volume, example::Volume>>(
    "Initialize/field/Demons", std::function<Heads()>([] {
      Heads heads = MakeHeads();
      heads.transform = MakeField<3>(*heads.fixed).GetPointer();
      return heads;
    }));
}

int
Run(const example::CommandLine & line)
{
  SideBySide     table({ { "value_difference", 1e-5 } }, {}, Footnote);
  InitializeRows rows(table, ChooseHardware(line));
  RegisterCases(rows);
  return table.Measure();
}

} // namespace

int
main(int argc, char * argv[])
{
  const auto body = [=] {
    return Run(ReadOptions(argc, argv, { "--benchmark_repetitions=5" }, PrintHelp, { "--device", "--threads" }));
  };
  return example::RunProgram(body, Usage);
}
