// SPDX-License-Identifier: Apache-2.0
// The arrays that samples store, from an image on every device: where the device alone knows the range of its values, and quads.
#include "DeviceArrays.h"
#include "TestDevices.h"

#include "engine/image/SummarizeImage.h"
#include "engine/metric/samples/ImageSampler.h"
#include "engine/metric/samples/SampleArrays.h"
#include "engine/runtime/ForEachItem.h"

#include "kernels/metric/samples/MovingVoxels.h"

#include "gpureg/image/LoadedImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::kernels::StoredAs;

/** An image on a device, and what a sampler makes of it. */
template <typename TReal>
class Sampled
{
public:
  Sampled(const std::string & device, const gpureg::Size & size, const std::vector<TReal> & values)
    : m_On(device)
    , m_Sampler(m_On.GetQueue())
    , m_Image(device)
    , m_Size(size)
  {
    m_Image.Load({}, Precision, values.data(), gpureg::CountOf(size), OnThreads(2));
    m_Summary.Enqueue(m_On.GetQueue(), Precision, gpureg::CountOf(size), *m_Image.GetMemory());
    m_Joined = &m_Summary.Join(m_On.GetQueue());
  }

  gpureg::ImageSummary
  DownloadSummary()
  {
    return m_Summary.Download(m_On.GetQueue());
  }

  /** Returns how its voxels are stored. \param byDevice whether the range is the one that lies on the device */
  gpureg::ImageSamples
  Describe(bool byDevice, double minimum, double unit, int exponent) const
  {
    gpureg::ImageSamples samples;
    samples.sampleSize = samples.imageSize = m_Size;
    samples.minimum = minimum;
    samples.unit = unit;
    samples.exponent = exponent;
    samples.summary = byDevice ? m_Joined : nullptr;
    return samples;
  }

  template <typename T>
  std::vector<T>
  Fill(const gpureg::ImageSamples & samples, const gpureg::BinEdges * bins, StoredAs form)
  {
    gpureg::MemoryPointer kept;
    m_Sampler.Fill(m_Image, samples, bins, form, nullptr, kept);
    return m_On.Download<T>(kept);
  }

  std::vector<float>
  FillQuads(const gpureg::ImageSamples & samples)
  {
    gpureg::MemoryPointer kept;
    m_Sampler.FillQuads(m_Image, samples, kept);
    return m_On.Download<float>(kept);
  }

  /** Returns the quads of numbers. */
  std::vector<float>
  MakeQuads(const std::vector<float> & scaled)
  {
    using namespace gpureg;
    const auto values = m_On.Upload(scaled);
    const auto quads = m_On.Upload(std::vector<float>(4 * scaled.size()));
    ForEachItem<kernels::MakeQuadKernel>(m_On.GetQueue(),
                                         CountOf(m_Size),
                                         kernels::MakeVolumeShape(m_Size[0], m_Size[1], m_Size[2]),
                                         Input<float>(*values),
                                         Output<kernels::float4>(*quads));
    return m_On.Download<float>(quads);
  }

  static constexpr gpureg::Precision Precision =
    sizeof(TReal) == sizeof(double) ? gpureg::Precision::Double : gpureg::Precision::Single;

private:
  DeviceArrays            m_On;
  gpureg::ImageSampler    m_Sampler;
  gpureg::LoadedImage     m_Image;
  gpureg::Size            m_Size;
  gpureg::SummaryOnDevice m_Summary;
  const gpureg::Memory *  m_Joined = nullptr;
};

/** Returns the edges of so many bins of equal width over a range. */
gpureg::BinEdges
MakeEdges(const gpureg::ImageSummary & range, int first, int bins)
{
  gpureg::BinEdges edges;
  edges.first = first;
  for (int edge = 1; edge < bins; ++edge)
  {
    edges.edges.push_back(range.minimum + (range.maximum - range.minimum) * edge / bins);
  }
  return edges;
}

/** Returns values of a wide range; many lie at edges of bins. */
template <typename TReal>
std::vector<TReal>
DrawValues(std::int64_t count, double minimum, double range)
{
  std::mt19937                           random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<TReal>                     values(static_cast<std::size_t>(count));
  std::generate(values.begin(), values.end(), [&] {
    const double share = uniform(random);
    const double edge = static_cast<double>(random() % 29) / 28;
    return static_cast<TReal>(minimum + range * (random() % 2 == 0 ? share : edge));
  });
  values.front() = static_cast<TReal>(minimum);
  values.back() = static_cast<TReal>(minimum + range);
  return values;
}

template <typename TReal>
void
CompareRanges(const std::string & device)
{
  const gpureg::Size size{ 37, 29, 11 };
  for (const auto & [minimum, width] : { std::pair{ 0.0, 1.0 }, { -3.7, 0.013 }, { 1000.0, 7.5 }, { -1e20, 3e20 } })
  {
    SCOPED_TRACE(minimum);
    const auto     values = DrawValues<TReal>(gpureg::CountOf(size), minimum, width);
    Sampled<TReal> sampled(device, size, values);
    const auto     range = sampled.DownloadSummary();
    EXPECT_EQ(range.minimum, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(range.maximum, *std::max_element(values.begin(), values.end()));
    for (const int bins : { 1, 2, 28, 4096 })
    {
      const auto edges = MakeEdges(range, 2, bins);
      const auto byHost =
        sampled.template Fill<std::uint16_t>(sampled.Describe(false, 0, 1, 0), &edges, StoredAs::StoredAsBin);
      EXPECT_EQ(sampled.template Fill<std::uint16_t>(sampled.Describe(true, 0, 1, 0), &edges, StoredAs::StoredAsBin),
                byHost)
        << bins;
      EXPECT_EQ(*std::max_element(byHost.begin(), byHost.end()), bins + 1);
    }
    constexpr int exponent = 46;
    const auto    integers =
      sampled.template Fill<std::int64_t>(sampled.Describe(true, 0, 1, exponent), nullptr, StoredAs::StoredAsInteger);
    const auto floats =
      sampled.template Fill<float>(sampled.Describe(true, 0, 0.25, 0), nullptr, StoredAs::StoredAsScaled);
    double error = 0;
    double errorOfFloats = 0;
    for (std::size_t n = 0; n < values.size(); ++n)
    {
      const double share = (static_cast<double>(values[n]) - range.minimum) / (range.maximum - range.minimum);
      error = std::max(error, std::abs(static_cast<double>(integers[n]) - std::ldexp(share, exponent)));
      errorOfFloats = std::max(errorOfFloats, std::abs(floats[n] - 4 * share));
    }
    EXPECT_LE(error, 0.6);
    EXPECT_LE(errorOfFloats, 3e-7);
  }
}

template <typename TReal>
void
CompareQuads(const std::string & device)
{
  for (const gpureg::Size & size : { gpureg::Size{ 13, 7, 5 }, { 40, 31, 1 }, { 1, 1, 1 } })
  {
    const auto     values = DrawValues<TReal>(gpureg::CountOf(size), -4, 9);
    Sampled<TReal> sampled(device, size, values);
    for (const bool byDevice : { false, true })
    {
      const auto samples = sampled.Describe(byDevice, byDevice ? 0 : -4, 0.3, 0);
      const auto scaled = sampled.template Fill<float>(samples, nullptr, StoredAs::StoredAsScaled);
      EXPECT_EQ(sampled.FillQuads(samples), sampled.MakeQuads(scaled)) << size[0] << ", " << byDevice;
    }
  }
}

class ImageSamplerTest : public DeviceTest
{};
} // namespace

TEST_P(ImageSamplerTest, FindsTheBinsOfARangeThatTheDeviceHas)
{
  CompareRanges<float>(GetParam());
  CompareRanges<double>(GetParam());
}

TEST_P(ImageSamplerTest, HasNoBinsWhereAllValuesAreEqual)
{
  const gpureg::Size size{ 9, 8, 7 };
  const auto         count = static_cast<std::size_t>(gpureg::CountOf(size));
  Sampled<float>     sampled(GetParam(), size, std::vector<float>(count, 3.5F));
  const auto         edges = MakeEdges({}, 0, 16);
  const auto         bins = sampled.Fill<std::uint16_t>(sampled.Describe(true, 0, 1, 0), &edges, StoredAs::StoredAsBin);
  EXPECT_EQ(bins, std::vector<std::uint16_t>(count, gpureg::kernels::InvalidBin));
  const auto integers =
    sampled.Fill<std::int64_t>(sampled.Describe(true, 0, 1, 46), nullptr, StoredAs::StoredAsInteger);
  EXPECT_EQ(integers, std::vector<std::int64_t>(count));
}

TEST_P(ImageSamplerTest, RefusesWhatNeedsEdgesThatTheHostDoesNotKnow)
{
  const gpureg::Size size{ 9, 8, 7 };
  Sampled<float> sampled(GetParam(), size, std::vector<float>(static_cast<std::size_t>(gpureg::CountOf(size)), 3.5F));
  const auto     edges = MakeEdges({}, 0, 16);
  for (const StoredAs form : { StoredAs::StoredAsPlace, StoredAs::StoredAsByte })
  {
    EXPECT_THROW(sampled.Fill<float>(sampled.Describe(true, 0, 1, 0), &edges, form), gpureg::BadInputError);
  }
}

TEST_P(ImageSamplerTest, MakesQuadsWithoutAnArrayBetween)
{
  CompareQuads<float>(GetParam());
  CompareQuads<double>(GetParam());
}

TEST_P(ImageSamplerTest, JoinsSummariesOfAnyNumberOfStrips)
{
  for (const int length : { 1, 256, 1000, 12345, 300000, 1100000 })
  {
    SCOPED_TRACE(length);
    std::vector<float> values(static_cast<std::size_t>(length), 2.0F);
    values[values.size() / 3] = -7.25F;
    values[values.size() / 2] = length > 1 ? 11.5F : -7.25F;
    Sampled<float> sampled(GetParam(), { length, 1, 1 }, values);
    const auto     summary = sampled.DownloadSummary();
    EXPECT_EQ(summary.minimum, -7.25);
    EXPECT_EQ(summary.maximum, length > 1 ? 11.5 : -7.25);
    EXPECT_EQ(summary.notFinite, 0);
    EXPECT_NEAR(summary.mean, length > 1 ? 2 + (-9.25 + 9.5) / length : -7.25, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ImageSamplerTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
