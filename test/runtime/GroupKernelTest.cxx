// SPDX-License-Identifier: Apache-2.0
// How group kernels run (src/engine/runtime/LaunchGroups.h), on every device, by the example of some that there are.
#include "engine/filter/LinePasses.h"
#include "engine/metric/samples/SampleArrays.h"
#include "engine/penalty/ControlPenaltyPasses.h"
#include "engine/registration/free_form/ControlSteps.h"
#include "engine/resample/ResamplePasses.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/LaunchGroups.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/filter/LineKernels.h"
#include "kernels/penalty/ControlPenaltyKernels.h"
#include "kernels/registration/free_form/ControlLineKernels.h"
#include "kernels/resample/ResampleKernels.h"

#include "gpureg/core/Error.h"

#include "DeviceArrays.h"
#include "TestDevices.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace gpureg;
using kernels::CollectGradientGroupKernel;
using kernels::ComputeEnergiesGroupKernel;
using kernels::ControlPenaltyArguments;
using kernels::ConvolveElementKernel;
using kernels::float4;
using kernels::LongestGroupKernel;
using kernels::RecurseLinesKernel;
using kernels::RecurseTileKernel;
using kernels::RecursionArguments;

// These are the properties that LaunchGroups() reads from the kernels' functions.
template <typename TKernel>
using Shape = group::Shape<TKernel, float>;
static_assert(Shape<LongestGroupKernel>::constants == 0 && Shape<LongestGroupKernel>::endOfStructures == 0);
static_assert(Shape<LongestGroupKernel>::end == 3, "local memory is no argument");
static_assert(Shape<LongestGroupKernel>::GetLocalElementBytes() == sizeof(float));
static_assert(Shape<ComputeEnergiesGroupKernel>::isStructure<0> && !Shape<ComputeEnergiesGroupKernel>::isStructure<1>);
static_assert(Shape<CollectGradientGroupKernel>::end == 5, "there is no local memory");
static_assert(Shape<CollectGradientGroupKernel>::GetLocalElementBytes() == 0);
static_assert(Shape<RecurseTileKernel>::constants == 1 && Shape<RecurseTileKernel>::end == 4);
static_assert(!Shape<RecurseTileKernel>::isStructure<0> && Shape<RecurseTileKernel>::isStructure<1>);
static_assert(Shape<RecurseTileKernel>::GetLocalElementBytes() == sizeof(float));
static_assert(group::Shape<RecurseTileKernel, double>::GetLocalElementBytes() == sizeof(double));
static_assert(Shape<kernels::ResampleTileGroupKernel>::endOfStructures == 4, "an array of structures is no structure");

/** Says whether a kernel's parameter takes an argument. A call with any other does not compile. */
template <typename TKernel, std::size_t parameter, typename TArgument>
constexpr bool takes =
  std::is_constructible<item::Passed<Shape<TKernel>::template isStructure<parameter>,
                                     std::tuple_element_t<parameter, typename Shape<TKernel>::Of>,
                                     std::tuple_element_t<parameter, typename Shape<TKernel>::OfTypes>>,
                        const TArgument &>::value;
static_assert(takes<LongestGroupKernel, 0, std::int64_t> && !takes<LongestGroupKernel, 0, double>);
static_assert(takes<LongestGroupKernel, 1, Elements<const float4>>);
static_assert(!takes<LongestGroupKernel, 1, Elements<const float>>, "another type");
static_assert(!takes<LongestGroupKernel, 2, Elements<const float>>, "what is written must not be constant");
static_assert(takes<ComputeEnergiesGroupKernel, 0, ControlPenaltyArguments>);
static_assert(!takes<ComputeEnergiesGroupKernel, 0, RecursionArguments>, "another structure");
static_assert(takes<RecurseTileKernel, 2, Elements<RealNumber>> && !takes<RecurseTileKernel, 2, Elements<float>>);

/** Kernels on a device, and arrays there. */
class GroupKernelTest
  : public DeviceTest
  , protected DeviceArrays
{
protected:
  GroupKernelTest()
    : DeviceArrays(GetParam())
  {}

  int
  GetLaunches() const
  {
    return m_Queue->GetStatistics().launches;
  }
};

/** A device that has groups. */
class GroupDeviceTest : public GroupKernelTest
{
protected:
  void
  SetUp() override
  {
    if (m_Queue->IsHost())
    {
      GTEST_SKIP() << "the host has no groups";
    }
  }

  /** Describes the penalties of a grid of control points, with weights of 0. */
  static ControlPenaltyArguments
  DescribeGrid(int x, int y, int z)
  {
    ControlPenaltyArguments a{};
    const int               size[] = { x, y, z };
    for (int axis = 0; axis < 3; ++axis)
    {
      a.size[axis] = size[axis];
      a.nodes[axis] = size[axis] - 2;
    }
    return a;
  }
};
} // namespace

TEST_P(GroupDeviceTest, LetsAllLanesOfAGroupWorkTogether)
{
  // Fewer vectors than lanes, as many, and several for each lane; the longest one has every place in turn.
  for (const int count : { 1, 31, 32, 33, 1023, 1024, 1025, 5000 })
  {
    for (const int longest : { 0, count / 2, count - 1 })
    {
      std::vector<float4> vectors(static_cast<std::size_t>(count), float4{ 0, 1, 0, 99 });
      vectors[static_cast<std::size_t>(longest)] = { 3, 0, 4, 0 };
      const MemoryPointer direction = this->Upload(vectors);
      const MemoryPointer numbers = this->Upload(std::vector<float>(kernels::LineNumbers, -7.0f));
      const int           launches = this->GetLaunches();
      LaunchGroups<LongestGroupKernel>(
        *m_Queue, GroupNumbers{ 1 }, count, Input<float4>(*direction), Output<float>(*numbers));
      EXPECT_EQ(this->GetLaunches() - launches, 1);
      const auto after = this->Download<float>(numbers);
      for (std::size_t n = 0; n < after.size(); ++n)
      {
        ASSERT_EQ(after[n], n == kernels::LineLongest ? 5.0f : -7.0f) << n << " of " << count << ", " << longest;
      }
    }
  }
}

TEST_P(GroupDeviceTest, BeginsAtAnElement)
{
  const MemoryPointer direction = this->Upload(std::vector<float4>{ { 9, 0, 0, 0 }, { 1, 0, 0, 0 }, { 2, 0, 0, 0 } });
  const MemoryPointer numbers = this->Upload(std::vector<float>(2 * kernels::LineNumbers, -7.0f));
  LaunchGroups<LongestGroupKernel>(
    *m_Queue, GroupNumbers{ 1 }, 2, Input<float4>(*direction, 1), Output<float>(*numbers, kernels::LineNumbers));
  const auto after = this->Download<float>(numbers);
  EXPECT_EQ(after[kernels::LineLongest], -7.0f);
  EXPECT_EQ(after[kernels::LineNumbers + kernels::LineLongest], 2.0f);
}

TEST_P(GroupDeviceTest, RunsEachGroupOnce)
{
  // Control points that do not move have no energy. Each group writes its own pair of sums, and no other.
  for (const int width : { 4, 7, 40 })
  {
    const ControlPenaltyArguments a = DescribeGrid(width, 6, 5);
    const std::int64_t            nodes = CountNodes(&a);
    const GroupNumbers            groups = CountGroupsFor<ComputeEnergiesGroupKernel>(*m_Queue, nodes);
    EXPECT_EQ(groups.x,
              (nodes + GetGroupLanes<ComputeEnergiesGroupKernel>(*m_Queue) - 1) /
                GetGroupLanes<ComputeEnergiesGroupKernel>(*m_Queue));
    const MemoryPointer points = this->Upload(std::vector<float4>(static_cast<std::size_t>(width * 30)));
    const auto          pairs = static_cast<std::size_t>(groups.x) + 2;
    const MemoryPointer partials = this->Upload(std::vector<float>(2 * pairs, -7.0f));
    LaunchGroups<ComputeEnergiesGroupKernel>(
      *m_Queue, groups, a, Input<float4>(*points), Output<float>(*partials, 2), false, Output<float4>(nullptr));
    const auto after = this->Download<float>(partials);
    for (std::size_t n = 0; n < pairs; ++n)
    {
      EXPECT_EQ(after[2 * n], n == 0 || n == pairs - 1 ? -7.0f : 0.0f) << n;
    }
  }
}

TEST_P(GroupDeviceTest, RunsAVariantInEitherPrecisionOrRefuses)
{
  RecursionArguments a{};
  a.inner = 1;
  a.lineCount = 300; // more than a group has lanes
  a.length = 5;
  a.pole = -0.25;
  a.gain = 3.0;
  const auto recurse = [&](auto zero, Precision precision, auto tag) {
    using real = decltype(zero);
    using Kernel = decltype(tag);
    const MemoryPointer volume = this->Upload(std::vector<real>(300 * 5, real{ 2 }));
    const MemoryPointer states = m_Queue->Allocate(sizeof(double) * 4 * 300);
    LaunchGroups<Kernel>(*m_Queue,
                         CountGroupsFor<Kernel>(*m_Queue, a.lineCount),
                         precision,
                         static_cast<int>(kernels::RecursionOfSpline),
                         a,
                         Output<RealNumber>(*volume),
                         Output<double>(*states));
    return this->Download<real>(volume);
  };
  if (!HasDoubles(GetParam()))
  {
    EXPECT_THROW(recurse(0.0f, Precision::Single, RecurseLinesKernel{}), UnsupportedError);
    return;
  }
  const auto floats = recurse(0.0f, Precision::Single, RecurseLinesKernel{});
  const auto doubles = recurse(0.0, Precision::Double, RecurseLinesKernel{});
  const auto tiled = recurse(0.0f, Precision::Single, RecurseTileKernel{});
  for (std::size_t n = 0; n < floats.size(); ++n)
  {
    ASSERT_EQ(floats[n], floats[n % 5]) << "all lines are equal";
    ASSERT_NEAR(static_cast<double>(floats[n]), doubles[n], 1e-6);
    ASSERT_EQ(floats[n], tiled[n]);
  }
  EXPECT_NE(floats[0], 2.0f);
}

TEST_P(GroupDeviceTest, DoesNothingWithoutGroups)
{
  const MemoryPointer direction = this->Upload(std::vector<float4>(4));
  const MemoryPointer numbers = this->Upload(std::vector<float>(kernels::LineNumbers, -7.0f));
  const int           launches = this->GetLaunches();
  for (const GroupNumbers & groups : { GroupNumbers{ 0 }, GroupNumbers{ 1, 0 }, GroupNumbers{ 1, 1, 0 } })
  {
    LaunchGroups<LongestGroupKernel>(*m_Queue, groups, 4, Input<float4>(*direction), Output<float>(*numbers));
  }
  EXPECT_EQ(this->GetLaunches(), launches);
  EXPECT_EQ(this->Download<float>(numbers), std::vector<float>(kernels::LineNumbers, -7.0f));
}

TEST_P(GroupDeviceTest, RefusesMoreGroupsThanADeviceCounts)
{
  const MemoryPointer direction = this->Upload(std::vector<float4>(4));
  const MemoryPointer numbers = this->Upload(std::vector<float>(kernels::LineNumbers, -7.0f));
  const int           launches = this->GetLaunches();
  for (const GroupNumbers & groups :
       { GroupNumbers{ std::int64_t{ 1 } << 31 }, GroupNumbers{ 1, 65536 }, GroupNumbers{ 1, 1, 65536 } })
  {
    try
    {
      LaunchGroups<LongestGroupKernel>(*m_Queue, groups, 4, Input<float4>(*direction), Output<float>(*numbers));
      FAIL() << "nothing was refused";
    }
    catch (const UnsupportedError & error)
    {
      EXPECT_NE(std::string(error.what()).find("measuring a direction"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(this->GetLaunches(), launches);
  // As many groups as a device counts along y; each writes the same.
  LaunchGroups<LongestGroupKernel>(
    *m_Queue, GroupNumbers{ 1, 65535 }, 4, Input<float4>(*direction), Output<float>(*numbers));
  EXPECT_EQ(this->Download<float>(numbers)[kernels::LineLongest], 0.0f);
}

TEST_P(GroupKernelTest, IsNotForTheHost)
{
  if (!m_Queue->IsHost())
  {
    GTEST_SKIP() << "for the host alone";
  }
  const MemoryPointer direction = this->Upload(std::vector<float4>(4));
  const MemoryPointer numbers = this->Upload(std::vector<float>(kernels::LineNumbers));
  EXPECT_THROW(LaunchGroups<LongestGroupKernel>(
                 *m_Queue, GroupNumbers{ 1 }, 4, Input<float4>(*direction), Output<float>(*numbers)),
               std::logic_error);
}

TEST_P(GroupDeviceTest, RefusesConstantsThatNoVariantHas)
{
  if (m_Queue->GetKind() != DeviceKind::Cuda)
  {
    GTEST_SKIP() << "OpenCL compiles the variant that is wanted";
  }
  const MemoryPointer volume = this->Upload(std::vector<float>(4));
  EXPECT_THROW(LaunchGroups<RecurseLinesKernel>(*m_Queue,
                                                GroupNumbers{ 1 },
                                                Precision::Single,
                                                7,
                                                RecursionArguments{},
                                                Output<RealNumber>(*volume),
                                                Output<double>(nullptr)),
               std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Devices, GroupKernelTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);
INSTANTIATE_TEST_SUITE_P(Devices, GroupDeviceTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
