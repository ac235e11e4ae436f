// SPDX-License-Identifier: Apache-2.0
// Tests the check of whether a device resamples as the host does (src/engine/resample/ResampleSelfCheck.h): on every device, and on
// passes that are wrong.
#include "engine/resample/ResampleSelfCheck.h"

#include "TestDevices.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace gpuregtest
{
namespace
{
using namespace gpureg;
using namespace gpureg::kernels;

ResampleArguments
MakeUse(int interpolation, int chain, int components)
{
  ResampleArguments a{};
  a.interpolation = interpolation;
  a.chain = chain;
  a.components = components;
  return a;
}

/** Resamples as the queue's passes do, but by the nearest voxel, without the displacement, or without the last row. */
class ForgetfulPasses : public ResamplePasses
{
public:
  ForgetfulPasses(Queue & queue, const std::string & what)
    : m_Passes(MakePasses<ResamplePasses>(queue))
    , m_What(what)
  {}

  void
  Resample(const ResampleArguments & a, Precision precision, const ResampleArrays & arrays, Memory & output) override
  {
    ResampleArguments changed = a;
    changed.interpolation = m_What == "interpolation" ? ResampleNearest : a.interpolation;
    changed.chain = m_What == "displacement" ? ChainIsAffine : a.chain;
    changed.cut.rowCount -= m_What == "row" ? 1 : 0;
    m_Passes->Resample(changed, precision, arrays, output);
  }

private:
  std::unique_ptr<ResamplePasses> m_Passes;
  std::string                     m_What;
};

class ResampleSelfCheckTest : public DeviceTest
{
protected:
  std::shared_ptr<Backend> m_Backend = GetBackend(GetParam());
  std::unique_ptr<Queue>   m_Queue = m_Backend->CreateQueue();
};
} // namespace

TEST_P(ResampleSelfCheckTest, DevicesResampleAsTheHost)
{
  const auto passes = MakePasses<ResamplePasses>(*m_Queue);
  for (const Precision precision : { Precision::Single, Precision::Double })
  {
    for (int interpolation = ResampleNearest; interpolation <= ResampleBSpline5; ++interpolation)
    {
      for (const int chain : { ChainIsAffine, ChainHasParts, ChainFollowsRows })
      {
        if (precision == Precision::Single || m_Backend->HasDoubles())
        {
          const ResampleArguments use = MakeUse(interpolation, chain, interpolation <= ResampleLinear ? 2 : 1);
          EXPECT_EQ(ComputeDifferenceFromHost(*m_Queue, *passes, use, precision), "") << interpolation << ' ' << chain;
        }
      }
    }
  }
}

TEST_P(ResampleSelfCheckTest, WrongPassesAreFound)
{
  for (const std::string what : { "interpolation", "displacement", "row" })
  {
    for (const int chain : { ChainHasParts, ChainFollowsRows })
    {
      ForgetfulPasses   passes(*m_Queue, what);
      const std::string difference =
        ComputeDifferenceFromHost(*m_Queue, passes, MakeUse(ResampleLinear, chain, 1), Precision::Single);
      EXPECT_NE(difference.find("on the host"), std::string::npos) << what << ' ' << chain;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ResampleSelfCheckTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
