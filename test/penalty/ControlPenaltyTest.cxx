// SPDX-License-Identifier: Apache-2.0
// Compares the penalties of a free-form deformation with their definition in double precision, on every device.
#include "PenaltyDefinition.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestParallelFor.h"
#include "TestSeeds.h"

#include "gpureg/penalty/ControlPenalty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace penalties;

/** Returns a matrix that rotates about each axis, and scales by the spacings. */
Matrix
MakeIndexToPhysical(const Vector & angles, const Vector & spacing)
{
  const auto   c = [&](int d) { return std::cos(angles[d]); };
  const auto   s = [&](int d) { return std::sin(angles[d]); };
  const Matrix x{ 1, 0, 0, 0, c(0), -s(0), 0, s(0), c(0) };
  const Matrix y{ c(1), 0, s(1), 0, 1, 0, -s(1), 0, c(1) };
  const Matrix z{ c(2), -s(2), 0, s(2), c(2), 0, 0, 0, 1 };
  const Matrix steps{ spacing[0], 0, 0, 0, spacing[1], 0, 0, 0, spacing[2] };
  return Product(z, Product(y, Product(x, steps)));
}

gpureg::ControlGrid
MakeGrid(const gpureg::Size & size, int dimension, Random & random)
{
  gpureg::ControlGrid grid;
  grid.size = size;
  grid.dimension = dimension;
  Vector angles{};
  Vector spacing{};
  for (int d = 0; d < 3; ++d)
  {
    angles[d] = d == 2 || dimension == 3 ? Uniform(random, -3.0, 3.0) : 0.0;
    spacing[d] = Uniform(random, 0.7, 9.0);
  }
  grid.indexToPhysical = MakeIndexToPhysical(angles, spacing);
  return grid;
}

/** Returns displacements Ax + b, rounded to floats. */
Points
MakeAffine(const gpureg::ControlGrid & grid, const Matrix & matrix, const Vector & offset)
{
  Points       points;
  const Matrix ofIndex = Product(matrix, grid.indexToPhysical);
  for (int z = 0; z < grid.size[2]; ++z)
  {
    for (int y = 0; y < grid.size[1]; ++y)
    {
      for (int x = 0; x < grid.size[0]; ++x)
      {
        Vector point{};
        for (int r = 0; r < grid.dimension; ++r)
        {
          point[r] =
            static_cast<float>(ofIndex[3 * r] * x + ofIndex[3 * r + 1] * y + ofIndex[3 * r + 2] * z + offset[r]);
        }
        points.push_back(point);
      }
    }
  }
  return points;
}

/** Returns displacements that differ from point to point by a fraction of the spacing, plus an affine part. */
Points
MakePoints(const gpureg::ControlGrid & grid, double roughness, Random & random)
{
  Matrix matrix;
  for (double & element : matrix)
  {
    element = Uniform(random, -0.05, 0.05);
  }
  if (grid.dimension == 2)
  {
    matrix = { matrix[0], matrix[1], 0, matrix[3], matrix[4], 0, 0, 0, 0 };
  }
  Points points = MakeAffine(grid, matrix, { 3.0, -7.0, 5.0 });
  for (Vector & point : points)
  {
    for (int r = 0; r < grid.dimension; ++r)
    {
      point[r] = static_cast<float>(point[r] + roughness * Uniform(random, -4.0, 4.0));
    }
  }
  return points;
}

/** Evaluates a penalty on a device. */
gpureg::PenaltyResult
Evaluate(const std::string & device, PenaltyKind kind, const gpureg::ControlGrid & grid, const Points & points)
{
  gpureg::ControlPenalty penalty(device);
  return penalty.Evaluate(grid, { { kind, 1.0 } }, points, OneAfterTheOther);
}

bool
AreSameBits(const gpureg::PenaltyResult & a, const gpureg::PenaltyResult & b)
{
  const auto isSameValue = [](const gpureg::PenaltyValue & v, const gpureg::PenaltyValue & w) {
    return std::memcmp(&v, &w, sizeof(v)) == 0;
  };
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), isSameValue) &&
         a.gradient.size() == b.gradient.size() &&
         std::memcmp(a.gradient.data(), b.gradient.data(), a.gradient.size() * sizeof(Vector)) == 0;
}

/** Returns the message of the error that bad input causes; empty if there is none. */
std::string
FindComplaint(gpureg::ControlPenalty & penalty, const gpureg::ControlGrid & grid, const Points & points)
{
  try
  {
    penalty.Evaluate(grid, { { PenaltyKind::LinearEnergy, 1.0 } }, points, OneAfterTheOther);
  }
  catch (const gpureg::BadInputError & error)
  {
    return error.what();
  }
  return {};
}

void
ExpectDefinition(const std::string & device, PenaltyKind kind, const gpureg::ControlGrid & grid, const Points & points)
{
  SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << ", " << grid.size[0] << " x "
                                    << grid.size[1] << " x " << grid.size[2]);
  const Definition            definition(grid);
  Points                      gradient;
  double                      smallest = 0;
  double                      rounding = 0;
  const double                value = definition.Evaluate(kind, points, &gradient, &smallest, &rounding);
  const gpureg::PenaltyResult result = Evaluate(device, kind, grid, points);
  ASSERT_EQ(result.values.size(), 1u);
  ASSERT_EQ(result.gradient.size(), points.size());
  EXPECT_NEAR(result.values[0].value, value, 1e-6 * value + rounding);
  // A small determinant has fewer digits, and so has its inverse, the slope of its logarithm.
  const bool nearlyFolds = kind == PenaltyKind::Jacobian && smallest < 0.05;
  EXPECT_LT(ComputeDistance(result.gradient, gradient), nearlyFolds ? 4e-5 : 1e-5);
  EXPECT_NEAR(result.values[0].smallestDeterminant, smallest, 2e-6 * std::max(1.0, std::abs(smallest)));
}

class ControlPenaltyTest : public DeviceTest
{};
} // namespace

TEST_P(ControlPenaltyTest, AgreesWithItsDefinition)
{
  ForEachSeed(1, 40, [&](std::uint64_t seed) {
    Random                    random(seed);
    const int                 dimension = seed % 3 == 0 ? 2 : 3;
    const auto                length = [&] { return static_cast<int>(Uniform(random, 3.0, 14.99)); };
    const int                 sizeX = length();
    const int                 sizeY = length();
    const gpureg::ControlGrid grid = MakeGrid({ sizeX, sizeY, dimension == 3 ? length() : 1 }, dimension, random);
    const Points              points = MakePoints(grid, seed % 2 == 0 ? 0.02 : 0.8, random);
    for (const PenaltyKind kind : Kinds)
    {
      ExpectDefinition(GetParam(), kind, grid, points);
    }
  });
}

/** Enough nodes for several groups and tasks, and long thin grids. */
TEST_P(ControlPenaltyTest, AgreesWithItsDefinitionOfEachShape)
{
  const gpureg::Size sizes[] = { { 3, 3, 3 },  { 4, 3, 3 },   { 3, 5, 3 },   { 3, 3, 7 },    { 3, 3, 1 },  { 3, 40, 1 },
                                 { 41, 3, 3 }, { 3, 3, 130 }, { 130, 3, 1 }, { 23, 21, 19 }, { 70, 61, 1 } };
  Random             random(GetSeeds(2, 1).first);
  for (const gpureg::Size & size : sizes)
  {
    const gpureg::ControlGrid grid = MakeGrid(size, size[2] == 1 ? 2 : 3, random);
    const Points              points = MakePoints(grid, 0.1, random);
    for (const PenaltyKind kind : Kinds)
    {
      ExpectDefinition(GetParam(), kind, grid, points);
    }
  }
}

/** Axes that are not at right angles, and mirrored ones. */
TEST_P(ControlPenaltyTest, AgreesWithItsDefinitionAlongAnyAxes)
{
  Random              random(GetSeeds(3, 1).first);
  gpureg::ControlGrid grid;
  grid.size = { 9, 8, 7 };
  for (const Matrix & matrix : { Matrix{ 2, 0.9, 0.3, 0, 3, -1.1, 0, 0, 1.5 },
                                 Matrix{ 0, 0, 3, 2, 0, 0, 0, 1.5, 0 },
                                 Matrix{ 2, 0, 0, 0, -2, 0, 0, 0, 2 } })
  {
    grid.indexToPhysical = matrix;
    const Points points = MakePoints(grid, 0.1, random);
    for (const PenaltyKind kind : Kinds)
    {
      ExpectDefinition(GetParam(), kind, grid, points);
    }
  }
}

/** Compares the gradient with central differences of fourth order of the definition in doubles, since the logarithm is not linear. */
TEST_P(ControlPenaltyTest, GradientIsThatOfTheValue)
{
  ForEachSeed(4, 6, [&](std::uint64_t seed) {
    Random                    random(seed);
    const bool                isFlat = seed % 3 == 0;
    const gpureg::ControlGrid grid =
      MakeGrid(isFlat ? gpureg::Size{ 6, 5, 1 } : gpureg::Size{ 5, 4, 6 }, isFlat ? 2 : 3, random);
    const Points     points = MakePoints(grid, 0.15, random);
    const Definition definition(grid);
    for (const PenaltyKind kind : Kinds)
    {
      Points expected(points.size());
      for (std::size_t n = 0; n < points.size(); ++n)
      {
        for (int r = 0; r < grid.dimension; ++r)
        {
          const auto valueAt = [&](double step) {
            Points moved = points;
            moved[n][r] += step;
            return definition.Evaluate(kind, moved, nullptr);
          };
          constexpr double h = 1e-4;
          expected[n][r] = (8.0 * (valueAt(h) - valueAt(-h)) - (valueAt(2 * h) - valueAt(-2 * h))) / (12.0 * h);
        }
      }
      EXPECT_LT(ComputeDistance(Evaluate(GetParam(), kind, grid, points).gradient, expected), 1e-5)
        << "kind " << static_cast<int>(kind);
    }
  });
}

TEST_P(ControlPenaltyTest, WhatIsAffineDoesNotBend)
{
  Random                    random(GetSeeds(5, 1).first);
  const gpureg::ControlGrid grid = MakeGrid({ 12, 11, 10 }, 3, random);
  const Points points = MakeAffine(grid, { 0.1, -0.2, 0.05, 0.3, -0.1, 0.2, 0.02, 0.1, 0.15 }, { 9, -40, 3 });
  const auto   result = Evaluate(GetParam(), PenaltyKind::BendingEnergy, grid, points);
  // Floats of up to 60 mm are rounded to 2e-6 mm.
  EXPECT_LT(std::sqrt(result.values[0].value), 2e-4);
  const Points rough = MakePoints(grid, 1.0, random);
  EXPECT_LT(Norm(result.gradient), 1e-4 * Norm(Evaluate(GetParam(), PenaltyKind::BendingEnergy, grid, rough).gradient));
}

/** The strain of a small rotation is of second order in the angle, so its linear energy is of fourth order. */
TEST_P(ControlPenaltyTest, RotationsHaveNoLinearEnergyToFirstOrder)
{
  Random                    random(GetSeeds(6, 1).first);
  const gpureg::ControlGrid grid = MakeGrid({ 8, 9, 7 }, 3, random);
  const auto                evaluate = [&](double angle) {
    const double c = std::cos(angle) - 1.0;
    const double s = std::sin(angle);
    return Evaluate(GetParam(),
                    PenaltyKind::LinearEnergy,
                    grid,
                    MakeAffine(grid, { c, -s, 0, s, c, 0, 0, 0, 0 }, { 1, 2, 3 }))
      .values[0]
      .value;
  };
  EXPECT_NEAR(evaluate(0.1), 2.0 * std::pow(std::cos(0.1) - 1.0, 2), 1e-9);
  EXPECT_LT(evaluate(0.01), 1e-8);
}

/** A map that preserves volumes has no Jacobian penalty; one that shrinks them has the square of the determinant's logarithm. */
TEST_P(ControlPenaltyTest, JacobianOfAffineMaps)
{
  Random                    random(GetSeeds(7, 1).first);
  const gpureg::ControlGrid grid = MakeGrid({ 5, 6, 7 }, 3, random);
  const auto                evaluate = [&](const Matrix & matrix) {
    return Evaluate(GetParam(), PenaltyKind::Jacobian, grid, MakeAffine(grid, matrix, {})).values[0];
  };
  const double c = std::cos(0.7) - 1.0;
  const double s = std::sin(0.7);
  EXPECT_NEAR(evaluate({ c, -s, 0, s, c, 0, 0, 0, 0 }).value, 0.0, 1e-10);
  const gpureg::PenaltyValue shrunk = evaluate({ -0.5, 0, 0, 0, -0.2, 0, 0, 0, 0.25 });
  EXPECT_NEAR(shrunk.value, std::pow(std::log(0.5), 2), 1e-5);
  EXPECT_NEAR(shrunk.smallestDeterminant, 0.5, 1e-5);
  EXPECT_NEAR(evaluate({ 0.01, 0, 0, 0, 0, 0, 0, 0, 0 }).value / std::pow(std::log(1.01), 2), 1.0, 2e-3);
}

/** Folded nodes have finite values and gradients, and steps against the gradient unfold them. */
TEST_P(ControlPenaltyTest, WhatHasFoldedUnfolds)
{
  for (const int dimension : { 2, 3 })
  {
    Random                    random(GetSeeds(8, 1).first);
    const gpureg::ControlGrid grid = MakeGrid({ 9, 9, dimension == 3 ? 9 : 1 }, dimension, random);
    Points                    points(9 * 9 * static_cast<std::size_t>(grid.size[2]));
    // One point is moved far beyond its neighbour.
    Vector pushed{};
    for (int r = 0; r < dimension; ++r)
    {
      pushed[r] = 8.0 * grid.indexToPhysical[3 * r];
    }
    points[points.size() / 2] = pushed;
    const double           length = Norm({ pushed }) / 400.0;
    gpureg::ControlPenalty penalty(GetParam());
    const auto             evaluate = [&] {
      return penalty.Evaluate(grid, { { PenaltyKind::Jacobian, 1.0 } }, points, OneAfterTheOther);
    };
    const gpureg::PenaltyResult before = evaluate();
    EXPECT_LT(before.values[0].smallestDeterminant, 0.0);
    for (int step = 0; step < 300; ++step)
    {
      const gpureg::PenaltyResult now = evaluate();
      ASSERT_TRUE(std::isfinite(now.values[0].value));
      const double norm = Norm(now.gradient);
      ASSERT_TRUE(std::isfinite(norm) && norm > 0.0);
      for (std::size_t n = 0; n < points.size(); ++n)
      {
        for (int r = 0; r < 3; ++r)
        {
          points[n][r] -= length * now.gradient[n][r] / norm;
        }
      }
    }
    const gpureg::PenaltyResult after = evaluate();
    EXPECT_GT(after.values[0].smallestDeterminant, 0.0) << dimension;
    EXPECT_LT(after.values[0].value, before.values[0].value) << dimension;
  }
  Random                    random(9);
  const gpureg::ControlGrid grid = MakeGrid({ 7, 8, 9 }, 3, random);
  ExpectDefinition(GetParam(), PenaltyKind::Jacobian, grid, MakePoints(grid, 3.0, random));
}

TEST_P(ControlPenaltyTest, PenaltiesAddUp)
{
  Random                                     random(GetSeeds(10, 1).first);
  const gpureg::ControlGrid                  grid = MakeGrid({ 13, 12, 11 }, 3, random);
  const Points                               points = MakePoints(grid, 0.2, random);
  gpureg::ControlPenalty                     penalty(GetParam());
  const std::vector<gpureg::WeightedPenalty> terms{ { PenaltyKind::Jacobian, 0.5 },
                                                    { PenaltyKind::BendingEnergy, -3.0 },
                                                    { PenaltyKind::LinearEnergy, 2.0 } };
  const gpureg::PenaltyResult                all = penalty.Evaluate(grid, terms, points, OneAfterTheOther);
  const gpureg::PenaltyResult                values = penalty.ComputeValues(grid, terms, points, OneAfterTheOther);
  EXPECT_TRUE(values.gradient.empty());
  Points expected(points.size());
  for (std::size_t k = 0; k < terms.size(); ++k)
  {
    const gpureg::PenaltyResult alone = Evaluate(GetParam(), terms[k].kind, grid, points);
    EXPECT_EQ(all.values[k].value, alone.values[0].value);
    EXPECT_EQ(values.values[k].value, alone.values[0].value);
    EXPECT_EQ(values.values[k].smallestDeterminant, alone.values[0].smallestDeterminant);
    for (std::size_t n = 0; n < points.size(); ++n)
    {
      for (int r = 0; r < 3; ++r)
      {
        expected[n][r] += terms[k].weight * alone.gradient[n][r];
      }
    }
  }
  EXPECT_LT(ComputeDistance(all.gradient, expected), 1e-6);
}

/** Evaluations give the same bits again, in whatever order and on whatever threads a device's tasks run. */
TEST_P(ControlPenaltyTest, RepeatsItsBits)
{
  const gpureg::ParallelFor backwards = [](std::int64_t count, const std::function<void(std::int64_t)> & body) {
    for (std::int64_t n = count; n-- > 0;)
    {
      body(n);
    }
  };
  Random                    random(GetSeeds(11, 1).first);
  const gpureg::ControlGrid grid = MakeGrid({ 33, 29, 31 }, 3, random);
  const Points              points = MakePoints(grid, 0.3, random);
  for (const PenaltyKind kind : Kinds)
  {
    gpureg::ControlPenalty      penalty(GetParam());
    const gpureg::PenaltyResult first = penalty.Evaluate(grid, { { kind, 0.7 } }, points, OneAfterTheOther);
    for (const gpureg::ParallelFor & parallelFor : { OneAfterTheOther, backwards, OnThreads(3) })
    {
      EXPECT_TRUE(AreSameBits(penalty.Evaluate(grid, { { kind, 0.7 } }, points, parallelFor), first));
    }
    gpureg::ControlPenalty another(GetParam());
    EXPECT_TRUE(AreSameBits(another.Evaluate(grid, { { kind, 0.7 } }, points, OneAfterTheOther), first));
  }
}

TEST_P(ControlPenaltyTest, DevicesAgreeWithTheHost)
{
  Random                    random(GetSeeds(12, 1).first);
  const gpureg::ControlGrid grid = MakeGrid({ 43, 50, 43 }, 3, random);
  const Points              points = MakePoints(grid, 0.3, random);
  for (const PenaltyKind kind : Kinds)
  {
    const gpureg::PenaltyResult here = Evaluate(GetParam(), kind, grid, points);
    const gpureg::PenaltyResult host = Evaluate("host", kind, grid, points);
    EXPECT_NEAR(here.values[0].value / host.values[0].value, 1.0, 1e-5);
    EXPECT_NEAR(here.values[0].smallestDeterminant, host.values[0].smallestDeterminant, 1e-5);
    EXPECT_LT(ComputeDistance(here.gradient, host.gradient), 1e-5);
  }
}

/** An evaluation of a grid of the same size as before takes two launches for each penalty, and no memory. */
TEST_P(ControlPenaltyTest, EvaluationsAllocateNothing)
{
  Random                    random(GetSeeds(13, 1).first);
  const gpureg::ControlGrid grid = MakeGrid({ 20, 21, 22 }, 3, random);
  const Points              points = MakePoints(grid, 0.3, random);
  gpureg::ControlPenalty    penalty(GetParam());
  EXPECT_EQ(penalty.GetDeviceName(), GetParam());
  penalty.SetTiming(true);
  penalty.Evaluate(grid, { { PenaltyKind::BendingEnergy, 1.0 } }, points, OneAfterTheOther);
  penalty.Evaluate(grid, { { PenaltyKind::BendingEnergy, 1.0 } }, points, OneAfterTheOther);
  const gpureg::EvaluationStatistics statistics = penalty.GetStatistics();
  EXPECT_EQ(statistics.launches, 2);
  EXPECT_EQ(statistics.allocations, 0);
  EXPECT_GT(statistics.deviceBytes, 0);
  EXPECT_GT(statistics.kernelMilliseconds, 0.0);
}

TEST_P(ControlPenaltyTest, BadInput)
{
  using ::testing::Message;
  constexpr double            nan = std::numeric_limits<double>::quiet_NaN();
  Random                      random(14);
  const gpureg::ControlGrid   grid = MakeGrid({ 5, 4, 6 }, 3, random);
  const Points                points = MakePoints(grid, 0.3, random);
  gpureg::ControlPenalty      penalty(GetParam());
  const gpureg::PenaltyResult good =
    penalty.Evaluate(grid, { { PenaltyKind::BendingEnergy, 1.0 } }, points, OneAfterTheOther);
  const auto expectComplaint = [&](const gpureg::ControlGrid & badGrid, const Points & badPoints, const char * words) {
    const std::string complaint = FindComplaint(penalty, badGrid, badPoints);
    EXPECT_NE(complaint.find(words), std::string::npos) << "\"" << complaint << "\" has no \"" << words << "\"";
    EXPECT_TRUE(
      AreSameBits(penalty.Evaluate(grid, { { PenaltyKind::BendingEnergy, 1.0 } }, points, OneAfterTheOther), good));
  };
  const auto withSize = [&](const gpureg::Size & size, int dimension) {
    gpureg::ControlGrid changed = grid;
    changed.size = size;
    changed.dimension = dimension;
    return changed;
  };
  const auto withMatrix = [&](const Matrix & matrix) {
    gpureg::ControlGrid changed = grid;
    changed.indexToPhysical = matrix;
    return changed;
  };
  const auto withPoint = [&](double displacement) {
    Points changed = points;
    changed[(2 * 4 + 3) * 5 + 1][1] = displacement;
    return changed;
  };
  expectComplaint(withSize({ 2, 4, 6 }, 3), points, "2 control points along x");
  expectComplaint(withSize({ 5, 0, 6 }, 3), points, "0 control points along y");
  expectComplaint(withSize({ 5, 4, 1 }, 3), points, "1 control points along z");
  expectComplaint(withSize({ 5, 4, -6 }, 3), points, "smaller");
  expectComplaint(withSize({ 5, 2, 1 }, 2), points, "2 control points along y");
  expectComplaint(withSize({ 5, 4, 6 }, 2), points, "in two dimensions");
  expectComplaint(withSize({ 5, 4, 6 }, 4), points, "not 4");
  expectComplaint(withSize({ 5, 4, 7 }, 3), points, "was given 120 displacements; give it 140");
  expectComplaint(grid, withPoint(nan), "control point (1, 3, 2)");
  expectComplaint(grid, withPoint(std::numeric_limits<double>::infinity()), "not a finite float");
  expectComplaint(grid, withPoint(1e300), "not a finite float");
  expectComplaint(withMatrix({ 1, 0, 0, 0, 0, 0, 0, 0, 1 }), points, "spacing of 0.000000 mm along y");
  expectComplaint(withMatrix({ 1, 0, 0, 0, 1, 0, 0, 0, nan }), points, "along z");
  expectComplaint(withMatrix({ 1e9, 0, 0, 0, 1, 0, 0, 0, 1 }), points, "along x");
  expectComplaint(withMatrix({ 1, 1, 0, 1, 1, 0, 0, 0, 1 }), points, "linearly independent");
  expectComplaint(withMatrix({ 1, 1, 0, 1, 1.00001, 0, 0, 0, 1 }), points, "linearly independent");
  EXPECT_THROW(penalty.Evaluate(grid, {}, points, OneAfterTheOther), gpureg::BadInputError);
  EXPECT_THROW(gpureg::ControlPenalty("abacus:0"), gpureg::Error);

  // Numbers that two dimensions do not use may be anything.
  gpureg::ControlGrid flat = withSize({ 10, 12, 1 }, 2);
  flat.indexToPhysical = { 2, 1, nan, -1, 2, nan, nan, nan, 0 };
  Points flatPoints = points;
  flatPoints[7][2] = nan;
  EXPECT_EQ(FindComplaint(penalty, flat, flatPoints), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, ControlPenaltyTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
