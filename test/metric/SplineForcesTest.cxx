// SPDX-License-Identifier: Apache-2.0
// Compares the adjoint B-spline interpolation of samples' forces, and the displacements of samples by control points, with the definition
// in doubles, without ITK, for control grids in any position.
#include "BSplineDefinition.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestParallelFor.h"
#include "TestSeeds.h"

#include "gpureg/metric/pairs/PairMetric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using Vector = std::array<double, 3>;

Vector
Apply(const gpureg::IndexMap & map, const Vector & x)
{
  Vector y{};
  for (std::size_t r = 0; r < 3; ++r)
  {
    y[r] = map.offset[r] + map.matrix[3 * r] * x[0] + map.matrix[3 * r + 1] * x[1] + map.matrix[3 * r + 2] * x[2];
  }
  return y;
}

/** The position of a control grid relative to the virtual grid. */
enum class Lie
{
  Along,
  Backwards, // parallel, except for a reversed axis
  Turned,    // the axes are permuted
  Oblique,
  Fine // parallel, with several control points in a voxel
};

struct SplineCase
{
  int  dimension = 3;
  int  order = 3;
  Lie  lie = Lie::Along;
  bool arePoints = false;
  bool isOpen = false;
  /** True for as many voxels and control points as a head has, so that one walk along y or z sums for several control points. */
  bool isLarge = false;
};

std::ostream &
operator<<(std::ostream & os, const SplineCase & c)
{
  return os << c.dimension << "D, order " << c.order << ", lie " << static_cast<int>(c.lie)
            << (c.arePoints ? ", points" : "") << (c.isOpen ? ", open" : "") << (c.isLarge ? ", large" : "");
}

/** Random images, samples and a spline. */
class Problem
{
public:
  Problem(const SplineCase & c, std::uint64_t seed)
    : m_Case(c)
    , m_Random(seed)
  {
    const bool is3D = c.dimension == 3;
    // Sometimes rows are longer than a segment.
    m_VirtualSize = { seed % 3 == 0 ? 301 : 37, is3D ? 19 : 41, is3D ? 13 : 1 };
    m_MovingSize = { 50, 33, is3D ? 21 : 1 };
    if (c.isLarge)
    {
      m_VirtualSize = { 301, 121, 40 };
      m_MovingSize = { 306, 127, 45 }; // contains all samples, so that all have forces
    }
    this->MakeValues();
    this->MakeGrid();
    this->MakePoints();
  }

  /** Evaluates the metric, and stores the forces and the gradient by control points. */
  void
  Evaluate(gpureg::PairMetric & engine, const gpureg::ParallelFor & parallelFor)
  {
    gpureg::FixedSamples fixed;
    fixed.virtualSize = m_VirtualSize;
    fixed.pointCount = static_cast<std::int64_t>(m_Points.size());
    fixed.precision = m_Case.arePoints ? gpureg::Precision::Double : gpureg::Precision::Single;
    fixed.values = this->MakeFiller(m_Fixed);
    if (m_Case.arePoints)
    {
      fixed.points = [this](std::int64_t first, std::int64_t count, void * out) {
        std::memcpy(out, m_Points.data() + first, static_cast<std::size_t>(count) * sizeof(Vector));
      };
    }
    gpureg::MovingImage moving;
    moving.size = m_MovingSize;
    moving.precision = fixed.precision;
    moving.values = this->MakeFiller(m_Moving);
    moving.inverseSpacing = { 1, 1, m_Case.dimension == 3 ? 1.0 : 0.0 };
    moving.differenceStep = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
    engine.SetFixedSamples(fixed, parallelFor);
    engine.SetMovingImage(moving, parallelFor);

    gpureg::SampleMapping mapping;
    mapping.toMoving.offset = { 3.3, 4.1, m_Case.dimension == 3 ? 2.7 : 0.0 };
    mapping.displacementToIndex = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    mapping.spline.emplace();
    mapping.spline->dimension = m_Case.dimension;
    mapping.spline->grid = m_Grid;
    engine.Evaluate(mapping, gpureg::Forces::OfEachSample, parallelFor);
    forces.assign(this->GetCount(), {});
    engine.TakeForces(
      [this](std::int64_t first, std::int64_t count, const float * in) {
        std::memcpy(&forces[static_cast<std::size_t>(first)], in, static_cast<std::size_t>(count) * 3 * sizeof(float));
      },
      parallelFor);
    controlForces = engine.InterpolateForcesAdjointly(parallelFor);
  }

  /** Returns Σ w f in doubles. */
  std::vector<Vector>
  AdjointByDefinition() const
  {
    std::vector<Vector> sums(static_cast<std::size_t>(gpureg::CountOf(m_Grid.size)));
    for (std::size_t n = 0; n < this->GetCount(); ++n)
    {
      const Vector                         inGrid = Apply(m_Grid.toGrid, this->GetIndex(n));
      std::array<int, 3>                   first{};
      std::array<std::array<double, 4>, 3> weights{};
      bool                                 isValid = true;
      for (std::size_t axis = 0; axis < 3; ++axis)
      {
        if (axis >= static_cast<std::size_t>(m_Case.dimension))
        {
          weights[axis][0] = 1.0;
          continue;
        }
        first[axis] = static_cast<int>(std::floor(inGrid[axis] - 0.5 * (m_Case.order - 1)));
        isValid = isValid && first[axis] >= 0 && first[axis] + m_Case.order < m_Grid.size[axis];
        for (int k = 0; k <= m_Case.order; ++k)
        {
          weights[axis][static_cast<std::size_t>(k)] = BSpline(m_Case.order, inGrid[axis] - (first[axis] + k));
        }
      }
      for (int tap = 0; isValid && tap < 64; ++tap)
      {
        const std::array<int, 3> k{ tap % 4, tap / 4 % 4, tap / 16 };
        double                   weight = 1.0;
        for (std::size_t axis = 0; axis < 3; ++axis)
        {
          weight *= weights[axis][static_cast<std::size_t>(k[axis])];
        }
        if (weight > 0)
        {
          Vector & sum = sums[static_cast<std::size_t>(
            ((first[2] + k[2]) * m_Grid.size[1] + first[1] + k[1]) * m_Grid.size[0] + first[0] + k[0])];
          for (std::size_t r = 0; r < 3; ++r)
          {
            sum[r] += weight * forces[n][r];
          }
        }
      }
    }
    return sums;
  }

  /** Returns the same sums, computed along one axis after the other, if the grids' axes are parallel: a head has too many samples to add
   *  them one by one. */
  std::vector<Vector>
  AdjointAlongAxesByDefinition() const
  {
    std::vector<Vector> sums;
    for (const auto & force : forces)
    {
      sums.push_back({ force[0], force[1], force[2] });
    }
    std::array<std::size_t, 3> size{};
    std::copy(m_VirtualSize.begin(), m_VirtualSize.end(), size.begin());
    for (const std::size_t axis : { 2, 1, 0 })
    {
      const std::size_t   inner = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
      const std::size_t   outer = sums.size() / (inner * size[axis]);
      const auto          controls = static_cast<std::size_t>(m_Grid.size[axis]);
      std::vector<Vector> sumsAlong(outer * controls * inner);
      for (std::size_t t = 0; t < size[axis]; ++t)
      {
        const double position = m_Grid.toGrid.offset[axis] + m_Grid.toGrid.matrix[4 * axis] * static_cast<double>(t);
        const int    first = static_cast<int>(std::floor(position - 0.5 * (m_Case.order - 1)));
        for (int c = first; first >= 0 && first + m_Case.order < m_Grid.size[axis] && c <= first + m_Case.order; ++c)
        {
          const double weight = BSpline(m_Case.order, position - c);
          for (std::size_t o = 0; o < outer; ++o)
          {
            const Vector * const from = &sums[(o * size[axis] + t) * inner];
            Vector * const       to = &sumsAlong[(o * controls + static_cast<std::size_t>(c)) * inner];
            for (std::size_t n = 0; n < inner; ++n)
            {
              for (std::size_t r = 0; r < 3; ++r)
              {
                to[n][r] += weight * from[n][r];
              }
            }
          }
        }
      }
      size[axis] = controls;
      sums = std::move(sumsAlong);
    }
    return sums;
  }

  /** Returns the number of adjacent control points for which one walk along y or z sums, as ControlPoints::CountTileControls() in
   *  src/engine/metric/samples/ControlPoints.cpp does. A test of tiles with several control points checks its cases by it. */
  int
  CountTileControls(std::size_t axis) const
  {
    const std::int64_t lines = std::int64_t{ 3 } * m_VirtualSize[0] * (axis == 2 ? m_VirtualSize[1] : m_Grid.size[2]);
    const std::int64_t walks = lines * m_Grid.size[axis];
    return static_cast<int>(std::min<std::int64_t>((walks + (1 << 18) - 1) / (1 << 18), 9));
  }

  const gpureg::DisplacementGrid &
  GetGrid() const
  {
    return m_Grid;
  }

  std::vector<std::array<float, 3>> forces;
  std::vector<std::array<float, 3>> controlForces;

private:
  std::size_t
  GetCount() const
  {
    return m_Case.arePoints ? m_Points.size() : static_cast<std::size_t>(gpureg::CountOf(m_VirtualSize));
  }

  Vector
  GetIndex(std::size_t sample) const
  {
    if (m_Case.arePoints)
    {
      return m_Points[sample];
    }
    const auto row = sample / static_cast<std::size_t>(m_VirtualSize[0]);
    return { static_cast<double>(sample % static_cast<std::size_t>(m_VirtualSize[0])),
             static_cast<double>(row % static_cast<std::size_t>(m_VirtualSize[1])),
             static_cast<double>(row / static_cast<std::size_t>(m_VirtualSize[1])) };
  }

  /** Returns a filler of values in the precision of the case. */
  gpureg::Filler
  MakeFiller(const std::vector<float> & values) const
  {
    const bool isDouble = m_Case.arePoints;
    return [&values, isDouble](std::int64_t first, std::int64_t count, void * out) {
      for (std::int64_t n = 0; n < count; ++n)
      {
        const float value = values[static_cast<std::size_t>(first + n)];
        isDouble ? static_cast<double *>(out)[n] = value : static_cast<float *>(out)[n] = value;
      }
    };
  }

  void
  MakeValues()
  {
    m_Fixed.resize(static_cast<std::size_t>(gpureg::CountOf(m_VirtualSize)));
    m_Moving.resize(static_cast<std::size_t>(gpureg::CountOf(m_MovingSize)));
    for (std::vector<float> * values : { &m_Fixed, &m_Moving })
    {
      for (float & value : *values)
      {
        value = static_cast<float>(Uniform(m_Random, 0.0, 1.0));
      }
    }
  }

  void
  MakeGrid()
  {
    const bool   is3D = m_Case.dimension == 3;
    const double step = m_Case.lie == Lie::Fine ? 2.3 : 0.21;
    m_Grid.order = m_Case.order;
    m_Grid.isOpen = m_Case.isOpen;
    m_Grid.size = m_Case.lie == Lie::Fine ? gpureg::Size{ 80, 39, is3D ? 25 : 1 } : gpureg::Size{ 11, 9, is3D ? 7 : 1 };
    auto & m = m_Grid.toGrid.matrix;
    m = { step, 0, 0, 0, 1.2 * step, 0, 0, 0, is3D ? 1.4 * step : 1.0 };
    m_Grid.toGrid.offset = { 0.713, 0.877, is3D ? 0.419 : 0.0 };
    if (m_Case.isLarge)
    {
      m_Grid.size = { 66, 43, 22 };
      m[4] = 0.335;
      m[8] = 0.487;
    }
    if (m_Case.lie == Lie::Backwards)
    {
      m[4] = -m[4];
      m_Grid.toGrid.offset[1] = m_Grid.size[1] - 1.6;
      if (m_Case.isLarge)
      {
        m[8] = -m[8];
        m_Grid.toGrid.offset[2] = m_Grid.size[2] - 1.3;
      }
    }
    else if (m_Case.lie == Lie::Turned)
    {
      std::swap(m[0], m[1]);
      std::swap(m[4], m[3]);
    }
    else if (m_Case.lie == Lie::Oblique)
    {
      m[1] = 0.05;
      m[3] = -0.04;
      m[2] = is3D ? 0.03 : 0.0;
      m[7] = is3D ? -0.06 : 0.0;
    }
    m_Vectors.resize(3 * static_cast<std::size_t>(gpureg::CountOf(m_Grid.size)));
    for (std::size_t n = 0; n < m_Vectors.size(); ++n)
    {
      m_Vectors[n] = n % 3 == 2 && !is3D ? 0.0 : Uniform(m_Random, -1.5, 1.5);
    }
    m_Grid.vectors = [this](std::int64_t first, std::int64_t count, double * out) {
      std::copy_n(m_Vectors.data() + 3 * first, 3 * count, out);
    };
  }

  void
  MakePoints()
  {
    for (int n = 0; m_Case.arePoints && n < 700; ++n)
    {
      m_Points.push_back({ Uniform(m_Random, 0, m_VirtualSize[0] - 1),
                           Uniform(m_Random, 0, m_VirtualSize[1] - 1),
                           m_Case.dimension == 3 ? Uniform(m_Random, 0, m_VirtualSize[2] - 1) : 0.0 });
    }
  }

  SplineCase               m_Case;
  Random                   m_Random;
  gpureg::Size             m_VirtualSize{};
  gpureg::Size             m_MovingSize{};
  std::vector<float>       m_Fixed;
  std::vector<float>       m_Moving;
  std::vector<Vector>      m_Points;
  std::vector<double>      m_Vectors;
  gpureg::DisplacementGrid m_Grid;
};

double
GetDistance(const std::vector<std::array<float, 3>> & a, const std::vector<Vector> & b)
{
  double difference = 0;
  double norm = 0;
  for (std::size_t n = 0; n < b.size(); ++n)
  {
    for (std::size_t r = 0; r < 3; ++r)
    {
      difference += (a[n][r] - b[n][r]) * (a[n][r] - b[n][r]);
      norm += b[n][r] * b[n][r];
    }
  }
  return std::sqrt(difference / norm);
}

class SplineForcesTest : public DeviceTest
{
protected:
  /** Calls check(case) for each. */
  template <typename TCheck>
  static void
  ForEachCase(const TCheck & check)
  {
    for (const int dimension : { 2, 3 })
    {
      for (const int order : { 1, 2, 3 })
      {
        for (const Lie lie : { Lie::Along, Lie::Backwards, Lie::Turned, Lie::Oblique, Lie::Fine })
        {
          for (const bool arePoints : { false, true })
          {
            const SplineCase c{ dimension, order, lie, arePoints, lie == Lie::Backwards };
            SCOPED_TRACE(::testing::PrintToString(c));
            check(c);
          }
        }
      }
    }
  }
};
} // namespace

TEST_P(SplineForcesTest, SumsAgreeWithTheDefinition)
{
  std::uint64_t seed = GetSeeds(7001, 1).first;
  ForEachCase([&](const SplineCase & c) {
    gpureg::PairMetric engine(GetParam(), gpureg::PairMeasure::MeanSquares);
    Problem            problem(c, ++seed);
    problem.Evaluate(engine, OnThreads(2));
    const std::vector<Vector> expected = problem.AdjointByDefinition();
    ASSERT_EQ(problem.controlForces.size(), expected.size());
    EXPECT_LT(GetDistance(problem.controlForces, expected), 1e-6) << "seed " << seed;
  });
}

/** Evaluations give the same bits each time, with any number of threads, with the same object and with another. */
TEST_P(SplineForcesTest, AreTheSameEachTime)
{
  ForEachCase([&](const SplineCase & c) {
    gpureg::PairMetric engine(GetParam(), gpureg::PairMeasure::MeanSquares);
    Problem            problem(c, 5);
    problem.Evaluate(engine, OnThreads(1));
    const auto first = problem.controlForces;
    for (const int threads : { 1, 2, 7 })
    {
      problem.Evaluate(engine, OnThreads(threads));
      EXPECT_EQ(problem.controlForces, first) << threads << " threads";
    }
    gpureg::PairMetric another(GetParam(), gpureg::PairMeasure::MeanSquares);
    problem.Evaluate(another, OnThreads(2));
    EXPECT_EQ(problem.controlForces, first);
  });
}

/** The sums for a head's control points are computed for several at a time: up to 9 along z, 4 along y. The last tile of each axis is
 *  smaller. */
TEST_P(SplineForcesTest, TilesOfSeveralControlPointsAgreeWithTheDefinition)
{
  std::uint64_t      seed = GetSeeds(7301, 1).first;
  gpureg::PairMetric engine(GetParam(), gpureg::PairMeasure::MeanSquares);
  for (const Lie lie : { Lie::Along, Lie::Backwards })
  {
    const SplineCase c{ 3, 3, lie, false, lie == Lie::Backwards, true };
    SCOPED_TRACE(::testing::PrintToString(c));
    Problem problem(c, ++seed);
    ASSERT_EQ(problem.CountTileControls(2), 9);
    ASSERT_EQ(problem.CountTileControls(1), 4);
    ASSERT_NE(problem.GetGrid().size[2] % 9, 0);
    ASSERT_NE(problem.GetGrid().size[1] % 4, 0);
    problem.Evaluate(engine, OnThreads(2));
    const std::vector<Vector> expected = problem.AdjointAlongAxesByDefinition();
    ASSERT_EQ(problem.controlForces.size(), expected.size());
    EXPECT_LT(GetDistance(problem.controlForces, expected), 1e-6) << "seed " << seed;
    const auto first = problem.controlForces;
    problem.Evaluate(engine, OnThreads(3));
    EXPECT_EQ(problem.controlForces, first);
  }
}

TEST_P(SplineForcesTest, BadSplinesAreRefusedAndTheMetricGoesOn)
{
  gpureg::PairMetric engine(GetParam(), gpureg::PairMeasure::MeanSquares);
  Problem            problem({}, 3);
  EXPECT_THROW(static_cast<void>(engine.InterpolateForcesAdjointly(OnThreads(1))), gpureg::BadInputError)
    << "nothing was evaluated";
  problem.Evaluate(engine, OnThreads(1));
  const auto            first = problem.controlForces;
  gpureg::SampleMapping mapping;
  mapping.spline.emplace();
  mapping.spline->grid.size = { 4, 3, 4 };
  mapping.spline->grid.vectors = [](std::int64_t, std::int64_t count, double * out) {
    std::fill_n(out, 3 * count, 0.0);
  };
  EXPECT_THROW(engine.Evaluate(mapping, gpureg::Forces::OfEachSample, OnThreads(1)), gpureg::BadInputError)
    << "three control points along y are too few";
  mapping.spline->grid.size = { 4, 4, 4 };
  mapping.spline->grid.order = 4;
  EXPECT_THROW(engine.Evaluate(mapping, gpureg::Forces::OfEachSample, OnThreads(1)), gpureg::UnsupportedError);
  problem.Evaluate(engine, OnThreads(1));
  EXPECT_EQ(problem.controlForces, first);
}

INSTANTIATE_TEST_SUITE_P(Devices, SplineForcesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
