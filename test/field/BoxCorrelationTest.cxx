// SPDX-License-Identifier: Apache-2.0
// The signed squared correlation over boxes on every device, against its definition, and its derivative against finite differences, in
// double precision.
#include "FieldCase.h"
#include "ErrorOfRecord.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/field/CountBlocks.h"

#include <cmath>
#include <limits>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;
using gpureg::Input;
using gpureg::Output;
using gpureg::RealNumber;

class BoxCorrelationTest : public DeviceTest
{};

struct Images
{
  Doubles fixed;
  Doubles moving;
  Doubles weights;
};

/** Σ S, by its definition: box by box. */
double
ComputeByDefinition(const FieldGrid & grid, const BoxCorrelation & a, const Images & images)
{
  double total = 0;
  ForEachItem(CountFieldVoxels(&grid), [&](std::int64_t centre) {
    int    at[3];
    double n = 0, f = 0, m = 0, ff = 0, mm = 0, fm = 0;
    ComputeVoxelIndex(&grid, centre, at);
    for (int z = at[2] - a.radius[2]; z <= at[2] + a.radius[2]; ++z)
    {
      for (int y = at[1] - a.radius[1]; y <= at[1] + a.radius[1]; ++y)
      {
        for (int x = at[0] - a.radius[0]; x <= at[0] + a.radius[0]; ++x)
        {
          const bool isThere = x >= 0 && x < grid.size[0] && y >= 0 && y < grid.size[1] && z >= 0 && z < grid.size[2];
          const std::size_t voxel = isThere ? (static_cast<std::size_t>(z) * grid.size[1] + y) * grid.size[0] + x : 0;
          const double      weight = a.hasWeights ? (isThere ? images.weights[voxel] : 0.0) : 1.0;
          const double      ofFixed = isThere ? images.fixed[voxel] : 0.0;
          const double      ofMoving = isThere ? images.moving[voxel] : 0.0;
          n += weight;
          f += weight * ofFixed;
          m += weight * ofMoving;
          ff += weight * ofFixed * ofFixed;
          mm += weight * ofMoving * ofMoving;
          fm += weight * ofFixed * ofMoving;
        }
      }
    }
    const double weight = a.hasWeights ? images.weights[centre] : 1.0;
    if (weight > 0)
    {
      const double covariance = fm / n - f * m / (n * n);
      const double both = (ff / n - f * f / (n * n) + a.variance) * (mm / n - m * m / (n * n) + a.variance);
      total += weight * covariance * std::abs(covariance) / both;
    }
  });
  return total;
}

/** Σ S and its derivative by each moving value, by the kernels on a device. */
template <typename TReal>
double
ComputeByKernels(FieldsOnDevice &       on,
                 const FieldGrid &      grid,
                 const BoxCorrelation & a,
                 const Images &         images,
                 std::vector<TReal> &   forces)
{
  const auto upload = [&](const Doubles & numbers) {
    return on.Upload(std::vector<TReal>(numbers.begin(), numbers.end()));
  };
  const std::int64_t voxels = CountFieldVoxels(&grid);
  const std::int64_t alongY = gpureg::CountBlocks(on.GetQueue(), grid, 1, DeviceBoxesLength);
  const std::int64_t alongZ = gpureg::CountBlocks(on.GetQueue(), grid, 2, DeviceBoxesLength);
  const auto         fixed = upload(images.fixed), moving = upload(images.moving), weights = upload(images.weights);
  const auto         gradients = upload(Doubles(3 * voxels, 1.0));
  const auto         summed = on.MakeUnwritten<TReal>(CountBoxSums(&a) * voxels);
  const auto         terms = on.MakeUnwritten<TReal>(BoxTerms * voxels), values = on.MakeUnwritten<TReal>(alongZ);
  const gpureg::Memory * const read = a.hasWeights ? weights.get() : nullptr;
  on.Run<SumProductsInPlaneKernel, TReal>(alongY,
                                          grid,
                                          a,
                                          Input<RealNumber>(*fixed),
                                          Input<RealNumber>(*moving),
                                          Input<RealNumber>(read),
                                          Output<RealNumber>(*summed));
  on.Run<ComputeCorrelationTermsKernel, TReal>(alongZ,
                                               grid,
                                               a,
                                               Input<RealNumber>(*summed),
                                               Input<RealNumber>(read),
                                               Output<RealNumber>(*values),
                                               Output<RealNumber>(*terms));
  on.Run<SumTermsInPlaneKernel, TReal>(alongY, grid, a, Input<RealNumber>(*terms), Output<RealNumber>(*summed));
  forces = on.Compute<ComputeCorrelationForcesKernel, TReal>(alongZ,
                                                             3 * voxels,
                                                             grid,
                                                             a,
                                                             Input<RealNumber>(*summed),
                                                             Input<RealNumber>(*fixed),
                                                             Input<RealNumber>(*moving),
                                                             Input<RealNumber>(read),
                                                             Input<RealNumber>(*gradients));
  double total = 0;
  for (const TReal value : on.Download<TReal>(values))
  {
    total += value;
  }
  return total;
}

Images
DrawImages(Random & random, std::int64_t voxels)
{
  Images images;
  ForEachItem(voxels, [&](std::int64_t) {
    images.fixed.push_back(Uniform(random, 0.0, 1.0));
    // Correlated in places, and against each other in others.
    images.moving.push_back(std::abs(images.fixed.back() - 0.5) + Uniform(random, 0.0, 0.3));
    images.weights.push_back(Chance(random, 3) ? 0.0 : Uniform(random, 0.5, 1.0));
  });
  return images;
}

template <unsigned int VDimension>
void
TestCorrelation(const std::string & device)
{
  FieldsOnDevice on(device);
  ForEachCaseOfBlocks<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    for (const int hasWeights : { 0, 1 })
    {
      BoxCorrelation a{};
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        a.radius[d] = 1 + static_cast<int>(Draw(random, 4));
      }
      a.hasWeights = hasWeights;
      a.variance = 1e-3F;
      Images       images = DrawImages(random, its.voxels);
      Doubles      forces;
      Floats       inFloat;
      const double value = ComputeByKernels(on, its.forKernels, a, images, forces);
      const double scale = static_cast<double>(its.voxels);
      EXPECT_NEAR(value, ComputeByDefinition(its.forKernels, a, images), 1e-11 * scale);
      // A box's variances are 1e-2 at least where there are many voxels, of means of squares that floats know to 1e-7.
      EXPECT_NEAR(ComputeByKernels(on, its.forKernels, a, images, inFloat), value, 1e-4 * scale);
      double largest = 0;
      for (const double force : forces)
      {
        largest = std::max(largest, std::abs(force));
      }
      for (int n = 0; n < 5; ++n)
      {
        const std::size_t voxel = Draw(random, static_cast<unsigned int>(its.voxels));
        const double      before = images.moving[voxel];
        const double      step = 1e-5;
        images.moving[voxel] = before + step;
        const double above = ComputeByDefinition(its.forKernels, a, images);
        images.moving[voxel] = before - step;
        const double below = ComputeByDefinition(its.forKernels, a, images);
        images.moving[voxel] = before;
        EXPECT_NEAR(forces[3 * voxel + 1], (above - below) / (2.0 * step), 1e-6 * (1.0 + largest));
        EXPECT_NEAR(inFloat[3 * voxel + 1], forces[3 * voxel + 1], 1e-3 * (1e-2 + largest));
      }
    }
  });
}
} // namespace

TEST_P(BoxCorrelationTest, IsItsDefinition2D)
{
  TestCorrelation<2>(GetParam());
}

TEST_P(BoxCorrelationTest, IsItsDefinition3D)
{
  TestCorrelation<3>(GetParam());
}

TEST_P(BoxCorrelationTest, OfFlatImagesIsNothing)
{
  FieldsOnDevice     on(GetParam());
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  const Doubles      flat(its.voxels, 0.5);
  for (const float variance : { 0.0F, 1e-4F })
  {
    const BoxCorrelation a{ { 2, 2, 2 }, 1, variance };
    Floats               forces;
    const double value = ComputeByKernels(on, its.forKernels, a, { flat, flat, Doubles(its.voxels, 1.0) }, forces);
    if (IsGPU(GetParam()) && GetParam().rfind("opencl", 0) == 0)
    {
      // NVIDIA's OpenCL rounds divisions in its own way: a mean of equal values may be off by a digit, and so c by half an epsilon. Without
      // a variance to add, any value is what that leaves.
      const double ofVoxel = variance > 0 ? std::pow(0.5 * std::numeric_limits<float>::epsilon() / variance, 2) : 1.0;
      EXPECT_LE(std::abs(value), ofVoxel * static_cast<double>(its.voxels));
    }
    else
    {
      EXPECT_NEAR(value, 0.0, 1e-6);
    }
    for (const float force : forces)
    {
      EXPECT_TRUE(std::isfinite(force));
    }
  }
}

TEST_P(BoxCorrelationTest, WithoutWeightIsNothing)
{
  FieldsOnDevice       on(GetParam());
  const FieldCase<3>   its(MakeFieldGrids<3>().back());
  const BoxCorrelation a{ { 2, 1, 2 }, 1, 1e-4F };
  Random               random(3);
  Images               images = DrawImages(random, its.voxels);
  Floats               forces;
  std::fill(images.weights.begin(), images.weights.end(), 0.0);
  EXPECT_EQ(ComputeByKernels(on, its.forKernels, a, images, forces), 0.0);
  EXPECT_EQ(forces, Floats(forces.size()));
}

INSTANTIATE_TEST_SUITE_P(Devices, BoxCorrelationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
