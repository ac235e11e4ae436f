// SPDX-License-Identifier: Apache-2.0
// Compares smoothing, pyramids and B-spline coefficients on every device with ITK's classes: the time of the kernels alone, for a volume on
// the device, and that of a whole update, from image to image.
#include "BenchmarkOptions.h"
#include "Bounds.h"
#include "KernelTime.h"
#include "SideBySide.h"

#include "itkGPUBSplineDecompositionImageFilter.h"
#include "itkGPUMultiResolutionPyramidImageFilter.h"
#include "itkGPURecursiveGaussianImageFilter.h"
#include "itkGPURecursiveMultiResolutionPyramidImageFilter.h"
#include "itkGPUShrinkImageFilter.h"
#include "itkGPUSmoothingRecursiveGaussianImageFilter.h"

#include <iostream>
#include <string>

namespace
{

using namespace bench;
using ImageType = itk::Image<float, 3>;
using ShortImageType = itk::Image<short, 3>;

const char * const Usage =
  R"(Usage: VolumeFilterBenchmark [options]
Filters a volume of floats, or of shorts where a row says so, with ITK's classes and with ours on each device.
  --size N           voxels along each axis; default 256
  --device A,B,…     such as cuda:0,host; default: all there are
  --threads N        of ITK's filters and of the host device; default: ITK's
Rows are Filter/NAME/DEVICE and Filter/NAME/ITK. Google Benchmark's options choose among them and say how often they
are repeated; the defaults here are --benchmark_repetitions=3 --benchmark_min_time=0.02.
)";

const std::string Footnote =
  std::string(R"(Every figure is the median over the repetitions.
  kernels         by the device's own events, the median of five calls of their own
  with transfers  the engine's work in the last of them: input up, kernels, output down and into the image's memory
  as called       Update(), from and to ordinary memory
  ratio           ITK's time over as called
)") +
  BoundsFootnote +
  R"(Here, shrinking reads only the voxels that it keeps, and the finest level of a recursive pyramid is its input, which is
not written. Flops of these filters are not counted: their sums are of doubles.
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

template <typename TImage>
typename TImage::Pointer
MakeNoise(unsigned int size)
{
  auto image = TImage::New();
  image->SetRegions(itk::Size<3>{ { size, size, size } });
  image->Allocate();
  std::uint32_t state = 1;
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    state = state * 1664525u + 1013904223u;
    image->GetBufferPointer()[i] = static_cast<typename TImage::PixelType>(state >> 22);
  }
  return image;
}

/** Registers rows for each filter of one image. */
template <typename TImage>
class FilterRows
{
public:
  FilterRows(SideBySide & table, Hardware hardware, typename TImage::Pointer image)
    : m_Table(table)
    , m_Hardware(std::move(hardware))
    , m_Image(std::move(image))
  {}

  /** \param configure sets either class up.
   *  \param spared see GetFilterWork(). */
  template <typename TOurs, typename TTheirs, typename TConfigure>
  void
  Register(const std::string & name, const TConfigure & configure, double spared = 0)
  {
    const auto update = [](auto & filter, auto & state) {
      for (auto _ : state)
      {
        filter.Modified();
        filter.Update();
      }
    };
    m_Table.Register("Filter/" + name + "/ITK", [=, image = m_Image](auto & state) {
      const auto filter = TTheirs::New();
      filter->SetInput(image);
      configure(*filter);
      update(*filter, state);
    });
    for (const itk::GPUDevice & device : m_Hardware.devices)
    {
      m_Table.Register("Filter/" + name + "/" + device.GetName(), [=, image = m_Image](auto & state) {
        const auto filter = TOurs::New();
        filter->SetDevice(device);
        filter->SetInput(image);
        configure(*filter);
        // The first update prepares the device.
        filter->Update();
        update(*filter, state);
        const gpureg::EvaluationStatistics counts = filter->GetEvaluationStatistics();
        // Shrinking on the host is not done by an engine.
        if (counts.launches > 0)
        {
          state.counters["with_transfers_ms"] = counts.evaluateMilliseconds;
          state.counters["kernels_ms"] = MeasureKernels(*filter);
        }
        SetBounds(state, device, GetFilterWork(*image, *filter, spared), counts);
      });
    }
  }

private:
  SideBySide &             m_Table;
  Hardware                 m_Hardware;
  typename TImage::Pointer m_Image;
};

void
RegisterAll(FilterRows<ImageType> & rows)
{
  for (const unsigned int axis : { 0u, 1u, 2u })
  {
    rows.Register<itk::GPURecursiveGaussianImageFilter<ImageType>, itk::RecursiveGaussianImageFilter<ImageType>>(
      "recursiveGaussian" + std::to_string(axis), [axis](auto & filter) {
        filter.SetDirection(axis);
        filter.SetSigma(3.0);
      });
  }
  rows.Register<itk::GPUSmoothingRecursiveGaussianImageFilter<ImageType>,
                itk::SmoothingRecursiveGaussianImageFilter<ImageType>>("smoothing",
                                                                       [](auto & filter) { filter.SetSigma(3.0); });
  rows.Register<itk::GPUBSplineDecompositionImageFilter<ImageType, ImageType>,
                itk::BSplineDecompositionImageFilter<ImageType, ImageType>>("splineCoefficients", [](auto &) {});
  rows.Register<itk::GPUShrinkImageFilter<ImageType, ImageType>, itk::ShrinkImageFilter<ImageType, ImageType>>(
    "shrink2", [](auto & filter) { filter.SetShrinkFactors(2); }, 7.0 / 8);
  rows.Register<itk::GPUMultiResolutionPyramidImageFilter<ImageType, ImageType>,
                itk::MultiResolutionPyramidImageFilter<ImageType, ImageType>>("pyramid4", [](auto & filter) {
    filter.SetNumberOfLevels(4);
  });
  rows.Register<itk::GPURecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>,
                itk::RecursiveMultiResolutionPyramidImageFilter<ImageType, ImageType>>(
    "recursivePyramid4", [](auto & filter) { filter.SetNumberOfLevels(4); }, 1);
}

int
Run(const example::CommandLine & line)
{
  const Hardware     hardware = ChooseHardware(line);
  const unsigned int size = line.GetNumber("--size", 256);
  if (size < 8)
  {
    throw std::invalid_argument("--size wants at least 8.");
  }
  SideBySide            table({}, {}, Footnote);
  FilterRows<ImageType> rows(table, hardware, MakeNoise<ImageType>(size));
  RegisterAll(rows);
  // Values are truncated to integers between the axes, and once more at the level's voxels.
  FilterRows<ShortImageType> rowsOfShorts(table, hardware, MakeNoise<ShortImageType>(size));
  rowsOfShorts.Register<itk::GPUMultiResolutionPyramidImageFilter<ShortImageType, ShortImageType>,
                        itk::MultiResolutionPyramidImageFilter<ShortImageType, ShortImageType>>(
    "pyramid4OfShorts", [](auto & filter) { filter.SetNumberOfLevels(4); });
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
                           { "--device", "--threads", "--size" }));
  };
  return example::RunProgram(body, Usage);
}
