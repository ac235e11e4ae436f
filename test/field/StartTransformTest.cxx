// SPDX-License-Identifier: Apache-2.0
// Where a chain of transforms behind a field leads, and forces that it passes back, on every device against double precision.
#include "IndexMaps.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/StartTransform.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::GridKind;
using gpureg::IndexMap;
using Floats = std::vector<float>;
using Point = gpureg::Vector3;

/** Returns a rotated map from a grid's indices to points, such that the grid's middle comes to centre. */
IndexMap
MakeMap(double angle, const Point & spacing, const gpureg::Size & size, const Point & centre)
{
  IndexMap    map = MakeRotatedMap(angle, spacing, {});
  const Point middle = Apply(map, GetMiddle(size));
  for (std::size_t d = 0; d < 3; ++d)
  {
    map.offset[d] = centre[d] - middle[d];
  }
  return map;
}

/** Displacements on a grid that are read in double precision. */
struct Vectors
{
  /** \param toPoint maps the grid's indices to points */
  Vectors(GridKind itsKind, int dimension, const gpureg::Size & size, const IndexMap & toPoint, double largest)
  {
    grid.kind = itsKind;
    grid.size = size;
    grid.toGrid = gpureg::InvertMap(toPoint);
    for (std::int64_t n = 0; n < 3 * gpureg::CountOf(size); ++n)
    {
      const bool isThere = n % 3 < dimension;
      values.push_back(isThere ? largest * std::sin(1.7 * static_cast<double>(n) + 0.3) : 0.0);
    }
    grid.vectors = [this](std::int64_t first, std::int64_t count, double * out) {
      std::copy_n(values.begin() + 3 * first, 3 * count, out);
    };
  }
  Vectors(const Vectors &) = delete;

  /** Returns the weight of a node at a distance from it: of a cubic B-spline, or linear. */
  double
  Weigh(double t) const
  {
    t = std::abs(t);
    if (grid.kind == GridKind::Field)
    {
      return std::max(0.0, 1 - t);
    }
    return t < 1 ? (4 - 6 * t * t + 3 * t * t * t) / 6 : (t < 2 ? std::pow(2 - t, 3) / 6 : 0.0);
  }

  Point
  Move(const Point & p, int dimension) const
  {
    const Point index = Apply(grid.toGrid, p);
    Point       moved = p;
    // Inside of the buffer, or of the spline's domain.
    const double margin = grid.kind == GridKind::Field ? -0.5 : 1;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
    {
      if (index[d] < margin || index[d] > grid.size[d] - 1 - margin)
      {
        return moved;
      }
    }
    for (std::int64_t n = 0; n < gpureg::CountOf(grid.size); ++n)
    {
      const std::int64_t node[3] = { n % grid.size[0],
                                     n / grid.size[0] % grid.size[1],
                                     n / grid.size[0] / grid.size[1] };
      double             weight = 1;
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
      {
        const bool   isField = grid.kind == GridKind::Field;
        const double place = isField ? std::clamp(index[d], 0.0, grid.size[d] - 1.0) : index[d];
        weight *= this->Weigh(place - static_cast<double>(node[d]));
      }
      for (std::size_t c = 0; c < 3; ++c)
      {
        moved[c] += weight * values[3 * static_cast<std::size_t>(n) + c];
      }
    }
    return moved;
  }

  gpureg::DisplacementGrid grid;
  std::vector<double>      values;
};

/** A field on an oblique grid far from the origin, and a chain behind it: a linear map, a B-spline, a linear map, a displacement field that
 *  does not reach everywhere, and a linear map. */
struct Case
{
  explicit Case(int itsDimension)
    : dimension(itsDimension)
    , size{ 17, 13, itsDimension == 3 ? 11 : 1 }
    , centre{ 900, -700, itsDimension == 3 ? 500.0 : 0.0 }
    , toPoint(MakeMap(0.3, { 1.0, 1.25, itsDimension == 3 ? 1.5 : 1.0 }, size, centre))
    , spline(GridKind::BSpline,
             itsDimension,
             { 9, 8, itsDimension == 3 ? 8 : 1 },
             MakeMap(-0.2, { 4.5, 4.5, itsDimension == 3 ? 4.5 : 1.0 }, { 9, 8, itsDimension == 3 ? 8 : 1 }, centre),
             1.5)
    , field(GridKind::Field,
            itsDimension,
            { 10, 9, itsDimension == 3 ? 9 : 1 },
            MakeMap(0.1, { 1.7, 1.5, itsDimension == 3 ? 1.6 : 1.0 }, { 10, 9, itsDimension == 3 ? 9 : 1 }, centre),
            0.6)
  {
    const auto turn = [&](double angle, const Point & spacing) {
      IndexMap    map = MakeMap(angle, spacing, { 1, 1, 1 }, { 0, 0, 0 });
      const Point moved = Apply(map, centre);
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
      {
        map.offset[d] = centre[d] - moved[d] + 0.3 * static_cast<double>(d + 1);
      }
      return map;
    };
    maps = { turn(0.05, { 1.02, 0.97, 1.0 }), turn(-0.1, { 1.1, 1.0, 1.0 }), turn(0.2, { 0.9, 1.05, 1.0 }) };
    chain.dimension = dimension;
    chain.Append(maps[0]);
    chain.Append(spline.grid);
    chain.Append(maps[1]);
    chain.Append(field.grid);
    chain.Append(maps[2]);
    for (std::int64_t n = 0; n < gpureg::CountOf(size); ++n)
    {
      const double k = 0.1 * static_cast<double>(n);
      for (const double component : { std::sin(k), 1.3 * std::cos(0.7 * k), dimension == 3 ? std::sin(1.3 * k) : 0.0 })
      {
        displacements.push_back(static_cast<float>(component));
      }
    }
  }

  /** Returns where the chain leads a voxel with a displacement. */
  Point
  Lead(std::int64_t n, const Point & u) const
  {
    Point p = Apply(toPoint, GetIndex(size, n));
    for (std::size_t c = 0; c < 3; ++c)
    {
      p[c] += u[c];
    }
    p = spline.Move(Apply(maps[0], p), dimension);
    p = field.Move(Apply(maps[1], p), dimension);
    return Apply(maps[2], p);
  }

  /** Returns where the affine maps alone lead a voxel, and adds w. */
  Point
  LeadAffinely(std::int64_t n, const float * w) const
  {
    Point p = Apply(toPoint, GetIndex(size, n));
    p = Apply(maps[2], Apply(maps[1], Apply(maps[0], p)));
    return { p[0] + w[0], p[1] + w[1], p[2] + w[2] };
  }

  int                     dimension;
  gpureg::Size            size;
  Point                   centre;
  IndexMap                toPoint;
  Vectors                 spline;
  Vectors                 field;
  std::array<IndexMap, 3> maps;
  gpureg::TransformChain  chain;
  Floats                  displacements;
};

class StartTransformTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(StartTransformTest, LeadsWhereTheChainLeads)
{
  for (const int dimension : { 2, 3 })
  {
    SCOPED_TRACE(dimension);
    const Case its(dimension);
    const auto queue = gpureg::GetBackend(GetParam())->CreateQueue();
    Floats     moved(its.displacements.size());
    Floats     forces(its.displacements.size());
    for (std::size_t n = 0; n < forces.size(); ++n)
    {
      forces[n] = dimension == 2 && n % 3 == 2 ? 0.0F : static_cast<float>(std::cos(0.9 * static_cast<double>(n)));
    }
    const Floats           given = forces;
    gpureg::StartTransform start(*queue);
    gpureg::Operate(*queue, OnThreads(2), [&] {
      const std::size_t     bytes = sizeof(float) * moved.size();
      gpureg::MemoryPointer field, places, pulled;
      gpureg::Reserve(*queue, field, bytes);
      gpureg::Reserve(*queue, places, bytes);
      gpureg::Reserve(*queue, pulled, bytes);
      gpureg::UploadArray(*queue, *field, its.displacements);
      gpureg::UploadArray(*queue, *pulled, forces);
      start.Set(its.chain, gpureg::MakeFieldGrid(dimension, its.size, its.toPoint), its.toPoint);
      EXPECT_FALSE(start.IsLinear());
      EXPECT_EQ(&start.Move(*field, places.get()).memory, places.get());
      start.PullForces(*field, *pulled);
      queue->Download(moved.data(), *places, bytes);
      queue->Download(forces.data(), *pulled, bytes);
    });
    const gpureg::DisplacedMap map = start.GetMap();
    EXPECT_EQ(map.ofDisplacements, gpureg::DisplacedMap{}.ofDisplacements);
    int outside = 0;
    for (std::int64_t n = 0; n < gpureg::CountOf(its.size); ++n)
    {
      const auto  v = 3 * static_cast<std::size_t>(n);
      const Point u{ its.displacements[v], its.displacements[v + 1], its.displacements[v + 2] };
      const Point expected = its.Lead(n, u);
      const Point found = its.LeadAffinely(n, &moved[v]);
      double      error = 0;
      for (std::size_t c = 0; c < 3; ++c)
      {
        error = std::max(error, std::abs(found[c] - expected[c]));
      }
      ASSERT_LE(error, 1e-5) << n;
      // The force by the displacement, by differences; where the field begins or has a kink there is none.
      for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k)
      {
        constexpr double step = 1e-5;
        Point            above = u;
        Point            below = u;
        above[k] += step;
        below[k] -= step;
        const Point high = its.Lead(n, above);
        const Point low = its.Lead(n, below);
        double      derivative = 0;
        double      ahead = 0;
        double      behind = 0;
        for (std::size_t c = 0; c < 3; ++c)
        {
          derivative += given[v + c] * (high[c] - low[c]) / (2 * step);
          ahead += given[v + c] * (high[c] - expected[c]) / step;
          behind += given[v + c] * (expected[c] - low[c]) / step;
        }
        if (std::abs(ahead - behind) < 1e-3)
        {
          ASSERT_NEAR(forces[v + k], derivative, 2e-5) << n << ", axis " << k;
        }
        else
        {
          ++outside;
        }
      }
    }
    EXPECT_LT(outside, 10);
  }
}

TEST_P(StartTransformTest, LeavesALinearMapToWhoeverReads)
{
  const Case             its(3);
  const auto             queue = gpureg::GetBackend(GetParam())->CreateQueue();
  gpureg::StartTransform start(*queue);
  gpureg::TransformChain linear;
  linear.Append(its.maps[1]);
  gpureg::Operate(*queue, OnThreads(2), [&] {
    gpureg::MemoryPointer field;
    gpureg::Reserve(*queue, field, sizeof(float) * its.displacements.size());
    const auto grid = gpureg::MakeFieldGrid(3, its.size, its.toPoint);
    start.Set(its.chain, grid, its.toPoint);
    EXPECT_GT(start.GetDeviceBytes(), 0U);
    start.Set(linear, grid, its.toPoint);
    EXPECT_EQ(&start.Move(*field, nullptr).memory, field.get());
  });
  EXPECT_TRUE(start.IsLinear());
  EXPECT_EQ(start.GetDeviceBytes(), 0U);
  EXPECT_EQ(start.GetMap().ofPoints.matrix, its.maps[1].matrix);
  EXPECT_EQ(start.GetMap().ofDisplacements, its.maps[1].matrix);
}

/** Returns by how many voxels each inverse vector and then the spline and the field of a case lead past its voxel. */
std::vector<double>
FindInverseErrors(const Case & its, const Floats & inverse)
{
  const gpureg::Matrix3 toVoxels = gpureg::Invert(its.toPoint.matrix);
  std::vector<double>   errors;
  for (std::int64_t n = 0; n < gpureg::CountOf(its.size); ++n)
  {
    const Point voxel = Apply(its.toPoint, GetIndex(its.size, n));
    Point       p = voxel;
    for (std::size_t c = 0; c < 3; ++c)
    {
      p[c] += inverse[3 * static_cast<std::size_t>(n) + c];
    }
    p = its.field.Move(its.spline.Move(p, its.dimension), its.dimension);
    const Point error = gpureg::Multiply(toVoxels, Point{ p[0] - voxel[0], p[1] - voxel[1], p[2] - voxel[2] });
    errors.push_back(std::sqrt(error[0] * error[0] + error[1] * error[1] + error[2] * error[2]));
  }
  return errors;
}

// One or two steps leave many inverses off.
TEST_P(StartTransformTest, KeepsABetterInverseAlsoWhereItIsNotGood)
{
  for (const int dimension : { 2, 3 })
  {
    SCOPED_TRACE(dimension);
    const Case             its(dimension);
    gpureg::TransformChain chain;
    chain.dimension = dimension;
    chain.Append(its.spline.grid);
    chain.Append(its.field.grid);
    const auto                queue = gpureg::GetBackend(GetParam())->CreateQueue();
    gpureg::StartTransform    start(*queue);
    const std::vector<double> before = FindInverseErrors(its, Floats(its.displacements.size(), 0.0F));
    double mean = std::accumulate(before.begin(), before.end(), 0.0) / static_cast<double>(before.size());
    for (const int readings : { 2, 3 })
    {
      SCOPED_TRACE(readings);
      const gpureg::kernels::NewtonRule rule{ readings, 1e-4F, 0, 0 };
      Floats                            refined(its.displacements.size(), 0.0F);
      gpureg::Operate(*queue, OnThreads(2), [&] {
        const std::size_t     bytes = sizeof(float) * refined.size();
        gpureg::MemoryPointer inverse, field;
        gpureg::Reserve(*queue, inverse, bytes);
        gpureg::Reserve(*queue, field, bytes);
        gpureg::UploadArray(*queue, *inverse, refined);
        start.Set(chain, gpureg::MakeFieldGrid(dimension, its.size, its.toPoint), its.toPoint);
        start.Move(*inverse, field.get());
        start.RefineInverse(rule, *field, *inverse);
        queue->Download(refined.data(), *inverse, bytes);
      });
      const std::vector<double> after = FindInverseErrors(its, refined);
      int                       betterAndNotGood = 0;
      int                       left = 0;
      for (std::size_t n = 0; n < after.size(); ++n)
      {
        EXPECT_LE(after[n], before[n] + 1e-5) << n;
        if (after[n] > 1e-3 + 1e-5)
        {
          // In the grid's outer cells, from which the steps began, nothing is mapped to the voxel from inside.
          const Point index = GetIndex(its.size, static_cast<std::int64_t>(n));
          bool        isOuter = false;
          for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
          {
            isOuter |= index[d] < 1 || index[d] >= its.size[d] - 2;
          }
          left += isOuter ? 1 : 0;
          betterAndNotGood += after[n] < 0.5 * before[n] ? 1 : 0;
          EXPECT_TRUE(!isOuter || after[n] == before[n]) << n;
        }
      }
      EXPECT_GT(left, 0);
      EXPECT_GT(betterAndNotGood, 0);
      // Each step makes it better on the whole.
      const double meanAfter = std::accumulate(after.begin(), after.end(), 0.0) / static_cast<double>(after.size());
      EXPECT_LT(meanAfter, 0.9 * mean);
      mean = meanAfter;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, StartTransformTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
