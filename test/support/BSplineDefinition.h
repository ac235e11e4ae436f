// SPDX-License-Identifier: Apache-2.0
#ifndef BSplineDefinition_h
#define BSplineDefinition_h

namespace gpuregtest
{

/** Returns the centred B-spline of an order, by the recursion that defines it. */
inline double
BSpline(int order, double x)
{
  if (order == 0)
  {
    return x >= -0.5 && x < 0.5 ? 1.0 : 0.0;
  }
  const double half = 0.5 * (order + 1);
  return ((half + x) * BSpline(order - 1, x + 0.5) + (half - x) * BSpline(order - 1, x - 0.5)) / order;
}

} // namespace gpuregtest

#endif
