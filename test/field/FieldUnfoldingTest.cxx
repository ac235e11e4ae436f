// SPDX-License-Identifier: Apache-2.0
// Marks of folds, and what is smoothed around them, on every device, against the same in double precision.
#include "DeviceArrays.h"
#include "FieldCase.h"
#include "TestDevices.h"

#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

class FieldUnfoldingTest : public DeviceTest
{};

/** Returns the number of the voxel that is nearest to a place, which is moved to the grid's edge if it is outside; -1 if the place is as
 *  near to another voxel but for rounding. */
std::int64_t
FindNearest(const FieldGrid & grid, const std::array<double, 3> & place)
{
  std::int64_t nearest = 0;
  std::int64_t stride = 1;
  for (int d = 0; d < 3; ++d)
  {
    const double inside = std::clamp(place[d], 0.0, grid.size[d] - 1.0);
    if (std::abs(inside - std::floor(inside) - 0.5) < 1e-3)
    {
      return -1;
    }
    nearest += stride * std::llround(inside);
    stride *= grid.size[d];
  }
  return nearest;
}

template <unsigned int VDimension>
void
TestSpreading(const std::string & device)
{
  DeviceArrays arrays(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats velocity = its.DrawField(random, 3.0);
    Floats       marks(2 * its.voxels, -1.0F);
    std::generate_n(marks.begin(), its.voxels, [&] { return Uniform(random, 0, 1) < 0.1 ? 1.0F : 0.0F; });
    const auto onDevice = arrays.Upload(marks);
    gpureg::ForEachItem<SpreadMarksKernel>(arrays.GetQueue(),
                                           its.voxels,
                                           its.forKernels,
                                           0.5F,
                                           std::int64_t{ 0 },
                                           its.voxels,
                                           gpureg::Input<float>(*arrays.Upload(velocity)),
                                           gpureg::Output<float>(*onDevice));
    const auto   found = arrays.template Download<float>(onDevice);
    std::int64_t compared = 0;
    std::int64_t spread = 0;
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      ComputeVoxelIndex(&its.forKernels, item, index);
      std::array<double, 3> vector{};
      std::copy_n(&velocity[3 * item], 3, vector.begin());
      std::array<double, 3> place = gpureg::Multiply(its.toVoxels, vector);
      for (int d = 0; d < 3; ++d)
      {
        place[d] = index[d] - 0.5 * place[d];
      }
      const std::int64_t from = FindNearest(its.forKernels, place);
      if (from >= 0)
      {
        ++compared;
        spread += marks[from] > marks[item];
        EXPECT_EQ(found[its.voxels + item], std::max(marks[item], marks[from])) << item;
      }
    });
    EXPECT_GT(compared, its.voxels / 2);
    EXPECT_TRUE(spread > 0 || its.voxels < 100);
  });
}

template <unsigned int VDimension>
void
TestTaking(const std::string & device)
{
  DeviceArrays arrays(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawField(random, 3.0);
    const Floats smoothed = its.DrawField(random, 3.0);
    Floats       marks(its.voxels, 0.0F);
    const auto   marked = static_cast<std::int64_t>(Uniform(random, 0, static_cast<double>(its.voxels) - 0.5));
    int          place[3];
    marks[marked] = 1.0F;
    ComputeVoxelIndex(&its.forKernels, marked, place);
    const auto onDevice = arrays.Upload(field);
    gpureg::ForEachItem<TakeWhereMarkedKernel>(arrays.GetQueue(),
                                               its.voxels,
                                               its.forKernels,
                                               gpureg::Input<float>(*arrays.Upload(marks)),
                                               gpureg::Input<float>(*arrays.Upload(smoothed)),
                                               gpureg::Output<float>(*onDevice));
    const auto found = arrays.template Download<float>(onDevice);
    ForEachItem(its.voxels, [&](std::int64_t item) {
      int index[3];
      ComputeVoxelIndex(&its.forKernels, item, index);
      int farthest = 0;
      for (int d = 0; d < 3; ++d)
      {
        farthest = std::max(farthest, std::abs(index[d] - place[d]));
      }
      for (int c = 0; c < 3; ++c)
      {
        EXPECT_EQ(found[3 * item + c], (farthest <= 2 ? smoothed : field)[3 * item + c]) << item;
      }
    });
  });
}

template <unsigned int VDimension>
void
TestMarking(const std::string & device)
{
  DeviceArrays arrays(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats field = its.DrawField(random, 1.2);
    const auto   marks = arrays.Upload(Floats(its.voxels, -1.0F));
    gpureg::ForEachItem<MarkFoldsKernel>(arrays.GetQueue(),
                                         its.voxels,
                                         its.forKernels,
                                         gpureg::Input<float>(*arrays.Upload(field)),
                                         gpureg::Output<float>(*marks));
    const auto    found = arrays.template Download<float>(marks);
    const Doubles exact(field.begin(), field.end());
    std::int64_t  compared = 0;
    ForEachItem(its.voxels, [&](std::int64_t item) {
      const double determinant = 1.0 + ComputeVolumeChange(&its.forKernels, exact.data(), item);
      // On oblique grids of thick slices floats lose much of it.
      const double rounding = std::abs(1.0 + ComputeVolumeChange(&its.forKernels, field.data(), item) - determinant);
      if (std::abs(determinant) > 1e-4 + 10 * rounding)
      {
        ++compared;
        EXPECT_EQ(found[item], determinant > 0 ? 0.0F : 1.0F) << item;
      }
    });
    EXPECT_GT(compared, its.voxels / 2);
  });
}
} // namespace

TEST_P(FieldUnfoldingTest, MarksFolds)
{
  TestMarking<2>(GetParam());
  TestMarking<3>(GetParam());
}

TEST_P(FieldUnfoldingTest, SpreadsMarksAlongAVelocity)
{
  TestSpreading<2>(GetParam());
  TestSpreading<3>(GetParam());
}

TEST_P(FieldUnfoldingTest, TakesWhatIsNearAMark)
{
  TestTaking<2>(GetParam());
  TestTaking<3>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldUnfoldingTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
