// SPDX-License-Identifier: Apache-2.0
// Tests that forces of samples at voxels, which have a kernel of their own, have the bits of those of the same samples as points.
#include "TestDevices.h"
#include "TestParallelFor.h"
#include "RandomGrid.h"

#include "gpureg/metric/histogram/MattesMetric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
constexpr int Bins = 20;

struct VoxelCase
{
  std::string           name;
  gpureg::Size          size;
  std::array<double, 9> differenceStep;
  std::array<double, 3> inverseSpacing;
  bool                  hasMask = false;
  bool                  checksRange = false;
  bool                  roundsToFloat = false;
};

/** Returns a filler that copies from an array, which must outlive it. */
template <typename T>
gpureg::Filler
CopyFrom(const std::vector<T> & array, std::size_t components = 1)
{
  return [&array, components](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out,
                array.data() + static_cast<std::size_t>(first) * components,
                static_cast<std::size_t>(count) * components * sizeof(T));
  };
}

class MattesVoxelForcesTest : public DeviceTest
{
protected:
  /** Two images of one grid: bins and values of each voxel, some of which are not valid, and the places of the voxels. */
  struct Images
  {
    std::vector<std::uint16_t> bins;
    std::vector<double>        values;
    std::vector<std::uint8_t>  mask;
    std::vector<double>        places;
  };

  static Images
  MakeImages(const VoxelCase & c, std::uint64_t seed)
  {
    Random random(seed);
    Images images;
    for (std::int64_t z = 0; z < c.size[2]; ++z)
    {
      for (std::int64_t y = 0; y < c.size[1]; ++y)
      {
        for (std::int64_t x = 0; x < c.size[0]; ++x)
        {
          images.bins.push_back(static_cast<std::uint16_t>(Draw(random, 9) == 0 ? 0xFFFF : 2 + Draw(random, Bins - 4)));
          // Some values are those of the range's ends, and some lie beyond them.
          const double value = Uniform(random, -0.2, 16.2);
          images.values.push_back(c.checksRange ? value : std::clamp(value, 0.0, 16.0));
          images.mask.push_back(Draw(random, 3) > 0 ? 1 : 0);
          images.places.insert(images.places.end(),
                               { static_cast<double>(x), static_cast<double>(y), static_cast<double>(z) });
        }
      }
    }
    return images;
  }

  /** Returns the forces of all samples, which are voxels, or the same places as points. */
  std::vector<float>
  ComputeForces(const VoxelCase & c, const Images & images, bool arePoints)
  {
    gpureg::FixedSamples fixed;
    fixed.precision = gpureg::Precision::Double;
    fixed.virtualSize = c.size;
    fixed.bins = CopyFrom(images.bins);
    if (arePoints)
    {
      fixed.pointCount = static_cast<std::int64_t>(images.bins.size());
      fixed.points = CopyFrom(images.places, 3);
    }
    gpureg::MovingImage moving;
    moving.precision = gpureg::Precision::Double;
    moving.size = c.size;
    moving.values = CopyFrom(images.values);
    moving.scale.range = 16;
    moving.scale.largest = 17;
    moving.scale.roundsToFloat = c.roundsToFloat;
    moving.checksRange = c.checksRange;
    moving.differenceStep = c.differenceStep;
    moving.inverseSpacing = c.inverseSpacing;
    if (c.hasMask)
    {
      moving.mask = CopyFrom(images.mask);
      moving.maskSize = c.size;
    }
    gpureg::MattesMetric metric(GetParam(), Bins);
    metric.SetFixedSamples(fixed, OneAfterTheOther);
    metric.SetMovingImage(moving, OneAfterTheOther);
    metric.Evaluate(gpureg::SampleMapping(), gpureg::Forces::OfEachSample, false, OneAfterTheOther);
    std::vector<float> forces(3 * images.bins.size());
    metric.TakeForces([&forces](std::int64_t  first,
                                std::int64_t  count,
                                const float * part) { std::copy_n(part, 3 * count, forces.begin() + 3 * first); },
                      OneAfterTheOther);
    return forces;
  }
};
} // namespace

TEST_P(MattesVoxelForcesTest, AreThoseOfPoints)
{
  const std::array<double, 9> plain = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
  const std::array<double, 9> turned = { -0.5, 0, 0, 0, -0.5, 0, 0, 0, 0.5 };
  const std::array<double, 9> exchanged = { 0, 0, 0.5, -0.5, 0, 0, 0, 0.5, 0 };
  const std::array<double, 9> oblique = { 0.4, -0.3, 0, 0.3, 0.4, 0, 0, 0, 0.5 };
  const std::array<double, 3> all = { 1.25, 0.8, 2 };
  VoxelCase                   masked{ "mask", { 13, 11, 7 }, turned, all };
  masked.hasMask = true;
  VoxelCase ranged{ "range", { 13, 11, 7 }, plain, all };
  ranged.checksRange = true;
  VoxelCase rounded{ "floats", { 13, 11, 7 }, exchanged, all };
  rounded.roundsToFloat = true;
  std::uint64_t seed = 100;
  for (const VoxelCase & c : { VoxelCase{ "plain", { 23, 17, 11 }, plain, all },
                               VoxelCase{ "turned", { 17, 23, 9 }, turned, all },
                               VoxelCase{ "exchanged", { 11, 19, 8 }, exchanged, all },
                               VoxelCase{ "oblique", { 13, 11, 7 }, oblique, all },
                               VoxelCase{ "one slice", { 31, 29, 1 }, plain, all },
                               VoxelCase{ "one row", { 31, 1, 5 }, plain, all },
                               VoxelCase{ "two dimensions", { 53, 47, 1 }, plain, { 1.25, 0.8, 0 } },
                               masked,
                               ranged,
                               rounded })
  {
    SCOPED_TRACE(c.name + ", seed " + std::to_string(++seed));
    const Images             images = MakeImages(c, seed);
    const std::vector<float> atVoxels = this->ComputeForces(c, images, false);
    const std::vector<float> atPoints = this->ComputeForces(c, images, true);
    EXPECT_GT(std::count_if(atPoints.begin(), atPoints.end(), [](float force) { return force != 0; }),
              static_cast<std::ptrdiff_t>(images.bins.size() / 2));
    EXPECT_EQ(std::memcmp(atVoxels.data(), atPoints.data(), sizeof(float) * atPoints.size()), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, MattesVoxelForcesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
