// SPDX-License-Identifier: Apache-2.0
// Penalties of a free-form deformation at its nodes, and their derivatives by its control points.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ControlPenalties_h
#define gpureg_kernels_ControlPenalties_h

GPUREG_NAMESPACE_BEGIN

/** A penalty is a sum over the nodes of a grid of control points, divided by their number. A node is a control point that has all its
 *  neighbours. u is the displacement at the node; derivatives are by physical coordinates.
 *
 *  Bending energy (Rueckert 1999; Modat 2010, equation 2):  Σ u_xx² + u_yy² + u_zz² + 2 u_xy² + 2 u_yz² + 2 u_xz² over u's components.
 *
 *  Linear energy: Σ ((∂u_r/∂x_c + ∂u_c/∂x_r)/2)² over rows and columns, the squares of the strain.
 *
 *  Jacobian, d = det(I + ∂u/∂x) (Rueckert 2006 proposed a penalty that keeps d positive; Modat's NiftyReg uses the square of the
 *  logarithm):  (ln d)² for d >= d0, and below d0 its tangent, (ln d0)² + 2 ln d0 / d0 · (d - d0), so that folds are pushed back by a
 *  finite force. */
typedef enum ControlPenaltyKind
{
  PenaltyOfBending,
  PenaltyOfStrain,
  PenaltyOfJacobian
} ControlPenaltyKind;

/** A grid of control points: float4 [z][y][x], a displacement in mm and 0; in two dimensions its z is 0, too. 32-bit members only, so
 *  that every compiler lays the struct out identically. */
typedef struct ControlPenaltyArguments
{
  int   size[3];          /* control points along x, y, z; 1 along z in two dimensions */
  int   nodes[3];         /* nodes: two fewer than control points; 1 along z in two dimensions */
  int   kind;             /* one of ControlPenaltyKind */
  float toIndex[9];       /* G: from mm to steps of the grid, by rows */
  float metric[9];        /* G·Gᵀ */
  float leastDeterminant; /* d0 */
  float logOfLeast;       /* ln d0 */
} ControlPenaltyArguments;

enum
{
  SlopeCount = 3, /* first derivatives: along x, y and z */
  CurveCount = 6, /* second ones: xx, yy, zz, xy, xz, yz, see CurveIndex */
  MostNodeDerivatives = CurveCount
};

GPUREG_FUNCTION i64
CountNodes(const ControlPenaltyArguments * a)
{
  return (i64)a->nodes[0] * a->nodes[1] * a->nodes[2];
}

/** Returns the number of partial derivatives of a node's energy, float4 each: by u's derivatives along the grid's axes, in steps of the
 *  grid. The derivatives of all nodes along the first axis come first, then those along the second one, and so on. */
GPUREG_FUNCTION int
CountNodeDerivatives(int kind)
{
  return kind == PenaltyOfBending ? CurveCount : SlopeCount;
}

GPUREG_FUNCTION int
IsFlat(const ControlPenaltyArguments * a)
{
  return a->size[2] == 1;
}

/** Returns the place of a second derivative. */
GPUREG_FUNCTION int
CurveIndex(int r, int c)
{
  return r == c ? r : r + c + 2;
}

/** Returns the cubic B-spline of the control point `offset` steps from a node, -1, 0 or 1, at the node; the functions below return its
 *  first and second derivative. */
GPUREG_FUNCTION float
BasisAtNode(int offset)
{
  return offset == 0 ? 4.0f / 6.0f : 1.0f / 6.0f;
}

GPUREG_FUNCTION float
SlopeAtNode(int offset)
{
  return 0.5f * (float)offset;
}

GPUREG_FUNCTION float
CurveAtNode(int offset)
{
  return offset == 0 ? -2.0f : 1.0f;
}

/** Returns factor·v, by components. */
GPUREG_FUNCTION float4
Scale4(float factor, float4 v)
{
  return MultiplyAdd4(factor, v, ZeroFloat4());
}

/** Computes a node's derivatives of u along the grid's axes, in steps of the grid. The weights of each derivative add up to 0, so the
 *  node's own control point is subtracted first: a common displacement, however large, causes no rounding error. */
GPUREG_FUNCTION void
ComputeSlopesAndCurves(
  const ControlPenaltyArguments * a, GPUREG_GLOBAL const float4 * points, i64 node, float4 * slopes, float4 * curves)
{
  const int                    isFlat = IsFlat(a);
  const i64                    row = node / a->nodes[0];
  const int                    x = (int)(node - row * a->nodes[0]) + 1;
  const int                    y = (int)(row % a->nodes[1]) + 1;
  const int                    z = (int)(row / a->nodes[1]) + (isFlat ? 0 : 1);
  const i64                    plane = (i64)a->size[0] * a->size[1];
  GPUREG_GLOBAL const float4 * centre = points + z * plane + (i64)y * a->size[0] + x;
  const float4                 own = *centre;
  for (int s = 0; s < SlopeCount; ++s)
  {
    slopes[s] = ZeroFloat4();
  }
  for (int s = 0; s < CurveCount; ++s)
  {
    curves[s] = ZeroFloat4();
  }
  for (int k = -1; k <= 1; ++k)
  {
    if (isFlat && k != 0)
    {
      continue;
    }
    float4 value = ZeroFloat4();
    float4 alongX = ZeroFloat4();
    float4 alongY = ZeroFloat4();
    float4 alongXX = ZeroFloat4();
    float4 alongYY = ZeroFloat4();
    float4 alongXY = ZeroFloat4();
    for (int j = -1; j <= 1; ++j)
    {
      GPUREG_GLOBAL const float4 * p = centre + k * plane + (i64)j * a->size[0];
      const float4                 before = Subtract4(p[-1], own);
      const float4                 at = Subtract4(p[0], own);
      const float4                 behind = Subtract4(p[1], own);
      const float4                 ends = MultiplyAdd4(1.0f, before, behind);
      const float4                 ofRow = MultiplyAdd4(BasisAtNode(1), ends, Scale4(BasisAtNode(0), at));
      const float4                 slopeOfRow = Scale4(SlopeAtNode(1), Subtract4(behind, before));
      value = MultiplyAdd4(BasisAtNode(j), ofRow, value);
      alongX = MultiplyAdd4(BasisAtNode(j), slopeOfRow, alongX);
      alongY = MultiplyAdd4(SlopeAtNode(j), ofRow, alongY);
      alongXX = MultiplyAdd4(BasisAtNode(j), MultiplyAdd4(CurveAtNode(0), at, ends), alongXX);
      alongYY = MultiplyAdd4(CurveAtNode(j), ofRow, alongYY);
      alongXY = MultiplyAdd4(SlopeAtNode(j), slopeOfRow, alongXY);
    }
    const float basis = isFlat ? 1.0f : BasisAtNode(k);
    const float slope = SlopeAtNode(k);
    const float curve = isFlat ? 0.0f : CurveAtNode(k);
    slopes[0] = MultiplyAdd4(basis, alongX, slopes[0]);
    slopes[1] = MultiplyAdd4(basis, alongY, slopes[1]);
    slopes[2] = MultiplyAdd4(slope, value, slopes[2]);
    curves[0] = MultiplyAdd4(basis, alongXX, curves[0]);
    curves[1] = MultiplyAdd4(basis, alongYY, curves[1]);
    curves[2] = MultiplyAdd4(curve, value, curves[2]);
    curves[3] = MultiplyAdd4(basis, alongXY, curves[3]);
    curves[4] = MultiplyAdd4(slope, alongX, curves[4]);
    curves[5] = MultiplyAdd4(slope, alongY, curves[5]);
  }
}

/** Returns the bending energy of a node and computes its partial derivatives. If H holds a component's second derivatives in steps of
 *  the grid, those in mm are Gᵀ·H·G, and the sum of their squares is the sum of the products of corresponding elements of H and K·H·K, K
 *  = G·Gᵀ: orthonormal directions cancel out. */
GPUREG_FUNCTION float
ComputeBendingEnergy(const ControlPenaltyArguments * a, const float4 * curves, float4 * nodeDerivatives)
{
  float4 product[9]; /* K·H */
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      product[3 * r + c] = ZeroFloat4();
      for (int k = 0; k < 3; ++k)
      {
        product[3 * r + c] = MultiplyAdd4(a->metric[3 * r + k], curves[CurveIndex(k, c)], product[3 * r + c]);
      }
    }
  }
  float energy = 0.0f;
  for (int r = 0; r < 3; ++r)
  {
    for (int c = r; c < 3; ++c)
    {
      float4 sum = ZeroFloat4();
      for (int k = 0; k < 3; ++k)
      {
        sum = MultiplyAdd4(a->metric[3 * k + c], product[3 * r + k], sum);
      }
      const int   index = CurveIndex(r, c);
      const float times = r == c ? 1.0f : 2.0f; /* H is symmetric */
      energy = MultiplyAdd(times, Dot3(curves[index], sum), energy);
      nodeDerivatives[index] = Scale4(2.0f * times, sum);
    }
  }
  return energy;
}

/** Computes ∂u_r/∂x_c, by rows. */
GPUREG_FUNCTION void
ComputeDisplacementGradient(const ControlPenaltyArguments * a, const float4 * slopes, float * gradient)
{
  for (int c = 0; c < 3; ++c)
  {
    float4 column = ZeroFloat4();
    for (int k = 0; k < SlopeCount; ++k)
    {
      column = MultiplyAdd4(a->toIndex[3 * k + c], slopes[k], column);
    }
    gradient[c] = column.x;
    gradient[3 + c] = column.y;
    gradient[6 + c] = column.z;
  }
}

/** Converts an energy's derivatives by ∂u_r/∂x_c to those by slopes. */
GPUREG_FUNCTION void
ConvertToSlopes(const ControlPenaltyArguments * a, const float * byGradient, float4 * nodeDerivatives)
{
  for (int k = 0; k < SlopeCount; ++k)
  {
    nodeDerivatives[k] = ZeroFloat4();
    for (int c = 0; c < 3; ++c)
    {
      const float4 column = MakeFloat4(byGradient[c], byGradient[3 + c], byGradient[6 + c], 0.0f);
      nodeDerivatives[k] = MultiplyAdd4(a->toIndex[3 * k + c], column, nodeDerivatives[k]);
    }
  }
}

/** Returns the linear energy of a displacement's gradient, and computes its derivative by the gradient. */
GPUREG_FUNCTION float
ComputeStrainEnergy(const float * gradient, float * byGradient)
{
  float energy = 0.0f;
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      const float twice = gradient[3 * r + c] + gradient[3 * c + r];
      energy = MultiplyAdd(0.25f * twice, twice, energy);
      byGradient[3 * r + c] = twice;
    }
  }
  return energy;
}

/** Returns the Jacobian energy of a displacement's gradient F, and computes its derivative by F, and det(I + F). The determinant is 1 +
 *  tr F + F's principal minors + det F; the logarithm is computed from the difference to 1, which loses no digits for small
 *  deformations. */
GPUREG_FUNCTION float
ComputeJacobianEnergy(const ControlPenaltyArguments * a,
                      const float *                   gradient,
                      float *                         byGradient,
                      float *                         determinant)
{
  const float excess = ComputeDeterminantBeyondOne(gradient);
  float       jacobian[9];
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      jacobian[3 * r + c] = gradient[3 * r + c] + (r == c ? 1.0f : 0.0f);
    }
  }
  *determinant = 1.0f + excess;
  const int   isFolded = !(*determinant >= a->leastDeterminant);
  const float log = isFolded ? a->logOfLeast : LogOfOnePlus(excess);
  const float slope = 2.0f * log / (isFolded ? a->leastDeterminant : *determinant);
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      byGradient[3 * r + c] = slope * ComputeCofactor(jacobian, r, c);
    }
  }
  return isFolded ? MultiplyAdd(slope, *determinant - a->leastDeterminant, log * log) : log * log;
}

/** Returns a node's energy, and computes its partial derivatives and, for PenaltyOfJacobian, its determinant; 1 for the others. */
GPUREG_FUNCTION float
ComputeNodeEnergy(const ControlPenaltyArguments * a,
                  GPUREG_GLOBAL const float4 *    points,
                  i64                             node,
                  float *                         determinant,
                  float4 *                        nodeDerivatives)
{
  float4 slopes[SlopeCount];
  float4 curves[CurveCount];
  float  gradient[9];
  float  byGradient[9];
  float  energy;
  *determinant = 1.0f;
  ComputeSlopesAndCurves(a, points, node, slopes, curves);
  if (a->kind == PenaltyOfBending)
  {
    return ComputeBendingEnergy(a, curves, nodeDerivatives);
  }
  ComputeDisplacementGradient(a, slopes, gradient);
  energy = a->kind == PenaltyOfStrain ? ComputeStrainEnergy(gradient, byGradient)
                                      : ComputeJacobianEnergy(a, gradient, byGradient, determinant);
  ConvertToSlopes(a, byGradient, nodeDerivatives);
  return energy;
}

GPUREG_NAMESPACE_END

#endif
