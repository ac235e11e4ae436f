// SPDX-License-Identifier: Apache-2.0
// Tests the largest numbers of control points and samples (src/engine/metric/samples/ControlPoints.h): more floats in a slice than 32 bits
// count, and an error that names the numbers beyond the limits.
#include "engine/metric/samples/ControlPoints.h"
#include "engine/runtime/Operation.h"
#include "host/runtime/HostQueue.h"

#include "TestParallelFor.h"

#include "gpureg/core/Error.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuregtest
{
namespace
{
using namespace gpureg;

using Notes = std::vector<kernels::AdjointArguments>;

/** Records how forces would be interpolated along axes, and computes nothing. */
class NotingPasses : public ControlGridPasses
{
public:
  explicit NotingPasses(Notes & notes)
    : m_Notes(notes)
  {}
  void
  MoveRows(const kernels::ControlGridArguments &, const ControlTables &, const Memory &, Memory &) override
  {}
  void
  ApplyAdjointAlong(const kernels::AdjointArguments & a, const ControlTables &, const Memory &, Memory & out) override
  {
    m_Notes.push_back(a);
    EXPECT_EQ(out.GetSize(),
              sizeof(float) * static_cast<std::size_t>(a.outer) * static_cast<std::size_t>(a.controls) *
                static_cast<std::size_t>(a.inner));
  }
  void
  ApplyAdjointAlongX(const kernels::AdjointArguments & a, const ControlTables &, const Memory &, Memory &) override
  {
    m_Notes.push_back(a);
  }
  void
  ApplyAdjointAtSamples(const kernels::ChainPart &,
                        const kernels::VolumeShape &,
                        const SortedByCell &,
                        const Memory *,
                        const Memory &,
                        Memory &) override
  {}

private:
  Notes & m_Notes;
};

/** A queue that stores only the size of large arrays. */
class QueueWithoutMemory : public HostQueue
{
public:
  using HostQueue::HostQueue;

private:
  MemoryPointer
  DoAllocate(std::size_t bytes) override
  {
    constexpr std::size_t large = std::size_t{ 1 } << 28;
    return bytes > large ? std::make_unique<HostMemory>(nullptr, bytes)
                         : std::make_unique<HostMemory>(GetBackend(), bytes);
  }
};

class ControlPointsTest : public testing::Test
{
protected:
  /** Returns a grid of control points of order 3 over this number of voxels along each axis. */
  static DisplacementGrid
  MakeGrid(const Size & size, const Size & voxels)
  {
    DisplacementGrid grid;
    grid.size = size;
    for (std::size_t d = 0; d < 3; ++d)
    {
      grid.toGrid.matrix[4 * d] = (size[d] - 3.0) / voxels[d];
      grid.toGrid.offset[d] = 1;
    }
    return grid;
  }

  /** Returns the message of an error of exactly this class. */
  template <typename TError>
  std::string
  FindComplaint(const DisplacementGrid & grid, const Size & voxels)
  {
    try
    {
      m_Points.SetGeometry(grid, 3, { voxels, 0, nullptr, 1 });
    }
    catch (const TError & error)
    {
      return error.what();
    }
    return "";
  }

  std::shared_ptr<Backend> m_Backend = GetBackend("host");
  QueueWithoutMemory       m_Queue{ *m_Backend };
  Operation                m_Operation{ m_Queue, OneAfterTheOther };
  Notes                    m_Notes;
  ControlPoints            m_Points{ m_Queue, std::make_unique<NotingPasses>(m_Notes) };
};

TEST_F(ControlPointsTest, AdjointFromSlicesOfMoreFloatsThan32BitsCount)
{
  const Size voxels{ 30000, 30000, 2 };
  m_Points.SetGeometry(MakeGrid({ 9, 8, 7 }, voxels), 3, { voxels, 0, nullptr, 1 });
  const HostMemory forces(nullptr, std::size_t{ 3 } * sizeof(float) * 30000 * 30000 * 2);
  HostMemory       gradient(*m_Backend, sizeof(kernels::float4) * 9 * 8 * 7);
  m_Points.ApplyAdjoint(forces, { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, gradient);
  const Notes & notes = m_Notes;
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].inner, std::int64_t{ 2700000000 });
  EXPECT_EQ(notes[0].length, 2);
  EXPECT_EQ(notes[0].controls, 7);
  EXPECT_EQ(notes[1].outer, 7);
  EXPECT_EQ(notes[1].inner, 90000);
  EXPECT_EQ(notes[1].length, 30000);
  EXPECT_EQ(notes[1].controls, 8);
  EXPECT_EQ(notes[2].outer, 56);
  EXPECT_EQ(notes[2].inner, 3);
  EXPECT_EQ(notes[2].controls, 9);
}

/** Floats in pages that take no memory until they are written. */
class SparseFloats
{
public:
  explicit SparseFloats(std::size_t count)
    : m_Bytes(sizeof(float) * count)
    , m_Address(mmap(nullptr, m_Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
  {}
  ~SparseFloats()
  {
    munmap(m_Address, m_Bytes);
  }
  SparseFloats(const SparseFloats &) = delete;
  SparseFloats &
  operator=(const SparseFloats &) = delete;

  float *
  Get() const
  {
    return m_Address == MAP_FAILED ? nullptr : static_cast<float *>(m_Address);
  }

private:
  std::size_t m_Bytes;
  void *      m_Address;
};

TEST(ApplyAdjointAlongLines, StepsOverSlicesOfMoreFloatsThan32BitsCount)
{
  constexpr std::int64_t    inner = 2700000000;
  constexpr std::int64_t    last = inner - 1;
  const SparseFloats        in(2 * inner);
  const SparseFloats        out(2 * inner);
  kernels::AdjointArguments a{};
  a.inner = inner;
  a.outer = 1;
  a.length = 2;
  a.controls = 2;
  const kernels::ControlWeights weights[2] = { { { 0.75f, 0.25f, 0.0f, 0.0f }, 0, {} },
                                               { { 0.125f, 0.875f, 0.0f, 0.0f }, 0, {} } };
  const kernels::ControlTile    tile{ 0, 2, 0, 2 };
  ASSERT_NE(in.Get(), nullptr);
  ASSERT_NE(out.Get(), nullptr);
  in.Get()[last] = 8.0f;
  in.Get()[inner + last] = 16.0f;
  kernels::ApplyAdjointAlongLines(&a, weights, &tile, 1, 1, in.Get() + last, out.Get() + last);
  EXPECT_EQ(out.Get()[last], 0.75f * 8.0f + 0.125f * 16.0f);
  EXPECT_EQ(out.Get()[inner + last], 0.25f * 8.0f + 0.875f * 16.0f);
}

TEST_F(ControlPointsTest, RefuseMoreSamplesThanSortedOnesAreNumberedBy)
{
  // Less than 2^32 in a slice, and in all rows.
  const Size       voxels{ 30000, 30000, 5 };
  DisplacementGrid oblique = MakeGrid({ 9, 8, 7 }, voxels);
  oblique.toGrid.matrix[1] = 1e-4;
  const std::string complaint = this->FindComplaint<UnsupportedError>(oblique, voxels);
  EXPECT_NE(complaint.find("4294967295 samples at most, not 4500000000"), std::string::npos) << complaint;
}

TEST_F(ControlPointsTest, RefuseMoreControlPointsThan32BitsCount)
{
  const Size        voxels{ 100, 100, 100 };
  const std::string complaint = this->FindComplaint<UnsupportedError>(MakeGrid({ 2048, 2048, 512 }, voxels), voxels);
  EXPECT_NE(complaint.find("may have 2147483647 control points, not 2048 x 2048 x 512"), std::string::npos)
    << complaint;
  EXPECT_EQ(this->FindComplaint<UnsupportedError>(MakeGrid({ 64, 64, 64 }, voxels), voxels), "");
}

} // namespace
} // namespace gpuregtest
