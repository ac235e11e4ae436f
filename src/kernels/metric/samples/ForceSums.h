// SPDX-License-Identifier: Apache-2.0
// The twelve sums from which the derivative of any linear transform follows: Σ f and Σ f ⊗ x. A linear transform's Jacobian is affine in x,
// J(x) = J_0 + Σ_d x_d J_d, hence Σ J(x)ᵀ f(x) = J_0ᵀ Σ f + Σ_d J_dᵀ Σ f x_d: no kernel depends on a transform class.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ForceSums_h
#define gpureg_kernels_ForceSums_h

GPUREG_NAMESPACE_BEGIN

enum
{
  ForceSumCount = 12
};

/** Adds f to sums[0..2], and f_c x_d to sums[3 + 3 d + c]. */
GPUREG_FUNCTION void
AddForce(float * sums, const float * force, const float * x)
{
  for (int c = 0; c < 3; ++c)
  {
    sums[c] += force[c];
    sums[3 + c] = MultiplyAdd(force[c], x[0], sums[3 + c]);
    sums[6 + c] = MultiplyAdd(force[c], x[1], sums[6 + c]);
    sums[9 + c] = MultiplyAdd(force[c], x[2], sums[9 + c]);
  }
}

/** Adds value to sum + rest, where rest holds what rounding leaves (Knuth's two-sum). */
GPUREG_FUNCTION void
AddExactly(float value, float * sum, float * rest)
{
  const float before = *sum;
  const float after = before + value;
  const float added = after - before;
  *sum = after;
  *rest += (before - (after - added)) + (value - added);
}

/** A number of some 48 bits: its value as a float, and what rounding leaves. */
typedef struct FloatAndRest
{
  float value;
  float rest;
} FloatAndRest;

/** Splits an integer, in a unit that is a power of two. */
GPUREG_FUNCTION FloatAndRest
SplitInteger(i64 number, float unit)
{
  FloatAndRest split;
  const float  value = (float)number;
  split.value = value * unit;
  split.rest = (float)(number - (i64)value) * unit;
  return split;
}

/** Returns a·b without the product of both rests. The rest is computed from a product that is rounded by MultiplyAddOnce with 0, which a
 *  compiler may not fuse with an addition that follows. */
GPUREG_FUNCTION FloatAndRest
MultiplyExactly(FloatAndRest a, FloatAndRest b)
{
  FloatAndRest product;
  product.value = MultiplyAddOnce(a.value, b.value, 0.0f);
  product.rest = MultiplyAddOnce(a.value, b.value, -product.value) + (a.value * b.rest + a.rest * b.value);
  return product;
}

/** Adds number to sum + rest, both of some 48 bits. */
GPUREG_FUNCTION void
AddWithRest(FloatAndRest number, float * sum, float * rest)
{
  AddExactly(number.value, sum, rest);
  *rest += number.rest;
}

/** Adds a force as AddForce does, where samples are few and forces may cancel to a thousandth: 2·ForceSumCount floats, what rounding
 *  leaves last. */
GPUREG_FUNCTION void
AddForceExactly(float * sums, const float * force, const float * x)
{
  for (int s = 0; s < ForceSumCount; ++s)
  {
    const float value = s < 3 ? force[s] : force[s % 3] * x[s / 3 - 1];
    AddExactly(value, sums + s, sums + ForceSumCount + s);
  }
}

/** Adds a force of some 48 bits as AddForceExactly does. */
GPUREG_FUNCTION void
AddFixedPointForce(float * sums, const FloatAndRest * force, const float * x)
{
  for (int s = 0; s < ForceSumCount; ++s)
  {
    FloatAndRest summand = force[s % 3];
    if (s >= 3)
    {
      const FloatAndRest place = { x[s / 3 - 1], 0.0f };
      summand = MultiplyExactly(summand, place);
    }
    AddWithRest(summand, sums + s, sums + ForceSumCount + s);
  }
}

/** Adds a force as AddForce does, for a lane whose samples share x and y: f and f z only. FinishForceAlongZ adds the rest. */
GPUREG_FUNCTION void
AddForceAlongZ(float * sums, const float * force, float z)
{
  for (int c = 0; c < 3; ++c)
  {
    sums[c] += force[c];
    sums[9 + c] = MultiplyAdd(force[c], z, sums[9 + c]);
  }
}

/** Computes the sums f x and f y at the end of a walk along z. */
GPUREG_FUNCTION void
FinishForceAlongZ(float * sums, float x, float y)
{
  for (int c = 0; c < 3; ++c)
  {
    sums[3 + c] = sums[c] * x;
    sums[6 + c] = sums[c] * y;
  }
}

GPUREG_NAMESPACE_END

#endif
