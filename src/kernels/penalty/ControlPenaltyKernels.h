// SPDX-License-Identifier: Apache-2.0
// The work-groups of a free-form deformation's penalties, for the devices that have work-groups: CUDA and OpenCL.
// src/host/penalty/ControlPenaltyPasses.cpp says the same in plain loops and is what this is tested against.
#ifndef gpureg_kernels_ControlPenaltyKernels_h
#define gpureg_kernels_ControlPenaltyKernels_h

GPUREG_NAMESPACE_BEGIN

/** A lane for each node. Writes the group's partials: the sum of energies and the smallest determinant, two floats a group from
 *  partials on; and each node's nodeDerivatives, if they are asked for. scratch: 2·LaneCount() floats. */
GPUREG_GROUP_FUNCTION void
ComputeEnergiesGroup(const ControlPenaltyArguments * a,
                     GPUREG_GLOBAL const float4 *    points,
                     GPUREG_GLOBAL float *           partials,
                     int                             writesNodeDerivatives,
                     GPUREG_GLOBAL float4 *          nodeDerivatives,
                     GPUREG_LOCAL float *            scratch)
{
  const int            lane = LaneIndex();
  const int            lanes = LaneCount();
  const i64            nodes = CountNodes(a);
  const i64            node = (i64)GroupIndex() * lanes + lane;
  GPUREG_LOCAL float * energies = scratch;
  GPUREG_LOCAL float * determinants = scratch + lanes;
  /* A lane without a node computes at the last node, and its result is not used. */
  const i64 read = node < nodes ? node : nodes - 1;
  float4    ofNode[MostNodeDerivatives];
  float     determinant;
  float     energy = ComputeNodeEnergy(a, points, read, &determinant, ofNode);
  if (writesNodeDerivatives && node < nodes)
  {
    for (int s = 0; s < MostNodeDerivatives; ++s)
    {
      if (s < CountNodeDerivatives(a->kind))
      {
        nodeDerivatives[s * nodes + node] = ofNode[s];
      }
    }
  }
  energies[lane] = node < nodes ? energy : 0.0f;
  determinants[lane] = determinant;
  LocalBarrier();
  for (int width = lanes / 2; width > 0; width /= 2)
  {
    if (lane < width)
    {
      energies[lane] += energies[lane + width];
      determinants[lane] = SmallerOf(determinants[lane], determinants[lane + width]);
    }
    LocalBarrier();
  }
  if (lane == 0)
  {
    partials[2 * (i64)GroupIndex()] = energies[0];
    partials[2 * (i64)GroupIndex() + 1] = determinants[0];
  }
}

GPUREG_GROUP_KERNEL(ComputeEnergiesGroup, 128, 32 * 2, "computing energies of nodes");

/** A lane for each control point; see CollectNumberedPoint. */
GPUREG_GROUP_FUNCTION void
CollectGradientGroup(const ControlPenaltyArguments * a,
                     GPUREG_GLOBAL const float4 *    nodeDerivatives,
                     float                           factor,
                     int                             adds,
                     GPUREG_GLOBAL float4 *          gradient)
{
  CollectNumberedPoint(a, nodeDerivatives, (i64)GroupIndex() * LaneCount() + LaneIndex(), factor, adds, gradient);
}

GPUREG_GROUP_KERNEL(CollectGradientGroup, 64, 0, "collecting a gradient of control points");

GPUREG_NAMESPACE_END

#endif
