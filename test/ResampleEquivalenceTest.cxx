// SPDX-License-Identifier: Apache-2.0
// GPUResampleImageFilter beside itk::ResampleImageFilter, on every device.
#include "ResampleCase.h"
#include "TestDevices.h"

#include "itkImageRegionConstIteratorWithIndex.h"

namespace gpuregtest
{
namespace
{

/** Values of smooth waves and noise in the range of the pixel type, at most ±1000. */
template <typename TImage>
typename TImage::Pointer
MakeTestImage(const Grid<TImage::ImageDimension> & grid, Random & random)
{
  using PixelType = typename TImage::PixelType;
  auto image = TImage::New();
  grid.ApplyTo(*image);
  image->Allocate();
  const double low = std::max(-1000.0, static_cast<double>(std::numeric_limits<PixelType>::lowest()));
  const double high = std::min(1000.0, static_cast<double>(std::numeric_limits<PixelType>::max()));
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    double wave = 0.5;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      wave += 0.13 * std::sin(0.5 * static_cast<double>(it.GetIndex()[d]) + d);
    }
    it.Set(static_cast<PixelType>(low + (high - low) * (wave + Uniform(random, -0.05, 0.05))));
  }
  return image;
}

/** Whether a point is so close to where ITK decides otherwise (half-way between two voxels for nearest, the
 *  edge of the input for all) that rounding may. */
template <typename TImage>
bool
IsNearATie(const TImage & input, const typename TImage::PointType & point, bool nearest)
{
  const auto index = input.template TransformPhysicalPointToContinuousIndex<double>(point);
  const auto region = input.GetBufferedRegion();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    const double relative = index[d] - static_cast<double>(region.GetIndex(d)) + 0.5;
    const double fromEdge = std::min(std::abs(relative), std::abs(relative - static_cast<double>(region.GetSize(d))));
    if (fromEdge < 1e-4 || (nearest && std::abs(relative - std::round(relative)) < 1e-4))
    {
      return true;
    }
  }
  return false;
}

struct Difference
{
  double nrmse = 0;
  double largest = 0; // of the range
  int    compared = 0;
  int    inside = 0;
};

/** Runs both filters and compares them, where no tie is near. */
template <typename TInput, typename TOutput>
Difference
CompareWithITK(const TInput *                                                                 input,
               const Grid<TInput::ImageDimension> &                                           outputGrid,
               const itk::Transform<double, TInput::ImageDimension, TInput::ImageDimension> & transform,
               const std::string &                                                            interpolation,
               const itk::GPUDevice &                                                         device)
{
  using ReferenceType = itk::ResampleImageFilter<TInput, TOutput>;
  using FilterType = itk::GPUResampleImageFilter<TInput, TOutput>;
  constexpr typename TOutput::PixelType outside{ 77 };
  auto                                  reference = ReferenceType::New();
  auto                                  filter = FilterType::New();
  filter->SetDevice(device);
  const auto setUp = [&](ReferenceType & resample) {
    resample.SetInput(input);
    resample.SetTransform(&transform);
    resample.SetInterpolator(MakeInterpolator<TInput>(interpolation));
    resample.SetSize(outputGrid.size);
    resample.SetOutputStartIndex(outputGrid.start);
    resample.SetOutputSpacing(outputGrid.spacing);
    resample.SetOutputOrigin(outputGrid.origin);
    resample.SetOutputDirection(outputGrid.direction);
    resample.SetDefaultPixelValue(outside);
    resample.Update();
  };
  setUp(*reference);
  setUp(*filter);
  EXPECT_GT(filter->GetEvaluationStatistics().launches, 0) << "computed by the parent class";

  const bool   isInteger = std::is_integral<typename TOutput::PixelType>::value;
  double       low = std::numeric_limits<double>::max(), high = -low, squares = 0;
  Difference   difference;
  const auto * expected = reference->GetOutput();
  for (itk::ImageRegionConstIteratorWithIndex<TOutput> it(expected, expected->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename TOutput::PointType point;
    expected->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    const auto   there = transform.TransformPoint(point);
    const double wanted = static_cast<double>(it.Get());
    const double got = static_cast<double>(filter->GetOutput()->GetPixel(it.GetIndex()));
    low = std::min(low, wanted);
    high = std::max(high, wanted);
    if (IsNearATie(*input, there, interpolation == "nearest" || interpolation == "bspline0"))
    {
      continue;
    }
    difference.inside += wanted != 77;
    ++difference.compared;
    // One off where ITK's own double value is about to become the next integer.
    const double apart = isInteger && std::abs(wanted - got) == 1 ? 0.0 : std::abs(wanted - got);
    squares += apart * apart;
    difference.largest = std::max(difference.largest, apart);
  }
  const double range = std::max(high - low, 1e-30);
  difference.nrmse = std::sqrt(squares / std::max(difference.compared, 1)) / range;
  difference.largest /= range;
  return difference;
}

class ResampleEquivalence : public DeviceTest
{
protected:
  template <unsigned int VDimension>
  void
  TestMatrix()
  {
    using ImageType = itk::Image<float, VDimension>;
    for (const std::string & geometry : GetGeometryNames())
    {
      Random     random(20141);
      const auto grid = MakeResampleGrid<VDimension>(geometry, random);
      const auto image = MakeTestImage<ImageType>(grid, random);
      auto       outputGrid = grid;
      outputGrid.spacing *= 0.9;
      outputGrid.SetCentre(grid.GetCentre());
      for (const std::string & transformName : GetTransformNames())
      {
        const auto transform = MakeTransform<VDimension>(transformName, grid, random);
        for (const std::string interpolation : { "nearest", "linear", "bspline1", "bspline2", "bspline3", "bspline5" })
        {
          SCOPED_TRACE(geometry + ", " + transformName + ", " + interpolation);
          const Difference difference =
            CompareWithITK<ImageType, ImageType>(image, outputGrid, *transform, interpolation, this->GetDevice());
          EXPECT_LE(difference.nrmse, 1e-5);
          EXPECT_LE(difference.largest, 1e-4);
          EXPECT_GT(difference.inside, 10);
          EXPECT_GT(10 * difference.compared, 9 * difference.inside);
        }
      }
    }
  }
};

TEST_P(ResampleEquivalence, Matrix2D)
{
  TestMatrix<2>();
}

TEST_P(ResampleEquivalence, Matrix3D)
{
  TestMatrix<3>();
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleEquivalence, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
