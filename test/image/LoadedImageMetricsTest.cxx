// SPDX-License-Identifier: Apache-2.0
// Tests that metrics store the same numbers of images that are loaded on a device as of the host's images, to the bit, on every device.
#include "LoadedImageCase.h"

#include "GPURegistrationDetail/filter/itkGPUGaussianWeights.h"
#include "GPURegistrationDetail/metric/itkGPUBinEdges.h"

#include "gpureg/core/Error.h"
#include "gpureg/metric/histogram/JointHistogramMetric.h"
#include "gpureg/metric/histogram/MattesMetric.h"
#include "gpureg/metric/histogram/PartialVolumeMetric.h"
#include "gpureg/metric/pairs/PairMetric.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using itk::GPURegistrationDetail::ComputeBinBetween;
using itk::GPURegistrationDetail::ComputeBinEdges;

/** The positions of samples in an image of 21 x 18 x 11 voxels. */
struct Placement
{
  const char *     name;
  gpureg::Size     size;
  gpureg::IndexMap toImage;
  bool             isOneGrid = false;
};

std::vector<Placement>
MakePlacements()
{
  const gpureg::IndexMap same;
  gpureg::IndexMap       shrunk;
  shrunk.matrix = { 2, 0, 0, 0, 2, 0, 0, 0, 2 };
  shrunk.offset = { 0.5, 0.5, 0.5 };
  gpureg::IndexMap shifted;
  shifted.offset = { -3.25, 4.5, -0.5 };
  gpureg::IndexMap swapped;
  swapped.matrix = { 0, 1, 0, -1, 0, 0, 0, 0, 0.5 };
  swapped.offset = { 0.75, 17.0, 0 };
  gpureg::IndexMap turned;
  turned.matrix = { 0.95, -0.29, 0.01, 0.3, 0.94, -0.02, 1.0 / 300, 0.03, 1.0 / 3 };
  // No sample lies on the edge, where the last digit decides.
  turned.offset = { 2.1234567, -1.7654321, 0.7071068 };
  return { { "one grid", ImageSize, same, true },       { "the same by its map", ImageSize, same },
           { "shrunk", { 10, 9, 5 }, shrunk },          { "beyond the edges", ImageSize, shifted },
           { "axes swapped", { 18, 20, 21 }, swapped }, { "turned", { 24, 21, 30 }, turned } };
}

/** Computes the value of sample n as itk::LinearInterpolateImageFunction does; returns false outside. */
bool
ComputeValue(const Placement & place, const std::vector<float> & values, std::int64_t n, float & value)
{
  const double x[3] = { static_cast<double>(n % place.size[0]),
                        static_cast<double>(n / place.size[0] % place.size[1]),
                        static_cast<double>(n / place.size[0] / place.size[1]) };
  int          cell[3];
  int          next[3];
  double       fraction[3];
  for (int r = 0; r < 3; ++r)
  {
    const double * const row = place.toImage.matrix.data() + 3 * r;
    const double         index = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + place.toImage.offset[r];
    if (!(index >= -0.5 && index < ImageSize[r] - 0.5))
    {
      return false;
    }
    const double within = std::clamp(index, 0.0, ImageSize[r] - 1.0);
    cell[r] = static_cast<int>(within);
    next[r] = std::min(cell[r] + 1, ImageSize[r] - 1);
    fraction[r] = within - cell[r];
  }
  const auto at = [&](int corner) {
    const int ix = corner & 1 ? next[0] : cell[0];
    const int iy = corner & 2 ? next[1] : cell[1];
    const int iz = corner & 4 ? next[2] : cell[2];
    return static_cast<double>(values[(static_cast<std::size_t>(iz) * ImageSize[1] + iy) * ImageSize[0] + ix]);
  };
  const auto between = [](double a, double b, double t) { return a + (b - a) * t; };
  double     planes[2];
  for (int z = 0; z < 2; ++z)
  {
    planes[z] = between(between(at(4 * z), at(4 * z + 1), fraction[0]),
                        between(at(4 * z + 2), at(4 * z + 3), fraction[0]),
                        fraction[1]);
  }
  value = static_cast<float>(between(planes[0], planes[1], fraction[2]));
  return true;
}

/** Returns the stored number of each sample: ofValue(its value), or invalid. */
template <typename T, typename TOfValue>
std::vector<T>
StoreEach(const Placement & place, const std::vector<float> & values, T invalid, const TOfValue & ofValue)
{
  std::vector<T> kept(static_cast<std::size_t>(gpureg::CountOf(place.size)), invalid);
  for (std::size_t n = 0; n < kept.size(); ++n)
  {
    float value = 0;
    if (ComputeValue(place, values, static_cast<std::int64_t>(n), value))
    {
      kept[n] = static_cast<T>(ofValue(value));
    }
  }
  return kept;
}

class LoadedImageMetricsTest : public LoadedImageCase
{
protected:
  gpureg::FixedSamples
  MakeSampled(const gpureg::LoadedImage & image, const Placement & place)
  {
    gpureg::SampledImage sampled;
    sampled.image = &image;
    sampled.size = ImageSize;
    sampled.isOneGrid = place.isOneGrid;
    sampled.toImage = place.toImage;
    gpureg::FixedSamples side;
    side.virtualSize = place.size;
    side.sampled = sampled;
    return side;
  }

  /** Returns a moving image of the samples' size, whose scaled values lie between 0 and end. */
  static gpureg::MovingImage
  MakeMoving(const gpureg::Size & size, std::vector<float> & values, double end)
  {
    Random random(9);
    values.resize(static_cast<std::size_t>(gpureg::CountOf(size)));
    for (float & value : values)
    {
      value = static_cast<float>(Uniform(random, 0.0, end));
    }
    gpureg::MovingImage moving;
    moving.size = size;
    moving.values = CopyFrom(values);
    moving.inverseSpacing = { 1, 1, 1 };
    moving.differenceStep = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
    return moving;
  }

  template <typename TEngine>
  static void
  Set(TEngine & engine, const gpureg::FixedSamples & fixed, const gpureg::MovingImage & moving)
  {
    engine.SetFixedSamples(fixed, OneAfterTheOther);
    engine.SetMovingImage(moving, OneAfterTheOther);
  }
};
} // namespace

TEST_P(LoadedImageMetricsTest, MetricsTakeBinsAsTheHostGivesThem)
{
  constexpr int bins = 30;
  for (const Placement & place : MakePlacements())
  {
    SCOPED_TRACE(place.name);
    for (const double offset : { 0.0, 1e5, -3.0 })
    {
      const auto          values = MakeValues<float>(ImageSize, offset, 11);
      const auto          binOf = [&](float value) { return ComputeBinBetween(value, offset, offset + 100.0, bins); };
      const auto          kept = StoreEach<std::uint16_t>(place, values, 0xFFFF, binOf);
      gpureg::LoadedImage image(GetParam());
      Load(image, values);
      gpureg::FixedSamples given;
      given.virtualSize = place.size;
      given.bins = CopyFrom(kept);
      gpureg::FixedSamples taken = this->MakeSampled(image, place);
      taken.sampled->bins = ComputeBinEdges(values.front(), values.back(), binOf);
      std::vector<float>   movingValues;
      const auto           moving = MakeMoving(place.size, movingValues, bins - 4.0);
      gpureg::MattesMetric engine(GetParam(), bins);
      Set(engine, given, moving);
      const auto expected = engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, true, OneAfterTheOther);
      Set(engine, taken, moving);
      const auto found = engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, true, OneAfterTheOther);
      EXPECT_EQ(found.histogram, expected.histogram);
      EXPECT_EQ(found.forceSums, expected.forceSums);
      EXPECT_GT(std::accumulate(found.histogram.begin(), found.histogram.end(), std::uint64_t{ 0 }), 0u);
    }
  }
}

TEST_P(LoadedImageMetricsTest, MetricsTakeValuesAsTheHostGivesThem)
{
  for (const Placement & place : MakePlacements())
  {
    SCOPED_TRACE(place.name);
    for (const bool isDouble : { false, true })
    {
      const double offset = 1e4;
      const auto   values = MakeValues<float>(ImageSize, offset, 12);
      const auto   scaled = StoreEach<float>(place, values, static_cast<float>(gpureg::NoFixedValue), [=](float v) {
        return (v - offset) / 100.0;
      });
      const auto   above = StoreEach<double>(place, values, gpureg::NoFixedValue, [=](float v) { return v - offset; });
      gpureg::LoadedImage image(GetParam());
      Load(image, values);
      gpureg::FixedSamples given;
      given.virtualSize = place.size;
      gpureg::FixedSamples taken = this->MakeSampled(image, place);
      taken.sampled->wantsValues = true;
      taken.sampled->minimum = offset;
      taken.sampled->unit = 100.0;
      std::vector<float>        movingValues;
      auto                      moving = MakeMoving(place.size, movingValues, 1.0);
      const std::vector<double> movingAbove(movingValues.begin(), movingValues.end());
      given.values = CopyFrom(scaled);
      if (isDouble)
      {
        given.values = CopyFrom(above);
        moving.values = CopyFrom(movingAbove);
        given.precision = taken.precision = moving.precision = gpureg::Precision::Double;
        given.scale.minimum = taken.scale.minimum = moving.scale.minimum = offset;
        given.scale.range = given.scale.largest = taken.scale.range = taken.scale.largest = 100.0;
        moving.scale.range = moving.scale.largest = moving.unit = 100.0;
      }
      gpureg::PairMetric engine(GetParam(), gpureg::PairMeasure::MeanSquares);
      Set(engine, given, moving);
      const auto expected = engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, OneAfterTheOther);
      Set(engine, taken, moving);
      const auto found = engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, OneAfterTheOther);
      EXPECT_GT(expected.count, 0);
      EXPECT_GT(expected.differences, 0);
      EXPECT_EQ(found.count, expected.count);
      EXPECT_EQ(found.differences, expected.differences);
      EXPECT_EQ(found.forceSums, expected.forceSums);
    }
  }
}

TEST_P(LoadedImageMetricsTest, MetricsTakePlacesAsTheHostGivesThem)
{
  constexpr int    bins = 20;
  constexpr double unit = 100.0 / (bins - 5);
  for (const Placement & place : MakePlacements())
  {
    SCOPED_TRACE(place.name);
    const auto values = MakeValues<float>(ImageSize, 0.0, 13);
    const auto binOf = [](float v) { return static_cast<int>(std::floor(v / unit + 2.5)); };
    const auto keptBins = StoreEach<std::uint16_t>(place, values, 0xFFFF, binOf);
    const auto keptPlaces = StoreEach<float>(place, values, static_cast<float>(gpureg::NoFixedValue), [&](float v) {
      return v / unit + 2.0 - binOf(v);
    });
    gpureg::LoadedImage image(GetParam());
    Load(image, values);
    gpureg::FixedSamples given;
    given.virtualSize = place.size;
    given.bins = CopyFrom(keptBins);
    given.values = CopyFrom(keptPlaces);
    given.scale.range = given.scale.largest = bins - 5;
    gpureg::FixedSamples taken = this->MakeSampled(image, place);
    taken.scale = given.scale;
    taken.sampled->bins = ComputeBinEdges(values.front(), values.back(), binOf);
    taken.sampled->wantsValues = true;
    taken.sampled->unit = unit;
    taken.sampled->placeOfMinimum = 2.0;
    std::vector<float>            movingValues;
    auto                          moving = MakeMoving(place.size, movingValues, bins - 5.0);
    gpureg::JointHistogramOptions options;
    options.tiesGoDown.assign(bins, false);
    moving.scale.range = moving.scale.largest = bins - 5;
    gpureg::JointHistogramMetric engine(GetParam(), bins);
    Set(engine, given, moving);
    const auto expected = engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, options, OneAfterTheOther);
    Set(engine, taken, moving);
    const auto found = engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, options, OneAfterTheOther);
    EXPECT_GT(expected.count, 0u);
    EXPECT_EQ(found.histogram, expected.histogram);
    EXPECT_EQ(found.forceSums, expected.forceSums);
  }
}

/** Floats and doubles, scaled and as integers, with each interpolation. */
TEST_P(LoadedImageMetricsTest, MetricsReadAMovingImageAsTheHostGivesIt)
{
  const auto check = [this](const auto & values) {
    using Real = std::decay_t<decltype(values.front())>;
    const double               offset = values.front();
    const auto                 count = values.size();
    std::vector<std::uint16_t> bins(count);
    std::vector<float>         scaled(count);
    std::vector<double>        above(count);
    for (std::size_t n = 0; n < count; ++n)
    {
      bins[n] = static_cast<std::uint16_t>(n % 20);
      above[n] = static_cast<double>(values[n]) - offset;
      scaled[n] = static_cast<float>(above[n] / 6.25);
    }
    gpureg::LoadedImage image(GetParam());
    Load(image, values);
    gpureg::FixedSamples fixed;
    fixed.virtualSize = ImageSize;
    fixed.bins = CopyFrom(bins);
    gpureg::SampleMapping mapping;
    mapping.toMoving.matrix = { 0.9, 0.1, 0, -0.1, 0.9, 0, 0, 0, 1 };
    for (const int order : { 0, 1 })
    {
      for (const bool isDouble : { false, true })
      {
        gpureg::MovingImage given;
        given.size = ImageSize;
        given.splineOrder = order;
        given.unit = 6.25;
        given.scale.minimum = offset;
        given.scale.range = given.scale.largest = 100.0;
        given.scale.roundsToFloat = sizeof(Real) == sizeof(float);
        given.inverseSpacing = { 1, 1, 1 };
        given.differenceStep = { 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 };
        fixed.precision = given.precision = isDouble ? gpureg::Precision::Double : gpureg::Precision::Single;
        gpureg::MovingImage taken = given;
        given.values = isDouble ? CopyFrom(above) : CopyFrom(scaled);
        taken.image = &image;
        gpureg::MattesMetric engine(GetParam(), 20);
        Set(engine, fixed, given);
        const auto expected = engine.Evaluate(mapping, gpureg::Forces::Summed, true, OneAfterTheOther);
        Set(engine, fixed, taken);
        const auto found = engine.Evaluate(mapping, gpureg::Forces::Summed, true, OneAfterTheOther);
        EXPECT_EQ(found.histogram, expected.histogram);
        EXPECT_EQ(found.forceSums, expected.forceSums);
      }
    }
  };
  check(MakeValues<float>(ImageSize, 1000.0, 14));
  check(MakeValues<double>(ImageSize, -1e9, 14));
}

/** Mask bytes other than 1 are inside, too. */
TEST_P(LoadedImageMetricsTest, MetricsLeaveOutWhatIsOutside)
{
  constexpr int bins = 30;
  for (const Placement & place : MakePlacements())
  {
    SCOPED_TRACE(place.name);
    const auto                values = MakeValues<float>(ImageSize, 0.0, 21);
    const auto                binOf = [](float value) { return ComputeBinBetween(value, 0.0, 100.0, bins); };
    auto                      keptBins = StoreEach<std::uint16_t>(place, values, 0xFFFF, binOf);
    const auto                none = static_cast<float>(gpureg::NoFixedValue);
    auto                      keptValues = StoreEach<float>(place, values, none, [](float v) { return v / 100.0; });
    std::vector<std::uint8_t> inside(keptBins.size());
    for (std::size_t n = 0; n < inside.size(); ++n)
    {
      inside[n] = static_cast<std::uint8_t>(n % 7 < 3 ? 0 : 50 * (n % 7 - 2));
      if (inside[n] == 0)
      {
        keptBins[n] = 0xFFFF;
        keptValues[n] = none;
      }
    }
    gpureg::LoadedImage image(GetParam());
    Load(image, values);
    gpureg::FixedSamples given;
    given.virtualSize = place.size;
    given.bins = CopyFrom(keptBins);
    gpureg::FixedSamples taken = this->MakeSampled(image, place);
    taken.sampled->inside = CopyFrom(inside);
    taken.sampled->bins = ComputeBinEdges(values.front(), values.back(), binOf);
    std::vector<float>   movingValues;
    auto                 moving = MakeMoving(place.size, movingValues, bins - 4.0);
    gpureg::MattesMetric mattes(GetParam(), bins);
    Set(mattes, given, moving);
    const auto histogram =
      mattes.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, true, OneAfterTheOther).histogram;
    Set(mattes, taken, moving);
    EXPECT_EQ(mattes.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, true, OneAfterTheOther).histogram,
              histogram);

    given.bins = {};
    given.values = CopyFrom(keptValues);
    taken.sampled->bins.reset();
    taken.sampled->wantsValues = true;
    taken.sampled->unit = 100.0;
    moving = MakeMoving(place.size, movingValues, 1.0);
    gpureg::PairMetric squares(GetParam(), gpureg::PairMeasure::MeanSquares);
    Set(squares, given, moving);
    const auto expected = squares.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, OneAfterTheOther);
    Set(squares, taken, moving);
    const auto found = squares.Evaluate(gpureg::SampleMapping(), gpureg::Forces::None, OneAfterTheOther);
    EXPECT_GT(found.count, 0);
    EXPECT_LE(found.count, static_cast<double>(inside.size() - inside.size() / 3));
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(found.differences, expected.differences);
  }
}

/** For an image that is fixed first and then moving, (f - m)·∇ is reversed. The gradient stays on the device when other values replace
 *  the image's. */
TEST_P(LoadedImageMetricsTest, AGradientIsTheSameOfAFixedImageAndOfAMovingOne)
{
  gpureg::GaussianGradient gradient;
  gradient.toPhysical = { 0.8, -0.5, 0.1, 0.6, 0.7, 0, -0.1, 0.2, 1.25 };
  for (std::size_t d = 0; d < 3; ++d)
  {
    using Weights = itk::GPURegistrationDetail::GaussianWeights;
    const double spacing = 0.8 + 0.2 * static_cast<double>(d);
    gradient.smoothing[d] = Weights::Compute(itk::GaussianOrderEnum::ZeroOrder, 1.2, true, spacing);
    gradient.derivative[d] = Weights::Compute(itk::GaussianOrderEnum::FirstOrder, 1.2, true, spacing);
  }
  const auto check = [&](const auto & first, const auto & second, bool isDouble) {
    const std::size_t   count = first.size();
    const auto          other = MakeValues<float>(ImageSize, 0.0, 33);
    gpureg::LoadedImage image(GetParam());
    gpureg::PairMetric  engine(GetParam(), gpureg::PairMeasure::MeanSquares);
    // Images of other ranges have other scales in a metric.
    double             unit = 128.0;
    std::vector<float> scaled(count);
    const auto         above = std::vector<double>(other.begin(), other.end());
    const auto         scaleOf = [&unit] {
      gpureg::ValueScale scale;
      scale.range = scale.largest = unit;
      return scale;
    };
    const auto valuesOfOther = [&] {
      std::transform(other.begin(), other.end(), scaled.begin(), [unit](float v) {
        return static_cast<float>(v / unit);
      });
      return isDouble ? CopyFrom(above) : CopyFrom(scaled);
    };
    const auto precision = isDouble ? gpureg::Precision::Double : gpureg::Precision::Single;
    const auto sumOfMoving = [&](bool keepsLast) {
      gpureg::FixedSamples fixed;
      fixed.precision = precision;
      fixed.virtualSize = ImageSize;
      fixed.values = valuesOfOther();
      fixed.scale = scaleOf();
      gpureg::MovingImage moving;
      moving.precision = precision;
      moving.size = ImageSize;
      moving.image = &image;
      moving.scale = scaleOf();
      moving.unit = unit;
      moving.gaussianGradient = gradient;
      moving.gaussianGradient->keepsLast = keepsLast;
      Set(engine, fixed, moving);
      return engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, OneAfterTheOther).forceSums;
    };
    const auto sumOfFixed = [&](bool keepsLast) {
      gpureg::FixedSamples fixed = this->MakeSampled(image, MakePlacements().front());
      fixed.precision = precision;
      fixed.sampled->wantsValues = true;
      fixed.sampled->unit = unit;
      fixed.scale = scaleOf();
      fixed.gaussianGradient = gradient;
      fixed.gaussianGradient->keepsLast = keepsLast;
      gpureg::MovingImage moving;
      moving.precision = precision;
      moving.size = ImageSize;
      moving.values = valuesOfOther();
      moving.scale = scaleOf();
      moving.unit = unit;
      Set(engine, fixed, moving);
      return engine.Evaluate(gpureg::SampleMapping(), gpureg::Forces::Summed, OneAfterTheOther).forceSums;
    };
    const auto expectOpposite = [](const auto & fixedSums, const auto & movingSums) {
      double largest = 0;
      for (const double sum : movingSums)
      {
        largest = std::max(largest, std::abs(sum));
      }
      EXPECT_GT(largest, 0.0);
      for (std::size_t n = 0; n < movingSums.size(); ++n)
      {
        EXPECT_NEAR(fixedSums[n], -movingSums[n], 2e-6 * largest) << n;
      }
    };
    Load(image, first);
    const auto ofMoving = sumOfMoving(false);
    unit = 512.0;
    Load(image, second);
    const auto ofMovingThen = sumOfMoving(true);
    unit = 128.0;
    Load(image, first);
    const auto ofFixed = sumOfFixed(false);
    unit = 512.0;
    Load(image, second);
    const auto ofFixedThen = sumOfFixed(true);
    expectOpposite(ofFixed, ofMoving);
    expectOpposite(ofFixedThen, ofMovingThen);
    // A new gradient gives another sum, so the sum above is that of the stored gradient.
    EXPECT_GT(std::abs(sumOfFixed(false)[0] - ofFixedThen[0]), 1e-3 * std::abs(ofFixedThen[0]));
  };
  for (const bool isDouble : { false, true })
  {
    SCOPED_TRACE(isDouble ? "in doubles" : "in floats");
    check(MakeValues<float>(ImageSize, 0.0, 31), MakeValues<float>(ImageSize, 300.0, 32), isDouble);
    check(MakeValues<double>(ImageSize, 0.0, 31), MakeValues<double>(ImageSize, 300.0, 32), isDouble);
  }
}

TEST_P(LoadedImageMetricsTest, PartialVolumeReadsBinsAsTheHostGivesThem)
{
  constexpr int bins = 16;
  for (const gpureg::Size & size : { ImageSize, gpureg::Size{ 63, 66, 1 }, gpureg::Size{ 5, 1, 40 } })
  {
    const auto                 values = MakeValues<double>(size, -20.0, 15);
    const auto                 binOf = [](double v) { return ComputeBinBetween(v, -20.0, 80.0, bins); };
    std::vector<std::uint16_t> fixedBins(values.size());
    std::vector<std::uint8_t>  movingBins(values.size());
    for (std::size_t n = 0; n < values.size(); ++n)
    {
      fixedBins[n] = static_cast<std::uint16_t>(n % bins);
      movingBins[n] = static_cast<std::uint8_t>(binOf(values[n]));
    }
    gpureg::LoadedImage image(GetParam());
    Load(image, values);
    gpureg::FixedSamples fixed;
    fixed.virtualSize = size;
    fixed.bins = CopyFrom(fixedBins);
    gpureg::MovingImage given;
    given.size = size;
    gpureg::MovingImage      taken = given;
    const std::vector<float> none(values.size(), 0.0f);
    given.values = CopyFrom(none);
    given.bins = CopyFrom(movingBins);
    taken.image = &image;
    taken.binEdges = ComputeBinEdges(-20.0, 80.0, binOf);
    gpureg::SampleMapping mapping;
    mapping.toMoving.offset = { 0.3, size[1] > 1 ? 0.2 : 0.0, size[2] > 1 ? -0.1 : 0.0 };
    const std::array<double, 9> indexByMm{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    gpureg::PartialVolumeMetric engine(GetParam(), bins);
    Set(engine, fixed, given);
    const auto expected = engine.Evaluate(mapping, gpureg::Forces::Summed, true, indexByMm, OneAfterTheOther);
    Set(engine, fixed, taken);
    const auto found = engine.Evaluate(mapping, gpureg::Forces::Summed, true, indexByMm, OneAfterTheOther);
    EXPECT_EQ(found.forceSums, expected.forceSums);
    EXPECT_EQ(found.histogram, expected.histogram);
    EXPECT_GT(std::accumulate(found.histogram.begin(), found.histogram.end(), std::uint64_t{ 0 }), 0u);
  }
}

TEST_P(LoadedImageMetricsTest, BadInput)
{
  gpureg::LoadedImage image(GetParam());
  EXPECT_THROW(Load(image, std::vector<float>()), gpureg::BadInputError);
  EXPECT_EQ(image.GetMemory(), nullptr);
  EXPECT_THROW(gpureg::LoadedImage("abacus:0"), gpureg::Error);

  // The image is not loaded, has another size, belongs to points, or is on another device.
  gpureg::MattesMetric engine(GetParam(), 20);
  gpureg::FixedSamples fixed = this->MakeSampled(image, MakePlacements().front());
  fixed.sampled->bins = gpureg::BinEdges();
  EXPECT_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError);
  const auto values = MakeValues<float>(ImageSize, 0.0, 1);
  Load(image, values);
  // Planes that the image does not have.
  for (const std::int64_t plane : { -1, 1 })
  {
    fixed.sampled->firstPlane = plane;
    EXPECT_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError) << plane;
  }
  fixed.sampled->firstPlane = 0;
  fixed.virtualSize = { 5, 5, 5 };
  EXPECT_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError);
  fixed.sampled->size = { 5, 5, 5 };
  EXPECT_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError);
  fixed.virtualSize = fixed.sampled->size = ImageSize;
  fixed.sampled->wantsValues = true;
  fixed.precision = gpureg::Precision::Double;
  EXPECT_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError) << "fixed-point places";
  fixed.sampled->wantsValues = false;
  fixed.precision = gpureg::Precision::Single;
  fixed.pointCount = 3;
  const std::vector<double> points(9, 0.0);
  fixed.points = CopyFrom(points);
  EXPECT_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError);
  fixed.pointCount = 0;
  fixed.points = {};
  EXPECT_NO_THROW(engine.SetFixedSamples(fixed, OneAfterTheOther));
  // The gradient cannot be computed: samples lie between voxels, or their values are given.
  gpureg::FixedSamples between = this->MakeSampled(image, MakePlacements().back());
  between.gaussianGradient = gpureg::GaussianGradient();
  between.sampled->wantsValues = true;
  EXPECT_THROW(engine.SetFixedSamples(between, OneAfterTheOther), gpureg::BadInputError);
  between.sampled.reset();
  EXPECT_THROW(engine.SetFixedSamples(between, OneAfterTheOther), gpureg::BadInputError);
  for (const std::string & other : GetDeviceNames())
  {
    if (other != GetParam())
    {
      gpureg::MattesMetric elsewhere(other, 20);
      EXPECT_THROW(elsewhere.SetFixedSamples(fixed, OneAfterTheOther), gpureg::BadInputError);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LoadedImageMetricsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
