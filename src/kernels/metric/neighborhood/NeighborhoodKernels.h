// SPDX-License-Identifier: Apache-2.0
// The work-groups of the neighborhood correlation, for the devices that have work-groups: CUDA and OpenCL.
// src/host/metric/neighborhood/NeighborhoodPasses.cpp computes the same in plain loops; tests compare the two.
#ifndef gpureg_kernels_NeighborhoodKernels_h
#define gpureg_kernels_NeighborhoodKernels_h

GPUREG_NAMESPACE_BEGIN

/** Computes the moving values of the stored planes. The first axis of groups runs within a plane, the second one over planes. */
GPUREG_GROUP_FUNCTION void
MovePlanesGroup(int                           variant,
                const NeighborhoodArguments * a,
                const SampleMaps *            maps,
                const SampleVolumes *         v,
                GPUREG_GLOBAL i64 *           moved)
{
  const i64 inPlane = (i64)GroupIndex() * LaneCount() + LaneIndex();
  const int i = (int)(inPlane % a->samples.virtualShape.size[0]);
  const int j = (int)(inPlane / a->samples.virtualShape.size[0]);
  for (int plane = GroupIndexY(); plane < a->keptPlanes; plane += GroupCountY())
  {
    if (inPlane < VoxelsOfPlane(a))
    {
      const LaneWalk at = StartWalkAtVoxel(&a->samples, maps, i, j, a->firstStored + plane);
      moved[plane * VoxelsOfPlane(a) + inPlane] = ComputeMovedValue(variant, a, maps, v, &at);
    }
  }
}

/** Returns the offset of a lane's circular buffer of running sums; those of a group are adjacent. */
GPUREG_FUNCTION i64
OffsetOfCircularBuffer(const NeighborhoodArguments * a, int axis, int group, int lanes, int lane)
{
  return (i64)group * LengthOfWindow(a, axis) * NeighborhoodSumCount * lanes + lane;
}

/** Sums along x or y. circularBuffer: that of this lane. */
GPUREG_GROUP_FUNCTION void
SumAlongGroup(int                           axis,
              const NeighborhoodArguments * a,
              const SampleMaps *            maps,
              const SampleVolumes *         v,
              const NeighborhoodVolumes *   n,
              GPUREG_GLOBAL double *        circularBuffer)
{
  const i64 lines = CountNeighborhoodLines(a, axis);
  const i64 step = (i64)a->groupCount * LaneCount();
  for (i64 first = (i64)GroupIndex() * LaneCount(); first < lines; first += step)
  {
    const i64 line = first + LaneIndex();
    const int steps = line < lines ? CountSumSteps(a, axis) : 0;
    SumWalk   walk = StartSumWalk(axis, a, line);
    for (int i = 0; i < steps; ++i)
    {
      StepSumWalk(axis, a, maps, v, n, i, circularBuffer, LaneCount(), &walk);
    }
  }
}

/** Adds up the lanes' sums and writes the group's sum. scratch: 2·ForceSumCount·LaneCount() floats; the group has 2·ForceSumCount lanes
 *  or more. */
GPUREG_GROUP_FUNCTION void
WriteCentreSums(const NeighborhoodArguments * a,
                const CentreSums *            sums,
                GPUREG_LOCAL float *          scratch,
                GPUREG_GLOBAL float *         partials)
{
  const int             lane = LaneIndex();
  const int             lanes = LaneCount();
  const int             count = NeighborhoodPartialCount(a);
  GPUREG_GLOBAL float * out = partials + (i64)(a->firstPartial + GroupIndex()) * count;
  SumEachOverLanes(SamplesAreFixedPoint, MostCentreSums, sums->ofCentres, scratch);
  // Not a loop that starts at the lane's number: PoCL 3.1 wrote beyond the end there.
  if (lane < 2 * MostCentreSums)
  {
    out[lane] = scratch[lane * lanes];
  }
  if (count > 2 * MostCentreSums)
  {
    SumEachOverLanes(SamplesAreFixedPoint, ForceSumCount, sums->forces, scratch);
    if (lane < 2 * ForceSumCount)
    {
      out[2 * MostCentreSums + lane] = scratch[lane * lanes];
    }
  }
}

/** Sums along z, and adds up the results of the centres. circularBuffer: that of this lane. */
GPUREG_GROUP_FUNCTION void
CorrelatePlanesGroup(int                           variant,
                     const NeighborhoodArguments * a,
                     const SampleMaps *            maps,
                     const SampleVolumes *         v,
                     const NeighborhoodVolumes *   n,
                     GPUREG_GLOBAL double *        circularBuffer,
                     GPUREG_LOCAL float *          scratch,
                     GPUREG_GLOBAL float *         partials)
{
  const i64  lines = CountNeighborhoodLines(a, 2);
  const i64  step = (i64)a->groupCount * LaneCount();
  CentreSums sums;
  ClearCentreSums(&sums);
  for (i64 first = (i64)GroupIndex() * LaneCount(); first < lines; first += step)
  {
    const i64  line = first + LaneIndex();
    CentreWalk walk = StartCentreWalk(a, line);
    while (line < lines && !IsCentreWalkAtEnd(a, &walk))
    {
      StepCentreWalk(variant, a, maps, v, n, circularBuffer, LaneCount(), &walk, &sums);
    }
  }
  WriteCentreSums(a, &sums, scratch, partials);
}

/** Adds up the results of the centres in the list. */
GPUREG_GROUP_FUNCTION void
CorrelateListGroup(int                           variant,
                   const NeighborhoodArguments * a,
                   const SampleMaps *            maps,
                   const SampleVolumes *         v,
                   const NeighborhoodVolumes *   n,
                   GPUREG_LOCAL float *          scratch,
                   GPUREG_GLOBAL float *         partials)
{
  const i64  step = (i64)a->groupCount * LaneCount();
  CentreSums sums;
  ClearCentreSums(&sums);
  for (i64 first = (i64)GroupIndex() * LaneCount(); first < a->centreCount; first += step)
  {
    if (first + LaneIndex() < a->centreCount)
    {
      CorrelateListedCentre(variant, a, maps, v, n, first + LaneIndex(), &sums);
    }
  }
  WriteCentreSums(a, &sums, scratch, partials);
}

GPUREG_NAMESPACE_END

#endif
