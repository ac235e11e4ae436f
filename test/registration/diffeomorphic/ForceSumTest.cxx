// SPDX-License-Identifier: Apache-2.0
// Sums of several similarities' forces against double precision.
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "engine/registration/diffeomorphic/ForceSum.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = std::vector<float>;

/** Forces of one similarity, and their weight in the sum. */
struct Term
{
  double scale;
  double weight;
};

Floats
MakeForces(std::size_t count, double scale, unsigned int seed)
{
  Floats forces;
  for (std::size_t n = 0; n < count; ++n)
  {
    forces.push_back(static_cast<float>(scale * std::sin(0.7 * seed + 1.3 * static_cast<double>(n))));
  }
  return forces;
}

Floats
AddOnDevice(const std::string & device, const std::vector<Floats> & all, const std::vector<Term> & terms, int threads)
{
  const auto           backend = gpureg::GetBackend(device);
  const auto           queue = backend->CreateQueue();
  gpureg::FieldReducer reducer(*queue);
  gpureg::ForceSum     sum(*queue);
  Floats               result(all[0].size());
  sum.SetLevel(gpureg::MakeLevelGrid(3, { static_cast<int>(result.size() / 3), 1, 1 }, {}), nullptr);
  gpureg::Operate(*queue, OnThreads(threads), [&] {
    gpureg::MemoryPointer forces;
    gpureg::MemoryPointer added;
    gpureg::Reserve(*queue, forces, sizeof(float) * result.size());
    gpureg::Reserve(*queue, added, sizeof(float) * result.size());
    for (std::size_t n = 0; n < all.size(); ++n)
    {
      gpureg::Memory & its = n == 0 ? *added : *forces;
      gpureg::UploadArray(*queue, its, all[n]);
      gpureg::Enqueue(*queue, false, [&] { sum.Add(reducer, its, terms[n].weight, n == 0, *added); });
    }
    queue->Download(result.data(), *added, sizeof(float) * result.size());
  });
  return result;
}

class ForceSumTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(ForceSumTest, DividesByMagnitudes)
{
  // Squares of the first and the last leave the range of floats; one has no forces at all.
  const std::vector<Term> terms{ { 1e25, 0.5 }, { 3.0, -0.2 }, { 0.0, 0.1 }, { 1e-25, 0.2 } };
  for (const std::size_t count : { std::size_t{ 3 }, std::size_t{ 3 * 41 * 37 }, std::size_t{ 3 * 90 * 80 * 7 } })
  {
    std::vector<Floats> all;
    std::vector<double> expected(count, 0.0);
    for (std::size_t t = 0; t < terms.size(); ++t)
    {
      all.push_back(MakeForces(count, terms[t].scale, static_cast<unsigned int>(t)));
      double squares = 0;
      for (const float force : all.back())
      {
        squares += static_cast<double>(force) * force;
      }
      for (std::size_t n = 0; n < count && squares > 0; ++n)
      {
        expected[n] += terms[t].weight * all.back()[n] / std::sqrt(squares);
      }
    }
    const Floats found = AddOnDevice(GetParam(), all, terms, 2);
    for (std::size_t n = 0; n < count; ++n)
    {
      ASSERT_NEAR(found[n], expected[n], 1e-6 / std::sqrt(static_cast<double>(count))) << n << " of " << count;
    }
    EXPECT_EQ(found, AddOnDevice(GetParam(), all, terms, 1));
    EXPECT_EQ(found, AddOnDevice(GetParam(), all, terms, 3));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ForceSumTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
