// SPDX-License-Identifier: Apache-2.0
// Tests GPUResampleImageFilter within a limit of device memory: the same image, to the bit, for any limit.
#include "ImageComparison.h"
#include "ResampleCase.h"
#include "TestDevices.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/resample/Resampler.h"

#include "itkCommand.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkNearestNeighborExtrapolateImageFunction.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace gpuregtest
{
namespace
{

/** Returns a grid with many planes along the axis that is divided into slabs: 3D along z, 2D along y. */
template <unsigned int VDimension>
Grid<VDimension>
MakeDeepGrid(Random & random)
{
  Grid<VDimension> grid = MakeResampleGrid<VDimension>("anisotropic", random);
  grid.size[0] = 19;
  grid.size[VDimension - 2] = 23;
  grid.size[VDimension - 1] = 97;
  return grid;
}

/** Resamples within a memory limit, and returns the output and the memory that it took. */
template <typename TFilter, typename TImage>
typename TImage::Pointer
ResampleWithin(TFilter & filter, const TImage &, std::size_t bytes)
{
  filter.SetMaximumDeviceMemory(bytes);
  filter.Modified();
  filter.UpdateLargestPossibleRegion();
  typename TImage::Pointer output = filter.GetOutput();
  output->DisconnectPipeline();
  const gpureg::EvaluationStatistics statistics = filter.GetEvaluationStatistics();
  if (bytes > 0)
  {
    EXPECT_LE(statistics.deviceBytes, static_cast<std::int64_t>(bytes));
  }
  // The host reads and writes the images in place.
  EXPECT_GE(statistics.largestArrayBytes, filter.GetDevice().IsHost() ? 0 : 1);
  EXPECT_LE(statistics.largestArrayBytes, statistics.deviceBytes);
  return output;
}

/** Reads the number of bytes that an error for too small a limit demands. */
void
ReadWanted(const itk::ExceptionObject & error, std::size_t & wanted)
{
  const std::string text = error.GetDescription();
  const auto        end = text.find(" are wanted");
  ASSERT_NE(end, std::string::npos) << text;
  wanted = std::stoul(text.substr(text.rfind(' ', end - 1) + 1));
}

class ResampleMemory : public DeviceTest
{
protected:
  /** Returns a filter that interpolates linearly, on the image's own grid. */
  template <typename TImage>
  typename itk::GPUResampleImageFilter<TImage, TImage>::Pointer
  MakeFilter(const TImage *                                                                 image,
             const itk::Transform<double, TImage::ImageDimension, TImage::ImageDimension> * transform) const
  {
    auto filter = itk::GPUResampleImageFilter<TImage, TImage>::New();
    filter->SetDevice(this->GetDevice());
    filter->SetInput(image);
    filter->SetTransform(transform);
    filter->SetOutputParametersFromImage(image);
    return filter;
  }

  /** Tests every transform and interpolation, with limits from "everything fits" down to the smallest possible slab. */
  template <typename TPixel, unsigned int VDimension>
  void
  ExpectSameWhateverTheBound(const std::vector<std::string> & transforms,
                             const std::vector<std::string> & interpolators,
                             const std::vector<std::size_t> & bounds) const
  {
    using ImageType = itk::Image<TPixel, VDimension>;
    Random     random(77);
    const auto grid = MakeDeepGrid<VDimension>(random);
    const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
    for (const std::string & transform : transforms)
    {
      for (const std::string & interpolator : interpolators)
      {
        SCOPED_TRACE(transform + " + " + interpolator);
        const auto filter =
          MakeFilter(image.GetPointer(), MakeTransform<VDimension>(transform, grid, random).GetPointer());
        filter->SetInterpolator(MakeInterpolator<ImageType>(interpolator));
        filter->SetDefaultPixelValue(7);
        const auto whole = ResampleWithin(*filter, *image, 0);
        for (const std::size_t bound : bounds)
        {
          EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, bound))) << bound << " bytes";
        }
        EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, 0)));
      }
    }
  }
};

// 97 planes of 19 x 23 floats, 1.7 kB each.
const std::vector<std::size_t> Bounds3D{ 400000, 100000, 60000 };

TEST_P(ResampleMemory, EveryTransformIsTheSameInSlabs)
{
  ExpectSameWhateverTheBound<float, 3>(GetTransformNames(), { "linear" }, Bounds3D);
}

TEST_P(ResampleMemory, EveryInterpolationIsTheSameInSlabs)
{
  ExpectSameWhateverTheBound<float, 3>({ "affine", "bspline3" },
                                       { "nearest", "bspline1", "bspline2", "bspline3", "bspline5" },
                                       Bounds3D);
}

/** With linear interpolation the host leaves sampled transforms to ITK's class. */
TEST_P(ResampleMemory, WhatIsSampledIsTheSameInSlabs)
{
  ExpectSameWhateverTheBound<float, 3>({ "thinPlate", "bspline0" }, { "linear", "bspline1", "bspline3" }, Bounds3D);
  ExpectSameWhateverTheBound<float, 2>({ "thinPlate" }, { "linear", "bspline1", "bspline3" }, { 9000, 4000 });
}

TEST_P(ResampleMemory, DoublesAreTheSameInSlabs)
{
  ExpectSameWhateverTheBound<double, 3>({ "bsplineOfAffineOfField" }, { "linear", "bspline3" }, { 400000, 120000 });
}

TEST_P(ResampleMemory, ASliceIsTheSameInSlabsOfRows)
{
  ExpectSameWhateverTheBound<float, 2>({ "affine", "field" }, { "linear", "bspline3" }, { 9000, 4000 });
}

/** Returns z → x → y → z about the centre: each part of the output needs the whole input. */
itk::AffineTransform<double, 3>::Pointer
MakeTurn(const Grid<3> & grid)
{
  itk::Matrix<double, 3, 3> turn;
  turn[0][2] = turn[1][0] = turn[2][1] = 1;
  auto transform = itk::AffineTransform<double, 3>::New();
  transform->SetCenter(grid.GetCentre());
  transform->SetMatrix(turn);
  return transform;
}

TEST_P(ResampleMemory, AxesThatChangePlacesAndEdgesThatGoOnAreTheSameInSlabs)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(78);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto transform = MakeTurn(grid);
  for (const bool extrapolates : { false, true })
  {
    const auto filter = MakeFilter(image.GetPointer(), transform.GetPointer());
    if (extrapolates)
    {
      filter->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New());
    }
    const auto whole = ResampleWithin(*filter, *image, 0);
    EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, 60000))) << extrapolates;
  }
}

TEST_P(ResampleMemory, WhatGoesUpIsAFewTimesTheInput)
{
  if (GetParam() == "host")
  {
    GTEST_SKIP() << "the host reads the image where it is: nothing goes up";
  }
  using ImageType = itk::Image<float, 3>;
  Random  random(87);
  Grid<3> grid;
  grid.size = { { 64, 64, 64 } };
  const auto         image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const std::int64_t bytes = 64 * 64 * 64 * 4;
  const auto         countUp = [&](const itk::Transform<double, 3, 3> * transform) {
    const auto filter = MakeFilter(image.GetPointer(), transform);
    ResampleWithin(*filter, *image, static_cast<std::size_t>(3 * bytes / 10));
    return filter->GetEvaluationStatistics().bytesUp;
  };
  // Each output tile that fits needs all input slabs.
  EXPECT_LT(countUp(MakeTurn(grid)), 8 * bytes);
  // Planes stay parallel: each slab is uploaded once, with its margins of one plane on either side of six or more.
  EXPECT_LT(countUp(itk::IdentityTransform<double, 3>::New()), 4 * bytes / 3);
}

/** Input slabs of megabytes, all of which each output tile needs, so that copies and kernels overlap for a while. */
TEST_P(ResampleMemory, LargeSlabsThatOverlapKernelsAreTheSame)
{
  using ImageType = itk::Image<float, 3>;
  Random  random(88);
  Grid<3> grid;
  grid.size = { { 160, 160, 160 } };
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto turn = MakeTurn(grid);
  for (const char * interpolator : { "linear", "bspline3" })
  {
    const auto filter = MakeFilter(image.GetPointer(), turn.GetPointer());
    filter->SetInterpolator(MakeInterpolator<ImageType>(interpolator));
    const auto whole = ResampleWithin(*filter, *image, 0);
    for (const std::size_t bound : { std::size_t{ 3 } << 20, std::size_t{ 9 } << 20 })
    {
      EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, bound))) << interpolator << ", " << bound;
    }
  }
}

/** At that time, input slabs and output tiles are being transferred in both directions. */
TEST_P(ResampleMemory, AnAbortHalfWayLeavesAFilterThatGoesOn)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(89);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto other = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto transform = MakeTransform<3>("affine", grid, random);
  const auto filter = MakeFilter(image.GetPointer(), transform.GetPointer());
  const auto abort = itk::CStyleCommand::New();
  abort->SetCallback([](itk::Object * caller, const itk::EventObject &, void *) {
    auto & process = static_cast<itk::ProcessObject &>(*caller);
    process.SetAbortGenerateData(process.GetProgress() > 0.3f);
  });
  const auto tag = filter->AddObserver(itk::ProgressEvent(), abort);
  EXPECT_THROW(ResampleWithin(*filter, *image, 60000), itk::ProcessAborted);
  EXPECT_GT(filter->GetProgress(), 0.3f);
  EXPECT_LT(filter->GetProgress(), 0.9f);
  filter->RemoveObserver(tag);
  filter->AbortGenerateDataOff();
  for (const auto & next : { other, image })
  {
    const auto expected = ResampleWithin(*MakeFilter(next.GetPointer(), transform.GetPointer()), *next, 0);
    filter->SetInput(next);
    EXPECT_TRUE(HaveSameBits(*expected, *ResampleWithin(*filter, *next, 60000)));
    EXPECT_TRUE(HaveSameBits(*expected, *ResampleWithin(*filter, *next, 100000)));
  }
}

/** The input cannot be read at all, or fails after some slabs. */
TEST_P(ResampleMemory, AnInputThatFailsHalfWayLeavesAResamplerThatGoesOn)
{
  constexpr int         Side = 48;
  gpureg::ResampleInput input;
  input.size = { Side, Side, Side };
  std::int64_t failsFrom = 0;
  input.values = [&failsFrom](std::int64_t first, std::int64_t count, void * out) {
    if (first >= failsFrom)
    {
      throw std::runtime_error("no such voxel");
    }
    for (std::int64_t i = 0; i < count; ++i)
    {
      static_cast<float *>(out)[i] = static_cast<float>((first + i) % 1009);
    }
  };
  gpureg::ResampleRequest request;
  request.size = input.size;
  request.outside = { 0.0 };
  std::vector<float> output(Side * Side * Side);
  request.output = [&output](std::int64_t first, std::int64_t count, const void * in) {
    std::copy_n(static_cast<const float *>(in), count, output.begin() + first);
  };
  gpureg::Resampler resampler(GetParam());
  const auto        threads = itk::GPURegistrationDetail::MakeParallelFor(2);
  for (const std::size_t bound : { std::size_t{ 150000 }, std::size_t{ 0 } })
  {
    resampler.SetMaximumDeviceMemory(bound);
    for (const int plane : { 0, 20, 40 })
    {
      failsFrom = std::int64_t{ plane } * Side * Side;
      EXPECT_THROW(resampler.Resample(input, request, threads), std::runtime_error) << plane;
    }
    failsFrom = std::numeric_limits<std::int64_t>::max();
    std::fill(output.begin(), output.end(), -1.0f);
    resampler.Resample(input, request, threads);
    for (std::size_t i = 0; i < output.size(); ++i)
    {
      ASSERT_EQ(output[i], static_cast<float>(i % 1009)) << bound;
    }
  }
}

TEST_P(ResampleMemory, AFieldThatMovesNothingIsTheSameInSlabs)
{
  // Every third voxel of the output is at one of the input's, except for 2^-32 voxel, which a float of 1 does not resolve: with a
  // displacement of 0 its cell is the next one, and that may belong to the next slab.
  using ImageType = itk::Image<float, 3>;
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  Random  random(88);
  Grid<3> grid;
  grid.size = { { 8, 8, 200 } };
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto field = MakeImage<FieldTransformType::DisplacementFieldType>(grid, [](const auto &) {
    return itk::Vector<double, 3>(0.0);
  });
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  const auto             filter = MakeFilter(image.GetPointer(), transform.GetPointer());
  itk::Vector<double, 3> spacing(1.0);
  spacing[2] = 1.0 / 3.0;
  filter->SetOutputSpacing(spacing);
  filter->SetSize({ { 8, 8, 590 } });
  const auto whole = ResampleWithin(*filter, *image, 0);
  // Grids, slabs and output tiles of many sizes.
  for (std::size_t bound = 230000; bound < 330000; bound += 531)
  {
    EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, bound))) << bound << " bytes";
  }
  for (std::size_t bound = 14000; bound < 60000; bound += 173)
  {
    EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, bound))) << bound << " bytes";
  }
}

TEST_P(ResampleMemory, AFieldLargerThanTheBoundIsTheSameInParts)
{
  using ImageType = itk::Image<float, 3>;
  using FieldTransformType = itk::DisplacementFieldTransform<double, 3>;
  Random     random(83);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  // 24 x 24 x 120 vectors of 16 bytes, slightly rotated, ending within the image.
  Grid<3> own = grid;
  own.size = { { 24, 24, 120 } };
  own.spacing[2] *= 0.7;
  own.direction = MakeRotation<3>(0.43);
  own.SetCentre(grid.GetCentre());
  const auto field = MakeImage<FieldTransformType::DisplacementFieldType>(own, [&](const auto &) {
    itk::Vector<double, 3> vector;
    for (unsigned int d = 0; d < 3; ++d)
    {
      vector[d] = Uniform(random, -3, 3);
    }
    return vector;
  });
  const auto transform = FieldTransformType::New();
  transform->SetDisplacementField(field);
  const auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(MakeTransform<3>("affineOfBSpline", grid, random));
  composite->AddTransform(transform);
  const auto filter = MakeFilter(image.GetPointer(), composite.GetPointer());
  const auto whole = ResampleWithin(*filter, *image, 0);
  EXPECT_GT(filter->GetEvaluationStatistics().deviceBytes, 1100000);
  EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, 500000)));
}

TEST_P(ResampleMemory, AFieldThatLeadsNowhereIsTheSameInSlabs)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(79);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto transform = MakeTransform<3>("field", grid, random);
  auto &     field =
    *static_cast<itk::DisplacementFieldTransform<double, 3> &>(*transform).GetModifiableDisplacementField();
  field.GetBufferPointer()[40][2] = std::numeric_limits<double>::quiet_NaN();
  field.GetBufferPointer()[41][2] = std::numeric_limits<double>::infinity();
  const auto filter = MakeFilter(image.GetPointer(), transform.GetPointer());
  filter->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New());
  const auto whole = ResampleWithin(*filter, *image, 0);
  EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, 60000)));
}

TEST_P(ResampleMemory, TooLittleForASlabSaysHowMuchItTakesAndThatIsEnough)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(80);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  for (const std::string interpolator : { "linear", "bspline3" })
  {
    const auto filter = MakeFilter(image.GetPointer(), MakeTransform<3>("bspline3", grid, random).GetPointer());
    filter->SetInterpolator(MakeInterpolator<ImageType>(interpolator));
    const auto whole = ResampleWithin(*filter, *image, 0);
    filter->SetMaximumDeviceMemory(2000);
    filter->Modified();
    std::size_t wanted = 0;
    try
    {
      filter->Update();
      FAIL() << "2000 bytes were enough";
    }
    catch (const itk::ExceptionObject & error)
    {
      const std::string text = error.GetDescription();
      EXPECT_NE(text.find("2000 bytes are allowed"), std::string::npos) << text;
      ASSERT_NO_FATAL_FAILURE(ReadWanted(error, wanted));
    }
    ASSERT_GT(wanted, 2000u);
    EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, wanted)));
    filter->SetMaximumDeviceMemory(wanted - 1);
    filter->Modified();
    EXPECT_THROW(filter->Update(), itk::ExceptionObject);
    EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, 0)));
  }
}

TEST_P(ResampleMemory, WithoutABoundTheProcessLimitIsKept)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(81);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto make = [&] {
    return MakeFilter(image.GetPointer(), MakeTransform<3>("affine", grid, random).GetPointer());
  };
  Random     copy = random;
  const auto whole = ResampleWithin(*make(), *image, 0);
  random = copy;
  gpureg::SetMemoryLimit(GetParam(), gpureg::GetMemoryInUse(GetParam()) + 120000);
  const auto filter = make();
  const auto within = ResampleWithin(*filter, *image, 0);
  gpureg::SetMemoryLimit(GetParam(), 0);
  EXPECT_LE(filter->GetEvaluationStatistics().deviceBytes, 120000);
  EXPECT_TRUE(HaveSameBits(*whole, *within));
}

TEST_P(ResampleMemory, AFieldStaysOnTheDeviceUntilItIsModified)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(82);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto transform = MakeTransform<3>("field", grid, random);
  const auto filter = MakeFilter(image.GetPointer(), transform.GetPointer());
  const auto first = ResampleWithin(*filter, *image, 0);
  const auto firstBytes = filter->GetEvaluationStatistics().bytesUp;
  EXPECT_TRUE(HaveSameBits(*first, *ResampleWithin(*filter, *image, 0)));
  if (GetParam() != "host")
  {
    EXPECT_LT(filter->GetEvaluationStatistics().bytesUp, firstBytes / 20);
  }
  auto & field =
    *static_cast<itk::DisplacementFieldTransform<double, 3> &>(*transform).GetModifiableDisplacementField();
  for (std::size_t i = 0; i < field.GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    field.GetBufferPointer()[i] *= -1.0;
  }
  field.Modified();
  const auto moved = ResampleWithin(*filter, *image, 0);
  EXPECT_FALSE(HaveSameBits(*first, *moved));
  const auto fresh = MakeFilter(image.GetPointer(), transform.GetPointer());
  EXPECT_TRUE(HaveSameBits(*ResampleWithin(*fresh, *image, 0), *moved));
}

TEST_P(ResampleMemory, AFieldThatIsGivenOtherParametersGoesUpAgain)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(84);
  const auto grid = MakeDeepGrid<3>(random);
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  const auto transform = MakeTransform<3>("field", grid, random);
  const auto make = [&] { return MakeFilter(image.GetPointer(), transform.GetPointer()); };
  const auto filter = make();
  auto       before = ResampleWithin(*filter, *image, 0);
  const auto expectFresh = [&](const char * how) {
    const auto after = ResampleWithin(*filter, *image, 0);
    EXPECT_FALSE(HaveSameBits(*before, *after)) << how;
    EXPECT_TRUE(HaveSameBits(*ResampleWithin(*make(), *image, 0), *after)) << how;
    before = after;
  };
  auto parameters = transform->GetParameters();
  for (auto & parameter : parameters)
  {
    parameter = -parameter;
  }
  transform->SetParametersByValue(parameters);
  expectFresh("SetParametersByValue");
  transform->UpdateTransformParameters(parameters, 0.5);
  expectFresh("UpdateTransformParameters");
}

TEST_P(ResampleMemory, AGridFinerThanTheOutputIsReadWhereItIs)
{
  // A cubic B-spline of five planes a slice, followed row by row, with output tiles of a few rows: the lanes behind the last row have no
  // planes.
  using ImageType = itk::Image<float, 3>;
  using SplineType = itk::BSplineTransform<double, 3, 3>;
  Random  random(85);
  Grid<3> grid;
  grid.size = { { 64, 8, 60 } };
  const auto image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
  auto       spline = SplineType::New();
  spline->SetTransformDomainMeshSize({ { 21, 21, 297 } });
  SplineType::PhysicalDimensionsType dimensions;
  dimensions[0] = 63;
  dimensions[1] = 63;
  dimensions[2] = 59;
  spline->SetTransformDomainPhysicalDimensions(dimensions);
  SplineType::ParametersType parameters(spline->GetNumberOfParameters());
  for (auto & parameter : parameters)
  {
    parameter = Uniform(random, -0.3, 0.3);
  }
  spline->SetParametersByValue(parameters);
  const auto filter = MakeFilter(image.GetPointer(), spline.GetPointer());
  filter->SetSize({ { 64, 1, 60 } });
  const auto whole = ResampleWithin(*filter, *image, 0);
  for (const std::size_t bound : { 900000, 400000 })
  {
    EXPECT_TRUE(HaveSameBits(*whole, *ResampleWithin(*filter, *image, bound))) << bound;
  }
}

TEST_P(ResampleMemory, OneFilterKeepsWithinEachBoundInTurn)
{
  using ImageType = itk::Image<float, 3>;
  Random     random(86);
  auto       filter = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  int        enough = 0;
  const auto names = GetTransformNames();
  filter->SetDevice(this->GetDevice());
  for (int n = 0; n < 60; ++n)
  {
    Grid<3> grid;
    for (auto & size : grid.size)
    {
      size = 1 + static_cast<itk::SizeValueType>(Uniform(random, 0, 60));
    }
    const auto        image = MakeImage<ImageType>(grid, [&](const auto &) { return Uniform(random, 0, 100); });
    const std::string name =
      names[static_cast<std::size_t>(Uniform(random, 0, 0.999) * static_cast<double>(names.size()))];
    filter->SetInput(image);
    filter->SetTransform(MakeTransform<3>(name, grid, random));
    filter->SetInterpolator(MakeInterpolator<ImageType>("linear"));
    filter->SetOutputParametersFromImage(image);
    const auto bound = static_cast<std::size_t>(Uniform(random, 3e4, 9e5));
    SCOPED_TRACE(name + ", " + std::to_string(n));
    try
    {
      const auto bounded = ResampleWithin(*filter, *image, bound);
      EXPECT_TRUE(HaveSameBits(*bounded, *ResampleWithin(*filter, *image, 0)));
      ++enough;
    }
    catch (const itk::ExceptionObject & error)
    {
      std::size_t wanted = 0;
      ASSERT_NO_FATAL_FAILURE(ReadWanted(error, wanted));
      EXPECT_GT(wanted, bound);
      ResampleWithin(*filter, *image, wanted);
    }
  }
  EXPECT_GT(enough, 20);
}

/** 2 GiB of input and 2 GiB of output, with a limit of 1 GiB. */
TEST_P(ResampleMemory, TwoGibibytesUnderABoundOfOne)
{
  if (this->GetDevice().GetName().find("cuda") != 0 && !std::getenv("GPUREG_TEST_LARGE"))
  {
    GTEST_SKIP() << "6 GiB of host memory, and minutes on a processor: on a GPU, or where GPUREG_TEST_LARGE is set";
  }
  using ImageType = itk::Image<float, 3>;
  const itk::Size<3> size{ { 1024, 1024, 512 } };
  auto               image = ImageType::New();
  image->SetRegions(size);
  image->Allocate();
  std::uint32_t state = 1;
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    state = state * 1664525u + 1013904223u;
    image->GetBufferPointer()[i] = static_cast<float>(state >> 8) * 1e-5f;
  }
  auto                  transform = itk::AffineTransform<double, 3>::New();
  itk::Point<double, 3> centre;
  centre.Fill(400);
  transform->SetCenter(centre);
  itk::Vector<double, 3> axis;
  axis[0] = 1;
  axis[1] = 2;
  axis[2] = 3;
  transform->Rotate3D(axis, 0.1);

  constexpr std::size_t Bound = std::size_t{ 1 } << 30;
  gpureg::SetMemoryLimit(GetParam(), gpureg::GetMemoryInUse(GetParam()) + Bound);
  const auto filter = MakeFilter(image.GetPointer(), transform.GetPointer());
  const auto output = ResampleWithin(*filter, *image, Bound);
  gpureg::SetMemoryLimit(GetParam(), 0);
  const gpureg::EvaluationStatistics statistics = filter->GetEvaluationStatistics();
  std::cout << GetParam() << ": 1024 x 1024 x 512 floats within " << Bound << " bytes: largest allocation "
            << statistics.largestArrayBytes << ", all together " << statistics.deviceBytes << "; " << statistics.bytesUp
            << " bytes up, " << statistics.bytesDown << " down, " << statistics.evaluateMilliseconds << " ms\n";

  // Compares some slices with ITK's own filter.
  for (const itk::IndexValueType z : { 0, 255, 511 })
  {
    auto reference = itk::ResampleImageFilter<ImageType, ImageType>::New();
    reference->SetInput(image);
    reference->SetTransform(transform);
    reference->SetOutputParametersFromImage(image);
    itk::ImageRegion<3> slice(itk::Index<3>{ { 0, 0, z } }, itk::Size<3>{ { 1024, 1024, 1 } });
    reference->GetOutput()->SetRequestedRegion(slice);
    reference->Update();
    const float * const expected = reference->GetOutput()->GetBufferPointer();
    const float * const found = output->GetBufferPointer() + z * std::int64_t{ 1024 * 1024 };
    double              squares = 0;
    for (int i = 0; i < 1024 * 1024; ++i)
    {
      squares += (found[i] - expected[i]) * (found[i] - expected[i]);
    }
    // Values are up to 168.
    EXPECT_LT(std::sqrt(squares / (1024 * 1024)), 168 * 1e-5) << "slice " << z;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleMemory, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
