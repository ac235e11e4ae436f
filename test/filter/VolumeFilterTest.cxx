// SPDX-License-Identifier: Apache-2.0
// Tests the engine's volume filters by themselves: errors, stored volumes, and components side by side.
#include "TestDevices.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/filter/VolumeFilter.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

namespace gpuregtest
{
namespace
{

void
RunInOrder(std::int64_t count, const std::function<void(std::int64_t)> & body)
{
  for (std::int64_t n = 0; n < count; ++n)
  {
    body(n);
  }
}

/** Returns a different number for each element. */
double
ValueAt(std::int64_t element)
{
  return std::sin(0.7 * static_cast<double>(element)) * 50 + static_cast<double>(element % 13);
}

gpureg::VolumeInput
MakeVolume(const gpureg::Size & size, int components, const std::function<double(std::int64_t)> & value = ValueAt)
{
  gpureg::VolumeInput input;
  input.size = size;
  input.components = components;
  input.precision = gpureg::Precision::Double;
  input.values = [=](std::int64_t first, std::int64_t count, void * out) {
    for (std::int64_t i = 0; i < count * components; ++i)
    {
      static_cast<double *>(out)[i] = value(first * components + i);
    }
  };
  return input;
}

std::vector<double>
GetVolume(gpureg::VolumeFilter & filter, int components)
{
  std::vector<double> values(static_cast<std::size_t>(gpureg::CountOf(filter.GetSize()) * components));
  filter.GetVolume([&](std::int64_t first, std::int64_t count, const void * in) {
    std::copy_n(static_cast<const double *>(in), count * components, values.begin() + first * components);
  });
  return values;
}

class VolumeFilter : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    m_Filter = std::make_unique<gpureg::VolumeFilter>(this->GetDevice().GetName());
  }

  std::unique_ptr<gpureg::VolumeFilter> m_Filter;
};

TEST_P(VolumeFilter, NeedsAVolumeAndSaysSo)
{
  EXPECT_THROW(m_Filter->MakeSplineCoefficients(3), gpureg::Error);
  EXPECT_THROW(m_Filter->ApplyGaussian(0, {}), gpureg::Error);
  EXPECT_THROW(m_Filter->Convolve({}), gpureg::Error);
  EXPECT_THROW(m_Filter->Restart(), gpureg::Error);
  EXPECT_THROW(m_Filter->GetVolume([](std::int64_t, std::int64_t, const void *) {}), gpureg::Error);
  EXPECT_THROW(m_Filter->SetVolume(MakeVolume({ 4, 0, 1 }, 1), RunInOrder), gpureg::Error);
  EXPECT_THROW(gpureg::VolumeFilter("cuda:99"), gpureg::Error);
}

TEST_P(VolumeFilter, RefusesOrdersAndWeights)
{
  m_Filter->SetVolume(MakeVolume({ 7, 5, 3 }, 1), RunInOrder);
  gpureg::LineConvolution convolution;
  convolution.outputLength = convolution.end = 7;
  convolution.taps.assign(67, 0.1);
  EXPECT_THROW(m_Filter->Convolve(convolution), gpureg::Error);
  convolution.taps.clear();
  EXPECT_THROW(m_Filter->Convolve(convolution), gpureg::Error);
  convolution.taps = { 1.0 };
  convolution.axis = 3;
  EXPECT_THROW(m_Filter->Convolve(convolution), gpureg::Error);
  convolution = {};
  EXPECT_THROW(m_Filter->Convolve(convolution), gpureg::Error) << "no outputs";
  for (const int order : { -1, 6 })
  {
    m_Filter->SetVolume(MakeVolume({ 7, 5, 3 }, 1), RunInOrder);
    EXPECT_THROW(m_Filter->MakeSplineCoefficients(order), gpureg::Error);
  }
  m_Filter->SetVolume(MakeVolume({ 7, 5, 3 }, 1), RunInOrder);
  EXPECT_EQ(GetVolume(*m_Filter, 1)[8], ValueAt(8));
}

TEST_P(VolumeFilter, StartsAgainFromWhatWasSet)
{
  m_Filter->SetVolume(MakeVolume({ 7, 5, 3 }, 1), RunInOrder);
  gpureg::LineConvolution convolution;
  convolution.taps = { 0.25, 0.5, 0.25 };
  convolution.left = 1;
  for (const int axis : { 2, 1, 0 })
  {
    convolution.axis = axis;
    convolution.outputLength = convolution.end = m_Filter->GetSize()[static_cast<std::size_t>(axis)];
    m_Filter->Convolve(convolution);
  }
  const auto once = GetVolume(*m_Filter, 1);
  m_Filter->Restart();
  EXPECT_EQ(GetVolume(*m_Filter, 1)[20], ValueAt(20));
  for (const int axis : { 2, 1, 0 })
  {
    convolution.axis = axis;
    convolution.outputLength = convolution.end = m_Filter->GetSize()[static_cast<std::size_t>(axis)];
    m_Filter->Convolve(convolution);
  }
  EXPECT_EQ(GetVolume(*m_Filter, 1), once);
  // Filters in place, but does not overwrite the input.
  m_Filter->MakeSplineCoefficients(3);
  m_Filter->Restart();
  m_Filter->MakeSplineCoefficients(3);
  EXPECT_THROW(m_Filter->Restart(), gpureg::Error);
}

/** Compares every part of a convolution with its definition. */
TEST_P(VolumeFilter, Convolves)
{
  const gpureg::Size size{ 6, 11, 4 };
  const int          components = 2;
  for (const int axis : { 0, 1, 2 })
  {
    for (const int run : { 1, 2 })
    {
      SCOPED_TRACE("axis " + std::to_string(axis) + ", run " + std::to_string(run));
      gpureg::LineConvolution c;
      c.axis = axis;
      c.taps = { 0.1, -0.7, 2.0, 0.3 };
      c.left = 2;
      c.first = 1;
      c.step = 3;
      c.run = run;
      c.outputLength = 5;
      c.end = 4;
      m_Filter->SetVolume(MakeVolume(size, components), RunInOrder);
      m_Filter->Convolve(c);
      const auto values = GetVolume(*m_Filter, components);
      const auto stride = static_cast<std::int64_t>(axis == 0   ? components
                                                    : axis == 1 ? components * size[0]
                                                                : components * size[0] * size[1]);
      const int  length = size[static_cast<std::size_t>(axis)];
      for (std::int64_t element = 0; element < static_cast<std::int64_t>(values.size()); ++element)
      {
        const int          j = static_cast<int>(element / stride % c.outputLength);
        const std::int64_t outer = element / stride / c.outputLength;
        double             expected = 0;
        for (int tap = 0; tap < 4 && j < c.end; ++tap)
        {
          const int position = std::clamp(c.first + j / run * c.step + j % run, 0, length - 1);
          const int sample = std::clamp(position - c.left + tap, 0, length - 1);
          expected +=
            c.taps[static_cast<std::size_t>(tap)] * ValueAt((outer * length + sample) * stride + element % stride);
        }
        ASSERT_NEAR(values[static_cast<std::size_t>(element)], expected, 1e-12) << element;
      }
    }
  }
}

/** Compares interpolation at the points of a grid with its definition, outside of the grid, too, and at the last sample, behind which
 *  there is none. */
TEST_P(VolumeFilter, Interpolates)
{
  const gpureg::Size        size{ 6, 5, 4 };
  const int                 components = 2;
  gpureg::GridInterpolation grid;
  grid.cells = { { { 5, 0, 3, 4, -1, 2, 2 }, { 4, 1, 3 }, { 0, 2, 3, -1 } } };
  grid.fractions = { { { 0, 0.25, 1, 0.5, 0, 0, 0.125 }, { 0, 0.75, 0.5 }, { 0.5, 0.25, 0, 0 } } };
  m_Filter->SetVolume(MakeVolume(size, components), RunInOrder);
  m_Filter->Interpolate(grid);
  ASSERT_EQ(m_Filter->GetSize(), (gpureg::Size{ 7, 3, 4 }));
  const auto values = GetVolume(*m_Filter, components);
  ASSERT_EQ(values.size(), 7u * 3 * 4 * components);
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    const std::size_t place[] = { n / components % 7, n / components / 7 % 3, n / components / 21 };
    double            expected = 0;
    for (int corner = 0; corner < 8; ++corner)
    {
      double weight = 1;
      int    sample[3];
      for (std::size_t d = 0; d < 3; ++d)
      {
        const int    cell = grid.cells[d][place[d]];
        const double fraction = grid.fractions[d][place[d]];
        const int    behind = corner >> d & 1;
        sample[d] = std::clamp(cell + behind, 0, size[d] - 1);
        weight *= cell < 0 ? 0 : behind ? fraction : 1 - fraction;
      }
      const int voxel = (sample[2] * size[1] + sample[1]) * size[0] + sample[0];
      expected += weight * ValueAt(std::int64_t{ voxel } * components + static_cast<std::int64_t>(n % components));
    }
    ASSERT_NEAR(values[n], expected, 1e-12) << n;
  }
  // An error for a point beyond the volume, after which the filter works again.
  const auto good = grid;
  const auto expectRefusal = [&] {
    m_Filter->SetVolume(MakeVolume(size, components), RunInOrder);
    EXPECT_THROW(m_Filter->Interpolate(grid), gpureg::Error);
    grid = good;
  };
  grid.cells[0][1] = 6;
  expectRefusal();
  grid.fractions[1][0] = 0.5;
  expectRefusal();
  grid.fractions[2][0] = std::nan("");
  expectRefusal();
  grid.fractions[2].pop_back();
  expectRefusal();
  grid.cells[2].clear();
  grid.fractions[2].clear();
  expectRefusal();
  m_Filter->SetVolume(MakeVolume(size, components), RunInOrder);
  m_Filter->Interpolate(grid);
  EXPECT_EQ(GetVolume(*m_Filter, components), values);
}

TEST_P(VolumeFilter, CutsOffToWholeNumbers)
{
  m_Filter->SetVolume(MakeVolume({ 5, 1, 1 }, 1, [](std::int64_t i) { return static_cast<double>(i) * 3 - 7.0; }),
                      RunInOrder);
  gpureg::LineConvolution c;
  c.taps = { 0.5, 0.0 };
  c.outputLength = c.end = 5;
  c.truncates = true;
  m_Filter->Convolve(c);
  EXPECT_EQ(GetVolume(*m_Filter, 1), (std::vector<double>{ -3, -2, 0, 1, 2 }));
}

/** The components of a voxel are adjacent in memory, and are filtered independently. */
TEST_P(VolumeFilter, ComponentsAreVolumesOfTheirOwn)
{
  const gpureg::Size              size{ 19, 8, 5 };
  const gpureg::RecursiveGaussian weights{ { 0.2, 0.1, 0, 0 }, { -0.6, 0.1, 0, 0 }, { 0.15, 0.05, 0, 0 } };
  const auto                      filterAll = [&] {
    for (const int axis : { 0, 1, 2 })
    {
      m_Filter->ApplyGaussian(axis, weights);
    }
    m_Filter->MakeSplineCoefficients(4);
  };
  for (const int components : { 2, 3, 9 })
  {
    m_Filter->SetVolume(MakeVolume(size, components), RunInOrder);
    filterAll();
    const auto together = GetVolume(*m_Filter, components);
    for (int c = 0; c < components; ++c)
    {
      m_Filter->SetVolume(MakeVolume(size, 1, [=](std::int64_t i) { return ValueAt(i * components + c); }), RunInOrder);
      filterAll();
      const auto alone = GetVolume(*m_Filter, 1);
      for (std::size_t i = 0; i < alone.size(); ++i)
      {
        ASSERT_NEAR(together[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)], alone[i], 1e-9);
      }
    }
  }
}

TEST_P(VolumeFilter, GivesItsMemoryBack)
{
  const std::string name = this->GetDevice().GetName();
  const std::size_t before = gpureg::GetMemoryInUse(name);
  m_Filter->SetVolume(MakeVolume({ 30, 20, 10 }, 1), RunInOrder);
  m_Filter->MakeSplineCoefficients(3);
  // A device's recursion stores states of its lines besides the volume.
  EXPECT_GE(gpureg::GetMemoryInUse(name), before + 30 * 20 * 10 * sizeof(double));
  EXPECT_EQ(gpureg::GetMemoryInUse(name), before + static_cast<std::size_t>(m_Filter->GetStatistics().deviceBytes));
  m_Filter->Release();
  EXPECT_EQ(gpureg::GetMemoryInUse(name), before);
  EXPECT_THROW(m_Filter->Restart(), gpureg::Error);
}

/** Each thread has a filter of its own. */
TEST_P(VolumeFilter, SeveralThreadsAtOnce)
{
  std::vector<std::vector<double>> results(4);
  std::vector<std::thread>         threads;
  for (auto & result : results)
  {
    threads.emplace_back([&result, name = this->GetDevice().GetName()] {
      gpureg::VolumeFilter filter(name);
      filter.SetVolume(MakeVolume({ 40, 30, 20 }, 1), RunInOrder);
      filter.MakeSplineCoefficients(5);
      result = GetVolume(filter, 1);
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (const auto & result : results)
  {
    EXPECT_EQ(result, results.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, VolumeFilter, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace
} // namespace gpuregtest
