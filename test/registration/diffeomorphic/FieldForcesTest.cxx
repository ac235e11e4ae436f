// SPDX-License-Identifier: Apache-2.0
// Values of similarities along a field, and their derivatives by its vectors, against double precision and finite differences.
#include "IndexMaps.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"

#include "engine/filter/LevelGeometry.h"
#include "engine/registration/diffeomorphic/FieldForces.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::IndexMap;
using gpureg::SimilarityKind;
using Floats = std::vector<float>;
using Point = gpureg::Vector3;

/** Two images of different grids and contrasts, a linear map, and a field along which no voxel leaves the moving image. */
struct Case
{
  explicit Case(int itsDimension)
    : dimension(itsDimension)
    , size{ itsDimension == 3 ? 23 : 53, itsDimension == 3 ? 19 : 47, itsDimension == 3 ? 11 : 1 }
    , movingSize{ itsDimension == 3 ? 45 : 95, itsDimension == 3 ? 41 : 91, itsDimension == 3 ? 29 : 1 }
    , toPoint(
        MakeRotatedMap(0.3, { 1.0, 1.25, itsDimension == 3 ? 1.5 : 1.0 }, { 40, -30, itsDimension == 3 ? 12.0 : 0.0 }))
    , initial(MakeRotatedMap(-0.2, { 1.02, 0.97, 1.0 }, { 3, 2, 0 }))
    , movingToPoint(MakeRotatedMap(-0.1, { 0.9, 1.1, itsDimension == 3 ? 1.2 : 1.0 }, { 0, 0, 0 }))
  {
    // The middle of the moving image is where the middle of the fixed one comes to.
    const Point centre = Apply(initial, Apply(toPoint, GetMiddle(size)));
    const Point middle = Apply(movingToPoint, GetMiddle(movingSize));
    for (std::size_t d = 0; d < 3; ++d)
    {
      movingToPoint.offset[d] = centre[d] - middle[d];
    }
    for (std::int64_t n = 0; n < gpureg::CountOf(movingSize); ++n)
    {
      moving.push_back(static_cast<float>(GetTexture(Apply(movingToPoint, GetIndex(movingSize, n)))));
    }
    for (std::int64_t n = 0; n < gpureg::CountOf(size); ++n)
    {
      const Point  p = Apply(toPoint, GetIndex(size, n));
      const double value = GetTexture(Apply(initial, { p[0] + 0.7, p[1] - 0.6, p[2] }));
      fixed.push_back(static_cast<float>(0.8 * value + 0.05 * value * value + 3));
      const double z = dimension == 3 ? 0.4 * std::sin(0.3 * p[1]) : 0.0;
      for (const double component : { 0.5 * std::sin(0.3 * p[1]), 0.6 * std::cos(0.25 * p[0]), z })
      {
        field.push_back(static_cast<float>(component));
      }
    }
  }

  static double
  GetTexture(const Point & p)
  {
    return 10 + 3 * std::sin(0.5 * p[0] + 0.2 * p[1]) + 2 * std::cos(0.4 * p[1] - 0.3 * p[2]) + std::sin(0.6 * p[2]);
  }

  /** Returns the moving value where a voxel comes to, interpolated in double precision. */
  double
  Warp(const std::vector<double> & along, std::int64_t n) const
  {
    Point p = Apply(toPoint, GetIndex(size, n));
    for (std::size_t c = 0; c < 3; ++c)
    {
      p[c] += along[3 * static_cast<std::size_t>(n) + c];
    }
    return this->Interpolate(Apply(gpureg::InvertMap(movingToPoint), Apply(initial, p)));
  }

  /** Returns the moving value at an index between voxels. */
  double
  Interpolate(const Point & q) const
  {
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner)
    {
      double       weight = 1;
      std::int64_t voxel = 0;
      for (int d = 2; d >= 0; --d)
      {
        const auto   axis = static_cast<std::size_t>(d);
        const double lower = std::floor(q[axis] + (movingSize[axis] == 1 ? 0.5 : 0.0));
        const int    upper = (corner >> d) & 1;
        const double part = movingSize[axis] == 1 ? 0.0 : q[axis] - lower;
        weight *= upper != 0 ? part : 1 - part;
        voxel = voxel * movingSize[axis] + static_cast<std::int64_t>(lower) + (part > 0 ? upper : 0);
      }
      sum += weight * moving[static_cast<std::size_t>(voxel)];
    }
    return sum;
  }

  /** Returns the demons' force at a voxel, by mm of its displacement, up to a common factor (Thirion 1998): along the moving image's
   *  gradient, from central differences, which the linear map turns. */
  Point
  ComputeDemonsForce(std::int64_t n) const
  {
    Point p = Apply(toPoint, GetIndex(size, n));
    for (std::size_t c = 0; c < 3; ++c)
    {
      p[c] += field[3 * static_cast<std::size_t>(n) + c];
    }
    const IndexMap toMoving = gpureg::InvertMap(movingToPoint);
    const Point    there = Apply(initial, p);
    Point          gradient{};
    double         squares = 0;
    double         normalizer = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
    {
      // By half a voxel to each side along a physical axis, as itk::CentralDifferenceImageFunction has it.
      const double edge = gpureg::GetSpacing(movingToPoint)[d];
      Point        above = there;
      Point        below = there;
      above[d] += 0.5 * edge;
      below[d] -= 0.5 * edge;
      gradient[d] = (this->Interpolate(Apply(toMoving, above)) - this->Interpolate(Apply(toMoving, below))) / edge;
      normalizer += std::pow(gpureg::GetSpacing(toPoint)[d], 2) / dimension;
    }
    for (const double component : gradient)
    {
      squares += component * component;
    }
    const double difference = fixed[static_cast<std::size_t>(n)] - this->Interpolate(Apply(toMoving, there));
    // A smaller difference has no force.
    const double weight =
      std::abs(difference) < 1e-3 ? 0.0 : difference / (difference * difference / normalizer + squares);
    Point force{};
    for (std::size_t c = 0; c < 3; ++c)
    {
      for (std::size_t r = 0; r < 3; ++r)
      {
        force[c] += weight * initial.matrix[3 * r + c] * gradient[r];
      }
    }
    return force;
  }

  /** Returns the cost in double precision, of mean squares or of a correlation. */
  double
  ComputeCost(SimilarityKind kind, const std::vector<double> & along) const
  {
    double     n = 0, f = 0, m = 0, ff = 0, mm = 0, fm = 0;
    const auto ends = std::minmax({ *std::min_element(fixed.begin(), fixed.end()),
                                    *std::max_element(fixed.begin(), fixed.end()),
                                    *std::min_element(moving.begin(), moving.end()),
                                    *std::max_element(moving.begin(), moving.end()) });
    for (std::int64_t voxel = 0; voxel < gpureg::CountOf(size); ++voxel)
    {
      const double a = fixed[static_cast<std::size_t>(voxel)];
      const double b = this->Warp(along, voxel);
      n += 1;
      f += a;
      m += b;
      ff += a * a;
      mm += b * b;
      fm += a * b;
    }
    const double range = ends.second - ends.first;
    const double covariance = fm - f * m / n;
    return kind == SimilarityKind::MeanSquares ? (ff - 2 * fm + mm) / (n * range * range)
                                               : -covariance * covariance / ((ff - f * f / n) * (mm - m * m / n));
  }

  int          dimension;
  gpureg::Size size;
  gpureg::Size movingSize;
  IndexMap     toPoint;
  IndexMap     initial;
  IndexMap     movingToPoint;
  Floats       fixed;
  Floats       moving;
  Floats       field;
};

/** The forces of a similarity for a case, on a device. */
class Evaluator
{
public:
  Evaluator(const std::string & device, const Case & its, SimilarityKind kind)
    : m_Backend(gpureg::GetBackend(device))
    , m_Queue(m_Backend->CreateQueue())
    , m_Lines(gpureg::MakePasses<gpureg::LinePasses>(*m_Queue))
    , m_Reducer(*m_Queue)
    , m_LoadedFixed(device)
    , m_LoadedMoving(device)
    , m_Fixed(*m_Queue, device)
    , m_Moving(*m_Queue, device)
    , m_Mask(*m_Queue, device)
    , m_Forces(gpureg::MakeFieldForces(m_Backend, m_Queue, { kind, 32, 2 }, gpureg::DiffeomorphicSettings{}.noise))
  {
    const auto load = [](gpureg::LoadedImage & loaded, const Floats & values) {
      loaded.Load({}, gpureg::Precision::Single, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    };
    load(m_LoadedFixed, its.fixed);
    load(m_LoadedMoving, its.moving);
    gpureg::RegisteredImage fixed;
    fixed.image = &m_LoadedFixed;
    fixed.size = its.size;
    fixed.indexToPoint = its.toPoint;
    gpureg::RegisteredImage moving;
    moving.image = &m_LoadedMoving;
    moving.size = its.movingSize;
    moving.indexToPoint = its.movingToPoint;
    gpureg::Operate(*m_Queue, OnThreads(2), [&] {
      const gpureg::LevelMaker maker{ *m_Queue, *m_Lines };
      const auto               ofFixed = gpureg::MakeLevelImage(maker, fixed, "fixed", { 1, 1, 1 }, m_Fixed, m_Mask);
      const auto ofMoving = gpureg::MakeLevelImage(maker, moving, "moving", { 1, 1, 1 }, m_Moving, m_Mask);
      const auto level = gpureg::MakeLevelGrid(its.dimension, its.size, its.toPoint);
      m_Forces->SetImages(level, nullptr, ofFixed, ofMoving, gpureg::MakeDisplacedMap(its.initial), 0, OnThreads(2));
    });
  }

  /** Returns the cost along a field. forces: gets the derivatives. */
  double
  Evaluate(const Floats & field, Floats & forces)
  {
    float value = 0;
    forces.resize(field.size());
    gpureg::Operate(*m_Queue, OnThreads(2), [&] {
      for (gpureg::MemoryPointer * array : { &m_Field, &m_Scratch, &m_Found })
      {
        gpureg::Reserve(*m_Queue, *array, sizeof(float) * field.size());
      }
      gpureg::Reserve(*m_Queue, m_Values, 2 * sizeof(float));
      gpureg::UploadArray(*m_Queue, *m_Field, field);
      m_Forces->Enqueue(m_Reducer, *m_Field, *m_Scratch, *m_Found, *m_Values, 0);
      m_Queue->Download(&value, *m_Values, sizeof(float));
      m_Queue->Download(forces.data(), *m_Found, sizeof(float) * forces.size());
    });
    const auto cost = m_Forces->ComputeCost(value);
    EXPECT_TRUE(cost);
    return cost.value_or(0.0);
  }

private:
  std::shared_ptr<gpureg::Backend>     m_Backend;
  std::shared_ptr<gpureg::Queue>       m_Queue;
  std::unique_ptr<gpureg::LinePasses>  m_Lines;
  gpureg::FieldReducer                 m_Reducer;
  gpureg::LoadedImage                  m_LoadedFixed;
  gpureg::LoadedImage                  m_LoadedMoving;
  gpureg::ImageLevel                   m_Fixed;
  gpureg::ImageLevel                   m_Moving;
  gpureg::ImageLevel                   m_Mask;
  std::unique_ptr<gpureg::FieldForces> m_Forces;
  gpureg::MemoryPointer                m_Field;
  gpureg::MemoryPointer                m_Scratch;
  gpureg::MemoryPointer                m_Found;
  gpureg::MemoryPointer                m_Values;
};

class FieldForcesTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(FieldForcesTest, AreTheDerivativeOfTheCost)
{
  for (const int dimension : { 2, 3 })
  {
    const Case its(dimension);
    for (const SimilarityKind kind : { SimilarityKind::NeighborhoodCorrelation,
                                       SimilarityKind::NormalizedMutualInformation,
                                       SimilarityKind::CorrelationRatio,
                                       SimilarityKind::MeanSquares,
                                       SimilarityKind::Correlation })
    {
      SCOPED_TRACE(std::string(gpureg::GetName(kind)) + ", " + std::to_string(dimension) + "D");
      Evaluator evaluator(GetParam(), its, kind);
      Floats    forces, others;
      evaluator.Evaluate(its.field, forces);
      double largest = 0;
      for (const float force : forces)
      {
        largest = std::max(largest, std::abs(static_cast<double>(force)));
      }
      // Along the forces, by a part of a millimetre at most.
      constexpr double step = 0.02;
      double           expected = 0;
      double           costs[2] = { 0, 0 };
      for (const float force : forces)
      {
        expected -= force * force / largest;
      }
      for (const int side : { 0, 1 })
      {
        Floats moved = its.field;
        for (std::size_t k = 0; k < moved.size(); ++k)
        {
          moved[k] += static_cast<float>((side == 0 ? -step : step) * forces[k] / largest);
        }
        costs[side] = evaluator.Evaluate(moved, others);
      }
      // The derivatives of a correlation over neighborhoods are those of the sum over all voxels, not of the mean.
      const bool   isOfSum = gpureg::Describe(kind).HasNeighborhoods();
      const double factor = isOfSum ? static_cast<double>(its.fixed.size()) : 1.0;
      // Slopes jump where voxels pass from cell to cell.
      EXPECT_NEAR(factor * (costs[1] - costs[0]) / (2 * step), expected, 0.015 * std::abs(expected));
      EXPECT_LT(costs[1], costs[0] - 1e-4);
    }
  }
}

TEST_P(FieldForcesTest, AreThoseOfDoublePrecision)
{
  for (const int dimension : { 2, 3 })
  {
    const Case                its(dimension);
    const std::vector<double> field(its.field.begin(), its.field.end());
    for (const SimilarityKind kind : { SimilarityKind::MeanSquares, SimilarityKind::Correlation })
    {
      SCOPED_TRACE(std::string(gpureg::GetName(kind)) + ", " + std::to_string(dimension) + "D");
      Evaluator evaluator(GetParam(), its, kind);
      Floats    forces;
      EXPECT_NEAR(evaluator.Evaluate(its.field, forces), its.ComputeCost(kind, field), 2e-6);
      double largest = 0;
      for (const float force : forces)
      {
        largest = std::max(largest, std::abs(static_cast<double>(force)));
      }
      for (std::size_t k = 1; k < forces.size(); k += forces.size() / 40)
      {
        if (dimension == 2 && k % 3 == 2)
        {
          EXPECT_EQ(forces[k], 0.0F);
          continue;
        }
        constexpr double    step = 1e-4;
        std::vector<double> moved = field;
        moved[k] = field[k] + step;
        const double above = its.ComputeCost(kind, moved);
        moved[k] = field[k] - step;
        EXPECT_NEAR(forces[k], (its.ComputeCost(kind, moved) - above) / (2 * step), 1e-3 * largest) << k;
      }
    }
  }
}

TEST_P(FieldForcesTest, AreThoseOfDemonsInTurnedImages)
{
  for (const int dimension : { 2, 3 })
  {
    SCOPED_TRACE(dimension);
    const Case its(dimension);
    Evaluator  evaluator(GetParam(), its, SimilarityKind::Demons);
    Floats     forces;
    evaluator.Evaluate(its.field, forces);
    double found = 0;
    double product = 0;
    double largest = 0;
    for (std::int64_t n = 0; n < gpureg::CountOf(its.size); ++n)
    {
      const Point expected = its.ComputeDemonsForce(n);
      for (std::size_t c = 0; c < 3; ++c)
      {
        const double force = forces[3 * static_cast<std::size_t>(n) + c];
        found += force * expected[c];
        product += expected[c] * expected[c];
        largest = std::max(largest, std::abs(expected[c]));
      }
    }
    const double factor = found / product;
    ASSERT_GT(factor, 0);
    double error = 0;
    for (std::int64_t n = 0; n < gpureg::CountOf(its.size); ++n)
    {
      const Point expected = its.ComputeDemonsForce(n);
      for (std::size_t c = 0; c < 3; ++c)
      {
        error = std::max(error, std::abs(forces[3 * static_cast<std::size_t>(n) + c] / factor - expected[c]));
      }
    }
    EXPECT_LE(error, 1e-3 * largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldForcesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
