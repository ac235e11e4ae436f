// SPDX-License-Identifier: Apache-2.0
// Registers images of short integers by ITK's classes: they stay as they are on the device, and the results have the bits of floats.
#include "ImageComparison.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "VoxelMask.h"

#include "itkDiffeomorphicRegistrationMethod.h"
#include "itkFreeFormDeformationRegistrationMethod.h"
#include "itkGPUResampleImageFilter.h"
#include "itkGlobalAffineRegistrationMethod.h"

#include "itkAffineTransform.h"
#include "itkCastImageFilter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

namespace gpuregtest
{

namespace
{
template <typename TPixel>
using ImageOf = itk::Image<TPixel, 3>;
using Floats = ImageOf<float>;

/** Returns an oblique grid of anisotropic voxels, whose first voxel has an index that is not 0. */
Grid<3>
MakeObliqueGrid(double angle)
{
  Grid<3> grid;
  grid.size = { { 33, 28, 24 } };
  grid.start = { { -4, 7, 3 } };
  grid.spacing[0] = 1.2;
  grid.spacing[1] = 0.9;
  grid.spacing[2] = 1.6;
  grid.origin.Fill(-30);
  grid.direction = MakeRotation<3>(angle);
  return grid;
}

template <typename TOut, typename TIn>
typename TOut::Pointer
CastTo(const TIn & image)
{
  const auto cast = itk::CastImageFilter<TIn, TOut>::New();
  cast->SetInput(&image);
  cast->Update();
  const typename TOut::Pointer output = cast->GetOutput();
  output->DisconnectPipeline();
  return output;
}

/** Two images whose values use the range of a type, and their masks. */
template <typename TPixel>
struct PixelCase
{
  using ImageType = ImageOf<TPixel>;

  PixelCase()
  {
    Random               random(3);
    const SmoothFunction coarse(random, 15.0, 30.0);
    const SmoothFunction fine(random, 6.0, 12.0);
    const Grid<3>        grid = MakeObliqueGrid(0.3);
    Grid<3>              around = MakeObliqueGrid(-0.1);
    around.size = { { 40, 36, 30 } };
    around.SetCentre(grid.GetCentre());
    const auto       centre = grid.GetCentre();
    constexpr double least = std::numeric_limits<TPixel>::lowest();
    constexpr double most = std::numeric_limits<TPixel>::max();
    const auto       value = [&](const auto & q) {
      const double share = 0.5 + 0.3 * coarse(q) + 0.15 * fine(q);
      return std::round(std::min(std::max(least + (most - least) * share, least), most));
    };
    fixed = MakeImage<ImageType>(grid, [&](const auto & p) { return value(p - centre); });
    moving = MakeImage<ImageType>(around, [&](const auto & p) {
      auto q = p - centre;
      q[0] += 1.1 * std::sin(0.12 * q[1]) + 0.6;
      q[2] -= 0.8 * std::cos(0.1 * q[0]);
      return value(q);
    });
    fixedMask = MakeMask(*fixed, [&](const auto & p) { return p.EuclideanDistanceTo(centre) < 15; });
    movingMask = MakeMask(*moving, [&](const auto & p) { return p.EuclideanDistanceTo(centre) < 19; });
  }

  std::int64_t
  CountPixels() const
  {
    return static_cast<std::int64_t>(fixed->GetBufferedRegion().GetNumberOfPixels() +
                                     moving->GetBufferedRegion().GetNumberOfPixels());
  }

  typename ImageType::Pointer         fixed;
  typename ImageType::Pointer         moving;
  itk::SpatialObject<3>::ConstPointer fixedMask;
  itk::SpatialObject<3>::ConstPointer movingMask;
};

/** Registers the images by a class, as they are and as floats, and expects the same transform and fewer bytes on the bus.
 *  \tparam TMethodOf the class for a type of images
 *  \param setUp(method, cast) gives a method its settings; cast(image) returns an image as the method takes it
 *  \param images how many images of each side are registered
 *  \param compare(short, floats) compares what the class alone has. */
template <template <typename, typename> class TMethodOf, typename TPixel, typename TSetUp, typename TCompare>
void
ExpectBitsOfFloats(const std::string &       device,
                   const PixelCase<TPixel> & its,
                   std::int64_t              images,
                   const TSetUp &            setUp,
                   const TCompare &          compare)
{
  using ImageType = ImageOf<TPixel>;
  const auto initial = itk::AffineTransform<double, 3>::New();
  initial->SetCenter(MakeObliqueGrid(0.3).GetCentre());
  initial->Rotate(0, 2, 0.02);
  const auto run = [&](auto & method, const auto & cast) {
    method.SetDevice(itk::GPUDevice::FromName(device));
    method.SetFixedImage(cast(*its.fixed));
    method.SetMovingImage(cast(*its.moving));
    method.SetFixedImageMask(its.fixedMask);
    method.SetMovingImageMask(its.movingMask);
    method.SetInitialTransform(initial);
    setUp(method, cast);
    method.Update();
    return method.GetEvaluationStatistics().bytesUp;
  };
  const auto narrow = TMethodOf<ImageType, ImageType>::New();
  const auto wide = TMethodOf<Floats, Floats>::New();
  const auto bytes = run(*narrow, [](const ImageType & image) { return &image; });
  const auto bytesOfFloats = run(*wide, [](const ImageType & image) { return CastTo<Floats>(image); });
  // The host reads images in place.
  constexpr std::int64_t saved = sizeof(float) - sizeof(TPixel);
  EXPECT_EQ(bytesOfFloats - bytes, device == "host" ? 0 : images * its.CountPixels() * saved);
  EXPECT_EQ(narrow->GetTransform()->GetParameters(), wide->GetTransform()->GetParameters());
  EXPECT_EQ(narrow->GetTransform()->GetFixedParameters(), wide->GetTransform()->GetFixedParameters());
  EXPECT_NE(narrow->GetTransform()->GetParameters(), initial->GetParameters());
  compare(*narrow, *wide);
}

/** Compares what deformable methods of two levels have. The warped image has the values that resampling has. */
template <typename TNarrow, typename TWide>
void
ExpectSameDeformation(TNarrow & narrow, TWide & wide)
{
  using ImageType = typename TNarrow::MovingImageType;
  EXPECT_EQ(narrow.GetCosts(0), wide.GetCosts(0));
  EXPECT_EQ(narrow.GetCosts(1), wide.GetCosts(1));
  const auto field = narrow.GetDisplacementField();
  EXPECT_TRUE(HaveSameBits(*field, *wide.GetDisplacementField()));
  double longest = 0;
  for (std::size_t n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    longest = std::max(longest, field->GetBufferPointer()[n].GetNorm());
  }
  EXPECT_GT(longest, 0.5);
  const auto resampler = itk::GPUResampleImageFilter<ImageType, ImageType>::New();
  resampler->SetDevice(narrow.GetDevice());
  resampler->SetInput(narrow.GetMovingImage());
  resampler->SetTransform(narrow.GetTransform());
  resampler->SetReferenceImage(narrow.GetFixedImage());
  resampler->UseReferenceImageOn();
  resampler->Update();
  EXPECT_TRUE(HaveSameBits(*narrow.GetWarpedImage(), *resampler->GetOutput()));
  // In floats the same values, but for what integers cut off.
  const auto     warped = CastTo<Floats>(*narrow.GetWarpedImage());
  constexpr auto most = static_cast<double>(std::numeric_limits<typename ImageType::PixelType>::max());
  EXPECT_EQ(CountFurtherApart(*warped, *wide.GetWarpedImage(), 1 + 1e-5 * most), 0U);
}

class MethodPixelsTest : public DeviceTest
{
protected:
  /** Calls test(case, setting) for each type of short integers and each setting. */
  template <typename TTest>
  static void
  ForEachCase(std::initializer_list<const char *> settings, const TTest & test)
  {
    const auto call = [&](const char * name, auto pixel) {
      SCOPED_TRACE(name);
      const PixelCase<decltype(pixel)> its;
      for (const char * const setting : settings)
      {
        SCOPED_TRACE(setting);
        test(its, setting);
      }
    };
    call("unsigned char", static_cast<unsigned char>(0));
    call("signed char", static_cast<signed char>(0));
    call("short", static_cast<short>(0));
    call("unsigned short", static_cast<unsigned short>(0));
  }
};
} // namespace

TEST_P(MethodPixelsTest, SearchesGlobally)
{
  ForEachCase({ "CorrelationRatio", "NeighborhoodCorrelation" }, [](const auto & its, const char * cost) {
    const auto setUp = [&](auto & method, const auto &) {
      method.SetCost(cost);
      method.SetDegreesOfFreedom(6);
      method.SetSearchAngles(0, 0);
    };
    ExpectBitsOfFloats<itk::GlobalAffineRegistrationMethod>(
      GetParam(), its, 1, setUp, [](const auto & narrow, const auto & wide) {
        EXPECT_EQ(narrow.GetFinalCost(), wide.GetFinalCost());
        EXPECT_EQ(narrow.GetOverlap(), wide.GetOverlap());
      });
  });
}

TEST_P(MethodPixelsTest, DeformsFreely)
{
  ForEachCase({ "NormalizedMutualInformation", "NeighborhoodCorrelation", "MeanSquares" },
              [](const auto & its, const char * similarity) {
                const auto setUp = [&](auto & method, const auto &) {
                  method.SetSimilarity(similarity);
                  method.SetNumberOfLevels(2);
                  method.SetControlPointSpacing(8);
                  method.SetNumberOfIterations(8);
                };
                ExpectBitsOfFloats<itk::FreeFormDeformationRegistrationMethod>(
                  GetParam(), its, 1, setUp, [](auto & narrow, auto & wide) { ExpectSameDeformation(narrow, wide); });
              });
}

TEST_P(MethodPixelsTest, DeformsDensely)
{
  ForEachCase({ "Greedy", "Velocity" }, [](const auto & its, const char * scheme) {
    const auto setUp = [&](auto & method, const auto & cast) {
      using MethodType = std::decay_t<decltype(method)>;
      typename MethodType::IterationsType iterations(2);
      iterations.Fill(8);
      method.SetScheme(scheme);
      method.SetNumberOfIterationsPerLevel(iterations);
      const auto pair = MethodType::ImagePairType::New();
      pair->SetFixedImage(cast(*its.fixed));
      pair->SetMovingImage(cast(*its.moving));
      pair->SetSimilarity("NormalizedMutualInformation");
      method.AddImagePair(pair);
    };
    ExpectBitsOfFloats<itk::DiffeomorphicRegistrationMethod>(GetParam(), its, 2, setUp, [](auto & narrow, auto & wide) {
      ExpectSameDeformation(narrow, wide);
      EXPECT_EQ(narrow.GetLogJacobianDeviation(), wide.GetLogJacobianDeviation());
    });
  });
}

/** Floats hold other integers and truth values, as before. */
TEST_P(MethodPixelsTest, ConvertsOtherPixels)
{
  using gpureg::NumberType;
  using itk::GPURegistrationDetail::GetHeldType;
  EXPECT_EQ(GetHeldType<ImageOf<double>>(), NumberType::Float64);
  for (const auto type : { GetHeldType<ImageOf<float>>(),
                           GetHeldType<ImageOf<int>>(),
                           GetHeldType<ImageOf<unsigned int>>(),
                           GetHeldType<ImageOf<long long>>(),
                           GetHeldType<ImageOf<bool>>() })
  {
    EXPECT_EQ(type, NumberType::Float32);
  }
  EXPECT_EQ(GetHeldType<ImageOf<char>>(), std::is_signed<char>::value ? NumberType::Int8 : NumberType::UInt8);
  const PixelCase<short> its;
  const auto             run = [&](auto & method, const auto & cast) {
    method.SetDevice(this->GetDevice());
    method.SetFixedImage(cast(*its.fixed));
    method.SetMovingImage(cast(*its.moving));
    method.SetNumberOfLevels(1);
    method.SetControlPointSpacing(10);
    method.SetNumberOfIterations(3);
    method.Update();
    return method.GetTransform()->GetParameters();
  };
  using Ints = ImageOf<int>;
  const auto ofInts = itk::FreeFormDeformationRegistrationMethod<Ints, Ints>::New();
  const auto ofShorts = itk::FreeFormDeformationRegistrationMethod<ImageOf<short>, ImageOf<short>>::New();
  EXPECT_EQ(run(*ofInts, [](const auto & image) { return CastTo<Ints>(image); }),
            run(*ofShorts, [](const auto & image) { return &image; }));
}

INSTANTIATE_TEST_SUITE_P(Devices, MethodPixelsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
