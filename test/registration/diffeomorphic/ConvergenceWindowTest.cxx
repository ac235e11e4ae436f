// SPDX-License-Identifier: Apache-2.0
// Compares ConvergenceWindow with itk::Function::WindowConvergenceMonitoringFunction.
#include "gpureg/registration/ConvergenceWindow.h"

#include "itkWindowConvergenceMonitoringFunction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace gpuregtest
{

TEST(ConvergenceWindow, HasITKsValues)
{
  std::mt19937 random(11);
  for (const unsigned int size : { 2U, 3U, 8U, 10U, 25U })
  {
    const auto expected = itk::Function::WindowConvergenceMonitoringFunction<double>::New();
    expected->SetWindowSize(size);
    gpureg::ConvergenceWindow found(size);
    for (unsigned int n = 0; n < 3 * size; ++n)
    {
      const double cost = -0.6 - 0.3 * (1 - std::exp(-0.1 * n)) + 0.01 * std::generate_canonical<double, 53>(random);
      expected->AddEnergyValue(cost);
      const double value = found.Add(cost);
      const double expectedValue = expected->GetConvergenceValue();
      if (n + 1 < size)
      {
        EXPECT_EQ(value, std::numeric_limits<double>::max());
        EXPECT_EQ(expectedValue, std::numeric_limits<double>::max());
        continue;
      }
      // ITK computes a spline's weights in floats, and divides each cost by the sum of all costs so far.
      EXPECT_NEAR(value, expectedValue, 4e-7 / (n + 1)) << size << " costs, " << n;
    }
  }
}

} // namespace gpuregtest
