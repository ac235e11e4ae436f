// SPDX-License-Identifier: Apache-2.0
// Compares, on every device, the displacements of a grid's voxels by a transform with the map in doubles.
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/resample/Resampler.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
gpureg::DisplacementRequest
MakeRequest(int dimension)
{
  gpureg::DisplacementRequest request;
  request.size = { 41, 37, dimension == 3 ? 29 : 1 };
  request.outputToPoint.matrix = { 1.5, -0.2, 0, 0.3, 2.0, 0, 0, 0, 2.5 };
  request.outputToPoint.offset = { -30, 20, dimension == 3 ? -10.0 : 0.0 };
  request.transform.dimension = dimension;
  gpureg::IndexMap map;
  map.matrix = { 0.9, 0.1, 0, -0.2, 1.1, 0, 0, 0, 1 };
  map.offset = { 3, -2, dimension == 3 ? 1.5 : 0.0 };
  request.transform.Append(map);
  request.low = { -200, -200, -200 };
  request.high = { 200, 250, 300 };
  return request;
}

std::vector<double>
ComputeByTheMap(const gpureg::DisplacementRequest & request)
{
  std::vector<double>      all;
  const gpureg::IndexMap & toPoint = request.outputToPoint;
  const gpureg::IndexMap   moved = gpureg::Compose(request.transform.first, toPoint);
  for (int z = 0; z < request.size[2]; ++z)
  {
    for (int y = 0; y < request.size[1]; ++y)
    {
      for (int x = 0; x < request.size[0]; ++x)
      {
        const int index[3] = { x, y, z };
        for (std::size_t r = 0; r < static_cast<std::size_t>(request.transform.dimension); ++r)
        {
          double by = moved.offset[r] - toPoint.offset[r];
          for (std::size_t c = 0; c < 3; ++c)
          {
            by += (moved.matrix[3 * r + c] - toPoint.matrix[3 * r + c]) * index[c];
          }
          all.push_back(by);
        }
      }
    }
  }
  return all;
}

std::vector<double>
Find(gpureg::Resampler & engine, gpureg::DisplacementRequest request)
{
  const std::size_t   components = static_cast<std::size_t>(request.transform.dimension);
  std::vector<double> all(components * static_cast<std::size_t>(gpureg::CountOf(request.size)));
  request.output = [&](std::int64_t first, std::int64_t count, const void * in) {
    std::memcpy(all.data() + components * static_cast<std::size_t>(first),
                in,
                sizeof(double) * components * static_cast<std::size_t>(count));
  };
  engine.ComputeDisplacements(request, OneAfterTheOther);
  return all;
}

class DisplacementsTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    if (!gpureg::HasDoubles(GetParam()))
    {
      gpureg::Resampler engine(GetParam());
      EXPECT_THROW(engine.ComputeDisplacements(MakeRequest(3), OneAfterTheOther), gpureg::UnsupportedError);
      GTEST_SKIP() << "it has no doubles, and says so";
    }
  }
};

TEST_P(DisplacementsTest, AreWhatTheMapSays)
{
  gpureg::Resampler engine(GetParam());
  for (const int dimension : { 2, 3 })
  {
    const auto                request = MakeRequest(dimension);
    const std::vector<double> expected = ComputeByTheMap(request);
    const std::vector<double> found = Find(engine, request);
    ASSERT_EQ(found.size(), expected.size());
    const auto width = static_cast<std::size_t>(request.size[0]);
    const auto height = static_cast<std::size_t>(request.size[1]);
    for (std::size_t n = 0; n < expected.size(); ++n)
    {
      // The map's numbers are rounded by up to 2^-33 of the box (kernels::FixedMap), whose longest edge is 500 mm.
      const std::size_t voxel = n / static_cast<std::size_t>(dimension);
      const std::size_t steps = voxel % width + voxel / width % height + voxel / width / height;
      ASSERT_NEAR(found[n], expected[n], 1e-12 + 500.0 * std::ldexp(1.0 + static_cast<double>(steps), -33)) << n;
    }
  }
}

TEST_P(DisplacementsTest, AreTheSameInChunks)
{
  const auto                request = MakeRequest(3);
  gpureg::Resampler         engine(GetParam());
  const std::vector<double> whole = Find(engine, request);
  gpureg::Resampler         small(GetParam());
  small.SetMaximumDeviceMemory(std::size_t{ 1 } << 16);
  EXPECT_EQ(Find(small, request), whole);
  EXPECT_GT(small.GetStatistics().launches, engine.GetStatistics().launches);
}

TEST_P(DisplacementsTest, StayOnTheDevice)
{
  const auto                request = MakeRequest(3);
  gpureg::Resampler         engine(GetParam());
  const std::vector<double> expected = Find(engine, request);
  const auto                made = engine.ComputeDisplacementsOnDevice(request, OneAfterTheOther);
  EXPECT_EQ(made->GetType(), gpureg::NumberType::Float64);
  EXPECT_EQ(made->GetDeviceName(), GetParam());
  // No displacement is downloaded: no more than the size of the map.
  EXPECT_LT(engine.GetStatistics().bytesDown, 1024);
  if (GetParam() == "host")
  {
    const auto * const values = static_cast<const double *>(made->GetAddress());
    EXPECT_EQ(std::vector<double>(values, values + expected.size()), expected);
  }
}

TEST_P(DisplacementsTest, AnImageIsResampledAfterwards)
{
  gpureg::Resampler engine(GetParam());
  auto              request = MakeRequest(3);
  Find(engine, request);
  request.high[1] = request.low[1];
  EXPECT_THROW(Find(engine, request), gpureg::BadInputError);
  request.high[1] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Find(engine, request), gpureg::BadInputError);
  // Neither failures nor successes have a lasting effect: one voxel keeps its value.
  const double          value = 7;
  gpureg::ResampleInput input;
  input.size = { 1, 1, 1 };
  input.precision = gpureg::Precision::Double;
  input.values = [&value](std::int64_t, std::int64_t, void * out) { std::memcpy(out, &value, sizeof(value)); };
  gpureg::ResampleRequest image;
  image.size = { 1, 1, 1 };
  image.outside = { 0.0 };
  double found = 0;
  image.output = [&found](std::int64_t, std::int64_t, const void * in) { std::memcpy(&found, in, sizeof(found)); };
  engine.Resample(input, image, OneAfterTheOther);
  EXPECT_EQ(found, value);
}

INSTANTIATE_TEST_SUITE_P(Devices, DisplacementsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);
} // namespace

} // namespace gpuregtest
