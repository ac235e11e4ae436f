// SPDX-License-Identifier: Apache-2.0
// The derivative of the displacement by a part of a chain (TransformChain.h) by the position in the part's grid.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ChainSlopes_h
#define gpureg_kernels_ChainSlopes_h

GPUREG_NAMESPACE_BEGIN

/** Computes the derivatives of SplineWeights() by t: each is the difference of two neighbouring weights of the order below, the earlier
 *  one minus that at the same place. */
GPUREG_FUNCTION void
SplineWeightSlopes(int order, float t, float * slopes)
{
  float lower[MaximumSplineOrder + 1];
  float before = 0.0f;
  if (order > 0)
  {
    SplineWeights(order - 1, t, lower);
  }
  for (int r = 0; r <= order; ++r)
  {
    const float at = r < order ? lower[r] : 0.0f;
    slopes[r] = before - at;
    before = at;
  }
}

/** Adds to a derivative, 3×3 by rows, the contribution of a vector. changes: the derivatives of the vector's weight along each axis. */
GPUREG_FUNCTION void
AddVectorSlopes(const float * changes, float4 vector, float * slopes)
{
  for (int c = 0; c < 3; ++c)
  {
    slopes[c] = MultiplyAdd(changes[c], vector.x, slopes[c]);
    slopes[3 + c] = MultiplyAdd(changes[c], vector.y, slopes[3 + c]);
    slopes[6 + c] = MultiplyAdd(changes[c], vector.z, slopes[6 + c]);
  }
}

/** Adds the derivative of a B-spline's displacement, by the position cell + fraction in its grid, to slopes. */
GPUREG_FUNCTION void
AddSplineSlopes(const ChainPart *            part,
                GPUREG_GLOBAL const float4 * vectors,
                const int *                  cell,
                const float *                fraction,
                float *                      slopes)
{
  float weights[3][MaximumTransformSplineOrder + 1], weightSlopes[3][MaximumTransformSplineOrder + 1];
  int   first[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    float t;
    first[axis] = 0;
    weights[axis][0] = 1.0f;
    weightSlopes[axis][0] = 0.0f;
    if (axis < part->dimension)
    {
      if (!LocateControlPoints(part->order, part, axis, cell[axis], fraction[axis], first + axis, &t))
      {
        return;
      }
      SplineWeights(part->order, t, weights[axis]);
      SplineWeightSlopes(part->order, t, weightSlopes[axis]);
    }
  }
  const int depth = part->dimension > 2 ? part->order : 0;
  for (int c = 0; c <= depth; ++c)
  {
    for (int b = 0; b <= part->order; ++b)
    {
      const float                  across = weights[1][b] * weights[2][c];
      const float                  alongY = weightSlopes[1][b] * weights[2][c];
      const float                  alongZ = weights[1][b] * weightSlopes[2][c];
      GPUREG_GLOBAL const float4 * row = vectors + VectorOffset(part, first[0], first[1] + b, first[2] + c);
      for (int a = 0; a <= part->order; ++a)
      {
        const float changes[3] = { weightSlopes[0][a] * across, weights[0][a] * alongY, weights[0][a] * alongZ };
        AddVectorSlopes(changes, row[a], slopes);
      }
    }
  }
}

/** Adds the derivative of a field's displacement to slopes. Displacements are linear between voxels, and constant beyond the outermost
 *  ones. */
GPUREG_FUNCTION void
AddFieldSlopes(const ChainPart *            part,
               GPUREG_GLOBAL const float4 * vectors,
               const int *                  cell,
               const float *                fraction,
               float *                      slopes)
{
  int index[3][2];
  int changes[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    const int nearest = cell[axis] + (fraction[axis] >= 0.5f);
    if (nearest < 0 || nearest >= part->size[axis])
    {
      return;
    }
    changes[axis] = cell[axis] >= 0 && cell[axis] + 1 < part->size[axis];
    index[axis][0] = cell[axis] < 0 ? 0 : cell[axis];
    index[axis][1] = index[axis][0] + changes[axis];
  }
  for (int corner = 0; corner < 8; ++corner)
  {
    float weight[3], slope[3];
    int   at[3];
    for (int axis = 0; axis < 3; ++axis)
    {
      const int isUpper = corner >> axis & 1;
      weight[axis] = isUpper ? fraction[axis] : 1.0f - fraction[axis];
      slope[axis] = !changes[axis] ? 0.0f : (isUpper ? 1.0f : -1.0f);
      at[axis] = index[axis][isUpper];
    }
    const float ofCorner[3] = { slope[0] * weight[1] * weight[2],
                                weight[0] * slope[1] * weight[2],
                                weight[0] * weight[1] * slope[2] };
    AddVectorSlopes(ofCorner, vectors[VectorOffset(part, at[0], at[1], at[2])], slopes);
  }
}

GPUREG_NAMESPACE_END

#endif
