// SPDX-License-Identifier: Apache-2.0
// itk::ResampleImageFilter and GPUResampleImageFilter on every device, on the same input, in one run, side by
// side: the figures of Shamonin 2014, section 4.3.
#include "BenchmarkOptions.h"
#include "OneAtATime.h"
#include "SideBySide.h"

#include "itkGPUResampleImageFilter.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionIterator.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <cmath>
#include <iostream>
#include <random>

namespace
{

using namespace bench;
using ImageType = itk::Image<float, 3>;
using TransformType = itk::Transform<double, 3, 3>;

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

const char * const Footnote =
  R"(Every figure is the median over the repetitions. ITK and all devices run in this process, with the same input and
number of threads.
  kernels         by the device's own events, in a call of its own
  with transfers  the engine's work: the chain up, kernels, the output down to host memory, converted
  as called       Update() of a filter whose input is new each time, so that it goes up too; from and to ordinary
                  memory
  GB/s            one volume read and one written, and a field's vectors, over kernels
  difference      root of the mean square of the difference from ITK, by its range (1e-5); ! where it fails
)";

void
PrintHelp()
{
  std::cout << Usage << '\n' << Footnote << '\n';
  benchmark::PrintDefaultHelp();
}

ImageType::Pointer
MakeCube(unsigned int size)
{
  auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { size, size, size } });
  image->Allocate();
  std::mt19937 random(2014);
  for (itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    const auto index = it.GetIndex();
    double     wave = 500;
    for (unsigned int d = 0; d < 3; ++d)
    {
      wave += 150 * std::sin(25.0 * static_cast<double>(index[d]) / size + d);
    }
    it.Set(static_cast<float>(wave + random() * (20.0 / 4294967296.0)));
  }
  return image;
}

TransformType::Pointer
MakeAffine(unsigned int size)
{
  auto                  transform = itk::AffineTransform<double, 3>::New();
  itk::Point<double, 3> centre;
  centre.Fill(0.5 * size);
  transform->SetCenter(centre);
  itk::Vector<double, 3> axis;
  axis[0] = 0.2;
  axis[1] = -0.4;
  axis[2] = 0.9;
  transform->Rotate3D(axis, 0.17);
  transform->Scale(1.03);
  itk::Vector<double, 3> move;
  move.Fill(2.3);
  transform->Translate(move);
  return transform.GetPointer();
}

/** Cubic, a control point every so many voxels. */
TransformType::Pointer
MakeSpline(unsigned int size, double spacing)
{
  auto                                                        transform = itk::BSplineTransform<double, 3, 3>::New();
  itk::BSplineTransform<double, 3, 3>::PhysicalDimensionsType dimensions;
  dimensions.Fill(size);
  itk::BSplineTransform<double, 3, 3>::MeshSizeType mesh;
  mesh.Fill(static_cast<itk::SizeValueType>(std::ceil(size / spacing)));
  transform->SetTransformDomainPhysicalDimensions(dimensions);
  transform->SetTransformDomainMeshSize(mesh);
  itk::BSplineTransform<double, 3, 3>::ParametersType parameters(transform->GetNumberOfParameters());
  std::mt19937                                        random(7);
  for (auto & parameter : parameters)
  {
    parameter = (random() / 4294967296.0 - 0.5) * 0.6 * spacing;
  }
  transform->SetParametersByValue(parameters);
  return transform.GetPointer();
}

TransformType::Pointer
MakeField(unsigned int size)
{
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  auto field = FieldTransformType::DisplacementFieldType::New();
  field->SetRegions(itk::Size<3>{ { size, size, size } });
  field->Allocate();
  for (itk::ImageRegionIteratorWithIndex<FieldTransformType::DisplacementFieldType> it(field,
                                                                                       field->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    itk::Vector<double, 3> vector;
    for (unsigned int d = 0; d < 3; ++d)
    {
      vector[d] = 4 * std::sin(0.05 * static_cast<double>(it.GetIndex()[(d + 1) % 3]));
    }
    it.Set(vector);
  }
  auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

TransformType::Pointer
MakeTransform(const std::string & name, unsigned int size)
{
  if (name == "affine")
  {
    return MakeAffine(size);
  }
  if (name == "bspline")
  {
    return MakeSpline(size, 10);
  }
  if (name == "field")
  {
    return MakeField(size);
  }
  auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(MakeAffine(size));
  composite->AddTransform(MakeSpline(size, 10));
  return composite.GetPointer();
}

itk::InterpolateImageFunction<ImageType, double>::Pointer
MakeInterpolator(const std::string & name)
{
  if (name == "nearest")
  {
    return itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New().GetPointer();
  }
  if (name == "linear")
  {
    return itk::LinearInterpolateImageFunction<ImageType, double>::New().GetPointer();
  }
  return itk::BSplineInterpolateImageFunction<ImageType, double, double>::New().GetPointer();
}

/** What the rows of a case share. */
struct LoadedResampleCase
{
  ImageType::Pointer     image;
  TransformType::Pointer transform;
  std::string            interpolator;
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

  double
  GetDifference(const ImageType & output)
  {
    const ImageType & wanted = this->GetExpected();
    const auto        count = wanted.GetBufferedRegion().GetNumberOfPixels();
    double            squares = 0, low = wanted.GetBufferPointer()[0], high = low;
    for (itk::SizeValueType i = 0; i < count; ++i)
    {
      const double value = wanted.GetBufferPointer()[i];
      low = std::min(low, value);
      high = std::max(high, value);
      squares += (output.GetBufferPointer()[i] - value) * (output.GetBufferPointer()[i] - value);
    }
    return std::sqrt(squares / static_cast<double>(count)) / (high - low);
  }
};

/** Its input has changed; its output's memory is given back, as that of a filter that is made anew would be. */
template <typename TFilter>
void
UpdateAnew(TFilter & filter, const LoadedResampleCase & loaded)
{
  loaded.image->Modified();
  filter.GetOutput()->Initialize();
  filter.Update();
}

void
MeasureITK(benchmark::State & state, const LoadedResampleCase & loaded)
{
  auto filter = itk::ResampleImageFilter<ImageType, ImageType>::New();
  loaded.SetUp(*filter);
  for (auto _ : state)
  {
    UpdateAnew(*filter, loaded);
  }
}

void
MeasureOurs(benchmark::State & state, LoadedResampleCase & loaded, const itk::GPUDevice & device)
{
  auto filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  filter->SetDevice(device);
  loaded.SetUp(*filter);
  filter->Update();
  double withTransfers = 0;
  for (auto _ : state)
  {
    UpdateAnew(*filter, loaded);
    withTransfers += filter->GetEvaluationStatistics().evaluateMilliseconds;
  }
  const gpureg::EvaluationStatistics counts = filter->GetEvaluationStatistics();
  filter->SetMeasuresKernelTime(true);
  UpdateAnew(*filter, loaded);
  const double kernels = filter->GetEvaluationStatistics().kernelMilliseconds;
  const double voxels = static_cast<double>(loaded.image->GetBufferedRegion().GetNumberOfPixels());
  const bool   isField = std::string(loaded.transform->GetNameOfClass()) == "DisplacementFieldTransform";

  state.counters["kernels_ms"] = kernels;
  state.counters["with_transfers_ms"] = withTransfers / static_cast<double>(state.iterations());
  state.counters["GB/s"] = voxels * (8 + (isField ? 16 : 0)) / kernels * 1e-6;
  state.counters["launches"] = counts.launches;
  state.counters["copies_up"] = counts.copiesUp;
  state.counters["copies_down"] = counts.copiesDown;
  state.counters["allocations"] = counts.allocations;
  state.counters["synchronisations"] = counts.synchronizations;
  state.counters["device_MB"] = static_cast<double>(counts.deviceBytes) * 1e-6;
  state.counters["nrmse"] = loaded.GetDifference(*filter->GetOutput());
}

int
Run(const example::CommandLine & line)
{
  SideBySide     table({ { "nrmse", 1e-5 } },
                   { { "Counted, one update",
                           { "launches", "copies_up", "copies_down", "allocations", "synchronisations", "device_MB" } } },
                   Footnote);
  const Hardware hardware = ChooseHardware(line);
  OneAtATime     cases;
  for (const unsigned int size : { 100, 128, 192, 256, 384, 512 })
  {
    for (const std::string transform : { "affine", "bspline", "field", "affine.bspline" })
    {
      for (const std::string interpolator : { "nearest", "linear", "cubic" })
      {
        const std::string name = "Resample/" + std::to_string(size) + "/" + transform + "+" + interpolator;
        const auto        load = [=, &cases]() -> LoadedResampleCase & {
          return cases.Get(name, [=] {
            return LoadedResampleCase{ MakeCube(size), MakeTransform(transform, size), interpolator, nullptr };
          });
        };
        table.Register(name + "/ITK", [=](auto & state) { MeasureITK(state, load()); });
        for (const itk::GPUDevice & device : hardware.devices)
        {
          table.Register(name + "/" + device.GetName(), [=](auto & state) { MeasureOurs(state, load(), device); });
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
