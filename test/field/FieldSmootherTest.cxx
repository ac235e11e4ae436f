// SPDX-License-Identifier: Apache-2.0
// Recursive Gaussians of fields on every device, against itk::RecursiveGaussianImageFilter on each component.
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldSmoother.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include "itkImage.h"
#include "itkRecursiveGaussianImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = std::vector<float>;

// Axes differ in length and spacing, and are turned, which voxels do not know of.
constexpr gpureg::Size Sizes[] = { { 31, 26, 1 }, { 23, 18, 12 } };

gpureg::kernels::FieldGrid
MakeFieldGrid(int dimension, const gpureg::Size & size)
{
  gpureg::IndexMap toPoint;
  toPoint.matrix = {
    0.8 * std::cos(0.3), -1.5 * std::sin(0.3), 0, 0.8 * std::sin(0.3), 1.5 * std::cos(0.3), 0, 0, 0, 2
  };
  return gpureg::MakeFieldGrid(dimension, size, toPoint);
}

/** Returns a field that is rough, and not 0 at its border. */
Floats
MakeField(int dimension, const gpureg::Size & size)
{
  Floats field;
  for (std::int64_t n = 0; n < 3 * gpureg::CountOf(size); ++n)
  {
    const bool isThere = n % 3 < dimension;
    field.push_back(isThere ? static_cast<float>(2 + std::sin(0.9 * static_cast<double>(n * n % 1013))) : 0.0F);
  }
  return field;
}

/** Smooths each component by ITK's filter along each axis, in double precision. sigma: voxels. */
template <unsigned int VDimension>
std::vector<double>
SmoothByITK(const gpureg::Size & size, const Floats & field, double sigma)
{
  using ImageType = itk::Image<double, VDimension>;
  using FilterType = itk::RecursiveGaussianImageFilter<ImageType, ImageType>;
  std::vector<double> all(field.size());
  for (std::size_t component = 0; component < VDimension; ++component)
  {
    typename ImageType::Pointer  image = ImageType::New();
    typename ImageType::SizeType itsSize;
    std::copy_n(size.begin(), VDimension, itsSize.begin());
    image->SetRegions(itsSize);
    image->Allocate();
    for (std::size_t n = 0; n < field.size() / 3; ++n)
    {
      image->GetBufferPointer()[n] = field[3 * n + component];
    }
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      const auto filter = FilterType::New();
      filter->SetInput(image);
      filter->SetDirection(axis);
      filter->SetSigma(sigma);
      filter->Update();
      image = filter->GetOutput();
      image->DisconnectPipeline();
    }
    for (std::size_t n = 0; n < field.size() / 3; ++n)
    {
      all[3 * n + component] = image->GetBufferPointer()[n];
    }
  }
  return all;
}

class FieldSmootherTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(FieldSmootherTest, SmoothsRecursivelyAsITK)
{
  for (const int dimension : { 2, 3 })
  {
    const gpureg::Size &  size = Sizes[dimension - 2];
    const auto            grid = MakeFieldGrid(dimension, size);
    const Floats          field = MakeField(dimension, size);
    const std::size_t     bytes = sizeof(float) * field.size();
    const auto            queue = gpureg::GetBackend(GetParam())->CreateQueue();
    gpureg::FieldSmoother smoother(*queue);
    gpureg::FieldReducer  reducer(*queue);
    for (const double sigma : { 0.6, 1.732, 5.0, 20.0 })
    {
      SCOPED_TRACE(std::to_string(dimension) + "D, " + std::to_string(sigma));
      Floats smoothed(field.size()), inPlace(field.size()), untouched(field.size());
      float  longest = 0;
      gpureg::Operate(*queue, OnThreads(2), [&] {
        gpureg::MemoryPointer given, first, second, result, length;
        for (gpureg::MemoryPointer * array : { &given, &first, &second, &result })
        {
          gpureg::Reserve(*queue, *array, bytes);
        }
        gpureg::Reserve(*queue, length, sizeof(float));
        gpureg::UploadArray(*queue, *given, field);
        smoother.Set(sigma, grid, gpureg::FieldBorder::Smoothed, gpureg::GaussianKind::Recursive);
        smoother.SmoothAndMeasure(*given, *first, *second, *result, reducer, *length);
        queue->Download(smoothed.data(), *result, bytes);
        queue->Download(&longest, *length, sizeof(float));
        queue->Download(untouched.data(), *given, bytes);
        // The greedy scheme smooths into the first scratch array, and the velocity scheme in place.
        smoother.Smooth(*given, *result, *second, *result);
        queue->Download(inPlace.data(), *result, bytes);
        EXPECT_EQ(inPlace, smoothed);
        smoother.Smooth(*given, *first, *second, *given);
        queue->Download(inPlace.data(), *given, bytes);
      });
      EXPECT_EQ(inPlace, smoothed);
      EXPECT_EQ(untouched, field);
      const auto   expected = dimension == 2 ? SmoothByITK<2>(size, field, sigma) : SmoothByITK<3>(size, field, sigma);
      double       error = 0;
      double       most = 0;
      const double spacing[] = { 0.8, 1.5, 2.0 };
      for (std::size_t n = 0; n < expected.size(); n += 3)
      {
        double squares = 0;
        for (std::size_t c = 0; c < 3; ++c)
        {
          error = std::max(error, std::abs(smoothed[n + c] - expected[n + c]));
          squares += std::pow(expected[n + c] / spacing[c], 2);
        }
        most = std::max(most, std::sqrt(squares));
      }
      // Vectors of 3 are rounded to floats behind each axis.
      EXPECT_LE(error, 1.5e-6);
      EXPECT_NEAR(longest, most, 1e-5 * most);
    }
  }
}

TEST_P(FieldSmootherTest, CopiesWhereSigmaIsNothing)
{
  const auto            grid = MakeFieldGrid(3, Sizes[1]);
  const Floats          field = MakeField(3, Sizes[1]);
  const std::size_t     bytes = sizeof(float) * field.size();
  const auto            queue = gpureg::GetBackend(GetParam())->CreateQueue();
  gpureg::FieldSmoother smoother(*queue);
  Floats                found(field.size());
  gpureg::Operate(*queue, OnThreads(2), [&] {
    gpureg::MemoryPointer given, first, second;
    for (gpureg::MemoryPointer * array : { &given, &first, &second })
    {
      gpureg::Reserve(*queue, *array, bytes);
    }
    gpureg::UploadArray(*queue, *given, field);
    smoother.Set(0, grid, gpureg::FieldBorder::Smoothed, gpureg::GaussianKind::Recursive);
    smoother.Smooth(*given, *first, *second, *first);
    queue->Download(found.data(), *first, bytes);
    EXPECT_THROW(smoother.Set(1, grid, gpureg::FieldBorder::Zero, gpureg::GaussianKind::Recursive), std::logic_error);
  });
  EXPECT_EQ(found, field);
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldSmootherTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
