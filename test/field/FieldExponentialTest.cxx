// SPDX-License-Identifier: Apache-2.0
// Exponentials of velocities by scaling and squaring, on every device: against itk::ExponentialDisplacementFieldImageFilter, and their
// gradients against the definition of a transpose and finite differences, in double precision.
#include "FieldCase.h"
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include "engine/field/ExponentialAdjoint.h"
#include "engine/field/FieldExponential.h"
#include "engine/field/Squarings.h"

#include "itkExponentialDisplacementFieldImageFilter.h"

#include <limits>
#include <thread>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

class FieldExponentialTest : public DeviceTest
{};

Doubles
Widen(const Floats & field)
{
  return Doubles(field.begin(), field.end());
}

/** Returns the fields from velocity/2^squarings to the exponential, in double precision. */
std::vector<Doubles>
Exponentiate(const FieldGrid & grid, const Doubles & velocity, int squarings)
{
  std::vector<Doubles> fields(squarings + 1, velocity);
  for (double & component : fields[0])
  {
    component = std::ldexp(component, -squarings);
  }
  for (int n = 0; n < squarings; ++n)
  {
    ForEachItem(CountFieldVoxels(&grid),
                [&](std::int64_t item) { SquareField(&grid, 1.0F, fields[n].data(), fields[n + 1].data(), item); });
  }
  return fields;
}

template <typename TReal>
TReal
ComputeLargestMagnitude(const std::vector<TReal> & field)
{
  return std::abs(
    *std::max_element(field.begin(), field.end(), [](TReal a, TReal b) { return std::abs(a) < std::abs(b); }));
}

/** Returns the gradient by a velocity, from that by its exponential, in double precision. fields: what Exponentiate() returns. */
Doubles
CarryBack(const FieldGrid & grid, const std::vector<Doubles> & fields, Doubles gradient)
{
  const std::int64_t         voxels = CountFieldVoxels(&grid);
  const float                units = gpureg::ComputeScatterUnits(voxels);
  std::vector<std::uint64_t> sums(gradient.size());
  for (std::size_t n = fields.size() - 1; n-- > 0;)
  {
    const double * u = fields[n].data();
    const auto     largest = static_cast<float>(ComputeLargestMagnitude(gradient));
    Doubles        carried(gradient.size());
    ForEachItem(voxels, [&](std::int64_t item) {
      CarryToVoxel(&grid, 1.0F, u, gradient.data(), sums.data(), carried.data(), item);
    });
    ForEachItem(voxels, [&](std::int64_t item) {
      ScatterToCorners(&grid, 1.0F, units, &largest, u, gradient.data(), sums.data(), item);
    });
    ForEachItem(3 * voxels, [&](std::int64_t item) {
      AddScattered(1.0F, units, &largest, sums.data(), carried.data(), gradient.data(), item);
    });
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

/** Returns the derivative of squaring u along v, by its definition: v + ∂u/∂x·v, and v itself interpolated where u leads. The slopes of u
 *  are differences of its interpolated vectors. */
Doubles
ComputeTangent(const FieldGrid & grid, const Doubles & u, const Doubles & v)
{
  Doubles tangent = v;
  ForEachItem(CountFieldVoxels(&grid), [&](std::int64_t item) {
    int    index[3], cell[3];
    double fraction[3], moved[3];
    ComputeVoxelIndex(&grid, item, index);
    MoveFromVoxel(&grid, index, &u[3 * item], cell, fraction);
    for (int d = 0; d < 3; ++d)
    {
      // Linear interpolation has this slope all over the cell; the edge has none outside of the grid.
      const double along = ToVoxels(&grid, d, &v[3 * item]);
      int          ends[3] = { cell[0], cell[1], cell[2] };
      double       at[3] = { fraction[0], fraction[1], fraction[2] };
      double       lower[3], upper[3];
      at[d] = 0;
      MoveToEdge(&grid, ends, at);
      InterpolateField(&grid, u.data(), ends, at, lower);
      std::copy_n(cell, 3, ends);
      std::copy_n(fraction, 3, at);
      at[d] = 0;
      ++ends[d];
      MoveToEdge(&grid, ends, at);
      InterpolateField(&grid, u.data(), ends, at, upper);
      for (int r = 0; r < 3; ++r)
      {
        tangent[3 * item + r] += along * (upper[r] - lower[r]);
      }
    }
    MoveToEdge(&grid, cell, fraction);
    InterpolateField(&grid, v.data(), cell, fraction, moved);
    for (int r = 0; r < 3; ++r)
    {
      tangent[3 * item + r] += moved[r];
    }
  });
  return tangent;
}

/** Returns the same, as CarryBack() has it, by the kernels on a device, in double precision. */
Doubles
CarryBackOnDevice(FieldsOnDevice & on, const FieldGrid & grid, const std::vector<Doubles> & fields, Doubles gradient)
{
  using gpureg::Input;
  using gpureg::Output;
  using gpureg::RealNumber;
  const std::int64_t voxels = CountFieldVoxels(&grid);
  const float        units = gpureg::ComputeScatterUnits(voxels);
  const auto         sums = on.Upload(std::vector<u64>(gradient.size(), 12345));
  for (std::size_t n = fields.size() - 1; n-- > 0;)
  {
    const auto u = on.Upload(fields[n]), g = on.Upload(gradient), carried = on.MakeUnwritten<double>(3 * voxels);
    const auto largest = on.Upload(Floats{ static_cast<float>(ComputeLargestMagnitude(gradient)) });
    on.Run<CarryToVoxelKernel, double>(voxels,
                                       grid,
                                       1.0F,
                                       Input<RealNumber>(*u),
                                       Input<RealNumber>(*g),
                                       Output<u64>(*sums),
                                       Output<RealNumber>(*carried));
    on.Run<ScatterToCornersKernel, double>(voxels,
                                           grid,
                                           1.0F,
                                           units,
                                           Input<float>(*largest),
                                           Input<RealNumber>(*u),
                                           Input<RealNumber>(*g),
                                           Output<u64>(*sums));
    gradient = on.Compute<AddScatteredKernel, double>(
      3 * voxels, 3 * voxels, 1.0F, units, Input<float>(*largest), Input<u64>(*sums), Input<RealNumber>(*carried));
  }
  for (double & component : gradient)
  {
    component = std::ldexp(component, 1 - static_cast<int>(fields.size()));
  }
  return gradient;
}

template <unsigned int VDimension>
void
TestTranspose(const std::string & device)
{
  FieldsOnDevice on(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const FieldGrid & grid = its.forKernels;
    for (const double most : { 0.4, 2.5 })
    {
      const int     squarings = 3;
      const auto    fields = Exponentiate(grid, Widen(its.DrawField(random, most)), squarings);
      const Doubles v = Widen(its.DrawField(random, 1.0)), w = Widen(its.DrawField(random, 1.0));
      Doubles       tangent = v;
      for (int n = 0; n < squarings; ++n)
      {
        tangent = ComputeTangent(grid, fields[n], tangent);
      }
      for (double & component : tangent)
      {
        component = std::ldexp(component, -squarings);
      }
      // Integers of 39 bits at least: a rounding of 2^-39 for each of 8 corners and 3 squarings, which are not all of one sign.
      EXPECT_NEAR(Dot(v, CarryBackOnDevice(on, grid, fields, w)),
                  Dot(tangent, w),
                  24 * std::ldexp(1.0, -39) * ComputeLargestMagnitude(w) * Norm(v) * std::sqrt(3.0 * its.voxels));
    }
  });
}

template <unsigned int VDimension>
void
TestAgainstDifferences()
{
  const FieldCase<VDimension> its(MakeFieldGrids<VDimension>().front());
  Random                      random(31);
  const Doubles               velocity = Widen(its.DrawField(random, 1.5));
  const Doubles               v = Widen(its.DrawField(random, 1.0)), w = Widen(its.DrawField(random, 1.0));
  const int                   squarings = 4;
  // Small enough that no place passes a voxel, where the derivative jumps: hardly any does within 1e-7 voxel.
  const double step = 1e-7;
  const auto   find = [&](double s) {
    return Dot(Exponentiate(its.forKernels, Plus(velocity, s, v), squarings).back(), w);
  };
  const double difference = (find(step) - find(-step)) / (2.0 * step);
  const double derivative = Dot(v, CarryBack(its.forKernels, Exponentiate(its.forKernels, velocity, squarings), w));
  EXPECT_NEAR(derivative, difference, 1e-7 * Norm(v) * Norm(w));
  EXPECT_GT(std::abs(difference), 1e-4 * Norm(v) * Norm(w));
}

template <unsigned int VDimension>
void
TestExponential(const std::string & device)
{
  using ImageType = FieldImage<VDimension>;
  DeviceArrays arrays(device);
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    const Floats velocity = its.DrawSmoothField(random, 2.0, 8.0);
    const auto   input = arrays.Upload(velocity), scratch = arrays.Upload(velocity), output = arrays.Upload(velocity);
    const auto   filter = itk::ExponentialDisplacementFieldImageFilter<ImageType, ImageType>::New();
    filter->SetInput(its.MakeImage(velocity));
    filter->AutomaticNumberOfIterationsOff();
    gpureg::FieldExponential exponential(arrays.GetQueue());
    for (const int squarings : { 1, 2, 6 })
    {
      filter->SetMaximumNumberOfIterations(static_cast<unsigned int>(squarings));
      exponential.Set(its.forKernels, 1.0, squarings);
      for (const bool isInverse : { false, true })
      {
        filter->SetComputeInverse(isInverse);
        filter->Update();
        exponential.Enqueue(*input, isInverse, *scratch, *output);
        // Each squaring doubles what the one before has rounded, and adds its own.
        EXPECT_LE(its.ComputeLargestDifference(arrays.template Download<float>(output), *filter->GetOutput()),
                  100 * its.FindRounding(3.0))
          << squarings << ' ' << isInverse;
      }
    }
  });
}

template <unsigned int VDimension>
void
TestGradient(const std::string & device)
{
  DeviceArrays arrays(device);
  DeviceArrays onOneThread(device, 1);
  const auto   run = [&](DeviceArrays &        on,
                       const FieldGrid &     grid,
                       const Floats &        velocity,
                       const Floats &        gradient,
                       bool                  isInverse,
                       std::vector<Floats> & results) {
    const auto                 v = on.Upload(velocity), g = on.Upload(gradient), to = on.Upload(velocity);
    gpureg::ExponentialAdjoint adjoint(on.GetQueue());
    adjoint.Set(grid, 0.5, 4);
    adjoint.Enqueue(*v, isInverse, *to);
    results.push_back(on.template Download<float>(to));
    adjoint.EnqueueGradient(*v, *g, *to);
    results.push_back(on.template Download<float>(to));
  };
  ForEachFieldCase<VDimension>([&](const FieldCase<VDimension> & its, Random & random) {
    for (const bool isInverse : { false, true })
    {
      // Smooth, so that a float's rounding of a place changes what is interpolated there as little as the place.
      const Floats        velocity = its.DrawSmoothField(random, 3.0, 8.0);
      const Floats        gradient = its.DrawField(random, 1.0);
      std::vector<Floats> found, repeated;
      run(arrays, its.forKernels, velocity, gradient, isInverse, found);
      run(onOneThread, its.forKernels, velocity, gradient, isInverse, repeated);
      EXPECT_EQ(found, repeated);
      Doubles half = Widen(velocity);
      for (double & component : half)
      {
        component *= isInverse ? -0.5 : 0.5;
      }
      const auto fields = Exponentiate(its.forKernels, half, 4);
      Doubles    expected = CarryBack(its.forKernels, fields, Widen(gradient));
      for (double & component : expected)
      {
        component *= isInverse ? -0.5 : 0.5;
      }
      gpureg::FieldExponential exponential(arrays.GetQueue());
      const auto v = arrays.Upload(velocity), scratch = arrays.Upload(velocity), to = arrays.Upload(velocity);
      exponential.Set(its.forKernels, 0.5, 4);
      exponential.Enqueue(*v, isInverse, *scratch, *to);
      EXPECT_EQ(found[0], arrays.template Download<float>(to));
      EXPECT_LE(Norm(Plus(Widen(found[1]), -1.0, expected)), 1e-5 * Norm(expected));
    }
  });
}
} // namespace

TEST_P(FieldExponentialTest, IsITKs)
{
  TestExponential<2>(GetParam());
  TestExponential<3>(GetParam());
}

TEST_P(FieldExponentialTest, CarriesGradientsBack)
{
  TestGradient<2>(GetParam());
  TestGradient<3>(GetParam());
}

TEST_P(FieldExponentialTest, CarriesGradientsBackByTheTranspose2D)
{
  TestTranspose<2>(GetParam());
}

TEST_P(FieldExponentialTest, CarriesGradientsBackByTheTranspose3D)
{
  TestTranspose<3>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldExponentialTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

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

TEST(FieldAdjoint, IsTheDerivative2D)
{
  TestAgainstDifferences<2>();
}

TEST(FieldAdjoint, IsTheDerivative3D)
{
  TestAgainstDifferences<3>();
}

TEST(FieldAdjoint, ScattersTheSameBitsInAnyOrder)
{
  const FieldCase<3> its(MakeFieldGrids<3>().back());
  Random             random(11);
  // Many vectors lead to the same few voxels.
  const Floats field = its.DrawField(random, 4.0);
  const Floats gradient = its.DrawField(random, 1.0);
  const float  units = gpureg::ComputeScatterUnits(its.voxels);
  const float  largest = ComputeLargestMagnitude(gradient);
  const auto   scatter = [&](std::vector<u64> & sums, std::int64_t item) {
    ScatterToCorners(&its.forKernels, 1.0F, units, &largest, field.data(), gradient.data(), sums.data(), item);
  };
  std::vector<u64> forwards(field.size()), byThreads(field.size());
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

TEST(FieldAdjoint, HoldsAllVoxelsInOne)
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
