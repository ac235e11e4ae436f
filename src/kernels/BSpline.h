// SPDX-License-Identifier: Apache-2.0
// Weights of the uniform B-spline of any order, and its derivative.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_BSpline_h
#define gpureg_kernels_BSpline_h

GPUREG_NAMESPACE_BEGIN

enum
{
  MaximumSplineOrder = 5
};

/** The order + 1 weights that are not zero at x, by the Cox-de Boor recursion on integer knots:
 *  at degree d, N[r] of degree d-1 gives (r+1-t)/d of itself to N[r] and (t+d-1-r)/d to N[r+1].
 *  Splines are centred on the samples, so an even order has its knots half-way between them.
 *  Returns the index of the sample that the first weight belongs to. */
GPUREG_FUNCTION int
BSplineWeights(int order, float x, float * weights)
{
  const float shifted = (order & 1) ? x : x + 0.5f;
  const float knot = FloorOf(shifted);
  const float t = shifted - knot;

  weights[0] = 1.0f;
  for (int degree = 1; degree <= order; ++degree)
  {
    const float scale = 1.0f / (float)degree;
    float       carried = 0.0f;
    for (int r = 0; r < degree; ++r)
    {
      const float share = weights[r] * scale;
      weights[r] = MultiplyAdd((float)(r + 1) - t, share, carried);
      carried = (t + (float)(degree - 1 - r)) * share;
    }
    weights[degree] = carried;
  }
  return (int)knot - order / 2;
}

/** The four cubic weights at the fraction t in [0, 1] between the second and the third sample. */
GPUREG_FUNCTION void
CubicBSplineWeights(float t, float * weights)
{
  const float s = 1.0f - t;
  weights[0] = s * s * s * (1.0f / 6.0f);
  weights[1] = MultiplyAdd(t * t, MultiplyAdd(0.5f, t, -1.0f), 2.0f / 3.0f);
  weights[2] = MultiplyAdd(s * s, MultiplyAdd(0.5f, s, -1.0f), 2.0f / 3.0f);
  weights[3] = t * t * t * (1.0f / 6.0f);
}

/** B3'(k - 1 - t) for k = 0..3: the spline's own derivative at the distance (sample - position). */
GPUREG_FUNCTION void
CubicBSplineDerivatives(float t, float * derivatives)
{
  const float s = 1.0f - t;
  derivatives[0] = 0.5f * s * s;
  derivatives[1] = t * MultiplyAdd(-1.5f, t, 2.0f);
  derivatives[2] = s * MultiplyAdd(1.5f, s, -2.0f);
  derivatives[3] = -0.5f * t * t;
}

GPUREG_NAMESPACE_END

#endif
