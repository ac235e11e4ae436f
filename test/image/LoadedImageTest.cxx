// SPDX-License-Identifier: Apache-2.0
// Tests images that are loaded on a device, on every device: their summary, and that metrics store the same numbers of them as of the
// host's images, to the bit.
#include "GPURegistrationDetail/metric/itkGPUBinEdges.h"
#include "GPURegistrationDetail/filter/itkGPUGaussianWeights.h"

#include "TestDevices.h"
#include "TestImages.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/metric/histogram/JointHistogramMetric.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/metric/histogram/MattesMetric.h"
#include "gpureg/metric/pairs/PairMetric.h"
#include "gpureg/metric/histogram/PartialVolumeMetric.h"
#include "gpureg/resample/Resampler.h"
#include "gpureg/filter/VolumeFilter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

namespace gpuregtest
{

namespace
{
using itk::GPURegistrationDetail::ComputeBinBetween;
using itk::GPURegistrationDetail::ComputeBinEdges;
using itk::GPURegistrationDetail::NumberLine;

/** Returns a filler that copies from an array, which must outlive it. */
template <typename T>
gpureg::Filler
CopyFrom(const std::vector<T> & array)
{
  return [&array](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out, array.data() + first, static_cast<std::size_t>(count) * sizeof(T));
  };
}

/** Returns values with flat regions, some of them exactly on the edges of bins. */
template <typename TReal>
std::vector<TReal>
MakeValues(const gpureg::Size & size, double offset, int seed)
{
  Random             random(seed);
  std::vector<TReal> values(static_cast<std::size_t>(gpureg::CountOf(size)));
  for (TReal & value : values)
  {
    const double kind = Uniform(random, 0.0, 1.0);
    value = static_cast<TReal>(offset + (kind < 0.3   ? 0.0
                                         : kind < 0.6 ? std::floor(Uniform(random, 0.0, 101.0))
                                                      : Uniform(random, 0.0, 100.0)));
  }
  values.front() = static_cast<TReal>(offset);
  values.back() = static_cast<TReal>(offset + 100.0);
  return values;
}

template <typename TReal>
void
Load(gpureg::LoadedImage & image, const std::vector<TReal> & values)
{
  gpureg::Source source;
  source.key = { reinterpret_cast<std::uintptr_t>(values.data()) };
  source.memory.push_back({ values.data(), values.size() * sizeof(TReal) });
  source.isKeyTrusted = false;
  image.Load(source,
             sizeof(TReal) == sizeof(float) ? gpureg::Precision::Single : gpureg::Precision::Double,
             values.data(),
             static_cast<std::int64_t>(values.size()),
             OneAfterTheOther);
}

/** The positions of samples in an image of 21 x 18 x 11 voxels. */
struct Placement
{
  const char *     name;
  gpureg::Size     size;
  gpureg::IndexMap toImage;
  bool             isOneGrid = false;
};

const gpureg::Size ImageSize{ 21, 18, 11 };

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

class LoadedImageTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    if (!gpureg::HasDoubles(GetParam()))
    {
      GTEST_SKIP() << "this device has no doubles";
    }
  }

  template <typename TReal>
  void
  ExpectSummary(const std::vector<TReal> & values)
  {
    gpureg::LoadedImage image(GetParam());
    Load(image, values);
    const gpureg::ImageSummary & summary = image.Summarize(OneAfterTheOther);
    double                       minimum = std::numeric_limits<double>::max();
    double                       maximum = std::numeric_limits<double>::lowest();
    long double                  mean = 0; // in higher precision than the summary's
    std::int64_t                 notFinite = 0;
    for (const TReal value : values)
    {
      if (!std::isfinite(value))
      {
        ++notFinite;
        continue;
      }
      minimum = std::min<double>(minimum, value);
      maximum = std::max<double>(maximum, value);
      mean += static_cast<long double>(value) / static_cast<long double>(values.size());
    }
    EXPECT_EQ(summary.notFinite, notFinite);
    const bool hasAny = notFinite < static_cast<std::int64_t>(values.size());
    EXPECT_EQ(summary.minimum, hasAny ? minimum : 0.0);
    EXPECT_EQ(summary.maximum, hasAny ? maximum : 0.0);
    const double largest = std::max(std::abs(summary.minimum), std::abs(summary.maximum));
    EXPECT_NEAR(summary.mean, static_cast<double>(mean), 1e-12 * largest);
    EXPECT_EQ(image.GetCount(), static_cast<std::int64_t>(values.size()));
  }

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

/** Values on both sides of powers of two, and 0 with either sign. */
TEST(BinEdgesTest, AreWhereBinsBegin)
{
  Random random(3);
  for (int n = 0; n < 200; ++n)
  {
    const double scale = std::pow(10.0, Uniform(random, -30.0, 30.0));
    const auto   minimum = static_cast<float>(scale * Uniform(random, -1.0, 1.0));
    const auto   maximum = static_cast<float>(minimum + scale * Uniform(random, 0.0, 2.0));
    const auto   bins = static_cast<itk::SizeValueType>(Uniform(random, 2.0, 300.0));
    const auto   binOf = [&](float value) { return ComputeBinBetween(value, minimum, maximum, bins); };
    if (!(minimum < maximum))
    {
      continue;
    }
    const auto found = ComputeBinEdges(minimum, maximum, binOf);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 0);
    ASSERT_EQ(found->edges.size(), bins - 1);
    for (std::size_t e = 0; e < found->edges.size(); ++e)
    {
      const auto edge = static_cast<float>(found->edges[e]);
      EXPECT_GE(binOf(edge), e + 1);
      EXPECT_LE(binOf(std::nextafter(edge, minimum)), e);
    }
  }
}

TEST(BinEdgesTest, OfAllThatDoublesReach)
{
  for (const auto & range : { std::pair<double, double>{ -1e308, 1e307 }, { -1e-310, 1e-309 }, { 1.0, 1.0 + 1e-15 } })
  {
    const double middle = range.first / 2 + range.second / 2;
    const auto   found = ComputeBinEdges(range.first, range.second, [&](double v) { return v < middle ? 4 : 6; });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 4);
    // The bin between the two equal edges is empty.
    EXPECT_EQ(found->edges, (std::vector<double>{ middle, middle }));
  }
}

TEST(BinEdgesTest, OfOneValueAndOfTooManyBins)
{
  const auto one = ComputeBinEdges(3.0, 3.0, [](double) { return 7; });
  ASSERT_TRUE(one);
  EXPECT_EQ(one->first, 7);
  EXPECT_TRUE(one->edges.empty());
  EXPECT_FALSE(ComputeBinEdges(0.0, 1.0, [](double value) { return value < 0.5 ? 0 : 0xFFFF; }));
  EXPECT_FALSE(ComputeBinEdges(0.0, 1.0, [](double value) { return value < 0.5 ? 9 : 3; }));
}

TEST(NumberLineTest, GoesUpByTheLeastStep)
{
  for (const double number : { -1e300, -1.0, -std::numeric_limits<double>::denorm_min(), 0.0, 1e-310, 2.0, 1e300 })
  {
    const std::int64_t place = NumberLine<double>::ComputePlace(number);
    EXPECT_EQ(NumberLine<double>::GetNumber(place), number);
    EXPECT_EQ(NumberLine<double>::GetNumber(place + 1), std::nextafter(number, 2e300));
  }
  EXPECT_EQ(NumberLine<float>::ComputePlace(-0.0f), NumberLine<float>::ComputePlace(0.0f));
}

TEST_P(LoadedImageTest, SummaryOfFloatsAndDoubles)
{
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const int count : { 1, 2, 31, 32767, 32769, 200003, 400003 })
  {
    for (const double offset : { 0.0, -1e5, 1e7 })
    {
      this->ExpectSummary(MakeValues<float>({ count, 1, 1 }, offset, count));
      this->ExpectSummary(MakeValues<double>({ count, 1, 1 }, offset, count));
    }
    auto floats = MakeValues<float>({ count, 1, 1 }, -50.0, count);
    auto doubles = MakeValues<double>({ count, 1, 1 }, -50.0, count);
    for (int n = 0; n < count; n += 7)
    {
      floats[n] = static_cast<float>(n % 2 ? nan : -infinity);
      doubles[n] = n % 3 ? nan : infinity;
    }
    this->ExpectSummary(floats);
    this->ExpectSummary(doubles);
  }
  this->ExpectSummary(std::vector<float>(100, static_cast<float>(nan)));
  this->ExpectSummary(std::vector<double>(70000, 1e308));
}

TEST_P(LoadedImageTest, SeesOtherValuesWhereTimeStampsAreNotTrusted)
{
  std::vector<float>  values(1000, 3.0f);
  gpureg::LoadedImage image(GetParam());
  for (const float value : { 4.0f, 5.0f, 5.0f, -6.0f })
  {
    values[500] = value;
    Load(image, values);
    EXPECT_EQ(image.Summarize(OneAfterTheOther).minimum, std::min(3.0f, value));
    EXPECT_EQ(image.Summarize(OneAfterTheOther).maximum, std::max(3.0f, value));
    EXPECT_TRUE(image.Holds(gpureg::LoadedImage::KeyOf({ values.data(), values.size() * sizeof(float) })));
  }
}

/** An image on a device is hashed there: a change of any byte changes the hash, in whole blocks, in the remainder, and in several tasks. */
TEST_P(LoadedImageTest, ProvesWhatIsThere)
{
  if (!gpureg::HasDoubles(GetParam()))
  {
    GTEST_SKIP() << "a device without doubles";
  }
  const bool hasBus = GetParam() != "host";
  for (const std::size_t count : { 1, 15, 16, 17, 32768, 32769, 100003 })
  {
    SCOPED_TRACE(count);
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0F);
    gpureg::LoadedImage image(GetParam());
    const auto          load = [&](std::uintptr_t stamp) {
      gpureg::Source source;
      source.key = { stamp };
      source.memory.push_back({ values.data(), sizeof(float) * values.size() });
      source.isKeyTrusted = false;
      image.Load(source, gpureg::Precision::Single, values.data(), static_cast<std::int64_t>(count), OneAfterTheOther);
      const bool isSent = image.GetStatistics().bytesUp > 0;
      EXPECT_EQ(image.Summarize(OneAfterTheOther).maximum, *std::max_element(values.begin(), values.end()));
      return isSent;
    };
    EXPECT_EQ(load(1), hasBus);
    EXPECT_FALSE(load(1)) << "the second time, by the device's hash";
    EXPECT_FALSE(load(1)) << "by the known key";
    for (const std::size_t changed : { std::size_t{ 0 }, count / 2, count - 1 })
    {
      values[changed] += 1e6F;
      EXPECT_EQ(load(1), hasBus) << changed;
      EXPECT_FALSE(load(1)) << changed;
    }
    EXPECT_EQ(load(2), hasBus) << "a changed key needs no proof";
    EXPECT_LE(image.GetStatistics().launches, 1) << "but looked through";
  }
}

TEST_P(LoadedImageTest, TakesOverWhatWasMadeThere)
{
  if (!gpureg::HasDoubles(GetParam()))
  {
    GTEST_SKIP() << "a device without doubles";
  }
  const bool           hasBus = GetParam() != "host";
  std::vector<float>   values = MakeValues<float>(ImageSize, -20.0, 5);
  gpureg::VolumeFilter filter(GetParam());
  gpureg::VolumeInput  volume;
  volume.size = ImageSize;
  volume.values = CopyFrom(values);
  filter.SetVolume(volume, OneAfterTheOther);
  const gpureg::MemoryRange buffer{ values.data(), sizeof(float) * values.size() };
  gpureg::LoadedImage       image(GetParam());
  image.Adopt(filter.CopyVolume(), buffer);
  EXPECT_TRUE(image.Holds(gpureg::LoadedImage::KeyOf(buffer)));
  EXPECT_EQ(image.GetHeldBytes(), buffer.bytes);
  EXPECT_EQ(image.Summarize(OneAfterTheOther).maximum, *std::max_element(values.begin(), values.end()));
  Load(image, values);
  EXPECT_EQ(image.GetStatistics().bytesUp, 0);
  values[100] = 1234.5F;
  Load(image, values);
  EXPECT_EQ(image.GetStatistics().bytesUp > 0, hasBus);
  EXPECT_EQ(image.Summarize(OneAfterTheOther).maximum, 1234.5);
  EXPECT_THROW(image.Adopt(nullptr, buffer), gpureg::BadInputError);
  EXPECT_EQ(image.Summarize(OneAfterTheOther).maximum, 1234.5) << "it can be used after that";
  // Memory of other images is never taken for the image's own.
  image.Adopt(filter.CopyVolume(), { values.data(), 8 });
  EXPECT_FALSE(image.Holds(gpureg::LoadedImage::KeyOf({ values.data(), 8 })));
}

TEST_P(LoadedImageTest, MetricsTakeBinsAsTheHostGivesThem)
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

TEST_P(LoadedImageTest, MetricsTakeValuesAsTheHostGivesThem)
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

TEST_P(LoadedImageTest, MetricsTakePlacesAsTheHostGivesThem)
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
TEST_P(LoadedImageTest, MetricsReadAMovingImageAsTheHostGivesIt)
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
TEST_P(LoadedImageTest, MetricsLeaveOutWhatIsOutside)
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
TEST_P(LoadedImageTest, AGradientIsTheSameOfAFixedImageAndOfAMovingOne)
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

TEST_P(LoadedImageTest, PartialVolumeReadsBinsAsTheHostGivesThem)
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

TEST_P(LoadedImageTest, BadInput)
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

/** An image stays on the device from one operation to the next, and equals an upload by the host. */
TEST_P(LoadedImageTest, FilterAndResamplerTakeAndGiveImages)
{
  if (!gpureg::HasDoubles(GetParam()))
  {
    GTEST_SKIP() << "a device without doubles";
  }
  const auto              values = MakeValues<float>(ImageSize, -20.0, 5);
  gpureg::LineConvolution smooth;
  smooth.taps = { 0.25, 0.5, 0.25 };
  smooth.left = 1;
  smooth.outputLength = smooth.end = ImageSize[0];
  gpureg::ResampleRequest request;
  request.size = { 13, 12, 9 };
  request.outputToPoint.matrix = { 1.4, 0.2, 0, -0.1, 1.3, 0, 0.05, 0, 1.1 };
  request.outputToPoint.offset = { 0.3, 0.4, 0.2 };
  request.outside = { 7.0 };
  gpureg::ResampleInput input;
  input.size = ImageSize;
  const bool hasBus = GetParam() != "host";
  const auto download = [](gpureg::VolumeFilter & filter) {
    std::vector<float> result(static_cast<std::size_t>(gpureg::CountOf(filter.GetSize())));
    filter.GetVolume([&result](std::int64_t first, std::int64_t count, const void * in) {
      std::copy_n(static_cast<const float *>(in), count, result.begin() + first);
    });
    return result;
  };

  gpureg::VolumeFilter filter(GetParam());
  gpureg::VolumeInput  volume;
  volume.size = ImageSize;
  volume.values = CopyFrom(values);
  filter.SetVolume(volume, OneAfterTheOther);
  filter.Convolve(smooth);
  const std::vector<float> smoothed = download(filter);

  gpureg::LoadedImage loaded(GetParam());
  Load(loaded, values);
  filter.SetVolume(loaded, ImageSize, OneAfterTheOther);
  filter.Convolve(smooth);
  const auto shared = filter.CopyVolume();
  EXPECT_EQ(filter.GetStatistics().bytesUp, 0);
  EXPECT_EQ(filter.GetStatistics().bytesDown, 0);
  EXPECT_EQ(download(filter), smoothed);

  for (const int order : { 0, 3 })
  {
    SCOPED_TRACE(order);
    request.interpolation = order > 0 ? gpureg::Interpolation::BSpline : gpureg::Interpolation::Linear;
    request.splineOrder = input.splineOrder = order;
    std::vector<float> wanted(static_cast<std::size_t>(gpureg::CountOf(request.size)));
    request.output = [&wanted](std::int64_t first, std::int64_t count, const void * in) {
      std::copy_n(static_cast<const float *>(in), count, wanted.begin() + first);
    };
    input.values = CopyFrom(smoothed);
    input.image = nullptr;
    gpureg::Resampler resampler(GetParam());
    resampler.Resample(input, request, OneAfterTheOther);
    EXPECT_TRUE(std::any_of(wanted.begin(), wanted.end(), [](float value) { return value == 7.0F; }));

    std::vector<float> from(wanted.size());
    request.output = [&from](std::int64_t first, std::int64_t count, const void * in) {
      std::copy_n(static_cast<const float *>(in), count, from.begin() + first);
    };
    input.image = shared.get();
    resampler.Resample(input, request, OneAfterTheOther);
    EXPECT_EQ(from, wanted);
    EXPECT_LE(resampler.GetStatistics().bytesUp, 16) << "but for the value outside";

    const auto made = resampler.ResampleToDevice(input, request, OneAfterTheOther);
    EXPECT_LE(resampler.GetStatistics().bytesUp, 16);
    EXPECT_EQ(resampler.GetStatistics().bytesDown, 0);
    filter.SetVolume(*made, request.size, OneAfterTheOther);
    EXPECT_EQ(download(filter), wanted);
    EXPECT_EQ(filter.GetStatistics().bytesUp, 0);
    EXPECT_EQ(filter.GetStatistics().bytesDown, hasBus ? static_cast<std::int64_t>(sizeof(float) * wanted.size()) : 0);

    input.precision = gpureg::Precision::Double;
    EXPECT_THROW(resampler.Resample(input, request, OneAfterTheOther), gpureg::BadInputError);
    input.precision = gpureg::Precision::Single;
    EXPECT_THROW(filter.SetVolume(*made, ImageSize, OneAfterTheOther), gpureg::BadInputError);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LoadedImageTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
