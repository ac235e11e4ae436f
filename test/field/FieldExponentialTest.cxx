// SPDX-License-Identifier: Apache-2.0
// Exponentials of velocities by scaling and squaring: against itk::ExponentialDisplacementFieldImageFilter, and their gradients against
// the definition of a transpose and finite differences, in double precision.
#include "FieldCase.h"

#include "engine/field/Squarings.h"

#include "itkExponentialDisplacementFieldImageFilter.h"

#include <thread>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

/** The fields from velocity/2^squarings to the exponential. */
template <typename TReal>
std::vector<std::vector<TReal>>
Exponentiate(const FieldGrid & grid, const std::vector<TReal> & velocity, int squarings)
{
  std::vector<std::vector<TReal>> fields(squarings + 1, velocity);
  for (TReal & component : fields[0])
  {
    component = std::ldexp(component, -squarings);
  }
  for (int n = 0; n < squarings; ++n)
  {
    ForEachItem(CountFieldVoxels(&grid), [&](std::int64_t item) {
      ComposeFields(&grid, FactorsOfOne, fields[n].data(), fields[n].data(), fields[n + 1].data(), item);
    });
  }
  return fields;
}

enum class Way
{
  Gathers,
  Scatters
};

float
FindLargestMagnitude(const Doubles & field)
{
  float largest = 0;
  ForEachItem(static_cast<std::int64_t>(field.size()),
              [&](std::int64_t item) { largest = std::max(largest, ComputeMagnitude(field.data(), item)); });
  return largest;
}

/** The gradient by a velocity, from that by its exponential. */
Doubles
CarryBack(const FieldGrid & grid, const std::vector<Doubles> & fields, Doubles gradient, Way way)
{
  const std::int64_t         voxels = CountFieldVoxels(&grid);
  const float                units = gpureg::ComputeScatterUnits(voxels);
  std::vector<std::uint64_t> sums(gradient.size());
  for (std::size_t n = fields.size() - 1; n-- > 0;)
  {
    const Doubles & u = fields[n];
    const float     largest = FindLargestMagnitude(gradient);
    Doubles         carried(gradient.size());
    double          longest = 1.0;
    ForEachItem(voxels, [&](std::int64_t item) {
      CarryToInner(&grid, FactorsOfOne, u.data(), u.data(), gradient.data(), carried.data(), item);
      for (int r = 0; r < 3; ++r)
      {
        longest = std::max(longest, std::abs(ToVoxels(&grid, r, &u[3 * item])));
      }
    });
    if (way == Way::Gathers)
    {
      const int radius = static_cast<int>(std::ceil(longest));
      ForEachItem(voxels, [&](std::int64_t item) {
        GatherToOuter(&grid, radius, FactorsOfOne, u.data(), gradient.data(), carried.data(), item);
      });
    }
    else
    {
      ForEachItem(voxels, [&](std::int64_t item) {
        ScatterToOuter(&grid, units, &largest, FactorsOfOne, u.data(), gradient.data(), sums.data(), item);
      });
      ForEachItem(3 * voxels, [&](std::int64_t item) {
        AddScattered(units, &largest, FactorsOfOne, sums.data(), carried.data(), item);
      });
    }
    gradient = carried;
  }
  for (double & component : gradient)
  {
    component = std::ldexp(component, 1 - static_cast<int>(fields.size()));
  }
  return gradient;
}

double
Dot(const Doubles & a, const Doubles & b)
{
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    sum += a[i] * b[i];
  }
  return sum;
}

double
Norm(const Doubles & a)
{
  return std::sqrt(Dot(a, a));
}

Doubles
Plus(const Doubles & a, double factor, const Doubles & b)
{
  Doubles sum = a;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    sum[i] += factor * b[i];
  }
  return sum;
}

/** The derivative of squaring u along v, by its definition: v + ∂u/∂x·v, and v itself interpolated where u leads. */
Doubles
ComputeTangent(const FieldGrid & grid, const Doubles & u, const Doubles & v)
{
  Doubles tangent = v;
  ForEachItem(CountFieldVoxels(&grid), [&](std::int64_t item) {
    int    index[3], cell[3];
    double fraction[3], moved[3], slopes[9], gradient[9];
    FindVoxelIndex(&grid, item, index);
    if (MoveFromVoxel(&grid, index, &u[3 * item], cell, fraction))
    {
      InterpolateFieldAndSlopes(&grid, u.data(), cell, fraction, moved, slopes);
      ComputeFieldGradient(&grid, slopes, gradient);
      InterpolateField(&grid, v.data(), cell, fraction, moved);
      for (int r = 0; r < 3; ++r)
      {
        for (int c = 0; c < 3; ++c)
        {
          tangent[3 * item + r] += gradient[3 * r + c] * v[3 * item + c];
        }
        tangent[3 * item + r] += moved[r];
      }
    }
  });
  return tangent;
}

template <unsigned int VDimension>
void
TestTranspose()
{
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    const FieldGrid & grid = its.forKernels;
    for (const double most : { 0.4, 2.5 })
    {
      const auto draw = [&](double length) {
        const Floats field = its.DrawField(random, length);
        return Doubles(field.begin(), field.end());
      };
      const int     squarings = 3;
      const auto    fields = Exponentiate(grid, draw(most), squarings);
      const Doubles v = draw(1.0), w = draw(1.0);
      Doubles       tangent = v;
      for (int n = 0; n < squarings; ++n)
      {
        tangent = ComputeTangent(grid, fields[n], tangent);
      }
      for (double & component : tangent)
      {
        component = std::ldexp(component, -squarings);
      }
      const double forwards = Dot(tangent, w);
      const double gathered = Dot(v, CarryBack(grid, fields, w, Way::Gathers));
      const double scattered = Dot(v, CarryBack(grid, fields, w, Way::Scatters));
      const double scale = Norm(tangent) * Norm(w) + Norm(v) * Norm(w);
      EXPECT_NEAR(gathered, forwards, 1e-13 * scale);
      // Integers of 39 bits at least: a rounding of 2^-39 for each of 8 corners and 3 squarings, which are not all of one sign.
      EXPECT_NEAR(scattered,
                  forwards,
                  24 * std::ldexp(1.0, -39) * FindLargestMagnitude(w) * Norm(v) * std::sqrt(3.0 * its.voxels));
    }
  });
}

template <unsigned int VDimension>
void
TestAgainstDifferences()
{
  Grid<VDimension>            grid = MakeFieldGrids<VDimension>().front();
  const FieldCase<VDimension> its(grid);
  Random                      random(31);
  const Floats                drawn = its.DrawField(random, 1.5);
  const Floats                along = its.DrawField(random, 1.0);
  const Floats                weights = its.DrawField(random, 1.0);
  const Doubles velocity(drawn.begin(), drawn.end()), v(along.begin(), along.end()), w(weights.begin(), weights.end());
  const int     squarings = 4;
  // Small enough that no place passes a voxel, where the derivative jumps: hardly any does within 1e-7 voxel.
  const double step = 1e-7;
  const auto   find = [&](double s) {
    return Dot(Exponentiate(its.forKernels, Plus(velocity, s, v), squarings).back(), w);
  };
  const double difference = (find(step) - find(-step)) / (2.0 * step);
  const auto   fields = Exponentiate(its.forKernels, velocity, squarings);
  const double derivative = Dot(v, CarryBack(its.forKernels, fields, w, Way::Scatters));
  EXPECT_NEAR(derivative, difference, 1e-7 * Norm(v) * Norm(w));
  EXPECT_GT(std::abs(difference), 1e-4 * Norm(v) * Norm(w));
}

template <unsigned int VDimension>
void
TestExponential()
{
  using ImageType = FieldImage<VDimension>;
  ForEachFieldCase<VDimension>([](const FieldCase<VDimension> & its, Random & random) {
    // ITK's filter continues the edge outside of the grid, where ours, like all of its others, takes 0.
    Floats velocity = its.DrawSmoothField(random, 2.0, 8.0);
    its.FadeTowardsEdge(6.0, velocity);
    const auto filter = itk::ExponentialDisplacementFieldImageFilter<ImageType, ImageType>::New();
    filter->SetInput(its.MakeImage(velocity));
    filter->AutomaticNumberOfIterationsOff();
    for (const unsigned int squarings : { 0U, 1U, 6U })
    {
      filter->SetMaximumNumberOfIterations(squarings);
      filter->Update();
      const Floats exponential = Exponentiate(its.forKernels, velocity, squarings).back();
      // Each squaring doubles what the one before has rounded, and adds its own.
      EXPECT_LE(its.FindLargestDifference(exponential, *filter->GetOutput()), 100 * its.FindRounding(3.0));
    }
  });
}
} // namespace

TEST(FieldExponential, IsITKs2D)
{
  TestExponential<2>();
}

TEST(FieldExponential, IsITKs3D)
{
  TestExponential<3>();
}

TEST(FieldExponential, TakesTheFewestSquarings)
{
  EXPECT_EQ(gpureg::CountSquarings(4.0, 0.5, 10), 3);
  EXPECT_EQ(gpureg::CountSquarings(4.1, 0.5, 10), 4);
  EXPECT_EQ(gpureg::CountSquarings(0.5, 0.5, 10), 0);
  EXPECT_EQ(gpureg::CountSquarings(0.0, 0.5, 10), 0);
  EXPECT_EQ(gpureg::CountSquarings(1e9, 0.5, 10), 10);
  EXPECT_EQ(gpureg::CountSquarings(std::numeric_limits<double>::infinity(), 0.5, 10), 0);
  EXPECT_EQ(gpureg::CountSquarings(std::numeric_limits<double>::quiet_NaN(), 0.5, 10), 0);
}

TEST(FieldAdjoint, IsTheTranspose2D)
{
  TestTranspose<2>();
}

TEST(FieldAdjoint, IsTheTranspose3D)
{
  TestTranspose<3>();
}

TEST(FieldAdjoint, IsTheDerivative2D)
{
  TestAgainstDifferences<2>();
}

TEST(FieldAdjoint, IsTheDerivative3D)
{
  TestAgainstDifferences<3>();
}

TEST(FieldAdjoint, OfFactors)
{
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(3);
  const auto         draw = [&] {
    const Floats field = its.DrawField(random, 0.6);
    return Doubles(field.begin(), field.end());
  };
  const FieldGrid & grid = its.forKernels;
  const float       factors[] = { -0.75F, 1.5F };
  const Doubles     outer = draw(), inner = draw(), w = draw(), ofOuter = draw(), ofInner = draw();
  const double      step = 1e-7;
  const auto        find = [&](double s) {
    const Doubles movedOuter = Plus(outer, s, ofOuter), movedInner = Plus(inner, s, ofInner);
    Doubles       composed(outer.size());
    ForEachItem(its.voxels, [&](std::int64_t item) {
      ComposeFields(&grid, factors, movedOuter.data(), movedInner.data(), composed.data(), item);
    });
    return Dot(composed, w);
  };
  Doubles byInner(outer.size()), byOuter(outer.size());
  ForEachItem(its.voxels, [&](std::int64_t item) {
    CarryToInner(&grid, factors, outer.data(), inner.data(), w.data(), byInner.data(), item);
    GatherToOuter(&grid, 1, factors, inner.data(), w.data(), byOuter.data(), item);
  });
  const double difference = (find(step) - find(-step)) / (2.0 * step);
  EXPECT_NEAR(Dot(byInner, ofInner) + Dot(byOuter, ofOuter), difference, 1e-7 * Norm(w) * Norm(ofInner));
}

TEST(FieldAdjoint, ScattersTheSameBitsInAnyOrder)
{
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(11);
  // Many vectors lead to the same few voxels.
  Floats       inner = its.DrawField(random, 4.0);
  const Floats gradient = its.DrawField(random, 1.0);
  const float  units = gpureg::ComputeScatterUnits(its.voxels);
  const float  largest = *std::max_element(gradient.begin(), gradient.end());
  const auto   scatter = [&](std::vector<std::uint64_t> & sums, std::int64_t item) {
    ScatterToOuter(&its.forKernels, units, &largest, FactorsOfOne, inner.data(), gradient.data(), sums.data(), item);
  };
  std::vector<std::uint64_t> forwards(inner.size()), byThreads(inner.size());
  ForEachItem(its.voxels, [&](std::int64_t item) { scatter(forwards, item); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
  {
    threads.emplace_back([&, t] {
      for (std::int64_t item = its.voxels - 1 - t; item >= 0; item -= 4)
      {
        scatter(byThreads, item);
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(byThreads, forwards);
}

TEST(FieldAdjoint, HasRoomForAllVoxelsInOne)
{
  for (const std::int64_t voxels :
       { std::int64_t{ 1 }, std::int64_t{ 8 } << 20, (std::int64_t{ 8 } << 20) + 1, std::int64_t{ 1 } << 33 })
  {
    const double most = static_cast<double>(gpureg::ComputeScatterUnits(voxels)) * static_cast<double>(voxels);
    EXPECT_LE(most, std::ldexp(1.0, 62)) << voxels;
    EXPECT_GE(gpureg::ComputeScatterUnits(voxels), std::ldexp(1.0F, 29)) << voxels;
  }
}

} // namespace gpuregtest
