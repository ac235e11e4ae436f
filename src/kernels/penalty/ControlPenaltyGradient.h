// SPDX-License-Identifier: Apache-2.0
// The gradient of a penalty at its control points, from the partial derivatives of the nodes' energies: the adjoint of
// ComputeSlopesAndCurves() in ControlPenalties.h.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ControlPenaltyGradient_h
#define gpureg_kernels_ControlPenaltyGradient_h

GPUREG_NAMESPACE_BEGIN

/** The nodes before, at and behind a control point along an axis, and the weights of its B-spline there. If there is no such node, the
 *  weights are 0 and another node stands for it, so that it can be read. */
typedef struct NodesOfPoint
{
  int   node[3];
  float basis[3];
  float slope[3];
  float curve[3];
} NodesOfPoint;

GPUREG_FUNCTION NodesOfPoint
ComputeNodesOfPoint(int point, int nodes)
{
  NodesOfPoint of;
  for (int k = 0; k < 3; ++k)
  {
    const int node = point + k - 2;
    const int isThere = node >= 0 && node < nodes;
    of.node[k] = isThere ? node : 0;
    of.basis[k] = isThere ? BasisAtNode(1 - k) : 0.0f;
    of.slope[k] = isThere ? SlopeAtNode(1 - k) : 0.0f;
    of.curve[k] = isThere ? CurveAtNode(1 - k) : 0.0f;
  }
  return of;
}

/** Adds to a column of control points along z the contribution of one plane of nodes by the partial derivatives of the bending energy:
 *  float4s that are to be multiplied by the B-spline's value along z, its first and its second derivative. */
GPUREG_FUNCTION void
CollectBendingPlane(const ControlPenaltyArguments * a,
                    GPUREG_GLOBAL const float4 *    nodeDerivatives,
                    const NodesOfPoint *            alongX,
                    const NodesOfPoint *            alongY,
                    int                             plane,
                    float4 *                        sums)
{
  const i64 count = CountNodes(a);
  for (int j = 0; j < 3; ++j)
  {
    GPUREG_GLOBAL const float4 * row = nodeDerivatives + ((i64)plane * a->nodes[1] + alongY->node[j]) * a->nodes[0];
    float4                       ofRow[CurveCount];
    for (int s = 0; s < CurveCount; ++s)
    {
      ofRow[s] = ZeroFloat4();
    }
    for (int i = 0; i < 3; ++i)
    {
      GPUREG_GLOBAL const float4 * p = row + alongX->node[i];
      ofRow[0] = MultiplyAdd4(alongX->curve[i], p[0], ofRow[0]);
      ofRow[1] = MultiplyAdd4(alongX->basis[i], p[count], ofRow[1]);
      ofRow[2] = MultiplyAdd4(alongX->basis[i], p[2 * count], ofRow[2]);
      ofRow[3] = MultiplyAdd4(alongX->slope[i], p[3 * count], ofRow[3]);
      ofRow[4] = MultiplyAdd4(alongX->slope[i], p[4 * count], ofRow[4]);
      ofRow[5] = MultiplyAdd4(alongX->basis[i], p[5 * count], ofRow[5]);
    }
    sums[0] = MultiplyAdd4(alongY->basis[j], ofRow[0], sums[0]);
    sums[0] = MultiplyAdd4(alongY->curve[j], ofRow[1], sums[0]);
    sums[0] = MultiplyAdd4(alongY->slope[j], ofRow[3], sums[0]);
    sums[1] = MultiplyAdd4(alongY->basis[j], ofRow[4], sums[1]);
    sums[1] = MultiplyAdd4(alongY->slope[j], ofRow[5], sums[1]);
    sums[2] = MultiplyAdd4(alongY->basis[j], ofRow[2], sums[2]);
  }
}

/** Adds the contribution of one plane of nodes, as CollectBendingPlane does, by the partial derivatives by u's first derivatives;
 *  sums[2], for the second derivative along z, does not change. */
GPUREG_FUNCTION void
CollectSlopePlane(const ControlPenaltyArguments * a,
                  GPUREG_GLOBAL const float4 *    nodeDerivatives,
                  const NodesOfPoint *            alongX,
                  const NodesOfPoint *            alongY,
                  int                             plane,
                  float4 *                        sums)
{
  const i64 count = CountNodes(a);
  for (int j = 0; j < 3; ++j)
  {
    GPUREG_GLOBAL const float4 * row = nodeDerivatives + ((i64)plane * a->nodes[1] + alongY->node[j]) * a->nodes[0];
    float4                       ofRow[SlopeCount];
    for (int s = 0; s < SlopeCount; ++s)
    {
      ofRow[s] = ZeroFloat4();
    }
    for (int i = 0; i < 3; ++i)
    {
      GPUREG_GLOBAL const float4 * p = row + alongX->node[i];
      ofRow[0] = MultiplyAdd4(alongX->slope[i], p[0], ofRow[0]);
      ofRow[1] = MultiplyAdd4(alongX->basis[i], p[count], ofRow[1]);
      ofRow[2] = MultiplyAdd4(alongX->basis[i], p[2 * count], ofRow[2]);
    }
    sums[0] = MultiplyAdd4(alongY->basis[j], ofRow[0], sums[0]);
    sums[0] = MultiplyAdd4(alongY->slope[j], ofRow[1], sums[0]);
    sums[1] = MultiplyAdd4(alongY->basis[j], ofRow[2], sums[1]);
  }
}

/** Computes the contribution of one plane of nodes for either kind; 0 for a plane that does not exist. */
GPUREG_FUNCTION void
CollectPlane(const ControlPenaltyArguments * a,
             GPUREG_GLOBAL const float4 *    nodeDerivatives,
             const NodesOfPoint *            alongX,
             const NodesOfPoint *            alongY,
             int                             plane,
             float4 *                        sums)
{
  sums[0] = ZeroFloat4();
  sums[1] = ZeroFloat4();
  sums[2] = ZeroFloat4();
  if (plane < 0 || plane >= a->nodes[2])
  {
    return;
  }
  if (a->kind == PenaltyOfBending)
  {
    CollectBendingPlane(a, nodeDerivatives, alongX, alongY, plane, sums);
  }
  else
  {
    CollectSlopePlane(a, nodeDerivatives, alongX, alongY, plane, sums);
  }
}

/** Adds factor·sum to a control point's gradient; or, unless `adds`, overwrites the gradient by it. */
GPUREG_FUNCTION void
StoreGradient(float factor, int adds, float4 sum, GPUREG_GLOBAL float4 * gradient)
{
  *gradient = MultiplyAdd4(factor, sum, adds ? *gradient : ZeroFloat4());
}

/** Computes the gradient at the control points (x, y, firstZ) to before (x, y, endZ): the adjoint of ComputeSlopesAndCurves. Each plane of
 *  nodes is summed once, for the three control points of the column to which it contributes. */
GPUREG_FUNCTION void
CollectColumn(const ControlPenaltyArguments * a,
              GPUREG_GLOBAL const float4 *    nodeDerivatives,
              int                             x,
              int                             y,
              int                             firstZ,
              int                             endZ,
              float                           factor,
              int                             adds,
              GPUREG_GLOBAL float4 *          gradient)
{
  const NodesOfPoint     alongX = ComputeNodesOfPoint(x, a->nodes[0]);
  const NodesOfPoint     alongY = ComputeNodesOfPoint(y, a->nodes[1]);
  const i64              plane = (i64)a->size[0] * a->size[1];
  GPUREG_GLOBAL float4 * column = gradient + (i64)y * a->size[0] + x;
  float4                 sums[3];
  if (IsFlat(a))
  {
    CollectPlane(a, nodeDerivatives, &alongX, &alongY, 0, sums);
    StoreGradient(factor, adds, sums[0], column);
    return;
  }
  float4 before = ZeroFloat4(); /* sum for control point z, of the nodes before it and at it */
  float4 at = ZeroFloat4();     /* sum for the next control point, of the node before it */
  /* Node z of the column is at control point z + 1. */
  for (int z = firstZ - 2; z < endZ; ++z)
  {
    CollectPlane(a, nodeDerivatives, &alongX, &alongY, z, sums);
    const float4 ofEnds = MultiplyAdd4(BasisAtNode(1), sums[0], sums[2]);
    if (z >= firstZ)
    {
      const float4 last = MultiplyAdd4(SlopeAtNode(-1), sums[1], ofEnds);
      StoreGradient(factor, adds, MultiplyAdd4(1.0f, before, last), column + z * plane);
    }
    before = MultiplyAdd4(CurveAtNode(0), sums[2], MultiplyAdd4(BasisAtNode(0), sums[0], at));
    at = MultiplyAdd4(SlopeAtNode(1), sums[1], ofEnds);
  }
}

GPUREG_FUNCTION i64
CountControlPoints(const ControlPenaltyArguments * a)
{
  return (i64)a->size[0] * a->size[1] * a->size[2];
}

/** Computes the gradient at the control point of a device's lane with this number; nothing beyond the last one. Longer columns read
 *  less, but leave too few lanes for a grid of few points: with columns of four, 75,000 points took half as long again on an H200. */
GPUREG_FUNCTION void
CollectNumberedPoint(const ControlPenaltyArguments * a,
                     GPUREG_GLOBAL const float4 *    nodeDerivatives,
                     i64                             number,
                     float                           factor,
                     int                             adds,
                     GPUREG_GLOBAL float4 *          gradient)
{
  const i64 row = number / a->size[0];
  const int x = (int)(number - row * a->size[0]);
  const int y = (int)(row % a->size[1]);
  const int z = (int)(row / a->size[1]);
  if (number < CountControlPoints(a))
  {
    CollectColumn(a, nodeDerivatives, x, y, z, z + 1, factor, adds, gradient);
  }
}

GPUREG_NAMESPACE_END

#endif
