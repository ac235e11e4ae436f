// SPDX-License-Identifier: Apache-2.0
// Tests images that are loaded on a device, on every device: their summary, and what knows them.
#include "LoadedImageCase.h"

#include "gpureg/core/Error.h"
#include "gpureg/filter/VolumeFilter.h"
#include "gpureg/resample/Resampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
class LoadedImageTest : public LoadedImageCase
{
protected:
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
};
} // namespace

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
