// SPDX-License-Identifier: Apache-2.0
// SyN on every device against itk::SyNImageRegistrationMethod: all fields, and the metric's values, after some iterations.
#include "SyNCase.h"

#include <cstdlib>
#include <iostream>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;

constexpr double MostMean = 1e-4; // voxel
constexpr double MostLargest = 1e-3;
constexpr double MostOfCost = 1e-5;

template <unsigned int VDimension>
Grid<VDimension>
MakeGrid()
{
  Grid<VDimension> grid;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = 35 - 4 * d;
    grid.spacing[d] = 1.0 + 0.25 * d;
    grid.origin[d] = 30.0 - 50.0 * d;
  }
  grid.direction = MakeRotation<VDimension>(0.3);
  return grid;
}

/** Two images of one object, the moving one deformed by some voxels, in flat surroundings. */
template <unsigned int VDimension>
SyNCase<VDimension>
MakeCase(const Grid<VDimension> & grid, SimilarityKind kind, int iterations)
{
  using ImageType = typename SyNCase<VDimension>::ImageType;
  Random               random(5);
  const auto           centre = grid.GetCentre();
  const SmoothFunction texture(random, 7.0, 25.0);
  const auto           getValue = [&](const auto & q) {
    const double squares = q * q;
    return squares < 14.0 * 14.0 ? 100.0 + 60.0 * texture(q) : 0.0;
  };
  SyNCase<VDimension> its;
  its.fixed = MakeImage<ImageType>(grid, [&](const auto & p) { return getValue(p - centre); });
  its.moving = MakeImage<ImageType>(grid, [&](const auto & p) {
    auto q = p - centre;
    q[0] += 1.5 * std::sin(0.2 * q[1]) + 0.4;
    q[1] -= 1.2 * std::cos(0.17 * q[0]);
    return 0.8 * getValue(q) + (kind == SimilarityKind::MeanSquares ? 0.0 : 3.0);
  });
  its.settings = MakeSyNSettings(kind, iterations);
  return its;
}

template <unsigned int VDimension>
void
Compare(const std::string & device, const SyNCase<VDimension> & its, const std::string & what)
{
  const SyNResult expected = RegisterByITK(its);
  const SyNResult found = RegisterOnDevice(device, its);
  const auto &    factors = its.settings.syn.shrinkFactors;
  const double    voxel = its.fixed->GetSpacing()[0] * (factors.empty() ? 1 : factors.back()[0]);
  ASSERT_EQ(found.costs.size(), expected.costs.size()) << what;
  for (std::size_t t = 0; t < found.costs.size(); ++t)
  {
    EXPECT_NEAR(found.costs[t], expected.costs[t], MostOfCost * std::abs(expected.costs[t]))
      << what << ", iteration " << t;
  }
  for (std::size_t n = 0; n < std::size(AllFields); ++n)
  {
    ASSERT_EQ(found.fields[n].size(), expected.fields[n].size()) << what;
    const FieldDistance distance = FindDistance(found.fields[n], expected.fields[n], VDimension, voxel);
    EXPECT_LE(distance.mean, MostMean) << what << ", field " << n;
    EXPECT_LE(distance.largest, MostLargest) << what << ", field " << n;
    if (std::getenv("GPUREG_TEST_PRINT") != nullptr)
    {
      std::cout << what << ", field " << n << ": mean " << distance.mean << ", largest " << distance.largest << '\n';
    }
  }
}

class SyNRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(SyNRegistrationTest, ComputesITKsFields3D)
{
  for (const int iterations : { 1, 5, 20 })
  {
    Compare(GetParam(),
            MakeCase(MakeGrid<3>(), SimilarityKind::NeighborhoodCorrelation, iterations),
            "3D, " + std::to_string(iterations) + " iterations");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
