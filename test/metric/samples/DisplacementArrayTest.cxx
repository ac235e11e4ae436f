// SPDX-License-Identifier: Apache-2.0
// The array that holds displacements of samples, or their forces, or nothing (src/engine/metric/samples/DisplacementArray.h).
#include "engine/metric/samples/DisplacementArray.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"

#include "TestParallelFor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace gpuregtest
{
namespace
{
using namespace gpureg;

class DisplacementArrayTest : public testing::Test
{
protected:
  void
  ExpectHoldsNothing()
  {
    EXPECT_THROW(m_Array.GetDisplacements(), std::logic_error);
    EXPECT_THROW(m_Array.GetForces(), std::logic_error);
    EXPECT_THROW(m_Array.OverwriteByForces(), std::logic_error);
  }

  std::unique_ptr<Queue> m_Queue = GetBackend("host")->CreateQueue();
  Operation              m_Operation{ *m_Queue, OneAfterTheOther };
  DisplacementArray      m_Array;
};

TEST_F(DisplacementArrayTest, HoldsWhatWasWrittenLast)
{
  ExpectHoldsNothing();
  m_Array.Reserve(*m_Queue, 48);
  ExpectHoldsNothing();
  const Memory & memory = m_Array.FillWithDisplacements();
  EXPECT_EQ(memory.GetSize(), 48u);
  EXPECT_EQ(&m_Array.GetDisplacements(), &memory);
  EXPECT_THROW(m_Array.GetForces(), std::logic_error);
  EXPECT_EQ(&m_Array.OverwriteByForces(), &memory);
  EXPECT_EQ(&m_Array.GetForces(), &memory);
  EXPECT_THROW(m_Array.GetDisplacements(), std::logic_error) << "forces have overwritten them";
  EXPECT_THROW(m_Array.OverwriteByForces(), std::logic_error) << "forces are computed from displacements";
  m_Array.FillWithDisplacements();
  EXPECT_THROW(m_Array.GetForces(), std::logic_error) << "displacements have overwritten them";
}

TEST_F(DisplacementArrayTest, HoldsUploadedDisplacements)
{
  m_Array.Upload(*m_Queue, sizeof(float), 5, [](std::int64_t first, std::int64_t count, void * out) {
    std::fill_n(static_cast<float *>(out), count, static_cast<float>(first) + 3);
  });
  float value = 0;
  m_Queue->Download(&value, m_Array.GetDisplacements(), sizeof(value));
  EXPECT_EQ(value, 3);
}

TEST_F(DisplacementArrayTest, HoldsNothingAfterOtherWork)
{
  m_Array.Reserve(*m_Queue, 48);
  m_Array.FillWithDisplacements();
  EXPECT_NE(m_Array.Borrow(), nullptr);
  ExpectHoldsNothing();
  m_Array.FillWithDisplacements();
  m_Array.Reserve(*m_Queue, 48);
  ExpectHoldsNothing();
}
} // namespace
} // namespace gpuregtest
