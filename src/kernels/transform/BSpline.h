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

/** Computes the four cubic weights at the fraction t in [0, 1] between the second and the third sample. */
GPUREG_REAL_FUNCTION void
CubicBSplineWeights(real t, real * weights)
{
  const real s = (real)1.0f - t;
  const real sixth = (real)1.0f / (real)6.0f;
  weights[0] = s * s * s * sixth;
  weights[1] = MultiplyAdd(t * t, MultiplyAdd((real)0.5f, t, (real)-1.0f), (real)4.0f * sixth);
  weights[2] = MultiplyAdd(s * s, MultiplyAdd((real)0.5f, s, (real)-1.0f), (real)4.0f * sixth);
  weights[3] = t * t * t * sixth;
}

/** Computes the order + 1 weights that are not zero at t in [0, 1] behind a knot, by the Cox-de Boor recursion on integer knots: at
 *  degree d, N[r] of degree d-1 adds (r+1-t)/d of itself to N[r] and (t+d-1-r)/d to N[r+1]. */
GPUREG_REAL_FUNCTION void
SplineWeights(int order, real t, real * weights)
{
  if (order == 3)
  {
    CubicBSplineWeights(t, weights);
    return;
  }
  weights[0] = 1.0f;
  for (int degree = 1; degree <= order; ++degree)
  {
    const real scale = (real)1.0f / (real)degree;
    real       carried = 0.0f;
    for (int r = 0; r < degree; ++r)
    {
      const real share = weights[r] * scale;
      weights[r] = MultiplyAdd((real)(r + 1) - t, share, carried);
      carried = (t + (real)(degree - 1 - r)) * share;
    }
    weights[degree] = carried;
  }
}

/** Computes B3'(k - 1 - t) for k = 0..3: the spline's own derivative at the distance (sample - position). */
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
