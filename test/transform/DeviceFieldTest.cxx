// SPDX-License-Identifier: Apache-2.0
// Fields that live on a device, and chains of transforms that take them there, on every device against chains that upload the same vectors.
#include "IndexMaps.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "engine/core/Matrix3.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/transform/ChainOnDevice.h"

#include "gpureg/core/Error.h"
#include "gpureg/transform/DeviceField.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::DeviceField;
using Floats = std::vector<float>;

/** A field of displacements on the host. */
struct HostField
{
  HostField(int dimension, const gpureg::Size & size, double angle)
  {
    description.dimension = dimension;
    description.size = size;
    description.indexToPoint = MakeRotatedMap(angle, { 1.1, 0.9, dimension == 3 ? 1.3 : 1.0 }, { 40, -30, 0 });
    for (std::int64_t n = 0; n < 3 * gpureg::CountOf(size); ++n)
    {
      const bool isThere = n % 3 < dimension;
      vectors.push_back(isThere ? static_cast<float>(2.5 * std::sin(1.7 * static_cast<double>(n) + angle)) : 0.0F);
    }
  }

  std::shared_ptr<const DeviceField>
  Load(const std::string & device) const
  {
    return DeviceField::Load(
      device,
      description,
      [this](std::int64_t first, std::int64_t count, void * out) {
        std::copy_n(vectors.begin() + 3 * first, 3 * count, static_cast<float *>(out));
      },
      OnThreads(2));
  }

  /** Returns the grid with vectors on the host. They must outlive it. */
  gpureg::DisplacementGrid
  MakeGrid() const
  {
    gpureg::DisplacementGrid grid;
    grid.kind = gpureg::GridKind::Field;
    grid.size = description.size;
    grid.toGrid = gpureg::InvertMap(description.indexToPoint);
    grid.vectors = [this](std::int64_t first, std::int64_t count, double * out) {
      std::copy_n(vectors.begin() + 3 * first, 3 * count, out);
    };
    return grid;
  }

  DeviceField::Description description;
  Floats                   vectors;
};

/** Two fields in one chain, with linear maps before, between and behind them. */
struct Case
{
  explicit Case(int dimension)
    : first(dimension, { 11, 7, dimension == 3 ? 9 : 1 }, 0.2)
    , second(dimension, { 6, 8, dimension == 3 ? 5 : 1 }, -0.1)
  {}

  /** Returns the chained grid. \param grids of both fields */
  static gpureg::ChainedGrid
  MakeChain(int dimension, std::array<gpureg::DisplacementGrid, 2> grids)
  {
    gpureg::ChainedGrid chained;
    chained.size = { 11, 7, dimension == 3 ? 9 : 1 };
    chained.outputToPoint = MakeRotatedMap(0.2, { 1.1, 0.9, dimension == 3 ? 1.3 : 1.0 }, { 40, -30, 0 });
    chained.transform.dimension = dimension;
    chained.transform.Append(MakeRotatedMap(0.05, { 1, 1, 1 }, { 1, 2, 0 }));
    chained.transform.Append(std::move(grids[0]));
    chained.transform.Append(MakeRotatedMap(-0.03, { 1.02, 0.97, 1 }, { -1, 0.5, 0 }));
    chained.transform.Append(std::move(grids[1]));
    chained.pointToInput = gpureg::InvertMap(MakeRotatedMap(0.4, { 0.7, 1.2, 1 }, { 30, -20, 0 }));
    return chained;
  }

  HostField first;
  HostField second;
};

/** Holds what a chain has on a device. */
struct Loaded
{
  std::vector<char>     vectors;
  std::array<double, 3> reach;
  std::int64_t          bytesUp;
};

Loaded
LoadChain(const std::string & device, const gpureg::ChainedGrid & grid, bool isFixedPoint, bool wantsReach = false)
{
  const auto            queue = gpureg::GetBackend(device)->CreateQueue();
  gpureg::ChainArrays   arrays;
  gpureg::ChainOnDevice chain(*queue, arrays);
  Loaded                loaded;
  gpureg::Operate(*queue, OnThreads(2), [&] {
    chain.SetChain(grid, isFixedPoint);
    chain.SetPlanes(chain.CountPlanes(), wantsReach);
    chain.Load({});
    loaded.reach = chain.GetReach();
    loaded.vectors.resize(arrays.vectors->GetSize());
    queue->Download(loaded.vectors.data(), *arrays.vectors, loaded.vectors.size());
    loaded.bytesUp = queue->GetStatistics().bytesUp;
  });
  return loaded;
}

/** Says whether vectors have the same bits, but for the signs of zeros. */
template <typename T>
bool
AreSame(const std::vector<char> & a, const std::vector<char> & b)
{
  const auto * const first = reinterpret_cast<const T *>(a.data());
  return a.size() == b.size() && std::equal(first, first + a.size() / sizeof(T), reinterpret_cast<const T *>(b.data()));
}

class DeviceFieldTest : public DeviceTest
{
protected:
  bool
  HasDoubles() const
  {
    return gpureg::HasDoubles(GetParam());
  }
};
} // namespace

TEST_P(DeviceFieldTest, GivesAChainTheBitsThatTheHostGivesIt)
{
  for (const int dimension : { 2, 3 })
  {
    const Case its(dimension);
    const auto onDevice = Case::MakeChain(dimension,
                                          { gpureg::MakeDisplacementGrid(its.first.Load(GetParam())),
                                            gpureg::MakeDisplacementGrid(its.second.Load(GetParam())) });
    const auto onHost = Case::MakeChain(dimension, { its.first.MakeGrid(), its.second.MakeGrid() });
    const auto floats = LoadChain(GetParam(), onDevice, false);
    EXPECT_TRUE(AreSame<float>(floats.vectors, LoadChain(GetParam(), onHost, false).vectors)) << dimension;
    const auto fixedPoint = LoadChain(GetParam(), onDevice, true);
    EXPECT_TRUE(AreSame<std::int64_t>(fixedPoint.vectors, LoadChain(GetParam(), onHost, true).vectors)) << dimension;
    // The parts alone are uploaded.
    if (this->HasDoubles())
    {
      EXPECT_LE(floats.bytesUp, static_cast<std::int64_t>(2 * sizeof(gpureg::kernels::ChainPart)));
      EXPECT_LE(fixedPoint.bytesUp, static_cast<std::int64_t>(2 * sizeof(gpureg::kernels::ChainPart)));
    }
  }
}

TEST_P(DeviceFieldTest, GivesFixedPointWhatIsNoNumberAsTheHostDoes)
{
  Case        its(3);
  const float odd[] = { NAN, INFINITY, -INFINITY, 1e30F, -1e30F, 0.0F, 1e-30F, -3e-10F, 123456.78F };
  Floats &    vectors = its.first.vectors;
  for (std::size_t n = 0; n < 3 * std::size(odd); ++n)
  {
    vectors[7 * n] = odd[n % std::size(odd)];
  }
  const auto onDevice = Case::MakeChain(3,
                                        { gpureg::MakeDisplacementGrid(its.first.Load(GetParam())),
                                          gpureg::MakeDisplacementGrid(its.second.Load(GetParam())) });
  const auto onHost = Case::MakeChain(3, { its.first.MakeGrid(), its.second.MakeGrid() });
  EXPECT_TRUE(
    AreSame<std::int64_t>(LoadChain(GetParam(), onDevice, true).vectors, LoadChain(GetParam(), onHost, true).vectors));
}

TEST_P(DeviceFieldTest, BoundsTheReachOfItsVectors)
{
  Case       its(3);
  const auto load = [&](bool isOnDevice) {
    return LoadChain(GetParam(),
                     isOnDevice ? Case::MakeChain(3,
                                                  { gpureg::MakeDisplacementGrid(its.first.Load(GetParam())),
                                                    gpureg::MakeDisplacementGrid(its.second.Load(GetParam())) })
                                : Case::MakeChain(3, { its.first.MakeGrid(), its.second.MakeGrid() }),
                     false,
                     true)
      .reach;
  };
  const auto bound = load(true);
  const auto reach = load(false);
  for (std::size_t r = 0; r < 3; ++r)
  {
    EXPECT_GT(reach[r], 0);
    EXPECT_GE(bound[r], reach[r]);
    EXPECT_LE(bound[r], 2 * reach[r]);
  }
  its.first.vectors[100] = NAN;
  EXPECT_EQ(its.first.Load(GetParam())->GetDescription().largest, std::numeric_limits<double>::infinity());
  for (const double entry : load(true))
  {
    EXPECT_EQ(entry, std::numeric_limits<double>::infinity());
  }
}

TEST_P(DeviceFieldTest, IsReadPlaneByPlane)
{
  const Case its(3);
  const auto queue = gpureg::GetBackend(GetParam())->CreateQueue();
  const auto load = [&](const gpureg::ChainedGrid & grid) {
    gpureg::ChainArrays            arrays;
    gpureg::ChainOnDevice          chain(*queue, arrays);
    std::vector<std::vector<char>> parts;
    gpureg::Operate(*queue, OnThreads(2), [&] {
      chain.SetChain(grid);
      const int planes = chain.CountPlanesForRows(7);
      EXPECT_LT(planes, chain.CountPlanes());
      // Vectors that no row needs are those that are there.
      const std::vector<float> zeros(4 * (11 * 7 * 9 + 6 * 8 * 5));
      arrays.vectors = queue->Allocate(zeros.size() * sizeof(float));
      queue->Upload(*arrays.vectors, 0, zeros.data(), zeros.size() * sizeof(float));
      queue->Finish();
      chain.SetPlanes(planes, false);
      for (std::int64_t row = 0; row < 63; row += 7)
      {
        chain.Load({ row, 7 });
        parts.emplace_back(arrays.vectors->GetSize());
        queue->Download(parts.back().data(), *arrays.vectors, parts.back().size());
      }
    });
    return parts;
  };
  const auto onHost = load(Case::MakeChain(3, { its.first.MakeGrid(), its.second.MakeGrid() }));
  const auto onDevice =
    load(Case::MakeChain(3, { gpureg::MakeDisplacementGrid(its.first.Load(GetParam())), its.second.MakeGrid() }));
  ASSERT_EQ(onDevice.size(), 9u);
  for (std::size_t n = 0; n < onDevice.size(); ++n)
  {
    EXPECT_TRUE(AreSame<float>(onDevice[n], onHost[n])) << n;
  }
}

TEST_P(DeviceFieldTest, StaysWhereItIsPackedUntilAnotherOneComes)
{
  const Case            its(3);
  const auto            one = its.first.Load(GetParam());
  const auto            other = its.first.Load(GetParam());
  const auto            second = its.second.Load(GetParam());
  const auto            queue = gpureg::GetBackend(GetParam())->CreateQueue();
  gpureg::ChainArrays   arrays;
  gpureg::ChainOnDevice chain(*queue, arrays);
  const auto            load = [&](const std::shared_ptr<const DeviceField> & field) {
    const auto grid = Case::MakeChain(3, { gpureg::MakeDisplacementGrid(field), gpureg::MakeDisplacementGrid(second) });
    gpureg::Operate(*queue, OnThreads(2), [&] {
      chain.SetChain(grid);
      chain.SetPlanes(chain.CountPlanes(), false);
      chain.Load({});
    });
    return chain.GetVectorStamp();
  };
  EXPECT_NE(one->GetKey(), other->GetKey());
  // Others count their keys from 1 on.
  EXPECT_GT(one->GetKey().front(), 1000000u);
  const std::uint64_t packed = load(one);
  EXPECT_EQ(load(one), packed);
  EXPECT_NE(load(other), packed);
}

TEST_P(DeviceFieldTest, IsDownloadedForAnotherDevice)
{
  const Case its(3);
  const auto field = its.first.Load(GetParam());
  for (const std::string & device : GetDeviceNames())
  {
    auto       both = gpureg::MakeDisplacementGrid(field);
    const auto expected = LoadChain(device, Case::MakeChain(3, { its.first.MakeGrid(), its.second.MakeGrid() }), false);
    const auto alone = LoadChain(device, Case::MakeChain(3, { both, its.second.MakeGrid() }), false);
    EXPECT_TRUE(AreSame<float>(alone.vectors, expected.vectors)) << device;
    both.vectors = its.first.MakeGrid().vectors;
    EXPECT_TRUE(AreSame<float>(LoadChain(device, Case::MakeChain(3, { both, its.second.MakeGrid() }), false).vectors,
                               expected.vectors))
      << device;
    const bool isHost = gpureg::GetBackend(device)->GetKind() == gpureg::DeviceKind::Host;
    EXPECT_EQ(alone.bytesUp == expected.bytesUp, isHost || device != GetParam() || !this->HasDoubles()) << device;
  }
}

TEST_P(DeviceFieldTest, IsTakenBack)
{
  // Longer than a chunk of a transfer.
  const HostField its(3, { 150, 101, 97 }, 0.3);
  const auto      field = its.Load(GetParam());
  EXPECT_EQ(field->GetDeviceName(), GetParam());
  EXPECT_EQ(field->GetDescription().size, its.description.size);
  const auto ends = std::minmax_element(its.vectors.begin(), its.vectors.end());
  EXPECT_EQ(field->GetDescription().largest, std::max(-*ends.first, *ends.second));
  const std::int64_t all = gpureg::CountOf(its.description.size);
  for (const auto & [first, count] :
       { std::pair<std::int64_t, std::int64_t>{ 0, all }, { 1234, all - 1234 }, { 77, 1 }, { 100000, 0 } })
  {
    Floats taken(its.vectors.size(), -1.0F);
    field->Take(
      first,
      count,
      [&taken](std::int64_t begin, std::int64_t number, const float * in) {
        std::copy_n(in, 3 * number, taken.begin() + 3 * begin);
      },
      OnThreads(3));
    Floats expected(its.vectors.size(), -1.0F);
    std::copy_n(its.vectors.begin() + 3 * first, 3 * count, expected.begin() + 3 * first);
    EXPECT_TRUE(taken == expected) << first << ", " << count;
  }
}

TEST_P(DeviceFieldTest, CountsInTheMemoryAccountAsLongAsAnOwnerHasIt)
{
  const HostField   its(3, { 40, 30, 20 }, 0.3);
  const std::size_t before = gpureg::GetMemoryInUse(GetParam());
  auto              field = its.Load(GetParam());
  EXPECT_EQ(field->GetAccountBytes(), its.vectors.size() * sizeof(float));
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before + field->GetAccountBytes());
  auto grid = gpureg::MakeDisplacementGrid(field);
  field.reset();
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before + its.vectors.size() * sizeof(float));
  grid = {};
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before);
}

TEST_P(DeviceFieldTest, RefusesWhatIsNoField)
{
  HostField its(3, { 4, 3, 2 }, 0.3);
  EXPECT_THROW(its.Load("no device"), gpureg::BadInputError);
  auto grid = gpureg::MakeDisplacementGrid(its.Load(GetParam()));
  grid.size[1] = 4;
  EXPECT_THROW(LoadChain(GetParam(), Case::MakeChain(3, { grid, its.MakeGrid() }), false), gpureg::BadInputError);
  grid.size[1] = 3;
  grid.kind = gpureg::GridKind::BSpline;
  EXPECT_THROW(LoadChain(GetParam(), Case::MakeChain(3, { grid, its.MakeGrid() }), false), gpureg::BadInputError);
  its.description.indexToPoint.matrix = {};
  EXPECT_THROW(gpureg::MakeDisplacementGrid(its.Load(GetParam())), gpureg::BadInputError);
  its.description.size[2] = 0;
  EXPECT_THROW(its.Load(GetParam()), gpureg::BadInputError);
}

INSTANTIATE_TEST_SUITE_P(EachDevice, DeviceFieldTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
