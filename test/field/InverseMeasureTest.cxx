// SPDX-License-Identifier: Apache-2.0
// Errors of inverses that are only about right, measured on every device, against itk::DisplacementFieldTransform in double precision.
#include "DeviceArrays.h"
#include "FieldCase.h"
#include "InverseErrors.h"
#include "TestDevices.h"

#include "engine/field/InverseMeasure.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuregtest
{

namespace
{
class InverseMeasureTest : public DeviceTest
{};

/** Holds the expected errors, and the number of voxels that rounding may count otherwise. */
struct ExpectedErrors
{
  gpureg::InverseErrors errors;
  std::int64_t          unsure = 0;
};

/** Counts and averages errors as InverseErrors describes them. */
template <unsigned int VDimension>
ExpectedErrors
Summarize(const FieldCase<VDimension> & its, const std::vector<double> & errors, const Floats & inverse)
{
  constexpr double rounding = 1e-4;
  ExpectedErrors   expected;
  double           sum = 0;
  ForEachItem(its.voxels, [&](std::int64_t item) {
    int                   index[3];
    std::array<double, 3> vector{};
    bool                  leadsToEdge = false;
    bool                  isUnsure = false;
    gpureg::kernels::ComputeVoxelIndex(&its.forKernels, item, index);
    std::copy_n(&inverse[3 * item], 3, vector.begin());
    const std::array<double, 3> steps = gpureg::Multiply(its.toVoxels, vector);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const int    size = its.forKernels.size[d];
      const double place = index[d] + steps[d];
      const double outer = size > 3 ? 1.0 : -0.5;
      leadsToEdge |= place < outer || place >= size - 1 - outer;
      for (const double edge : { -0.5, outer, size - 1 - outer, size - 0.5 })
      {
        isUnsure |= std::abs(place - edge) < rounding;
      }
    }
    const double error = errors[item];
    const bool   isUnmapped = error > 1e-3 && leadsToEdge;
    isUnsure |= std::abs(error - 1e-3) < rounding || std::abs(error - 0.1) < rounding;
    expected.unsure += isUnsure ? 1 : 0;
    expected.errors.unmappedVoxels += isUnmapped ? 1 : 0;
    if (!isUnmapped)
    {
      expected.errors.offVoxels += error > 0.1 ? 1 : 0;
      expected.errors.largest = std::max(expected.errors.largest, error);
      sum += error;
    }
  });
  expected.errors.mean =
    sum / static_cast<double>(std::max(std::int64_t{ 1 }, its.voxels - expected.errors.unmappedVoxels));
  return expected;
}

template <unsigned int VDimension>
void
TestAgainstITK(const std::string & device)
{
  DeviceArrays         arrays(device);
  gpureg::FieldReducer reducer(arrays.GetQueue());
  std::int64_t         off = 0;
  std::int64_t         unmapped = 0;
  int                  compared = 0;
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    // Waves that are long enough for -u to be almost the inverse, and noise that takes it beyond the tolerance.
    const Floats field = its.DrawSmoothField(random, 0.4, 12.0);
    Floats       inverse = its.DrawField(random, 0.08);
    std::transform(inverse.begin(), inverse.end(), field.begin(), inverse.begin(), std::minus<float>());
    const auto           fieldThere = arrays.Upload(field);
    const auto           inverseThere = arrays.Upload(inverse);
    const ExpectedErrors expected = Summarize(its, ComputeErrors(its, field, inverse), inverse);
    ASSERT_LE(expected.unsure, 1 + its.voxels / 100);
    off += expected.errors.offVoxels;
    unmapped += expected.errors.unmappedVoxels;
    // At once, and in two parts.
    for (const std::size_t bytes : { 12 * static_cast<std::size_t>(its.voxels), std::size_t{ 12 } })
    {
      gpureg::MemoryPointer       scratch = arrays.GetQueue().Allocate(bytes);
      gpureg::InverseMeasure      measure(arrays.GetQueue());
      const gpureg::InverseErrors found = measure.Measure(its.forKernels, *fieldThere, *inverseThere, reducer, scratch);
      EXPECT_LE(std::abs(found.offVoxels - expected.errors.offVoxels), expected.unsure);
      EXPECT_LE(std::abs(found.unmappedVoxels - expected.errors.unmappedVoxels), expected.unsure);
      EXPECT_EQ(found.foldedVoxels, 0);
      if (expected.unsure == 0)
      {
        ++compared;
        EXPECT_NEAR(found.mean, expected.errors.mean, 1e-5 + its.FindRounding(1.0));
        EXPECT_NEAR(found.largest, expected.errors.largest, 1e-5 + its.FindRounding(1.0));
      }
    }
  });
  EXPECT_GT(off, 0);
  EXPECT_GT(unmapped, 0);
  EXPECT_GE(compared, 8);
}
} // namespace

TEST_P(InverseMeasureTest, AgreesWithITK2D)
{
  TestAgainstITK<2>(GetParam());
}

TEST_P(InverseMeasureTest, AgreesWithITK3D)
{
  TestAgainstITK<3>(GetParam());
}

// The field is zero, and each inverse vector half a voxel along x: the error is half a voxel, and vectors from the outer cells stay there.
TEST_P(InverseMeasureTest, CountsABadInverseOfAFewSlices)
{
  DeviceArrays         arrays(GetParam());
  gpureg::FieldReducer reducer(arrays.GetQueue());
  for (const unsigned int slices : { 1, 2, 3, 4, 5 })
  {
    SCOPED_TRACE(slices);
    Grid<3> grid;
    grid.size = { { 9, 8, slices } };
    grid.spacing[0] = 0.5;
    grid.spacing[2] = 4.0;
    const FieldCase<3> its(grid);
    Floats             inverse;
    ForEachItem(its.voxels, [&](std::int64_t) {
      for (const double component : its.FromVoxels({ 0.5, 0.0, 0.0 }))
      {
        inverse.push_back(static_cast<float>(component));
      }
    });
    const auto             field = arrays.Upload(Floats(inverse.size(), 0.0F));
    gpureg::MemoryPointer  scratch = arrays.GetQueue().Allocate(12 * static_cast<std::size_t>(its.voxels));
    gpureg::InverseMeasure measure(arrays.GetQueue());
    const auto             there = arrays.Upload(inverse);
    const auto             errors = measure.Measure(its.forKernels, *field, *there, reducer, scratch);
    // Up to three slices have no inner cells, and none of them counts as an edge; of more the first one and the last two do.
    const std::int64_t inner = std::int64_t{ 9 - 3 } * (8 - 3) * (slices > 3 ? slices - 3 : slices);
    EXPECT_EQ(errors.offVoxels, inner);
    EXPECT_EQ(errors.unmappedVoxels, its.voxels - inner);
    EXPECT_NEAR(errors.mean, 0.5, 1e-6);
    EXPECT_NEAR(errors.largest, 0.5, 1e-6);
    // Beyond the last slice there is nothing.
    inverse.assign(inverse.size(), 0.0F);
    for (std::size_t n = 2; n < inverse.size(); n += 3)
    {
      inverse[n] = 4.0F * static_cast<float>(slices);
    }
    const auto beyond = arrays.Upload(inverse);
    EXPECT_EQ(measure.Measure(its.forKernels, *field, *beyond, reducer, scratch).unmappedVoxels, its.voxels);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, InverseMeasureTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
