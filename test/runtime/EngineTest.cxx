// SPDX-License-Identifier: Apache-2.0
// Compares the formulas of src/kernels in C++ with their definitions or with ITK, and tests the engine without ITK on every device.
#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/core/Geometry.h"
#include "kernels/metric/samples/Position.h"
#include "kernels/metric/samples/Interpolation.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/metric/samples/ForceSums.h"
#include "kernels/image/InvalidSample.h"
#include "kernels/metric/samples/Samples.h"
#include "kernels/core/Evaluated.h"
#include "kernels/metric/histogram/Histogram.h"
#include "kernels/metric/histogram/MattesSample.h"
#include "kernels/metric/histogram/EntropyTable.h"
#include "engine/runtime/Throttle.h"

#include "BSplineDefinition.h"
#include "TestDevices.h"
#include "TestImages.h"
#include "TestParallelFor.h"

#include "gpureg/metric/histogram/JointDensity.h"
#include "gpureg/metric/histogram/MattesMetric.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

/** Returns an index along an axis in units of 2^-32. */
i64
ToPosition(double index)
{
  return std::llround(std::ldexp(index, 32));
}

/** Returns a filler that copies from an array, which must outlive it. */
template <typename T>
gpureg::Filler
CopyFrom(const std::vector<T> & array, int components = 1)
{
  return [&array, components](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out, array.data() + first * components, static_cast<std::size_t>(count) * components * sizeof(T));
  };
}

class EngineTest : public DeviceTest
{
protected:
  /** Evaluates a metric all of whose samples are inside, and expects the histogram's rows to have the number of samples of each fixed
   *  bin. */
  void
  ExpectCounts(const gpureg::FixedSamples &       fixedSide,
               const gpureg::MovingImage &        movingSide,
               const std::vector<std::uint64_t> & expected)
  {
    const auto           bins = static_cast<int>(expected.size());
    gpureg::MattesMetric engine(GetParam(), bins);
    engine.SetFixedSamples(fixedSide, OneAfterTheOther);
    engine.SetMovingImage(movingSide, OneAfterTheOther);
    const gpureg::MattesResult result =
      engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, true, OneAfterTheOther);
    ASSERT_EQ(result.histogram.size(), static_cast<std::size_t>(bins) * bins);
    for (int row = 0; row < bins; ++row)
    {
      const auto line = result.histogram.begin() + row * bins;
      EXPECT_EQ(static_cast<double>(std::accumulate(line, line + bins, std::uint64_t{ 0 })),
                result.countUnit * static_cast<double>(expected[row]));
    }
  }
};
} // namespace

/** Along an axis of many voxels. */
TEST(BSplineTest, WeightsAreTheRecursion)
{
  Random random(1);
  for (int order = 0; order <= 5; ++order)
  {
    for (int n = 0; n < 500; ++n)
    {
      const double x = n < 21 ? (n - 10) * 0.5 : Uniform(random, -6.0, 60.0);
      float        weights[MaximumSplineOrder + 1];
      int          first = 0;
      EXPECT_EQ(ComputeSplineSupport(order, 100, ToPosition(x), &first, weights), order + 1);
      double sum = 0;
      for (int k = 0; k <= order; ++k)
      {
        EXPECT_NEAR(weights[k], BSpline(order, x - (first + k)), 1e-6) << order << ' ' << x;
        EXPECT_GE(weights[k], 0.0f);
        sum += weights[k];
      }
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
  }
}

TEST(BSplineTest, CubicWeightsAreTheSpline)
{
  for (int n = 0; n <= 1000; ++n)
  {
    const double t = 0.001 * n;
    float        weights[4], slopes[4];
    CubicBSplineWeights(static_cast<float>(t), weights);
    CubicBSplineDerivatives(static_cast<float>(t), slopes);
    double sum = 0, slopeSum = 0;
    for (int k = 0; k < 4; ++k)
    {
      const double x = k - 1 - static_cast<double>(static_cast<float>(t));
      EXPECT_NEAR(weights[k], BSpline(3, x), 1e-6);
      // The third derivative of a cubic spline is at most 3, so the error of the difference is at most h^2/2.
      const double h = 1e-4;
      EXPECT_NEAR(slopes[k], (BSpline(3, x + h) - BSpline(3, x - h)) / (2.0 * h), 1e-6);
      sum += weights[k];
      slopeSum += slopes[k];
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
    EXPECT_NEAR(slopeSum, 0.0, 1e-6);
  }
}

TEST(ParzenTest, FixedPointWeightsSumToOne)
{
  for (const int bits : { 18, 20, 22 })
  {
    const u32 one = u32{ 1 } << bits;
    for (int n = 0; n <= 20000; ++n)
    {
      const float t = static_cast<float>(n) / 20000.0f;
      u32         weights[4];
      FixedPointParzenWeights(t, static_cast<float>(one), weights);
      EXPECT_EQ(weights[0] + weights[1] + weights[2] + weights[3], one);
      for (int k = 0; k < 4; ++k)
      {
        EXPECT_NEAR(weights[k], one * BSpline(3, k - 1 - static_cast<double>(t)), 2.0 + 1e-7 * one);
      }
    }
  }
}

TEST(ParzenTest, FirstBinAndFraction)
{
  for (const int bins : { 5, 6, 50 })
  {
    const float end = static_cast<float>(bins - 2 * HistogramPadding);
    for (float u = 0.0f; u <= end; u += 0.125f)
    {
      float     t;
      const int first = FirstParzenBin(end - 1.0f, u, &t);
      EXPECT_GE(first, 1);
      EXPECT_LE(first + 3, bins - 1);
      EXPECT_GE(t, 0.0f);
      EXPECT_LE(t, 1.0f);
      // The second bin of the window and the fraction give the value back.
      EXPECT_EQ(static_cast<float>(first + 1 - HistogramPadding) + t, u);
    }
  }
}

TEST(TableTest, IsTheDerivativeOfTheDensity)
{
  constexpr std::size_t bins = 9;
  Random                random(2);
  std::vector<double>   counts(bins * bins);
  for (double & count : counts)
  {
    count = std::floor(Uniform(random, 1.0, 5000.0));
  }
  const gpureg::JointDensity density(counts, bins);
  double                     total = 0, marginals = 0, joint = 0, direct = 0;
  std::vector<double>        f(bins, 0.0), m(bins, 0.0);
  for (const double count : counts)
  {
    total += count;
  }
  EXPECT_EQ(density.GetCountSum(), total);
  for (std::size_t cell = 0; cell < bins * bins; ++cell)
  {
    f[cell / bins] += counts[cell] / total;
    m[cell % bins] += counts[cell] / total;
    joint -= counts[cell] / total * std::log(counts[cell] / total);
  }
  for (std::size_t bin = 0; bin < bins; ++bin)
  {
    marginals -= f[bin] * std::log(f[bin]) + m[bin] * std::log(m[bin]);
    EXPECT_NEAR(density.GetFixedMarginal()[bin], f[bin], 1e-14);
    EXPECT_NEAR(density.GetMovingMarginal()[bin], m[bin], 1e-14);
  }
  for (std::size_t cell = 0; cell < bins * bins; ++cell)
  {
    const double p = counts[cell] / total;
    EXPECT_NEAR(density.GetJoint()[cell], p, 1e-15);
    direct += p * std::log(p / (f[cell / bins] * m[cell % bins]));
  }
  EXPECT_NEAR(density.GetMutualInformation(), direct, 1e-12);
  EXPECT_NEAR(density.GetMutualInformation(), marginals - joint, 1e-12);
  EXPECT_NEAR(density.GetNormalizedMutualInformation(), marginals / joint, 1e-12);

  for (const bool normalized : { false, true })
  {
    const std::vector<double> table = density.GetDerivativeTable(normalized);
    for (std::size_t cell = 0; cell < bins * bins; ++cell)
    {
      const float entry = TableEntry(normalized,
                                     static_cast<float>(counts[cell] / total),
                                     static_cast<float>(m[cell % bins]),
                                     static_cast<float>(1.0 / total),
                                     static_cast<float>(marginals / joint),
                                     static_cast<float>(1.0 / joint));
      EXPECT_NEAR(entry, table[cell], 2e-6 * std::max(1.0, std::abs(table[cell])));
    }
    // If a little density moves from one moving bin to another of the same fixed bin, the similarity changes, to first order, by that
    // density times the difference of the two entries.
    const auto similarity = [&](double moved) {
      std::vector<double> changed(counts);
      changed[3 * bins + 2] += moved * total;
      changed[3 * bins + 6] -= moved * total;
      const gpureg::JointDensity there(changed, bins);
      return normalized ? there.GetNormalizedMutualInformation() : there.GetMutualInformation();
    };
    const double step = 1e-6;
    EXPECT_NEAR((similarity(step) - similarity(-step)) / (2.0 * step), table[3 * bins + 2] - table[3 * bins + 6], 1e-5);
  }
}

TEST(TableTest, EmptyBinsHaveNoWeightAndNoNaN)
{
  std::vector<double> counts(36, 0.0);
  counts[7] = 10.0;
  counts[14] = 30.0;
  const gpureg::JointDensity density(counts, 6);
  const double               entropy = -(0.25 * std::log(0.25) + 0.75 * std::log(0.75));
  EXPECT_NEAR(density.GetMutualInformation(), entropy, 1e-14);
  EXPECT_NEAR(density.GetNormalizedMutualInformation(), 2.0, 1e-14);
  for (const bool normalized : { false, true })
  {
    for (const double entry : density.GetDerivativeTable(normalized))
    {
      EXPECT_TRUE(std::isfinite(entry));
    }
    EXPECT_TRUE(std::isfinite(TableEntry(normalized, 0.0f, 0.0f, 1e-9f, 1.3f, 0.4f)));
    EXPECT_TRUE(std::isfinite(TableEntry(normalized, 0.0f, 0.5f, 1e-9f, 1.3f, 0.4f)));
  }
}

TEST(GeometryTest, OffsetsBeyondTwoToThe31)
{
  const VolumeShape shape = MakeVolumeShape(2000, 2000, 2000);
  EXPECT_EQ(VoxelOffset(&shape, 1999, 1999, 1999), i64{ 7999999999 });
  EXPECT_EQ(VoxelOffset(&shape, 0, 0, 1000), i64{ 4000000000 });
  EXPECT_EQ(VoxelOffset(&shape, 7, 3, 0), i64{ 6007 });
}

TEST(GeometryTest, BufferIsHalfOpenAsItks)
{
  const VolumeShape shape = MakeVolumeShape(4, 5, 1);
  const double      unit = std::ldexp(1.0, -32);
  const auto        isInside = [&](double x, double y, double z) {
    const i64 position[] = { ToPosition(x), ToPosition(y), ToPosition(z) };
    return IsPositionInside(&shape, position) != 0;
  };
  EXPECT_TRUE(isInside(-0.5, -0.5, -0.5));
  EXPECT_FALSE(isInside(-0.5 - unit, 0.0, 0.0));
  EXPECT_TRUE(isInside(3.5 - unit, 4.4, 0.4));
  EXPECT_FALSE(isInside(3.5, 0.0, 0.0));
  EXPECT_FALSE(isInside(0.0, 4.5, 0.0));
  EXPECT_FALSE(isInside(0.0, 0.0, 0.5));
  EXPECT_FALSE(isInside(0.0, 1e9, 0.0));
  EXPECT_FALSE(isInside(-1e9, 0.0, 0.0));
}

/** Each of ITK's interpolators, inside, on the border and in the half voxel outside of it. */
TEST(InterpolationTest, IsItks)
{
  using ImageType = itk::Image<float, 3>;
  for (const unsigned int depth : { 1u, 2u, 7u })
  {
    Grid<3> grid;
    grid.size[0] = 11;
    grid.size[1] = 8;
    grid.size[2] = depth;
    Random               random(3);
    const SmoothFunction texture(random, 4.0, 12.0);
    const auto           image =
      MakeImage<ImageType>(grid, [&](const ImageType::PointType & p) { return texture(p - ImageType::PointType()); });
    const VolumeShape shape = MakeVolumeShape(11, 8, static_cast<int>(depth));
    const auto        linear = itk::LinearInterpolateImageFunction<ImageType, double>::New();
    const auto        nearest = itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New();
    linear->SetInputImage(image);
    nearest->SetInputImage(image);
    const float * const values = image->GetBufferPointer();

    std::vector<float4> packed(image->GetBufferedRegion().GetNumberOfPixels());
    for (std::size_t n = 0; n < packed.size(); ++n)
    {
      packed[n] = MakeFloat4(1.0f, -values[n], 2.0f * values[n], values[n]);
    }
    std::vector<itk::ContinuousIndex<double, 3>> indices;
    for (int n = 0; n < 600; ++n)
    {
      itk::ContinuousIndex<double, 3> index;
      for (unsigned int d = 0; d < 3; ++d)
      {
        const double last = static_cast<double>(grid.size[d]) - 1.0;
        const double special[] = { -0.5, 0.0, last, std::max(0.0, last - 1.0), last + 0.499 };
        index[d] = n % 3 == 0 ? special[(n / 3 + 2 * d) % 5] : static_cast<float>(Uniform(random, -0.5, last + 0.4999));
      }
      indices.push_back(index);
    }
    for (const auto & index : indices)
    {
      const i64 at[] = { ToPosition(index[0]), ToPosition(index[1]), ToPosition(index[2]) };
      ASSERT_TRUE(IsPositionInside(&shape, at));
      const float value = InterpolateLinear(values, &shape, at);
      EXPECT_NEAR(value, linear->EvaluateAtContinuousIndex(index), 2e-6) << index;
      const float4 both = InterpolateLinear4(packed.data(), &shape, at);
      EXPECT_EQ(both.w, value);
      EXPECT_NEAR(both.x, 1.0f, 1e-6);
      EXPECT_NEAR(both.y, -value, 1e-6);
      EXPECT_NEAR(both.z, 2.0f * value, 2e-6);
      EXPECT_EQ(InterpolateBSpline(values, &shape, 0, at),
                static_cast<float>(nearest->EvaluateAtContinuousIndex(index)))
        << index;
    }
    // ITK mirrors once at each end, which is not enough for an axis of two voxels: it reads outside of the buffer.
    for (unsigned int order = 2; depth != 2 && order <= 5; ++order)
    {
      const auto spline = itk::BSplineInterpolateImageFunction<ImageType, double, double>::New();
      spline->SetSplineOrder(order);
      spline->SetInputImage(image);
      using FilterType = itk::BSplineDecompositionImageFilter<ImageType, itk::Image<double, 3>>;
      const auto filter = FilterType::New();
      filter->SetSplineOrder(order);
      filter->SetInput(image);
      filter->Update();
      const double * const     exact = filter->GetOutput()->GetBufferPointer();
      const std::vector<float> coefficients(exact, exact + packed.size());
      for (const auto & index : indices)
      {
        const i64 at[] = { ToPosition(index[0]), ToPosition(index[1]), ToPosition(index[2]) };
        EXPECT_NEAR(InterpolateBSpline(coefficients.data(), &shape, static_cast<int>(order), at),
                    spline->EvaluateAtContinuousIndex(index),
                    2e-5)
          << order << ' ' << index << " depth " << depth;
      }
    }
  }
}

TEST(ThrottleTest, ABatchTakesItsTimeOrHasMostSteps)
{
  EXPECT_EQ(gpureg::Throttle::CountBatchSteps(0), gpureg::Throttle::MostSteps);
  EXPECT_EQ(gpureg::Throttle::CountBatchSteps(0.1), gpureg::Throttle::MostSteps);
  EXPECT_EQ(gpureg::Throttle::CountBatchSteps(3), 6);
  EXPECT_EQ(gpureg::Throttle::CountBatchSteps(20), 1);
  EXPECT_EQ(gpureg::Throttle::CountBatchSteps(5000), 1);
}

/** Each sample is counted once, however a domain is divided: the rows of the histogram show it. */
TEST_P(EngineTest, CountsEachSampleOnce)
{
  const gpureg::Size sizes[] = { { 1, 1, 1 },  { 33, 9, 5 },  { 200, 1, 1 }, { 1, 200, 1 }, { 1, 1, 300 },
                                 { 31, 8, 3 }, { 64, 16, 2 }, { 70, 71, 1 }, { 40, 45, 50 } };
  for (const gpureg::Size & size : sizes)
  {
    for (const int bins : { 5, 20, 64, 130 })
    {
      SCOPED_TRACE(::testing::Message() << size[0] << 'x' << size[1] << 'x' << size[2] << ", " << bins << " bins");
      const auto                 count = static_cast<std::size_t>(size[0]) * size[1] * size[2];
      std::vector<std::uint16_t> fixedBins(count);
      std::vector<std::uint64_t> expected(bins, 0);
      for (std::size_t n = 0; n < count; ++n)
      {
        const bool valid = n % 7 != 3;
        const auto bin = static_cast<std::uint16_t>((n * 31 + n / 64) % bins);
        fixedBins[n] = valid ? bin : 0xFFFF;
        expected[bin] += valid;
      }
      Random             random(4);
      std::vector<float> values(count);
      for (float & value : values)
      {
        value = static_cast<float>(Uniform(random, 0.0, bins - 4.0));
      }
      gpureg::FixedSamples fixedSide;
      fixedSide.virtualSize = size;
      fixedSide.bins = CopyFrom(fixedBins);
      gpureg::MovingImage movingSide;
      movingSide.size = size;
      movingSide.values = CopyFrom(values);
      ExpectCounts(fixedSide, movingSide, expected);
    }
  }
}

TEST_P(EngineTest, CountsEachPointOnce)
{
  for (const std::size_t count : { 1u, 255u, 256u, 257u, 5000u, 40000u })
  {
    constexpr int              bins = 20;
    Random                     random(5);
    std::vector<std::uint16_t> fixedBins(count);
    std::vector<double>        points(3 * count);
    for (std::size_t n = 0; n < count; ++n)
    {
      fixedBins[n] = static_cast<std::uint16_t>(n % bins);
      for (unsigned int d = 0; d < 3; ++d)
      {
        points[3 * n + d] = Uniform(random, 0.0, 9.0);
      }
    }
    const std::vector<double> values(1000, 3.25);
    gpureg::FixedSamples      fixedSide;
    fixedSide.virtualSize = { 10, 10, 10 };
    fixedSide.pointCount = static_cast<std::int64_t>(count);
    fixedSide.bins = CopyFrom(fixedBins);
    fixedSide.points = CopyFrom(points, 3);
    gpureg::MovingImage movingSide;
    movingSide.precision = gpureg::Precision::Double;
    movingSide.scale.range = 16;
    movingSide.scale.largest = 16;
    movingSide.size = { 10, 10, 10 };
    movingSide.values = CopyFrom(values);
    std::vector<std::uint64_t> expected(bins, 0);
    for (const std::uint16_t bin : fixedBins)
    {
      ++expected[bin];
    }
    ExpectCounts(fixedSide, movingSide, expected);
  }
}

TEST_P(EngineTest, SidesThatAreMissing)
{
  gpureg::MattesMetric engine(GetParam(), 20);
  EXPECT_EQ(engine.GetDeviceName(), GetParam());
  EXPECT_EQ(engine.GetNumberOfBins(), 20);
  EXPECT_THROW(engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, true, OneAfterTheOther), gpureg::Error);
  EXPECT_THROW(gpureg::MattesMetric(GetParam(), 4), gpureg::Error);
  EXPECT_THROW(gpureg::MattesMetric(GetParam(), 65535), gpureg::Error);
  EXPECT_THROW(gpureg::MattesMetric("abacus:0", 20), gpureg::Error);
}

/** Once the images are on the device, an evaluation allocates nothing, and needs one download and a handful of launches. */
TEST_P(EngineTest, EvaluationsAllocateNothing)
{
  constexpr int                    bins = 32;
  const std::size_t                count = 50 * 40 * 30;
  const std::vector<std::uint16_t> fixedBins(count, 7);
  std::vector<float>               values(count);
  for (std::size_t n = 0; n < count; ++n)
  {
    values[n] = static_cast<float>(n % 28);
  }
  gpureg::FixedSamples fixedSide;
  fixedSide.virtualSize = { 50, 40, 30 };
  fixedSide.bins = CopyFrom(fixedBins);
  gpureg::MovingImage movingSide;
  movingSide.size = fixedSide.virtualSize;
  movingSide.values = CopyFrom(values);
  movingSide.inverseSpacing = { 1.0, 1.0, 1.0 };
  movingSide.differenceStep = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
  gpureg::MattesMetric engine(GetParam(), bins);
  engine.SetFixedSamples(fixedSide, OneAfterTheOther);
  engine.SetMovingImage(movingSide, OneAfterTheOther);
  const gpureg::SampleMapping mapping;
  engine.Evaluate(mapping, gpureg::Forces::Summed, true, OneAfterTheOther);
  engine.Evaluate(mapping, gpureg::Forces::Summed, true, OneAfterTheOther);
  const gpureg::EvaluationStatistics statistics = engine.GetStatistics();
  EXPECT_EQ(statistics.allocations, 0);
  EXPECT_LE(statistics.copiesUp, 1);
  EXPECT_LE(statistics.copiesDown, 1);
  EXPECT_LE(statistics.synchronizations, 1);
  EXPECT_GE(statistics.launches, 1);
  EXPECT_LE(statistics.launches, 5);
  EXPECT_GT(statistics.deviceBytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
