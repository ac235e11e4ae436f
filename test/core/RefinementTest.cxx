// SPDX-License-Identifier: Apache-2.0
// Tests that a control grid with half the spacing represents the same spline.
#include "kernels/core/Prelude.h"
#include "kernels/core/Adam.h"
#include "kernels/core/Evaluated.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/registration/free_form/ControlSteps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

/** Returns the cubic B-spline at x. */
double
BSpline(double x)
{
  const double a = std::abs(x);
  return a < 1 ? 2.0 / 3.0 - a * a + 0.5 * a * a * a : a < 2 ? (2 - a) * (2 - a) * (2 - a) / 6.0 : 0.0;
}

/** Returns component x, y or z of a spline at a point, in steps of the finer grid from the domain's corner on; control point i lies at
 *  `step`·(i - 1). */
double
Evaluate(
  const std::vector<float4> & points, float float4::*component, const int * size, double step, const double * place)
{
  double sum = 0;
  for (int k = 0; k < size[2]; ++k)
  {
    for (int j = 0; j < size[1]; ++j)
    {
      for (int i = 0; i < size[0]; ++i)
      {
        const int index[3] = { i, j, k };
        double    weight = 1;
        for (int d = 0; d < 3; ++d)
        {
          weight *= size[d] > 1 ? BSpline(place[d] / step - (index[d] - 1)) : 1.0;
        }
        sum += weight * points[static_cast<std::size_t>((k * size[1] + j) * size[0] + i)].*component;
      }
    }
  }
  return sum;
}
} // namespace

TEST(RefinementTest, KeepsTheSpline)
{
  for (const int dimension : { 2, 3 })
  {
    std::mt19937                          random(static_cast<unsigned int>(dimension));
    std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
    // Domains of odd and of even length, in steps of the finer grid.
    const int  lengths[3] = { 7, 4, dimension == 3 ? 5 : 0 };
    Refinement a{};
    a.dimension = dimension;
    for (int d = 0; d < 3; ++d)
    {
      a.fine[d] = d < dimension ? lengths[d] + 3 : 1;
      a.coarse[d] = d < dimension ? (lengths[d] + 1) / 2 + 3 : 1;
    }
    std::vector<float4> coarse(static_cast<std::size_t>(a.coarse[0] * a.coarse[1] * a.coarse[2]));
    for (float4 & point : coarse)
    {
      point = { uniform(random), uniform(random), uniform(random), 0.0f };
    }
    std::vector<float4> fine(static_cast<std::size_t>(a.fine[0] * a.fine[1] * a.fine[2]));
    for (std::size_t n = 0; n < fine.size(); ++n)
    {
      RefineControlPoint(&a, coarse.data(), fine.data(), static_cast<i64>(n));
    }
    for (int n = 0; n < 200; ++n)
    {
      double place[3] = {};
      for (int d = 0; d < dimension; ++d)
      {
        place[d] = std::uniform_real_distribution<double>(0.0, lengths[d])(random);
      }
      for (float float4::*const component : { &float4::x, &float4::y, &float4::z })
      {
        EXPECT_NEAR(Evaluate(fine, component, a.fine, 1.0, place),
                    Evaluate(coarse, component, a.coarse, 2.0, place),
                    1e-6);
      }
    }
  }
}

} // namespace gpuregtest
