// SPDX-License-Identifier: Apache-2.0
// Inverses of displacement fields on every device, against itk::DisplacementFieldTransform in double precision.
#include "FieldCase.h"
#include "InverseErrors.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/field/FieldInverter.h"

#include <cmath>
#include <limits>

namespace gpuregtest
{

namespace
{
struct Inverse
{
  Floats                vectors;
  gpureg::InverseErrors errors;
};

template <unsigned int VDimension>
Inverse
Invert(gpureg::FieldInverter &       inverter,
       const FieldCase<VDimension> & its,
       const Floats &                field,
       const gpureg::ParallelFor &   parallelFor = OnThreads(3))
{
  Inverse               inverse;
  gpureg::FieldToInvert request;
  const auto            geometry = GetGeometry(its.grid);
  request.dimension = VDimension;
  request.size = geometry.size;
  request.indexToPoint = gpureg::ComputeIndexToPhysical(geometry);
  request.displacements = [&field](std::int64_t first, std::int64_t count, void * out) {
    std::copy_n(field.data() + 3 * first, 3 * count, static_cast<float *>(out));
  };
  inverse.vectors.resize(field.size());
  request.take = [&inverse](std::int64_t first, std::int64_t count, const float * in) {
    std::copy_n(in, 3 * count, inverse.vectors.data() + 3 * first);
  };
  inverse.errors = inverter.Invert(request, parallelFor);
  return inverse;
}

template <unsigned int VDimension>
FieldCase<VDimension>
MakeLargerCase()
{
  Grid<VDimension> grid = MakeFieldGrids<VDimension>().front();
  const double     spacing[3] = { 0.7, 0.9, 1.6 };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    grid.size[d] = (VDimension == 2 ? 61 : 31) + 2 * d;
    grid.spacing[d] = spacing[d];
  }
  return FieldCase<VDimension>(grid);
}

/** Turns each voxel about the grid's centre: by the angle, radians, there, and by less towards the edge. */
template <unsigned int VDimension>
Floats
MakeSwirl(const FieldCase<VDimension> & its, double angle)
{
  Floats            field;
  const int * const size = its.forKernels.size;
  const double      radius = std::min(size[0], size[1]) / 2.0;
  ForEachItem(its.voxels, [&](std::int64_t item) {
    int index[3];
    gpureg::kernels::ComputeVoxelIndex(&its.forKernels, item, index);
    const double x = index[0] - (size[0] - 1) / 2.0;
    const double y = index[1] - (size[1] - 1) / 2.0;
    const double share = std::max(0.0, 1 - (x * x + y * y) / (radius * radius));
    const double turn = angle * share * share;
    for (const double component : its.FromVoxels(
           { std::cos(turn) * x - std::sin(turn) * y - x, std::sin(turn) * x + std::cos(turn) * y - y, 0.0 }))
    {
      field.push_back(static_cast<float>(component));
    }
  });
  return field;
}

template <unsigned int VDimension>
void
TestSmoothFields()
{
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    const auto            its = MakeLargerCase<VDimension>();
    ForEachSeed(1, 6, [&](std::uint64_t seed) {
      Random random(seed);
      // Up to 3 voxels; the smallest determinant is about 0.3.
      Floats field = its.DrawSmoothField(random, 2.0, 14.0);
      its.FadeTowardsEdge(8.0, field);
      const Inverse             inverse = Invert(inverter, its, field);
      const std::vector<double> errors = ComputeErrors(its, field, inverse.vectors);
      const double              largest = *std::max_element(errors.begin(), errors.end());
      EXPECT_LE(largest, 1.5e-4);
      EXPECT_NEAR(inverse.errors.largest, largest, 2e-5);
      EXPECT_EQ(inverse.errors.offVoxels, 0);
      EXPECT_EQ(inverse.errors.unmappedVoxels, 0);
      EXPECT_EQ(inverse.errors.foldedVoxels, 0);
      EXPECT_LE(inverse.errors.mean, inverse.errors.largest);
    });
  }
}

/** Fields that Newton's method alone does not invert from where it begins. */
template <unsigned int VDimension>
void
TestSwirls()
{
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    const auto            its = MakeLargerCase<VDimension>();
    for (const double angle : { 0.5, -1.0, 1.5, 3.0 })
    {
      SCOPED_TRACE(angle);
      const Floats              field = MakeSwirl(its, angle);
      const Inverse             inverse = Invert(inverter, its, field);
      const std::vector<double> errors = ComputeErrors(its, field, inverse.vectors);
      EXPECT_LE(*std::max_element(errors.begin(), errors.end()), 1.5e-4);
      EXPECT_EQ(inverse.errors.offVoxels, 0);
      EXPECT_EQ(inverse.errors.unmappedVoxels, 0);
    }
  }
}

template <unsigned int VDimension>
void
TestGrids()
{
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
      Floats field = its.DrawSmoothField(random, 0.6, 12.0);
      its.FadeTowardsEdge(3.0, field);
      const Inverse             inverse = Invert(inverter, its, field);
      const std::vector<double> errors = ComputeErrors(its, field, inverse.vectors);
      EXPECT_LE(*std::max_element(errors.begin(), errors.end()), 1e-4 + 4 * its.FindRounding(3.0));
      EXPECT_EQ(inverse.errors.offVoxels, 0);
      EXPECT_EQ(inverse.errors.unmappedVoxels, 0);
    });
  }
}
} // namespace

TEST(FieldInverter, UndoesSmoothFields2D)
{
  TestSmoothFields<2>();
}

TEST(FieldInverter, UndoesSmoothFields3D)
{
  TestSmoothFields<3>();
}

TEST(FieldInverter, UndoesLargeTurns2D)
{
  TestSwirls<2>();
}

TEST(FieldInverter, UndoesLargeTurns3D)
{
  TestSwirls<3>();
}

TEST(FieldInverter, TakesEveryGrid2D)
{
  TestGrids<2>();
}

TEST(FieldInverter, TakesEveryGrid3D)
{
  TestGrids<3>();
}

TEST(FieldInverter, CountsVoxelsThatNothingIsMappedTo)
{
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    const auto            its = MakeLargerCase<3>();
    Floats                field;
    ForEachItem(its.voxels, [&](std::int64_t) {
      for (const double component : its.FromVoxels({ 2.25, 0, 0 }))
      {
        field.push_back(static_cast<float>(component));
      }
    });
    const Inverse inverse = Invert(inverter, its, field);
    // The grid begins half a voxel before its first voxel, which is moved to 1.75.
    EXPECT_EQ(inverse.errors.unmappedVoxels, 2 * its.voxels / its.forKernels.size[0]);
    EXPECT_EQ(inverse.errors.offVoxels, 0);
    EXPECT_LE(inverse.errors.largest, 1e-4);
    ForEachItem(its.voxels, [&](std::int64_t item) {
      if (item % its.forKernels.size[0] >= 2)
      {
        for (std::int64_t r = 3 * item; r < 3 * item + 3; ++r)
        {
          EXPECT_NEAR(inverse.vectors[r], -field[r], 1e-4);
        }
      }
    });
  }
}

TEST(FieldInverter, CountsVoxelsWhereTheFieldFoldsAndLeadsToOneOfSeveralPoints)
{
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    const auto            its = MakeLargerCase<2>();
    // A strip of the grid moves 4 voxels to the left, over its neighbours.
    Floats field;
    ForEachItem(its.voxels, [&](std::int64_t item) {
      const int  x = static_cast<int>(item % its.forKernels.size[0]);
      const bool moves = x > 10 && x < 30;
      for (const double component : its.FromVoxels({ moves ? -4.0 : 0.0, 0, 0 }))
      {
        field.push_back(static_cast<float>(component));
      }
    });
    const Inverse             inverse = Invert(inverter, its, field);
    const std::vector<double> errors = ComputeErrors(its, field, inverse.vectors);
    // Central differences see the step of -4 voxels at two voxels of each row.
    EXPECT_EQ(inverse.errors.foldedVoxels, 2 * its.voxels / its.forKernels.size[0]);
    EXPECT_LE(*std::max_element(errors.begin(), errors.end()), 1.5e-4);
    EXPECT_EQ(inverse.errors.offVoxels, 0);
    EXPECT_EQ(inverse.errors.unmappedVoxels, 0);
  }
}

TEST(FieldInverter, IsTheSameForEachNumberOfThreadsAndOnEachDevice)
{
  const auto its = MakeLargerCase<3>();
  Random     random(5);
  Floats     field = its.DrawSmoothField(random, 2.5, 14.0);
  its.FadeTowardsEdge(8.0, field);
  gpureg::FieldInverter host("host");
  const Inverse         onHost = Invert(host, its, field, OneAfterTheOther);
  EXPECT_EQ(Invert(host, its, field, OnThreads(7)).vectors, onHost.vectors);
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    const Inverse         inverse = Invert(inverter, its, field);
    EXPECT_EQ(Invert(inverter, its, field).vectors, inverse.vectors);
    EXPECT_LE(its.ComputeLargestDifference(inverse.vectors, *its.MakeImage(onHost.vectors)), 3e-4);
  }
}

TEST(FieldInverter, RefusesBadFieldsAndGoesOn)
{
  for (const std::string & device : GetDeviceNames())
  {
    SCOPED_TRACE(device);
    gpureg::FieldInverter inverter(device);
    const auto            its = MakeLargerCase<2>();
    Random                random(3);
    Floats                field = its.DrawSmoothField(random, 1.0, 14.0);
    its.FadeTowardsEdge(8.0, field);
    const Floats good = Invert(inverter, its, field).vectors;
    for (const float bad : { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity() })
    {
      Floats broken = field;
      broken[3 * 100 + 1] = bad;
      EXPECT_THROW(Invert(inverter, its, broken), gpureg::BadInputError);
    }
    gpureg::FieldToInvert empty;
    empty.indexToPoint.matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    EXPECT_THROW(inverter.Invert(empty, OneAfterTheOther), gpureg::BadInputError);
    empty.size = { 4, 4, 1 };
    empty.indexToPoint.matrix = {};
    EXPECT_THROW(inverter.Invert(empty, OneAfterTheOther), gpureg::BadInputError);
    gpureg::TransformToInvert linear;
    linear.size = { 4, 4, 4 };
    linear.transform.first.offset = { 1, 0, 0 };
    EXPECT_THROW(inverter.Invert(linear, OneAfterTheOther), gpureg::BadInputError);
    EXPECT_EQ(Invert(inverter, its, field).vectors, good);
  }
}

} // namespace gpuregtest
