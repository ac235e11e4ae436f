// SPDX-License-Identifier: Apache-2.0
// Sums and multiples of fields, and the lengths of their vectors.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldSums_h
#define gpureg_kernels_FieldSums_h

GPUREG_NAMESPACE_BEGIN

/** Sets an element of a field to 0. */
GPUREG_FUNCTION void
ClearElement(GPUREG_GLOBAL float * field, i64 item)
{
  field[item] = 0.0f;
}

GPUREG_ITEM_KERNEL(ClearElement, 1 << 14, "clearing a deformation");

/** Weights of the components of two fields in their sum: 1 and 1 in a sum, 1 and -1 in a difference, 0 along an axis that nothing is to
 *  move along. 32-bit members only. */
typedef struct FieldWeights
{
  float first[3];
  float second[3];
  int   hasSecond; /* otherwise the second field is not read */
} FieldWeights;

/** Adds up an element of two fields by weights. sum may be either field. Moves 36 bytes a voxel, 24 without the second field. */
GPUREG_REAL_FUNCTION void
AddFields(const FieldWeights *       weights,
          GPUREG_GLOBAL const real * first,
          GPUREG_GLOBAL const real * second,
          GPUREG_GLOBAL real *       sum,
          i64                        item)
{
  const int component = (int)(item % 3);
  real      value = (real)weights->first[component] * first[item];
  if (weights->hasSecond)
  {
    value = MultiplyAdd((real)weights->second[component], second[item], value);
  }
  sum[item] = value;
}

GPUREG_REAL_ITEM_KERNEL(AddFields, 1 << 14, "adding up deformations");

/** Returns a vector's length in voxels as ITK measures it: by the spacing of axis d along the physical axis d, whichever way the grid is
 *  turned. No square leaves the range of floats. */
GPUREG_REAL_FUNCTION float
ComputeLengthInVoxels(const FieldGrid * grid, const real * vector)
{
  float steps[3];
  float largest = 0.0f;
  float sum = 0.0f;
  for (int d = 0; d < 3; ++d)
  {
    steps[d] = (float)((real)grid->perSpacing[d] * vector[d]);
    largest = LargerOf(largest, steps[d] < 0.0f ? -steps[d] : steps[d]);
    sum = MultiplyAdd(steps[d], steps[d], sum);
  }
  if (largest > 1e15f || largest < 1e-15f)
  {
    if (!(largest > 0.0f))
    {
      return sum;
    }
    sum = 0.0f;
    for (int d = 0; d < 3; ++d)
    {
      const float part = steps[d] / largest;
      sum = MultiplyAdd(part, part, sum);
    }
    return largest * SqrtOf(sum);
  }
  return SqrtOf(sum);
}

/** Describes the length that a field's longest vector is to have. */
typedef struct LongestVector
{
  float length;      /* voxels */
  int   onlyShrinks; /* a field whose longest vector is shorter stays as it is */
  int   slot;        /* where the factor goes: FactorOfOuter or FactorOfInner */
} LongestVector;

/** Writes what a field is to be multiplied by; longest[0]: the length of its longest vector. A field of zeros is multiplied by the length
 *  itself, as in itk::SyNImageRegistrationMethod::ScaleUpdateField(). For one item. */
GPUREG_FUNCTION void
ComputeScaleFactor(const LongestVector *       a,
                   GPUREG_GLOBAL const float * longest,
                   GPUREG_GLOBAL float *       factors,
                   i64                         item)
{
  const float found = longest[item];
  const int   staysAsIs = a->onlyShrinks && found <= a->length;
  factors[a->slot] = staysAsIs ? 1.0f : (found > 0.0f ? a->length / found : a->length);
}

GPUREG_ITEM_KERNEL(ComputeScaleFactor, 1, "scaling a step");

/** Multiplies an element of a field by the factor of the outer one. scaled may be the field. Moves 24 bytes a voxel: where the field is
 *  composed with another next, ComposeFields() applies the factor for nothing. */
GPUREG_REAL_FUNCTION void
ScaleField(GPUREG_GLOBAL const float * factors, GPUREG_GLOBAL const real * field, GPUREG_GLOBAL real * scaled, i64 item)
{
  scaled[item] = (real)factors[FactorOfOuter] * field[item];
}

GPUREG_REAL_ITEM_KERNEL(ScaleField, 1 << 14, "scaling a step");

GPUREG_NAMESPACE_END

#endif
