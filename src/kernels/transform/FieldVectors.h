// SPDX-License-Identifier: Apache-2.0
// The vectors of a field on the device as those of a chain's grid: multiplied by a matrix, and packed as the chain reads them. They have
// the bits that the host gives vectors which it packs (src/engine/transform/PackedVectors.h).
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldVectors_h
#define gpureg_kernels_FieldVectors_h

GPUREG_NAMESPACE_BEGIN

/** Arguments of PackFieldVectors. */
typedef struct FieldPacking
{
  double matrix[9]; /* by rows */
  double farthest;  /* the largest component in fixed point, voxels */
} FieldPacking;

/** Returns a component of the product of the matrix and a vector. */
GPUREG_FUNCTION double
TurnFieldVector(const FieldPacking * a, GPUREG_GLOBAL const float * vector, int component)
{
  const double x = RoundedProduct(a->matrix[3 * component], (double)vector[0]);
  const double y = RoundedProduct(a->matrix[3 * component + 1], (double)vector[1]);
  const double z = RoundedProduct(a->matrix[3 * component + 2], (double)vector[2]);
  return x + y + z;
}

/** Packs a vector of a field in floats. field: float[3] a vector. */
GPUREG_FUNCTION void
PackFieldVector(const FieldPacking * a, GPUREG_GLOBAL const float * field, GPUREG_GLOBAL float4 * packed, i64 item)
{
  GPUREG_GLOBAL const float * const vector = field + 3 * item;
  packed[item] = MakeFloat4((float)TurnFieldVector(a, vector, 0),
                            (float)TurnFieldVector(a, vector, 1),
                            (float)TurnFieldVector(a, vector, 2),
                            0.0f);
}

GPUREG_ITEM_KERNEL(PackFieldVector, 16384, "packing a field");

/** Packs a vector of a field in fixed point: i64[3], in units of 2^-32. A component that is larger than a->farthest, or not a number, leads
 *  out of every image. */
GPUREG_FUNCTION void
PackFieldVectorInFixedPoint(const FieldPacking *        a,
                            GPUREG_GLOBAL const float * field,
                            GPUREG_GLOBAL i64 *         packed,
                            i64                         item)
{
  for (int r = 0; r < 3; ++r)
  {
    const double turned = TurnFieldVector(a, field + 3 * item, r);
    const double limited = turned > -a->farthest ? (turned < a->farthest ? turned : a->farthest) : -a->farthest;
    const double scaled = limited * 4294967296.0;
    const i64    whole = (i64)scaled;
    const double rest = scaled - (double)whole;
    packed[3 * item + r] = whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
  }
}

GPUREG_ITEM_KERNEL(PackFieldVectorInFixedPoint, 16384, "packing a field");

GPUREG_NAMESPACE_END

#endif
