// SPDX-License-Identifier: Apache-2.0
// Steps of a field by Adam on every device, against the formula in double precision.
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldKernels.h"
#include "engine/registration/AdamSteps.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = std::vector<float>;

constexpr double Length = 0.7;
constexpr double FirstDecay = 0.9;
constexpr double SecondDecay = 0.95;
constexpr double Epsilon = 0.1;

/** The means of Kingma & Ba 2015, algorithm 1, for each component of a field of a spacing. */
class Reference
{
public:
  explicit Reference(std::size_t elements)
    : m_First(elements)
    , m_Second(elements)
  {}

  /** Returns the steps of an update, mm, by gradients in units of its longest vector. */
  std::vector<double>
  Step(const Floats & update, const double * spacing, double longest)
  {
    std::vector<double> steps;
    ++m_Steps;
    for (std::size_t n = 0; n < update.size(); ++n)
    {
      const double gradient = longest > 0 ? -update[n] / spacing[n % 3] / longest : 0.0;
      m_First[n] = FirstDecay * m_First[n] + (1 - FirstDecay) * gradient;
      m_Second[n] = SecondDecay * m_Second[n] + (1 - SecondDecay) * gradient * gradient;
      const double first = m_First[n] / (1 - std::pow(FirstDecay, m_Steps));
      const double second = m_Second[n] / (1 - std::pow(SecondDecay, m_Steps));
      steps.push_back(-Length * first / (std::sqrt(second) + Epsilon) * spacing[n % 3]);
    }
    return steps;
  }

private:
  std::vector<double> m_First;
  std::vector<double> m_Second;
  int                 m_Steps = 0;
};

class FieldAdamTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(FieldAdamTest, MakesTheStepsOfDoublePrecision)
{
  const double       spacing[] = { 1.2, 0.7, 2.5 };
  const gpureg::Size size{ 13, 11, 7 };
  gpureg::IndexMap   toPoint;
  for (std::size_t d = 0; d < 3; ++d)
  {
    toPoint.matrix[4 * d] = spacing[d];
  }
  const auto        grid = gpureg::MakeFieldGrid(3, size, toPoint);
  const auto        voxels = gpureg::CountOf(size);
  const auto        elements = 3 * static_cast<std::size_t>(voxels);
  const std::size_t bytes = sizeof(float) * elements;
  const auto        queue = gpureg::GetBackend(GetParam())->CreateQueue();
  Reference         reference(elements);
  gpureg::Operate(*queue, OnThreads(2), [&] {
    gpureg::MemoryPointer first, second, update, lengths, longest;
    for (gpureg::MemoryPointer * array : { &first, &second, &update })
    {
      gpureg::Reserve(*queue, *array, bytes);
      gpureg::UploadArray(*queue, **array, Floats(elements));
    }
    gpureg::Reserve(*queue, lengths, bytes / 3);
    gpureg::Reserve(*queue, longest, sizeof(float));
    for (int t = 0; t < 8; ++t)
    {
      // Directions change slowly; the fifth update is nothing.
      Floats given(elements);
      float  most = 0;
      for (std::size_t n = 0; n < elements && t != 4; ++n)
      {
        given[n] = static_cast<float>(std::sin(1.3 * static_cast<double>(n) + 0.4 * t) * (1 + 0.3 * t));
        most = std::max(most, std::abs(given[n]));
      }
      gpureg::UploadArray(*queue, *update, given);
      gpureg::UploadArray(*queue, *longest, Floats{ most });
      gpureg::ForEachItem<gpureg::kernels::MoveFieldByAdamKernel>(*queue,
                                                                  voxels,
                                                                  gpureg::Precision::Single,
                                                                  grid,
                                                                  gpureg::MakeAdamStep(Length, t, SecondDecay, Epsilon),
                                                                  gpureg::Input<float>(*longest),
                                                                  gpureg::Output<float>(*first),
                                                                  gpureg::Output<float>(*second),
                                                                  gpureg::Output<gpureg::RealNumber>(*update),
                                                                  gpureg::Output<float>(*lengths));
      Floats found(elements), foundLengths(elements / 3);
      queue->Download(found.data(), *update, bytes);
      queue->Download(foundLengths.data(), *lengths, bytes / 3);
      const std::vector<double> expected = reference.Step(given, spacing, most);
      for (std::size_t n = 0; n < elements; ++n)
      {
        ASSERT_NEAR(found[n], expected[n], 3e-6) << "step " << t << ", element " << n;
        if (n % 3 == 2)
        {
          const double length =
            std::hypot(expected[n - 2] / spacing[0], expected[n - 1] / spacing[1], expected[n] / spacing[2]);
          ASSERT_NEAR(foundLengths[n / 3], length, 3e-6) << "step " << t << ", element " << n;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldAdamTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
