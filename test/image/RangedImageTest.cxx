// SPDX-License-Identifier: Apache-2.0
// Compares, on every device, the search for an image's outliers, and their replacement on the device, with the definition.
#include "engine/runtime/Backend.h"
#include "engine/image/RangedImage.h"
#include "engine/image/SummarizeImage.h"
#include "engine/image/ValueRange.h"

#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"
#include "engine/runtime/Operation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Values = std::vector<double>;

gpureg::ValueRange
FindAll(const Values & values)
{
  const auto both = std::minmax_element(values.begin(), values.end());
  return { *both.first, *both.second };
}

gpureg::ValueRange
ComputeRange(const Values & values)
{
  return gpureg::ComputeValueRange(values, FindAll(values)).range;
}

/** Returns `count` values, equally spaced between two numbers. */
Values
Spread(double from, double to, int count)
{
  Values values;
  for (int n = 0; n < count; ++n)
  {
    values.push_back(from + (to - from) * n / (count - 1));
  }
  return values;
}

Values
Join(Values a, const Values & b)
{
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Values
Repeat(double value, int count)
{
  return Values(static_cast<std::size_t>(count), value);
}

void
ExpectKept(const Values & values)
{
  EXPECT_EQ(ComputeRange(values), FindAll(values));
}
} // namespace

TEST(ValueRangeTest, CleanValuesStay)
{
  ExpectKept(Spread(0, 1000, 5000));
  ExpectKept(Spread(-1000, 3000, 5000));
  ExpectKept(Spread(1e6, 1e6 + 10, 5000));
  // A background of nine voxels in ten, with the value 0 or a number to which another program has scaled it.
  ExpectKept(Join(Repeat(0, 9000), Spread(500, 600, 1000)));
  ExpectKept(Join(Repeat(-4, 6000), Spread(-2, 3, 4000)));
  // A macaque's T1 image, whose largest value is two interquantile ranges above the rest.
  ExpectKept(Join(Spread(0, 120, 8000), { 383 }));
}

TEST(ValueRangeTest, LabelsAndMasksStay)
{
  ExpectKept(Join(Repeat(0, 9000), Repeat(1, 1000)));
  ExpectKept(Join(Repeat(0, 8190), Repeat(1, 2)));
  ExpectKept(Join(Join(Repeat(0, 5000), Repeat(128, 2000)), Repeat(255, 1000)));
  ExpectKept(Join(Join(Join(Repeat(0, 5000), Repeat(1, 2000)), Repeat(2, 500)), Repeat(77, 4)));
  ExpectKept(Join(Repeat(0, 6000), Join(Spread(100, 102, 3), Repeat(101, 3000))));
  ExpectKept(Repeat(3, 100));
  ExpectKept({ 1, 2, 1e9 });
}

TEST(ValueRangeTest, FewValuesFarAwayAreOutliers)
{
  const Values head = Join(Repeat(0, 4000), Spread(1, 1000, 4000));
  for (const double outlier : { 1e4, 1e7, 1e9, 1e38, 1e300 })
  {
    const auto above = ComputeRange(Join(head, { outlier }));
    EXPECT_EQ(above[0], 0);
    // One interquantile range beyond the quantile of a thousandth.
    EXPECT_NEAR(above[1], 2000, 10) << outlier;
    const auto both = ComputeRange(Join(head, { outlier, -outlier, outlier }));
    EXPECT_NEAR(both[0], -1000, 10) << outlier;
    EXPECT_NEAR(both[1], 2000, 10) << outlier;
  }
  // As many values as a hip's metal has, from 8000 to 30000: half an interquantile range beyond the quantile of a hundredth.
  const auto metal = ComputeRange(Join(Spread(-1000, 1200, 8000), Spread(8000, 50000, 40)));
  EXPECT_EQ(metal[0], -1000);
  EXPECT_NEAR(metal[1], 1200 + 0.5 * 2200, 60);
  // One outlier in a mask.
  EXPECT_EQ(ComputeRange(Join(Join(Repeat(0, 5000), Repeat(1, 3000)), { 1e7 }))[1], 2);
}

TEST(ValueRangeTest, WhatIsWrittenWhereThereIsNoImageIsAnOutlier)
{
  const Values rest = Spread(100, 1100, 4000);
  const auto   below = ComputeRange(Join(Repeat(-1e30, 6000), rest));
  EXPECT_NEAR(below[0], 101 - 998, 1);
  EXPECT_EQ(below[1], 1100);
  const auto above = ComputeRange(Join(Repeat(65535, 3000), rest));
  EXPECT_EQ(above[0], 100);
  EXPECT_NEAR(above[1], 1099 + 998, 1);
}

TEST(ValueRangeTest, WhatIsBelowAirOfACTIsPadding)
{
  const Values scan = Join(Spread(-1020, -980, 3000), Spread(-100, 1500, 4000));
  for (const double padding : { -2000, -3024, -32768 })
  {
    const Values values = Join(Repeat(padding, 2000), scan);
    const auto   found = gpureg::ComputeValueRange(values, FindAll(values));
    EXPECT_EQ(found.range[0], -1100) << padding;
    EXPECT_NEAR(found.becomes[0], -1000, 0.1) << padding;
  }
  // Without air there is no sign that this is a CT image.
  ExpectKept(Join(Repeat(-1024, 4000), Spread(-100, 1500, 4000)));
  ExpectKept(Join(Repeat(-2000, 4000), Spread(-100, 1500, 4000)));
  ExpectKept(scan);
}

namespace
{
/** An image of 11x7x5 voxels on a device, with values from 0 to 1000. */
class Image
{
public:
  explicit Image(const std::string & device, int count = 11 * 7 * 5)
    : values(static_cast<std::size_t>(count))
    , m_Backend(gpureg::GetBackend(device))
    , queue(m_Backend->CreateQueue())
    , m_Loaded(device)
    , m_Operation(*queue, OnThreads(2))
    , ranged(*queue, device)
  {
    std::mt19937                          random(5);
    std::uniform_real_distribution<float> any(0, 1000);
    std::generate(values.begin(), values.end(), [&] { return any(random); });
  }

  gpureg::RegisteredImage
  Make(const std::optional<gpureg::ValueRange> & range)
  {
    m_Loaded.Load({}, gpureg::Precision::Single, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    warnings.clear();
    whole.image = &m_Loaded;
    whole.size = { 11, 7, static_cast<int>(values.size() / 77) };
    return ranged.Make(whole, "moving", gpureg::FindValues(*queue, whole, "moving", range), warnings);
  }

  std::vector<float>
  Download(const gpureg::RegisteredImage & image)
  {
    std::vector<float> downloaded(values.size());
    queue->Download(downloaded.data(), *image.image->GetMemory(), sizeof(float) * downloaded.size());
    return downloaded;
  }

  std::vector<float>       values;
  gpureg::RegisteredImage  whole;
  std::vector<std::string> warnings;

private:
  std::shared_ptr<gpureg::Backend> m_Backend;

public:
  std::unique_ptr<gpureg::Queue> queue;

private:
  gpureg::LoadedImage m_Loaded;
  gpureg::Operation   m_Operation;

public:
  gpureg::RangedImage ranged;
};
} // namespace

TEST(ValueRangeTest, ListsThePlacesThatTheKernelPicks)
{
  for (const std::int64_t count : { 1, 2, 31, 8191, 8192, 8193, 16384, 100003, 1500000 })
  {
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0.0);
    const std::vector<std::int64_t> places = gpureg::ListPickedPlaces(count);
    ASSERT_EQ(static_cast<std::int64_t>(places.size()), std::min<std::int64_t>(count, 8192));
    std::vector<double> picked(places.size(), -1);
    for (std::size_t n = 0; n < places.size(); ++n)
    {
      gpureg::kernels::PickValue<double>(
        values.data(), count, static_cast<std::int64_t>(places.size()), picked.data(), static_cast<std::int64_t>(n));
    }
    EXPECT_EQ(Values(places.begin(), places.end()), picked) << count;
  }
}

class RangedImageTest : public DeviceTest
{};

TEST_P(RangedImageTest, ACleanImageIsItself)
{
  Image image(GetParam());
  EXPECT_EQ(image.Make(std::nullopt).image, image.whole.image);
  EXPECT_TRUE(image.warnings.empty());
  EXPECT_EQ(image.ranged.GetDeviceBytes(), 0u);
}

TEST_P(RangedImageTest, OutliersBecomeTheMeanOfTheirNeighbours)
{
  Image             image(GetParam());
  const std::size_t voxel = 11 * 7 * 2 + 11 * 3 + 4;
  image.values[voxel] = 1e7F;
  image.values[0] = -1e30F; // in a corner, with seven neighbours
  image.values[1] = 1e7F;   // one of the seven neighbours
  const auto ranged = image.Make(std::nullopt);
  ASSERT_NE(ranged.image, image.whole.image);
  const auto mended = image.Download(ranged);
  const auto meanAbout = [&image](int x, int y, int z) {
    double sum = 0;
    int    count = 0;
    for (int c = std::max(0, z - 1); c <= std::min(4, z + 1); ++c)
    {
      for (int b = std::max(0, y - 1); b <= std::min(6, y + 1); ++b)
      {
        for (int a = std::max(0, x - 1); a <= std::min(10, x + 1); ++a)
        {
          const double value = image.values[static_cast<std::size_t>((c * 7 + b) * 11 + a)];
          const bool   isIn = value >= 0 && value <= 1000;
          sum += isIn ? value : 0;
          count += isIn;
        }
      }
    }
    return sum / count;
  };
  for (std::size_t n = 0; n < mended.size(); ++n)
  {
    const auto i = static_cast<int>(n);
    const bool isOutlier = n == voxel || n < 2;
    EXPECT_EQ(mended[n], isOutlier ? static_cast<float>(meanAbout(i % 11, i / 11 % 7, i / 77)) : image.values[n]) << n;
  }
  ASSERT_EQ(image.warnings.size(), 1u);
  EXPECT_NE(image.warnings[0].find("the moving image has 1 value below "), std::string::npos) << image.warnings[0];
  EXPECT_NE(image.warnings[0].find("down to -1e+30, and 2 values above "), std::string::npos) << image.warnings[0];
  EXPECT_NE(image.warnings[0].find("up to 1e+07"), std::string::npos) << image.warnings[0];
}

TEST_P(RangedImageTest, AnOutlierAmongOutliersBecomesTheEndOfTheRange)
{
  Image image(GetParam(), 11 * 7 * 40);
  for (std::size_t n = 0; n < 11 * 7 * 10; ++n)
  {
    image.values[n] = -1e30F;
  }
  const auto mended = image.Download(image.Make(std::nullopt));
  const auto range = ComputeRange({ image.values.begin(), image.values.end() });
  EXPECT_EQ(mended[11 * 3 + 5], static_cast<float>(range[0]));
  EXPECT_LT(range[0], -900);
  EXPECT_GT(range[0], -1100);
}

TEST_P(RangedImageTest, BeyondARangeThatIsGivenIsItsEnd)
{
  Image      image(GetParam());
  const auto clamped = image.Download(image.Make(gpureg::ValueRange{ { 200, 300 } }));
  for (std::size_t n = 0; n < clamped.size(); ++n)
  {
    EXPECT_EQ(clamped[n], std::clamp(image.values[n], 200.0F, 300.0F));
  }
  EXPECT_TRUE(image.warnings.empty());
  // All values are outliers.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  image.values[5] = 1e9F;
  EXPECT_EQ(image.Make(gpureg::ValueRange{ { -infinity, infinity } }).image, image.whole.image);
  EXPECT_TRUE(image.warnings.empty());
}

TEST_P(RangedImageTest, SaysWhatIsWrongWithARange)
{
  Image image(GetParam());
  EXPECT_THROW(image.Make(gpureg::ValueRange{ { 300, 200 } }), gpureg::BadInputError);
  EXPECT_THROW(image.Make(gpureg::ValueRange{ { 2000, 3000 } }), gpureg::BadInputError);
  image.values[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(image.Make(std::nullopt), gpureg::BadInputError);
}

INSTANTIATE_TEST_SUITE_P(Devices, RangedImageTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
