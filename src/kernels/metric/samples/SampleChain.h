// SPDX-License-Identifier: Apache-2.0
// The positions of samples that are not moved by an affine map alone, but by a displacement field over the virtual grid, which is
// optimized, and by the grids of a chain (TransformChain.h) that follows; and forces carried back through these.
//
// A sample of virtual index x is at p_0 = A_0·x + d_0 in the chain's first grid, where d_0 is its displacement by the displacement field,
// at p_k+1 = A_k+1·x + d_k+1 in the next grid, and behind the last one at its position in the moving image. A force f is a derivative by
// the moving point. With J_k = ∂p_k+1/∂p_k and M, the matrix from moving indices to moving points, the derivative by p_0 is (J_n-1 ⋯ J_0)ᵀ
// Mᵀ f. J_k is either constant over a voxel of a field: the differences that itk::DisplacementFieldTransform computes there, of which the
// host makes an array. Or it is the exact derivative of the displacement by the part, a field's linear interpolation or a B-spline, which
// follows from its vectors.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_SampleChain_h
#define gpureg_kernels_SampleChain_h

GPUREG_NAMESPACE_BEGIN

/** Reads the displacement of a voxel, or of a sample that has its own. */
GPUREG_FUNCTION void
ReadDisplacement(const SampleVolumes * v, i64 voxel, float * u)
{
  u[0] = v->displacement[3 * voxel];
  u[1] = v->displacement[3 * voxel + 1];
  u[2] = v->displacement[3 * voxel + 2];
}

/** Interpolates the displacement between voxels. */
GPUREG_FUNCTION void
InterpolateDisplacement(const SampleArguments * a, const SampleVolumes * v, LinearCell cell, float * u)
{
  u[0] = 0.0f;
  u[1] = 0.0f;
  u[2] = 0.0f;
  for (int corner = 0; corner < 8; ++corner)
  {
    const float weight = ((corner & 1) ? cell.fx : 1.0f - cell.fx) * ((corner & 2) ? cell.fy : 1.0f - cell.fy) *
                         ((corner & 4) ? cell.fz : 1.0f - cell.fz);
    const i64 node = cell.offset + ((corner & 1) ? a->virtualShape.stride[0] : 0) +
                     ((corner & 2) ? a->virtualShape.stride[1] : 0) + ((corner & 4) ? a->virtualShape.stride[2] : 0);
    for (int c = 0; c < 3; ++c)
    {
      u[c] = MultiplyAdd(weight, v->displacement[3 * node + c], u[c]);
    }
  }
}

/** Returns 1 if all vectors that move samples are stored in fixed point. */
GPUREG_FUNCTION int
MovesInFixedPoint(int variant, const SampleArguments * a)
{
  return VariantHas(variant, SamplesAreFixedPoint) && a->movesInFixedPoint;
}

/** Adds the displacement by the field or the spline to a sample's position, from fixed-point vectors. */
GPUREG_FUNCTION void
MoveSampleInFixedPoint(int                     variant,
                       const SampleArguments * a,
                       const SampleVolumes *   v,
                       const LaneWalk *        walk,
                       const i64 *             virtualPosition,
                       i64 *                   position)
{
  if (!VariantHas(variant, SamplesArePoints) || a->hasOwnDisplacements)
  {
    MoveInFixedPoint(v, walk->sample, position);
  }
  else if (IsPositionInside(&a->virtualShape, virtualPosition))
  {
    MoveBetweenInFixedPoint(v, &a->virtualShape, virtualPosition, position);
  }
}

/** Computes d_0 of the sample at which a walk is: its displacement by the displacement field, in the units of the grid that follows. */
GPUREG_FUNCTION void
ComputeFirstDisplacement(int                     variant,
                         const SampleArguments * a,
                         const SampleVolumes *   v,
                         const LaneWalk *        walk,
                         const i64 *             virtualPosition,
                         float *                 d)
{
  float u[3] = { 0.0f, 0.0f, 0.0f };
  if (!VariantHas(variant, SamplesArePoints) || a->hasOwnDisplacements)
  {
    ReadDisplacement(v, walk->sample, u);
  }
  else if (IsPositionInside(&a->virtualShape, virtualPosition))
  {
    InterpolateDisplacement(a, v, LocateLinearCell(&a->virtualShape, virtualPosition), u);
  }
  for (int r = 0; r < 3; ++r)
  {
    d[r] = a->displacementToIndex[3 * r] * u[0] + a->displacementToIndex[3 * r + 1] * u[1] +
           a->displacementToIndex[3 * r + 2] * u[2];
  }
}

/** Computes the virtual index of the sample at which a walk is, in units of 2^-32. */
GPUREG_FUNCTION void
ComputeVirtualPosition(
  int variant, const SampleArguments * a, const SampleVolumes * v, const LaneWalk * walk, i64 * position)
{
  if (VariantHas(variant, SamplesArePoints))
  {
    position[0] = v->points[3 * walk->sample];
    position[1] = v->points[3 * walk->sample + 1];
    position[2] = v->points[3 * walk->sample + 2];
    return;
  }
  const int z = (int)walk->x[2];
  position[0] = (i64)(int)walk->x[0] << 32;
  position[1] = (i64)((int)walk->x[1] + z * a->rowsOfSlab) << 32;
  position[2] = a->rowsOfSlab > 0 ? 0 : (i64)z << 32;
}

/** Reads the J of a part at the voxel of its grid that is nearest to a position, from the host's array. */
GPUREG_FUNCTION void
ReadJacobian(const ChainPart * part, const SampleVolumes * v, const int * nearest, float * own)
{
  int isInside = part->kind == ChainPartIsField;
  for (int r = 0; r < 3; ++r)
  {
    isInside = isInside && nearest[r] >= 0 && nearest[r] < part->size[r];
  }
  GPUREG_GLOBAL const float * there =
    v->chainJacobians + (isInside ? 9 * VectorOffset(part, nearest[0], nearest[1], nearest[2]) : 0);
  for (int i = 0; i < 9; ++i)
  {
    own[i] = isInside ? there[i] : part->carry[i];
  }
}

/** Computes the J of a part as the exact derivative of its displacement. The parameters are arrays only: other local variables of the
 *  caller whose addresses were passed would be in memory, not in registers, in all of the caller's code. */
GPUREG_SELDOM_FUNCTION void
DerivePart(GPUREG_GLOBAL const ChainPart * there,
           GPUREG_GLOBAL const float4 *    vectors,
           const int *                     cell,
           const float *                   fraction,
           float *                         own)
{
  const ChainPart part = *there;
  for (int i = 0; i < 9; ++i)
  {
    own[i] = part.carry[i];
  }
  if (part.kind == ChainPartIsField)
  {
    AddFieldSlopes(&part, vectors, cell, fraction, own);
  }
  else
  {
    AddSplineSlopes(&part, vectors, cell, fraction, own);
  }
}

/** Replaces jacobian by own·jacobian. */
GPUREG_FUNCTION void
MultiplyJacobian(const float * own, float * jacobian)
{
  for (int c = 0; c < 3; ++c)
  {
    const float before[3] = { jacobian[c], jacobian[3 + c], jacobian[6 + c] };
    for (int r = 0; r < 3; ++r)
    {
      const float * row = own + 3 * r;
      jacobian[3 * r + c] = MultiplyAdd(row[2], before[2], MultiplyAdd(row[1], before[1], row[0] * before[0]));
    }
  }
}

/** Replaces jacobian by J·jacobian, with the J of the k-th part at cell + fraction. */
GPUREG_FUNCTION void
CarryJacobian(const SampleArguments * a,
              const ChainPart *       part,
              const SampleVolumes *   v,
              int                     k,
              const int *             cell,
              const float *           fraction,
              float *                 jacobian)
{
  if (a->forcesFollowChain == ForcesFollowDerivatives)
  {
    const int   at[3] = { cell[0], cell[1], cell[2] };
    const float beyond[3] = { fraction[0], fraction[1], fraction[2] };
    float       derived[9];
    DerivePart(v->chainParts + k, v->chainVectors, at, beyond, derived);
    MultiplyJacobian(derived, jacobian);
  }
  else
  {
    const int nearest[3] = { cell[0] + (fraction[0] >= 0.5f),
                             cell[1] + (fraction[1] >= 0.5f),
                             cell[2] + (fraction[2] >= 0.5f) };
    float     read[9];
    ReadJacobian(part, v, nearest, read);
    MultiplyJacobian(read, jacobian);
  }
}

/** Replaces d_0 by the total displacement of a sample by all parts, in the moving image's voxels. If findsJacobian, jacobian becomes
 *  J_n-1 ⋯ J_0·jacobian. */
GPUREG_LARGE_FUNCTION void
FollowChain(const SampleArguments * a,
            const SampleVolumes *   v,
            const i64 *             virtualPosition,
            int                     findsJacobian,
            float *                 d,
            float *                 jacobian)
{
  for (int k = 0; k < a->partCount; ++k)
  {
    const ChainPart part = v->chainParts[k];
    i64             position[3];
    int             cell[3];
    float           fraction[3];
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRowAt(&part.toGrid, r, virtualPosition);
    }
    LocateMoved(position, d, cell, fraction);
    if (findsJacobian)
    {
      CarryJacobian(a, &part, v, k, cell, fraction, jacobian);
    }
    DisplaceByPart(&part, v->chainVectors, cell, fraction, d);
  }
}

/** Does what FollowChain does with fixed-point vectors, with d in units of 2^-32 and each J_k from the host's array. */
GPUREG_LARGE_FUNCTION void
FollowChainInFixedPoint(const SampleArguments * a,
                        const SampleVolumes *   v,
                        const i64 *             virtualPosition,
                        int                     findsJacobian,
                        i64 *                   d,
                        float *                 jacobian)
{
  for (int k = 0; k < a->partCount; ++k)
  {
    const ChainPart part = v->chainParts[k];
    i64             position[3];
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRowAt(&part.toGrid, r, virtualPosition) + d[r];
    }
    if (findsJacobian)
    {
      const int nearest[3] = { NearestTo(position[0]), NearestTo(position[1]), NearestTo(position[2]) };
      float     read[9];
      ReadJacobian(&part, v, nearest, read);
      MultiplyJacobian(read, jacobian);
    }
    DisplaceByPartInFixedPoint(&part, v->chainVectorsInFixedPoint, position, d);
  }
}

/** Adds the total displacement of a sample by field or spline and chain to d, in the moving image's voxels in units of 2^-32. */
GPUREG_FUNCTION void
FollowInFixedPoint(int                     variant,
                   const SampleArguments * a,
                   const SampleVolumes *   v,
                   const LaneWalk *        walk,
                   const i64 *             virtualPosition,
                   int                     findsJacobian,
                   i64 *                   d,
                   float *                 jacobian)
{
  if (VariantHas(variant, SamplesAreDisplaced))
  {
    MoveSampleInFixedPoint(variant, a, v, walk, virtualPosition, d);
  }
  if (VariantHas(variant, SamplesAreChained))
  {
    FollowChainInFixedPoint(a, v, virtualPosition, findsJacobian, d, jacobian);
  }
}

/** Adds to the position of the sample at which a walk is the part that is not affine in its virtual index. */
GPUREG_LARGE_FUNCTION void
DisplaceSample(int variant, const SampleArguments * a, const SampleVolumes * v, const LaneWalk * walk, i64 * position)
{
  float d[3] = { 0.0f, 0.0f, 0.0f };
  i64   virtualPosition[3];
  ComputeVirtualPosition(variant, a, v, walk, virtualPosition);
  if (MovesInFixedPoint(variant, a))
  {
    i64 move[3] = { 0, 0, 0 };
    FollowInFixedPoint(variant, a, v, walk, virtualPosition, 0, move, d);
    position[0] += move[0];
    position[1] += move[1];
    position[2] += move[2];
    return;
  }
  if (VariantHas(variant, SamplesAreDisplaced))
  {
    ComputeFirstDisplacement(variant, a, v, walk, virtualPosition, d);
  }
  if (VariantHas(variant, SamplesAreChained))
  {
    FollowChain(a, v, virtualPosition, 0, d, d);
  }
  position[0] += ToFixed(d[0]);
  position[1] += ToFixed(d[1]);
  position[2] += ToFixed(d[2]);
}

/** Turns a force, the derivative by the sample's moving point, into the derivative by p_0, if the arguments demand it: carries it back
 *  through the chain. */
GPUREG_LARGE_FUNCTION void
FollowForceBack(int variant, const SampleArguments * a, const SampleVolumes * v, const LaneWalk * walk, float * force)
{
  if (!VariantHas(variant, SamplesAreChained) || !a->forcesFollowChain)
  {
    return;
  }
  float d[3] = { 0.0f, 0.0f, 0.0f };
  float jacobian[9] = { 1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f };
  float byIndex[3];
  i64   virtualPosition[3];
  ComputeVirtualPosition(variant, a, v, walk, virtualPosition);
  if (MovesInFixedPoint(variant, a))
  {
    i64 move[3] = { 0, 0, 0 };
    FollowInFixedPoint(variant, a, v, walk, virtualPosition, 1, move, jacobian);
  }
  else
  {
    if (VariantHas(variant, SamplesAreDisplaced))
    {
      ComputeFirstDisplacement(variant, a, v, walk, virtualPosition, d);
    }
    FollowChain(a, v, virtualPosition, 1, d, jacobian);
  }
  for (int c = 0; c < 3; ++c)
  {
    byIndex[c] = a->movingIndexToPoint[c] * force[0] + a->movingIndexToPoint[3 + c] * force[1] +
                 a->movingIndexToPoint[6 + c] * force[2];
  }
  for (int c = 0; c < 3; ++c)
  {
    force[c] = jacobian[c] * byIndex[0] + jacobian[3 + c] * byIndex[1] + jacobian[6 + c] * byIndex[2];
  }
}

GPUREG_NAMESPACE_END

#endif
