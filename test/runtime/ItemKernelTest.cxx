// SPDX-License-Identifier: Apache-2.0
// How item kernels run (src/engine/runtime/ForEachItem.h), on every device, by the example of some that there are.
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Operation.h"

#include "kernels/core/Geometry.h"
#include "kernels/core/NumberForm.h"
#include "kernels/image/NumberTypes.h"
#include "kernels/metric/samples/MovingVoxels.h"

#include "gpureg/core/Error.h"

#include "DeviceArrays.h"
#include "TestDevices.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace gpureg;
using kernels::AddToPackedKernel;
using kernels::float4;
using kernels::GradientColumn;
using kernels::NumberToRealKernel;
using kernels::RealToNumberKernel;
using kernels::ReplaceValueKernel;
using kernels::ScaleGradientKernel;

// Is true if a parameter takes an argument. A call with any other argument does not compile.
template <typename TParameter, typename TArgument, typename TTyped = TParameter>
constexpr bool takes = std::is_constructible<item::Passed<false, TParameter, TTyped>, const TArgument &>::value;
template <typename TParameter, typename TArgument>
constexpr bool takesByValue =
  std::is_constructible<item::Passed<true, TParameter, TParameter>, const TArgument &>::value;

static_assert(takes<const float *, Elements<const float>>);
static_assert(takes<float4 *, Elements<float4>>);
static_assert(takes<const float4 *, Elements<const float4>>, "an array of vectors, which are no structures");
static_assert(takes<const double *, Elements<const RealNumber>, const RealNumber *>);
static_assert(takesByValue<const GradientColumn *, GradientColumn>);
static_assert(takes<const GradientColumn *, Elements<const GradientColumn>>, "an array, behind the first parameters");
static_assert(takes<float, float> && takes<double, float> && takes<int, bool> && takes<kernels::i64, int>);
static_assert(!takes<const float *, Elements<const double>>, "another type");
static_assert(!takes<float *, Elements<const float>>, "what is written must not be constant");
static_assert(!takes<const float *, Elements<const RealNumber>>, "an array whose type the precision does not say");
static_assert(!takesByValue<const GradientColumn *, Elements<const GradientColumn>>, "a structure is passed by value");
static_assert(!takes<const GradientColumn *, GradientColumn>, "only the first parameters are structures");
static_assert(!takes<float, double> && !takes<int, kernels::i64> && !takes<int, float>, "digits get lost");

template <typename... TParameters>
constexpr std::size_t structures = item::CountStructures<std::tuple<TParameters..., kernels::i64>>();
static_assert(structures<> == 0 && structures<float, const GradientColumn *> == 0);
static_assert(structures<const GradientColumn *, const float4 *, const GradientColumn *> == 1);
static_assert(structures<const GradientColumn *, const GradientColumn *, float *> == 2);
static_assert(structures<GradientColumn *> == 0, "an array that is written");

/** Kernels on a device, and arrays there. */
class ItemKernelTest
  : public DeviceTest
  , protected DeviceArrays
{
protected:
  ItemKernelTest()
    : DeviceArrays(GetParam())
  {}
};

std::vector<float>
Count(std::size_t count)
{
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}
} // namespace

TEST_P(ItemKernelTest, ComputesEachItemOnceAndNoOther)
{
  // None; one; parts of a group; all but one lane of whole groups; several tasks of the host.
  for (const std::int64_t count : { 0, 1, 31, 33, 255, 256, 257, 4095, 200003 })
  {
    const auto          floats = 3 * static_cast<std::size_t>(count);
    const auto          before = Count(floats + 3);
    const MemoryPointer gradients = this->Upload(before);
    const int           launches = m_Queue->GetStatistics().launches;
    ForEachItem<ScaleGradientKernel>(*m_Queue, count, 2.0f, Output<float>(*gradients));
    EXPECT_EQ(m_Queue->GetStatistics().launches - launches, count > 0 ? 1 : 0);
    const auto after = this->Download<float>(gradients);
    for (std::size_t n = 0; n < after.size(); ++n)
    {
      ASSERT_EQ(after[n], n < floats ? 2 * before[n] : before[n]) << n << " of " << count;
    }
  }
}

TEST_P(ItemKernelTest, BeginsAtAnElement)
{
  const auto          before = Count(30);
  const MemoryPointer gradients = this->Upload(before);
  ForEachItem<ScaleGradientKernel>(*m_Queue, 4, 2.0f, Output<float>(*gradients, 7));
  const auto after = this->Download<float>(gradients);
  for (std::size_t n = 0; n < after.size(); ++n)
  {
    EXPECT_EQ(after[n], n >= 7 && n < 19 ? 2 * before[n] : before[n]) << n;
  }
}

TEST_P(ItemKernelTest, CountsBytesWhereAnArrayHasNoType)
{
  if (!HasDoubles(GetParam()))
  {
    GTEST_SKIP() << GetParam() << " has no doubles";
  }
  const MemoryPointer values = this->Upload(Count(6));
  const MemoryPointer numbers = this->Upload(std::vector<std::uint16_t>(8, 77));
  ForEachItem<RealToNumberKernel>(*m_Queue,
                                  4,
                                  Precision::Single,
                                  Input<RealNumber>(*values, 1),
                                  static_cast<int>(kernels::NumberIsU16),
                                  Output<void>(*numbers, 3 * sizeof(std::uint16_t)));
  EXPECT_EQ(this->Download<std::uint16_t>(numbers), (std::vector<std::uint16_t>{ 77, 77, 77, 2, 3, 4, 5, 77 }));
}

TEST_P(ItemKernelTest, DoesWithoutAnOptionalArray)
{
  const MemoryPointer values = this->Upload(Count(2));
  for (const Memory * const given : { static_cast<const Memory *>(nullptr), static_cast<const Memory *>(values.get()) })
  {
    const MemoryPointer packed = this->Upload(std::vector<float4>{ { 1, 2, 3, 4 }, { 5, 6, 7, 8 } });
    ForEachItem<ReplaceValueKernel>(*m_Queue, 2, Input<float>(given), given != nullptr, 3.0f, Output<float4>(*packed));
    const auto after = this->Download<float4>(packed);
    EXPECT_EQ(after[1].x, 15.0f);
    EXPECT_EQ(after[0].w, given ? 1.0f : 0.0f);
    EXPECT_EQ(after[1].w, given ? 2.0f : 0.0f);
  }
}

TEST_P(ItemKernelTest, PassesAStructureByValue)
{
  const MemoryPointer derivative = this->Upload(Count(2));
  const MemoryPointer packed = this->Upload(std::vector<float4>{ { 1, 2, 3, 4 }, { 5, 6, 7, 8 } });
  {
    GradientColumn column = { { 10.0f, 20.0f, 30.0f } };
    ForEachItem<AddToPackedKernel>(*m_Queue, 2, column, Input<float>(*derivative), Output<float4>(*packed));
    column = {};
  }
  const auto after = this->Download<float4>(packed);
  EXPECT_EQ(after[0].x, 11.0f);
  EXPECT_EQ(after[1].x, 25.0f);
  EXPECT_EQ(after[1].y, 46.0f);
  EXPECT_EQ(after[1].z, 67.0f);
  EXPECT_EQ(after[1].w, 8.0f);
}

TEST_P(ItemKernelTest, ComputesInEitherPrecisionOrRefuses)
{
  const std::vector<double> given{ 0.1, -2, 1e300 };
  const MemoryPointer       numbers = this->Upload(given);
  const MemoryPointer       values = m_Queue->Allocate(sizeof(double) * given.size());
  const auto                read = [&](Precision precision) {
    ForEachItem<NumberToRealKernel>(*m_Queue,
                                    3,
                                    precision,
                                    Input<void>(*numbers),
                                    static_cast<int>(kernels::NumberIsDouble),
                                    false,
                                    Output<RealNumber>(*values));
  };
  if (!HasDoubles(GetParam()))
  {
    EXPECT_THROW(read(Precision::Single), UnsupportedError);
    EXPECT_THROW(read(Precision::Double), UnsupportedError);
    return;
  }
  read(Precision::Single);
  const auto floats = this->Download<float>(values);
  EXPECT_EQ(floats[0], 0.1f);
  EXPECT_EQ(floats[1], -2.0f);
  read(Precision::Double);
  EXPECT_EQ(this->Download<double>(values), given);
}

TEST(ItemKernel, HasTasksOfTheHostThatDoNotDependOnThreads)
{
  const auto          queue = GetBackend("host")->CreateQueue();
  std::int64_t        tasks = 0;
  const Operation     operation(*queue,
                            [&tasks](std::int64_t count, const std::function<void(std::int64_t)> &) { tasks = count; });
  const MemoryPointer gradients = queue->Allocate(sizeof(float) * 3 * 150000);
  ForEachItem<ScaleGradientKernel>(*queue, 150000, 2.0f, Output<float>(*gradients));
  EXPECT_EQ(tasks, (150000 + ScaleGradientKernel::itemsOfTask - 1) / ScaleGradientKernel::itemsOfTask);
}

INSTANTIATE_TEST_SUITE_P(Devices, ItemKernelTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
